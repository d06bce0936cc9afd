// One sweep over the scores: finds the active pairs, and what a loss makes of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "array.hpp"
#include "margin_function.hpp"
#include "pair_sums/counting.hpp"
#include "pair_sums/row_sums.hpp"
#include "preference_pairs.hpp"
#include "score_order.hpp"
#include "short_queries.hpp"

namespace ranksvm {

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
  Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores,
        const MarginFunction& phi, Counting counting, int n_threads);

  [[nodiscard]] const Totals& totals() const { return totals_; }

  // The length of the gradient, and a bound of that of its rounding.
  [[nodiscard]] double gradient_norm() const {
    return half_laplacian_unit() * std::sqrt(totals_.gradient_square);
  }
  [[nodiscard]] double gradient_rounding() const {
    return half_laplacian_unit() * std::sqrt(totals_.gradient_rounding_square);
  }

  // By row: the balance, a subgradient of the hinge; 2 (M s + margin balance), the gradient of the
  // squared hinge; or the gradient of the smoothed hinge.  It may outlive the sweep.
  [[nodiscard]] std::shared_ptr<const double[]> gradient() const { return gradient_; }

  // The diagonal of M, by row.
  void degree(double* result) const;

  // result = M v, for row-major n x n_columns blocks.
  void laplacian(const double* v, std::int64_t n_columns, double* result, int n_threads) const;

  // The row at each position from first to last, that is in order of query, then score, or in any
  // order where the query is short; rows of no weight come last.
  void rows(std::int64_t first, std::int64_t last, std::int64_t* result) const;

  // M is unit (N + N') where N v takes each pair once; the unit is a power of two, for single
  // precision's sake: weights and gaps are about 1 in N, or below.
  [[nodiscard]] double half_laplacian_unit() const;

  // result = N_B v for the diagonal block N_B of the
  // queries first..last-1, in the columns first_column..last_column-1; v and result are row-major,
  // n_columns wide, and hold the positions of these queries only.
  template <class Real>
  void half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                      std::int64_t n_columns, std::int64_t first_column, std::int64_t last_column,
                      Real* result) const;

  [[nodiscard]] const PreferencePairs& pairs() const { return *pairs_; }

  // The same for a long query, piece by piece in order of position: sums over rows of `width`
  // numbers that begin empty, and N times `rows` for the positions of `result`, with the rows that
  // enter and leave the windows of these.
  template <class Real>
  [[nodiscard]] RowSums<Real> row_sums(std::int64_t query, std::int64_t width) const;
  template <class Real>
  void move(RowSums<Real>& sums, std::int64_t query, const Rows<const Real>& rows,
            const Rows<const Real>& entering, const Rows<const Real>& leaving,
            const Rows<Real>& result) const;
  // The latter but for the degrees: what the partners take off the result.
  template <class Real, class Moving>
  void subtract_partners(RowSums<Real>& sums, std::int64_t query, const Moving& entering,
                         const Moving& leaving, const Rows<Real>& result) const;
  // A row of N for a document of a query that is not in order.
  void terms(std::int64_t query, std::uint32_t place, ShortQueries::Terms& terms) const {
    short_queries_->terms(query, degree_.get(), place, terms);
  }
  // The diagonal of N.
  [[nodiscard]] double half_degree(std::int64_t position) const {
    const auto& scale = pairs_->scale();
    return degree_[position] * scale.inner * scale.outer * scale.gap / 2;
  }
  // Whether the document is the worse one of no pair.
  [[nodiscard]] bool is_never_worse(std::int64_t query, std::int64_t position) const {
    const auto slot = order_.slot(position);
    return pairs_->labels()[slot] + 1 == pairs_->n_levels()[query] || pairs_->worse(slot) == 0;
  }
  [[nodiscard]] std::int64_t row_at(std::int64_t position) const {
    return pairs_->row_of(order_.slot(position));
  }
  // Whether the documents of a query are in order of their scores; short ones may not be.
  [[nodiscard]] bool is_sorted(std::int64_t query) const { return order_.holds(query); }
  // The window ends of the members of such a query, and below the band of a smoothed hinge; see
  // SortedQuery.
  [[nodiscard]] std::size_t n_windows() const { return order_.n_windows(); }
  [[nodiscard]] std::span<const std::uint32_t> window_ends(std::int64_t query,
                                                           std::size_t window) const {
    const SortedQuery sorted = order_.query(query, window);
    return {sorted.window_end, sorted.n_levels < 2 ? 0 : sorted.n_documents};
  }

 private:
  void finish_hinge(int n_threads);
  template <int K>
  void finish_squared_hinge(double unit, int n_threads);
  template <int K>
  void finish_smoothed_hinge(double unit, int n_threads);
  template <int K, class Column, class Derivative>
  void finish(int n_threads, Column&& column, Derivative&& derivative);
  double add_active(std::int64_t position, double n_better, double n_worse, Totals& totals);
  void add_hinge(std::int64_t position, double n_better, double balance, Totals& totals) const;
  // The square of a number of the size of the gradient, in units that do not overflow.
  [[nodiscard]] double scaled_square(double size) const {
    return (per_unit_ * size) * (per_unit_ * size);
  }
  [[nodiscard]] double rounding_of_sums() const;
  [[nodiscard]] double largest_square_sum(int n_threads) const;
  [[nodiscard]] double rounding_of_weights() const;
  template <int K>
  void laplacian_columns(const double* v, std::int64_t stride, double* result, int n_threads) const;

  [[nodiscard]] std::int64_t n_documents() const { return pairs_->n_documents(); }
  [[nodiscard]] double inner(std::int64_t position) const {
    return pairs_->inner(order_.slot(position));
  }
  [[nodiscard]] double outer(std::int64_t position) const {
    return pairs_->outer(order_.slot(position));
  }

  std::shared_ptr<const PreferencePairs> pairs_;
  MarginFunction phi_;
  Counting counting_;
  std::optional<ShortQueries> short_queries_;
  ScoreOrder order_;
  double per_unit_;
  Array<double> degree_;  // by position
  std::shared_ptr<double[]> gradient_;
  Totals totals_;
};

}  // namespace ranksvm
