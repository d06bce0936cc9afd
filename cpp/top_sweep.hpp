// One sweep over the pairs of the top of a ranking.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>

#include "array.hpp"
#include "margin_function.hpp"
#include "top_pairs.hpp"

namespace ranksvm {

// The pairs that lack a part of their margin, and what a loss makes of them; immutable.
//
// Pairs are looked at one by one, but weighed anew each time: a block of the first rows of a query
// times some of the others is in the cache at a time.  As with given pairs, all is computed from
// differences of scores, and a slope is the same number for both rows.
class TopSweep {
 public:
  // scores: by row.
  TopSweep(std::shared_ptr<const TopPairs> pairs, const double* scores, const MarginFunction& phi,
           int n_threads);

  [[nodiscard]] const TopPairs& pairs() const { return *pairs_; }
  [[nodiscard]] const PairTotals& totals() const { return totals_; }

  // By row: the derivative of the loss by each score.  It may outlive the sweep.
  [[nodiscard]] std::shared_ptr<const double[]> gradient() const { return gradient_; }
  // The length of the gradient, and a bound of that of its rounding.
  [[nodiscard]] double gradient_norm() const { return pairs_->unit() * std::sqrt(square_); }
  [[nodiscard]] double gradient_rounding() const {
    return pairs_->unit() * std::sqrt(rounding_square_);
  }

  // The diagonal of the Laplacian M of the pairs that curve the loss, by row.
  void degree(double* result, int n_threads) const;

  // result = M v, for row-major n x n_columns blocks.
  void laplacian(const double* v, std::int64_t n_columns, double* result, int n_threads) const;

  // result = N v, where M = unit (N + N'), for queries first to last and all columns, with the rows
  // of v and of the result by place.
  template <class Real>
  void half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                      std::int64_t n_columns, Real* result) const;

 private:
  struct Part;

  template <MarginFunction::Kind kKind>
  void add_up(int n_threads);
  template <MarginFunction::Kind kKind>
  void add_query(std::int64_t query, Part& part);
  void degree_of_query(std::int64_t query, double* by_place) const;
  const double* degree_by_place(int n_threads) const;
  void laplacian_of_query(std::int64_t query, const double* v, std::int64_t n_columns,
                          double* result) const;

  std::shared_ptr<const TopPairs> pairs_;
  MarginFunction phi_;
  Array<double> scores_;  // by place
  std::shared_ptr<double[]> gradient_;
  PairTotals totals_;
  double square_ = 0, rounding_square_ = 0;
  mutable std::once_flag degree_made_;  // when it is asked for
  mutable Array<double> degree_;        // by place
};

}  // namespace ranksvm
