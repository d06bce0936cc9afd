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
                                 std::vector<std::uint32_t> order, const Weights& weights,
                                 bool gaps, int n_threads)
    : query_start_(std::move(query_start)),
      row_(std::move(order)),
      has_gaps_(gaps),
      label_(n_documents()),
      n_levels_(n_queries()),
      inner_(weights.row || weights.query ? n_documents() : 0),
      outer_(inner_.size()),
      better_(weights.better || weights.worse ? n_documents() : 0),
      worse_(better_.size()),
      values_(gaps ? n_documents() : 0),
      pairs_per_query_(n_queries()) {
  measure_queries();
  cut_into_pieces();
  if (has_short_queries_) begin_arranging();
  set_weights(weights);
  if (is_weighted()) find_members();
  parallel_for(std::ssize(pieces_), n_threads, [&](std::int64_t t) {
    LargeVector<double> labels;
    for (auto q = pieces_[t].first_query; q < pieces_[t].last_query; ++q) {
      rank_query(q, y, labels);
      if (weights.query) pairs_per_query_[q] *= weights.query[q];
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
  some.better_ = cut(better_, begin, end);
  some.worse_ = cut(worse_, begin, end);
  some.arranged_ = cut(arranged_, begin, end);
  for (auto& slot : some.arranged_) slot -= static_cast<std::uint32_t>(begin);
  some.n_members_ = cut(n_members_, first, last);
  some.values_ = cut(values_, begin, end);
  some.pairs_per_query_ = cut(pairs_per_query_, first, last);
  some.longest_query_ = longest_query_;
  some.may_be_short_ = may_be_short_;
  some.has_short_queries_ = has_short_queries_;
  some.largest_weight_ = largest_weight_;
  some.largest_roles_ = largest_roles_;
  some.whole_weights_ = whole_weights_;
  some.scale_ = scale_;
  some.cut_into_pieces();
  return some;
}

void PreferencePairs::measure_queries() {
  for (std::int64_t q = 0; q < n_queries(); ++q) longest_query_ = std::max(longest_query_, size(q));
  may_be_short_ = longest_query_ <= kShortQuery || n_documents() <= kMostMixed;
  for (std::int64_t q = 0; q < n_queries(); ++q)
    has_short_queries_ = has_short_queries_ || is_short(q);
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

void PreferencePairs::set_weights(const Weights& weights) {
  const auto of_row = [&](const double* values, std::int64_t slot) {
    return values ? values[row_of(slot)] : 1;
  };
  for (std::int64_t q = 0; has_weights() && q < n_queries(); ++q)
    for (auto g = query_start_[q]; g < query_start_[q + 1]; ++g) {
      inner_[g] = of_row(weights.row, g);
      outer_[g] = inner_[g] * (weights.query ? weights.query[q] : 1);
    }
  for (std::int64_t g = 0; has_roles() && g < n_documents(); ++g) {
    better_[g] = of_row(weights.better, g);
    worse_[g] = of_row(weights.worse, g);
  }
}

void PreferencePairs::find_members() {
  bool all = true;
  for (std::int64_t g = 0; all && g < n_documents(); ++g) all = is_member(g);
  if (all) return;
  n_members_.resize(n_queries());
  if (arranged_.empty()) begin_arranging();
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    const auto begin = arranged_.begin() + query_start_[q];
    const auto end =
        std::stable_partition(begin, begin + size(q), [&](std::int64_t g) { return is_member(g); });
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
  const bool weighted = is_weighted();
  // The weight of the rows below, of those on this level, as the worse ones; and of the pairs that
  // a row of weight 1 would make with those below.
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
    total += weighted ? inner(slot) * better(slot) * to_below : to_below;
    here += weighted ? inner(slot) * worse(slot) : 1;
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
  const bool weighted = is_weighted();
  double largest_row = 0, largest_inner = 0, largest_outer = 0, largest_gap = 0;
  double largest_better = 0, largest_worse = 0;
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    if (n_levels_[q] < 2) continue;
    for (auto place = query_start_[q]; weighted && place < query_start_[q] + n_members(q);
         ++place) {
      const auto g = arranged(place);
      largest_row = std::max(largest_row, inner(g));
      largest_better = std::max(largest_better, better(g));
      largest_worse = std::max(largest_worse, worse(g));
      largest_inner = std::max(largest_inner, inner(g) * better(g));
      largest_outer = std::max(largest_outer, outer(g) * worse(g));
      whole_weights_ =
          whole_weights_ && is_whole(inner(g)) && is_whole(better(g)) && is_whole(worse(g));
    }
    if (!has_gaps_) continue;
    const double *lowest = level_values(q), *highest = lowest + n_levels_[q] - 1;
    largest_gap = std::max(largest_gap, *highest - *lowest);
    whole_weights_ = whole_weights_ && std::all_of(lowest, highest + 1, is_whole);
  }
  scale_ = {scale_of(largest_inner), scale_of(largest_outer), scale_of(largest_gap)};
  if (has_roles()) largest_roles_ = largest_better * largest_worse;
  largest_weight_ = std::max(1.0, largest_row) * std::max(1.0, largest_gap) *
                    std::max(1.0, largest_better) * std::max(1.0, largest_worse);
  // Sums of larger numbers are not exact.
  if ((has_gaps_ || has_roles()) &&
      !(largest_weight_ * static_cast<double>(n_documents()) <= 0x1p53))
    whole_weights_ = false;
}

}  // namespace ranksvm
