#include "dual_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler.hpp"

namespace ranksvm {
namespace {

constexpr int kRounds = 4;         // over the pairs of a query
constexpr double kFarFewer = 0.1;  // of what the first round has found, to end sooner

}  // namespace

DualDescent::DualDescent(Rows rows, Pairs pairs, const std::int64_t* first_row,
                         std::int64_t n_queries, std::int64_t n_columns)
    : rows_(rows), pairs_(pairs), first_row_(first_row), products_start_(n_queries + 1) {
  for (std::int64_t q = 0; q < n_queries; ++q) {
    const auto n = first_row_[q + 1] - first_row_[q];
    longest_ = std::max(longest_, n);
    products_start_[q + 1] = products_start_[q] + n * n;
  }
  products_ = make_array<double>(products_start_[n_queries]);
  inverse_ = make_array<double>(pairs_.start[n_queries]);
  std::vector<double> unfolded(n_columns);
  for (std::int64_t q = 0; q < n_queries; ++q) {
    multiply_rows(q, unfolded.data());
    measure_pairs(q);
  }
}

void DualDescent::measure_pairs(std::int64_t query) {
  const auto n = first_row_[query + 1] - first_row_[query];
  const double* products = products_.get() + products_start_[query];
  for (auto p = pairs_.start[query]; p < pairs_.start[query + 1]; ++p) {
    const std::int64_t i = pairs_.better[p], j = pairs_.worse[p];
    // The slope of a pair of equal rows goes to its bound.
    const double square = products[i * n + i] + products[j * n + j] - 2 * products[i * n + j];
    const double bend = std::max(square, 0.0) + pairs_.damping[p];
    inverse_[p] = 1 / std::max(std::numeric_limits<double>::min(), bend);
  }
}

void DualDescent::multiply_rows(std::int64_t query, double* unfolded) {
  const auto first = first_row_[query], n = first_row_[query + 1] - first;
  double* products = products_.get() + products_start_[query];
  for (std::int64_t i = 0; i < n; ++i) {
    const auto begin = rows_.start[first + i], end = rows_.start[first + i + 1];
    for (auto at = begin; at < end; ++at) unfolded[rows_.column[at]] += rows_.value[at];
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (auto at = rows_.start[first + j]; at < rows_.start[first + j + 1]; ++at)
        sum += rows_.value[at] * unfolded[rows_.column[at]];
      products[i * n + j] = products[j * n + i] = sum;
    }
    for (auto at = begin; at < end; ++at) unfolded[rows_.column[at]] = 0;
  }
}

RANKSVM_CLONES void DualDescent::visit(const std::int64_t* queries, std::int64_t n, double* slopes,
                                       double* weights, double* lacking) const {
  std::vector<double> scores(longest_), change(longest_);
  for (std::int64_t k = 0; k < n; ++k) {
    const auto query = queries[k], first = first_row_[query],
               n_rows = first_row_[query + 1] - first;
    const double* products = products_.get() + products_start_[query];
    for (std::int64_t i = 0; i < n_rows; ++i) {
      double score = 0;
      for (auto at = rows_.start[first + i]; at < rows_.start[first + i + 1]; ++at)
        score += weights[rows_.column[at]] * rows_.value[at];
      scores[i] = score;
      change[i] = 0;
    }
    double at_first = 0;
    for (int round = 0; round < kRounds; ++round) {
      double furthest = 0;
      for (auto p = pairs_.start[query]; p < pairs_.start[query + 1]; ++p) {
        const std::int64_t i = pairs_.better[p], j = pairs_.worse[p];
        const double ahead = scores[i] - scores[j], upper = pairs_.upper[p];
        const double off = pairs_.margin - ahead - pairs_.damping[p] * slopes[p];
        const bool moves = off > 0 ? slopes[p] < upper : off < 0 && slopes[p] > 0;
        if (!moves) continue;
        const double* of_i = products + i * n_rows;
        const double* of_j = products + j * n_rows;
        const double slope = std::clamp(slopes[p] + off * inverse_[p], 0.0, upper);
        const double by = slope - slopes[p];
        if (by == 0) continue;
        furthest = std::max(furthest, std::abs(off));
        slopes[p] = slope;
        change[i] += by;
        change[j] -= by;
        for (std::int64_t m = 0; m < n_rows; ++m) scores[m] += by * (of_i[m] - of_j[m]);
      }
      if (round == 0) at_first = furthest;
      if (furthest <= kFarFewer * at_first) break;
    }
    lacking[query] = at_first;
    for (std::int64_t i = 0; i < n_rows; ++i) {
      if (change[i] == 0) continue;
      for (auto at = rows_.start[first + i]; at < rows_.start[first + i + 1]; ++at)
        weights[rows_.column[at]] += change[i] * rows_.value[at];
    }
  }
}

}  // namespace ranksvm
