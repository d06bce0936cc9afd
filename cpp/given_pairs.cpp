#include "given_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ranksvm {
namespace {

constexpr std::int64_t kPiece = 1 << 14;  // pairs and rows

// Where those of each row begin, of `rows` in any order.
std::vector<std::int64_t> starts_of(std::span<const std::uint32_t> rows, std::int64_t n_rows) {
  std::vector<std::int64_t> start(static_cast<std::size_t>(n_rows) + 1, 0);
  for (const std::uint32_t row : rows) ++start[row + 1];
  for (std::int64_t i = 0; i < n_rows; ++i) start[i + 1] += start[i];
  return start;
}

// The places of the rows, in order of these.
LargeVector<std::uint32_t> sorted_places(std::span<const std::uint32_t> rows,
                                         std::vector<std::int64_t> next) {
  LargeVector<std::uint32_t> places(rows.size());
  for (std::size_t p = 0; p < rows.size(); ++p)
    places[next[rows[p]]++] = static_cast<std::uint32_t>(p);
  return places;
}

}  // namespace

GivenPairs::GivenPairs(std::int64_t n_rows, std::span<const std::uint32_t> winner,
                       std::span<const std::uint32_t> loser, const double* weight,
                       const double* margin) {
  wins_.start = starts_of(winner, n_rows);
  auto by_winner = sorted_places(winner, wins_.start);
  for (std::int64_t i = 0; i < n_rows; ++i)
    std::sort(by_winner.data() + wins_.start[i], by_winner.data() + wins_.start[i + 1],
              [&](std::uint32_t p, std::uint32_t q) {
                if (loser[p] != loser[q]) return loser[p] < loser[q];
                if (margin && margin[p] != margin[q]) return margin[p] < margin[q];
                return p < q;
              });
  add_up(loser, weight, margin, by_winner);
  drop_plain_weights();
  turn_round();
  cut();
}

// Fills what is won, from pairs that are sorted by winner, loser and margin.
void GivenPairs::add_up(std::span<const std::uint32_t> loser, const double* weight,
                        const double* margin, std::span<const std::uint32_t> by_winner) {
  wins_.partner.reserve(loser.size());
  wins_.weight.reserve(loser.size());
  if (margin) wins_.margin.reserve(loser.size());
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < n_rows(); ++i) {
    const std::int64_t end = std::exchange(wins_.start[i + 1], 0);
    while (place < end) {
      const std::uint32_t p = by_winner[place];
      double total = 0;
      for (; place < end; ++place) {
        const std::uint32_t q = by_winner[place];
        if (loser[q] != loser[p] || (margin && margin[q] != margin[p])) break;
        total += weight ? weight[q] : 1;
      }
      if (!(total > 0)) continue;
      wins_.partner.push_back(loser[p]);
      wins_.weight.push_back(total);
      if (margin) wins_.margin.push_back(margin[p]);
    }
    wins_.start[i + 1] = std::ssize(wins_.partner);
  }
}

// Weights that are all 1 need no memory; of others, the largest gives the unit.
void GivenPairs::drop_plain_weights() {
  auto& weight = wins_.weight;
  if (weight.empty()) return;
  unit_ = *std::max_element(weight.begin(), weight.end());
  if (unit_ == 1 && *std::min_element(weight.begin(), weight.end()) == 1)
    LargeVector<double>().swap(weight);
  unit_ = std::ldexp(1.0, std::min(std::ilogb(unit_) + 1, 1023));
}

// Fills what is lost from what is won.
void GivenPairs::turn_round() {
  losses_.start = starts_of(wins_.partner, n_rows());
  losses_.partner.resize(wins_.partner.size());
  losses_.weight.resize(wins_.weight.size());
  losses_.margin.resize(wins_.margin.size());
  auto next = losses_.start;
  for (std::int64_t i = 0; i < n_rows(); ++i) {
    for (auto p = wins_.start[i]; p < wins_.start[i + 1]; ++p) {
      const auto place = next[wins_.partner[p]]++;
      losses_.partner[place] = static_cast<std::uint32_t>(i);
      if (!wins_.weight.empty()) losses_.weight[place] = wins_.weight[p];
      if (!wins_.margin.empty()) losses_.margin[place] = wins_.margin[p];
    }
  }
}

void GivenPairs::cut() {
  piece_start_.push_back(0);
  std::int64_t size = 0;
  for (std::int64_t i = 0; i < n_rows(); ++i) {
    size += 1 + wins_.start[i + 1] - wins_.start[i] + losses_.start[i + 1] - losses_.start[i];
    if (size < kPiece && i + 1 < n_rows()) continue;
    piece_start_.push_back(i + 1);
    size = 0;
  }
}

}  // namespace ranksvm
