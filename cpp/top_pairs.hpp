// Preference pairs that weigh what an exchange of their rows changes at the top of a ranking.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "array.hpp"

namespace ranksvm {

// The rows of each query lie in the order of a given ranking, the best first.  The pair of the rows
// at ranks t < k of query q weighs
//
//   factor_q |gain_t - gain_k| (discount_t - discount_k) weight_t weight_k,
//
// and the row with the larger gain is the better one.  Discounts fall, and from rank `top` on they
// are 0: only the first rows of a query have pairs with all of its rows.  No pair is stored.
// Immutable.
class TopPairs {
 public:
  // start: of each query, and the end; row: at each place; gain: of each place; weight: of each
  // place, or null; factor: of each query; discount: of each rank below `top`.
  TopPairs(std::span<const std::int64_t> start, std::span<const std::uint32_t> row,
           const double* gain, const double* weight, std::span<const double> factor,
           std::span<const double> discount);

  [[nodiscard]] std::int64_t n_rows() const { return start_.back(); }
  [[nodiscard]] std::int64_t n_queries() const { return std::ssize(start_) - 1; }
  [[nodiscard]] std::int64_t start(std::int64_t q) const { return start_[q]; }
  // The number of rows that have pairs with all others; 0 where none weighs anything.
  [[nodiscard]] std::int64_t n_top(std::int64_t q) const;
  [[nodiscard]] double factor(std::int64_t q) const { return factor_[q]; }
  [[nodiscard]] double discount(std::int64_t rank) const {
    return rank < std::ssize(discount_) ? discount_[rank] : 0;
  }
  // By place.
  [[nodiscard]] const LargeVector<std::uint32_t>& row() const { return row_; }
  [[nodiscard]] const LargeVector<double>& gain() const { return gain_; }
  [[nodiscard]] double weight(std::int64_t place) const {
    return weight_.empty() ? 1 : weight_[place];
  }
  // A power of two, not below the largest weight of a pair.
  [[nodiscard]] double unit() const { return unit_; }

  // The queries are cut into pieces of about as many pairs, which depend on the pairs alone.
  [[nodiscard]] std::int64_t n_pieces() const { return std::ssize(piece_start_) - 1; }
  [[nodiscard]] std::int64_t first_query(std::int64_t piece) const { return piece_start_[piece]; }

  // The total weight of the pairs of each query.
  [[nodiscard]] std::vector<double> pairs_per_query(int n_threads) const;

 private:
  [[nodiscard]] double largest_weight() const;
  void cut();

  std::vector<std::int64_t> start_, piece_start_;
  LargeVector<std::uint32_t> row_;
  LargeVector<double> gain_, weight_;
  std::vector<double> factor_, discount_;
  double unit_ = 1;
};

}  // namespace ranksvm
