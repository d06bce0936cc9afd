#include "preference_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"
#include "sorting.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kLongQuery = 1 << 13;
constexpr std::int64_t kPieceSize = 1 << 12;

// Ranks the labels of one query; returns the number of levels and adds up the weight of the pairs.
// value: null without gaps.
std::uint32_t rank_labels(const std::vector<double>& y, const double* weight, std::uint32_t* label,
                          double* value, double& pair_weight) {
  const auto n = static_cast<std::uint32_t>(y.size());
  std::vector<ScoredIndex> sorted(n);
  sort_scores(y.data(), n, sorted.data(), 1);
  std::uint32_t level = 0;
  double below = 0, here = 0, to_below = 0;  // the last: to weigh a pair with each below
  pair_weight = 0;
  for (std::uint32_t p = 0; p < n; ++p) {
    if (p > 0 && sorted[p].score > sorted[p - 1].score) {
      ++level;
      below += here;
      here = 0;
      to_below = value ? to_below + below * (sorted[p].score - sorted[p - 1].score) : below;
    }
    if (value) value[level] = sorted[p].score;
    const double w = weight ? weight[sorted[p].index] : 1;
    pair_weight += w * to_below;
    here += w;
    label[sorted[p].index] = level;
  }
  return level + 1;
}

}  // namespace

PreferencePairs::PreferencePairs(const double* y, std::vector<std::int64_t> starts,
                                 std::vector<std::int64_t> order, const double* row_weight,
                                 const double* query_weight, bool gaps, int n_threads)
    : query_start(std::move(starts)),
      row(std::move(order)),
      label(n_documents()),
      n_levels(n_queries()),
      value(gaps ? n_documents() : 0),
      pair_weight(n_queries()) {
  for (std::int64_t i = 0; row_weight && i < n_documents(); ++i) {
    largest_weight = std::max(largest_weight, row_weight[i]);
    whole_weights = whole_weights && row_weight[i] == std::floor(row_weight[i]);
  }
  if (row_weight || query_weight) {
    inner.resize(n_documents());
    outer.resize(n_documents());
  }
  for (std::int64_t q = 0; q < n_queries();) {
    const std::int64_t first = q;
    const auto size = [&](std::int64_t query) {
      return query_start[query + 1] - query_start[query];
    };
    const bool is_long = size(q) >= kLongQuery;
    for (++q; !is_long && q < n_queries() && size(q) < kLongQuery &&
              query_start[q] - query_start[first] < kPieceSize;)
      ++q;
    pieces.push_back({first, q, is_long});
  }
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    std::vector<double> values;
    for (auto q = pieces[t].first_query; q < pieces[t].last_query; ++q) {
      const auto begin = query_start[q], end = query_start[q + 1];
      values.resize(end - begin);
      for (auto g = begin; g < end; ++g) {
        values[g - begin] = y[row_of(g)];
        if (inner.empty()) continue;
        inner[g] = row_weight ? row_weight[row_of(g)] : 1;
        outer[g] = inner[g] * (query_weight ? query_weight[q] : 1);
      }
      const double* weight = inner.empty() ? nullptr : inner.data() + begin;
      double* value_of = gaps ? value.data() + begin : nullptr;
      n_levels[q] =
          begin == end ? 0 : rank_labels(values, weight, &label[begin], value_of, pair_weight[q]);
      if (query_weight) pair_weight[q] *= query_weight[q];
    }
  });
  if (gaps) measure_gaps();
}

void PreferencePairs::measure_gaps() {
  double largest_gap = 1;
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    if (n_levels[q] < 2) continue;
    const double *lowest = &value[query_start[q]], *highest = lowest + n_levels[q] - 1;
    largest_gap = std::max(largest_gap, *highest - *lowest);
    whole_weights = whole_weights &&
                    std::all_of(lowest, highest + 1, [](double y) { return y == std::floor(y); });
  }
  largest_weight *= largest_gap;
  // Sums of larger numbers are not exact.
  whole_weights = whole_weights && largest_weight * static_cast<double>(n_documents()) <= 0x1p53;
}

}  // namespace ranksvm
