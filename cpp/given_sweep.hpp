// One sweep over pairs that are given one by one.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "array.hpp"
#include "given_pairs.hpp"
#include "margin_function.hpp"

namespace ranksvm {

// The pairs that lack a part of their margin, and what a loss makes of them; immutable.
//
// The margin of a pair is that of the loss and its own.  All is computed from differences of
// scores, pair by pair, so that nothing depends on where the scores lie.  Each row adds up its own
// pairs; the slope of a pair, computed for either row, is the same to the last bit.
class GivenSweep {
 public:
  // scores: by row.
  GivenSweep(std::shared_ptr<const GivenPairs> pairs, const double* scores,
             const MarginFunction& phi, int n_threads);

  [[nodiscard]] const GivenPairs& pairs() const { return *pairs_; }
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

  // The pairs that curve the loss, of each row of a piece, in either role.
  struct Graph {
    std::vector<std::int64_t> start;
    std::vector<std::uint32_t> partner;
    std::vector<double> weight;  // empty where all are 1
  };
  [[nodiscard]] const std::vector<Graph>& graphs(int n_threads) const;

  // result = M v, for row-major n x n_columns blocks.
  void laplacian(const double* v, std::int64_t n_columns, double* result, int n_threads) const;

 private:
  template <MarginFunction::Kind kKind, bool kWeights, bool kMargins>
  void add_up(int n_threads);
  [[nodiscard]] Graph graph_of(std::int64_t piece) const;

  std::shared_ptr<const GivenPairs> pairs_;
  MarginFunction phi_;
  Array<double> scores_;
  std::shared_ptr<double[]> gradient_;
  PairTotals totals_;
  double square_ = 0, rounding_square_ = 0;
  mutable std::once_flag graphs_made_;  // when they are asked for
  mutable std::vector<Graph> graphs_;
};

}  // namespace ranksvm
