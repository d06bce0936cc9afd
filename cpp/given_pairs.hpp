// Preference pairs that are given one by one: a graph whose edges lead from winners to losers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "array.hpp"

namespace ranksvm {

// Those in one role of each row: as winner, whose partners are the losers, or as loser.
struct PairsOfRole {
  std::vector<std::int64_t> start;     // of each row, and the end
  LargeVector<std::uint32_t> partner;  // ascending, of each row
  LargeVector<double> weight, margin;  // empty where all weigh 1, or have no margin of their own
};

// Pairs of the same rows and margin are added up, and those that weigh nothing left out. Immutable.
class GivenPairs {
 public:
  // winner, loser: the rows of each pair, below n_rows; weight and margin: of each pair, or null.
  GivenPairs(std::int64_t n_rows, std::span<const std::uint32_t> winner,
             std::span<const std::uint32_t> loser, const double* weight, const double* margin);

  [[nodiscard]] std::int64_t n_rows() const { return std::ssize(wins_.start) - 1; }
  [[nodiscard]] std::int64_t n_distinct() const { return wins_.start.back(); }
  [[nodiscard]] const PairsOfRole& wins() const { return wins_; }
  [[nodiscard]] const PairsOfRole& losses() const { return losses_; }
  // A power of two, not below the largest weight.
  [[nodiscard]] double unit() const { return unit_; }

  // The rows are cut into pieces of about as many pairs, which depend on the pairs alone.
  [[nodiscard]] std::int64_t n_pieces() const { return std::ssize(piece_start_) - 1; }
  [[nodiscard]] std::int64_t first_row(std::int64_t piece) const { return piece_start_[piece]; }

 private:
  void add_up(std::span<const std::uint32_t> loser, const double* weight, const double* margin,
              std::span<const std::uint32_t> by_winner);
  void drop_plain_weights();
  void turn_round();
  void cut();

  PairsOfRole wins_, losses_;
  double unit_ = 1;
  std::vector<std::int64_t> piece_start_;
};

}  // namespace ranksvm
