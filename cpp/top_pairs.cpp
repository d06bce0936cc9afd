#include "top_pairs.hpp"

#include <algorithm>
#include <cmath>

#include "long_sum.hpp"
#include "parallel.hpp"
#include "top_block.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kPairsOfPiece = 1 << 16;

}  // namespace

TopPairs::TopPairs(std::span<const std::int64_t> start, std::span<const std::uint32_t> row,
                   const double* gain, const double* weight, std::span<const double> factor,
                   std::span<const double> discount)
    : start_(start.begin(), start.end()),
      row_(row.begin(), row.end()),
      gain_(gain, gain + row.size()),
      factor_(factor.begin(), factor.end()),
      discount_(discount.begin(), discount.end()) {
  if (weight != nullptr) weight_.assign(weight, weight + row.size());
  if (const double largest = largest_weight(); largest > 0 && std::isfinite(largest)) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    unit_ = std::ldexp(1.0, exponent);
  }
  cut();
}

std::int64_t TopPairs::n_top(std::int64_t q) const {
  return factor_[q] > 0 ? std::min(start_[q + 1] - start_[q], std::ssize(discount_)) : 0;
}

double TopPairs::largest_weight() const {
  double largest = 0;
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    if (n_top(q) == 0) continue;
    const auto [least, most] =
        std::minmax_element(gain_.begin() + start_[q], gain_.begin() + start_[q + 1]);
    double of_row = 1;
    if (!weight_.empty())
      of_row = *std::max_element(weight_.begin() + start_[q], weight_.begin() + start_[q + 1]);
    largest = std::max(largest, factor_[q] * (*most - *least) * discount_[0] * of_row * of_row);
  }
  return largest;
}

void TopPairs::cut() {
  piece_start_ = {0};
  std::int64_t n_pairs = 0;
  for (std::int64_t q = 0; q < n_queries(); ++q) {
    n_pairs += (start_[q + 1] - start_[q]) * (1 + n_top(q));
    if (n_pairs < kPairsOfPiece && q + 1 < n_queries()) continue;
    piece_start_.push_back(q + 1);
    n_pairs = 0;
  }
}

std::vector<double> TopPairs::pairs_per_query(int n_threads) const {
  std::vector<double> result(static_cast<std::size_t>(n_queries()));
  parallel_for(n_pieces(), n_threads, [&](std::int64_t piece) {
    for (auto q = first_query(piece); q < first_query(piece + 1); ++q) {
      LongSum sum;
      for (std::int64_t first = 0; n_top(q) > 0 && first < start(q + 1) - start(q);
           first += kBlock) {
        const RankBlock block(*this, q, first, nullptr);
        for (std::int64_t t = 0; t < std::min(n_top(q), block.last); ++t) {
          const TopRow top(*this, q, t, nullptr);
          for (auto k = block.begin(t); k < block.size(); k += 4) {
            const Four weight = four_pairs(top, block, k).weight;
            for (std::size_t lane = 0; lane < 4; ++lane) sum += weight[lane];
          }
        }
      }
      result[q] = sum.value();
    }
  });
  return result;
}

}  // namespace ranksvm
