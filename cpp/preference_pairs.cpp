#include "preference_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "array.hpp"
#include "parallel.hpp"
#include "sorting.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kLongQuery = 1 << 13;
constexpr std::int64_t kPieceSize = 1 << 12;

// A power of two that brings a number close to 1, as far as there is one.
double scale_of(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
}

}  // namespace

PreferencePairs::PreferencePairs(const double* y, std::vector<std::int64_t> query_start,
                                 std::vector<std::uint32_t> order, const double* row_weight,
                                 const double* query_weight, bool gaps, int n_threads)
    : query_start_(std::move(query_start)),
      row_(std::move(order)),
      has_gaps_(gaps),
      label_(n_documents()),
      n_levels_(n_queries()),
      inner_(row_weight || query_weight ? n_documents() : 0),
      outer_(inner_.size()),
      values_(gaps ? n_documents() : 0),
      pairs_per_query_(n_queries()) {
  measure_queries();
  cut_into_pieces();
  if (has_short_queries_) begin_arranging();
  if (has_weights()) find_members(row_weight, query_weight);
  parallel_for(std::ssize(pieces_), n_threads, [&](std::int64_t t) {
    LargeVector<double> labels;
    for (auto q = pieces_[t].first_query; q < pieces_[t].last_query; ++q) {
      rank_query(q, y, labels);
      if (query_weight) pairs_per_query_[q] *= query_weight[q];
    }
  });
  measure_weights();
}

PreferencePairs PreferencePairs::part(std::int64_t first, std::int64_t last) const {
  const auto begin = query_start(first), end = query_start(last);
  // What there is, where there is any.
  const auto cut = [](const auto& values, std::int64_t from, std::int64_t to) {
    using Values = std::decay_t<decltype(values)>;
    return values.empty() ? Values{} : Values(values.begin() + from, values.begin() + to);
  };
  PreferencePairs some;
  some.query_start_ = cut(query_start_, first, last + 1);
  for (auto& start : some.query_start_) start -= begin;
  some.has_gaps_ = has_gaps_;
  some.label_ = cut(label_, begin, end);
  some.n_levels_ = cut(n_levels_, first, last);
  some.inner_ = cut(inner_, begin, end);
  some.outer_ = cut(outer_, begin, end);
  some.arranged_ = cut(arranged_, begin, end);
  for (auto& slot : some.arranged_) slot -= static_cast<std::uint32_t>(begin);
  some.n_members_ = cut(n_members_, first, last);
  some.values_ = cut(values_, begin, end);
  some.pairs_per_query_ = cut(pairs_per_query_, first, last);
  some.longest_query_ = longest_query_;
  some.may_be_short_ = may_be_short_;
  some.has_short_queries_ = has_short_queries_;
  some.largest_weight_ = largest_weight_;
  some.whole_weights_ = whole_weights_;
  some.scale_ = scale_;
  some.cut_into_pieces();
  return some;
}

void PreferencePairs::measure_queries() {
  for (std::int64_t q = 0; q < n_queries(); ++q) longest_query_ = std::max(longest_query_, size(q));
  may_be_short_ = longest_query_ <= kShortQuery || n_documents() <= kMostMixed;
  for (std::int64_t q = 0; q < n_queries(); ++q)
    has_short_queries_ = has_short_queries_ || (size(q) > 0 && is_short(q));
}

void PreferencePairs::cut_into_pieces() {
  for (std::int64_t q = 0; q < n_queries();) {
    const std::int64_t first = q;
    const bool is_long = size(q) >= kLongQuery;
    for (++q; !is_long && q < n_queries() && size(q) < kLongQuery &&
              query_start_[q] - query_start_[first] < kPieceSize;)
      ++q;
    pieces_.push_back({first, q, is_long});
  }
}

void PreferencePairs::begin_arranging() {
  arranged_.resize(n_documents());
  std::iota(arranged_.begin(), arranged_.end(), 0);
}

