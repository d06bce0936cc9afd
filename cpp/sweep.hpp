// One sweep over the scores: finds the active pairs, and what a loss makes of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pair_sums/counter.hpp"
#include "preference_pairs.hpp"
#include "score_order.hpp"

namespace ranksvm {

// phi of the margin z = s_i - s_j of a pair, each with its slope alpha = -phi'(z):
//
//   hinge            max(0, margin - z)      alpha = 1 where z < margin
//   squared hinge    max(0, margin - z)^2    alpha = 2 (margin - z) where z < margin
//   smoothed hinge   the hinge with its kink rounded off over `width` below the margin:
//                    alpha = clip((margin - z) / width, 0, 1)
struct PairLoss {
  enum class Kind { hinge, squared_hinge, smoothed_hinge };
  Kind kind;
  double margin;
  double width;  // of the smoothed hinge only
};

// The pairs active at a margin, margin - (s_i - s_j) > 0 for y_i > y_j, and what follows from them.
// Immutable.
//
// The pairs that curve the loss are the active ones, for the smoothed hinge those of the band
// margin - width <= z < margin alone.  M is the weighted Laplacian of their graph, the degree of a
// document its diagonal.  With l+ and l- the numbers of active partners that are better and worse,
// as counted by Lee & Lin (2014), the balance of a document is l+ - l-.
class Sweep {
 public:
  // scores: by row.
  Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores, const PairLoss& loss,
        Counting counting, int n_threads);

  // By row: the balance, a subgradient of the hinge; 2 (M s + margin balance), the gradient of the
  // squared hinge; or the gradient of the smoothed hinge.
  Array<double> gradient;
  // Total weight of the active pairs, balance' s and (squared hinge only) s' M s.
  double n_active = 0, balance_scores = 0, scores_laplacian_scores = 0;
  // Sum of the absolute values of the terms that the loss is the sum of: what rounding is relative
  // to.
  double magnitude = 0;
  // Smoothed hinge only: sum of alpha, and sum of (margin - z) (1 - alpha) over the band.
  double slope_sum = 0, smoothing = 0;
  // What rounding is relative to in these two, and in gradient' s.
  double band_magnitude = 0;

  // The diagonal of M, by row.
  void degree(double* result) const;

  // result = M v, for row-major n x n_columns blocks.
  void laplacian(const double* v, std::int64_t n_columns, double* result, int n_threads) const;

  // The row at each position, that is in order of query, then score.
  void rows(std::int64_t* result) const;

  // M is N + N' where N v takes each pair once.  result = N_B v for the diagonal block N_B of the
  // queries first..last-1, in the columns first_column..last_column-1; v and result are row-major,
  // n_columns wide, and hold the positions of these queries only.
  template <class Real>
  void half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                      std::int64_t n_columns, std::int64_t first_column, std::int64_t last_column,
                      Real* result) const;

  const PreferencePairs& pairs() const { return *pairs_; }

 private:
  enum Side { both, upper, lower };
  struct Task {
    std::int64_t first_query, last_query;
    std::size_t window;
    Side side;
  };
  struct Sums {  // by position, K columns
    Array<double> upper, lower;
  };
  struct Totals {
    double active = 0, balance = 0, laplacian = 0, magnitude = 0, slopes = 0, band = 0,
           band_magnitude = 0, band_scores = 0;
  };

  template <int K>
  std::vector<Sums> sum_partners(const double* v, int n_threads) const;
  template <int K, bool Gap>
  void sum_partners(const Task& task, const double* v, Sums& sums) const;
  std::vector<Task> tasks() const;
  template <int K>
  void finish(const PairLoss& loss, double unit, int n_threads);
  template <int K>
  void laplacian_columns(const double* v, std::int64_t stride, double* result, int n_threads) const;
  std::int64_t n_documents() const { return pairs_->n_documents(); }
  double inner(std::uint32_t slot) const { return pairs_->inner.empty() ? 1 : pairs_->inner[slot]; }
  double outer(std::uint32_t slot) const { return pairs_->outer.empty() ? 1 : pairs_->outer[slot]; }

  std::shared_ptr<const PreferencePairs> pairs_;
  Counting counting_;
  ScoreOrder order_;
  Array<double> degree_;  // by position
};

}  // namespace ranksvm