void PreferencePairs::find_members(const double* row_weight, const double* query_weight) {
  bool all = true;
  for (std::int64_t q = 0; q < n_queries(); ++q)
    for (auto g = query_start_[q]; g < query_start_[q + 1]; ++g) {
      inner_[g] = row_weight ? row_weight[row_of(g)] : 1;
      outer_[g] = inner_[g] * (query_weight ? query_weight[q] : 1);
      all = all && outer_[g] > 0;
    }
  if (all) return;
  n_members_.resize(n_queries());
  if (arranged_.empty()) begin_arranging();
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    const auto begin = arranged_.begin() + query_start_[q];
    const auto end = std::stable_partition(begin, begin + size(q),
                                           [&](std::int64_t g) { return outer_[g] > 0; });
    n_members_[q] = end - begin;
  }
}

// Ranks the labels of a query and adds up what its pairs weigh, but for the weight of the query.
// labels: memory.
void PreferencePairs::rank_query(std::int64_t query, const double* y, LargeVector<double>& labels) {
  const auto begin = query_start_[query];
  const auto n = static_cast<std::uint32_t>(n_members(query));
  n_levels_[query] = size(query) > 0 ? 1 : 0;
  if (n == 0) return;
  labels.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) labels[i] = y[row_of(arranged(begin + i))];
  const auto sorted = make_array<ScoredIndex>(n);
  sort_scores(labels.data(), n, sorted.get(), 1);
  std::uint32_t level = 0;
  // The weight of the rows below, of those on this level, and of the pairs that a row of weight 1
  // would make with those below.
  double below = 0, here = 0, to_below = 0, total = 0;
  for (std::uint32_t p = 0; p < n; ++p) {
    const auto slot = arranged(begin + sorted[p].index);
    if (p > 0 && sorted[p].score > sorted[p - 1].score) {
      ++level;
      below += here;
      here = 0;
      to_below = has_gaps_ ? to_below + below * (sorted[p].score - sorted[p - 1].score) : below;
    }
    if (has_gaps_) values_[begin + level] = sorted[p].score;
    total += inner(slot) * to_below;
    here += inner(slot);
    label_[slot] = level;
  }
  n_levels_[query] = level + 1;
  pairs_per_query_[query] = total;
  if (is_short(query)) arrange_by_level(begin, sorted.get(), n);
}

void PreferencePairs::arrange_by_level(std::int64_t begin, const ScoredIndex* by_label,
                                       std::uint32_t n) {
  std::array<std::uint32_t, kShortQuery> by_level;
  for (std::uint32_t p = 0; p < n; ++p) by_level[p] = arranged_[begin + by_label[p].index];
  std::copy_n(by_level.begin(), n, arranged_.begin() + begin);
}

// Of the queries that have pairs.
void PreferencePairs::measure_weights() {
  const auto is_whole = [](double value) { return value == std::floor(value); };
  double largest_inner = 0, largest_outer = 0, largest_gap = 0;
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    if (n_levels_[q] < 2) continue;
    for (auto place = query_start_[q]; has_weights() && place < query_start_[q] + n_members(q);
         ++place) {
      const double weight = inner_[arranged(place)];
      largest_inner = std::max(largest_inner, weight);
      largest_outer = std::max(largest_outer, outer_[arranged(place)]);
      whole_weights_ = whole_weights_ && is_whole(weight);
    }
    if (!has_gaps_) continue;
    const double *lowest = level_values(q), *highest = lowest + n_levels_[q] - 1;
    largest_gap = std::max(largest_gap, *highest - *lowest);
    whole_weights_ = whole_weights_ && std::all_of(lowest, highest + 1, is_whole);
  }
  scale_ = {scale_of(largest_inner), scale_of(largest_outer), scale_of(largest_gap)};
  largest_weight_ = std::max(1.0, largest_inner) * std::max(1.0, largest_gap);
  // Sums of larger numbers are not exact.
  if (has_gaps_ && !(largest_weight_ * static_cast<double>(n_documents()) <= 0x1p53))
    whole_weights_ = false;
}

}  // namespace ranksvm
