// The pairs of a few rows of a query with some of the others, four at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "compiler.hpp"
#include "top_pairs.hpp"

namespace ranksvm {

constexpr std::int64_t kBlock = 128;  // ranks: numbers that are added one after the other

RANKSVM_INLINE Four four_at(const double* values) {
  Four result;
  std::memcpy(&result, values, sizeof result);
  return result;
}
RANKSVM_INLINE void put(const Four& four, double* values) {
  std::memcpy(values, &four, sizeof four);
}
RANKSVM_INLINE Four plus(const Four& a, const Four& b) {
  Four sum = a;
  sum += b;
  return sum;
}
RANKSVM_INLINE double sum_of(const Four& four) { return (four[0] + four[1]) + (four[2] + four[3]); }

// Ranks `first` to `last` of a query, beyond which weights are 0.
struct RankBlock {
  using Numbers = std::array<double, kBlock>;

  // scores: by place.
  RankBlock(const TopPairs& pairs, std::int64_t query, std::int64_t first_rank,
            const double* scores)
      : first(first_rank),
        last(std::min(first_rank + kBlock, pairs.start(query + 1) - pairs.start(query))) {
    const auto start = pairs.start(query);
    for (std::int64_t rank = first; rank < last; ++rank) {
      const auto k = rank - first;
      score[k] = scores == nullptr ? 0 : scores[start + rank];
      gain[k] = pairs.gain()[start + rank];
      weight[k] = pairs.weight(start + rank);
      discount[k] = pairs.discount(rank);
    }
  }
  // From where on there are partners of the row at rank t, or a little before.
  [[nodiscard]] std::int64_t begin(std::int64_t t) const {
    return std::max<std::int64_t>(t + 1 - first, 0) & ~std::int64_t{3};
  }
  [[nodiscard]] std::int64_t size() const { return last - first; }

  std::int64_t first, last;
  alignas(32) Numbers score{}, gain{}, weight{}, discount{};
};

// The row at one of the first ranks.
struct TopRow {
  TopRow(const TopPairs& pairs, std::int64_t query, std::int64_t rank_, const double* scores)
      : rank(rank_),
        score(scores == nullptr ? 0 : scores[pairs.start(query) + rank]),
        gain(pairs.gain()[pairs.start(query) + rank]),
        factor(pairs.factor(query) * pairs.weight(pairs.start(query) + rank)),
        discount(pairs.discount(rank)) {}

  std::int64_t rank;
  double score, gain, factor, discount;
};

// Four pairs of a row with others: their weights, 0 for those of lower ranks; whether the row is
// the better one, and by how much the better one is ahead.
struct FourPairs {
  Four weight, ahead;
  FourWords is_better;
};

RANKSVM_INLINE FourPairs four_pairs(const TopRow& top, const RankBlock& block, std::int64_t k) {
  const Four zero{};
  const Four gap = top.gain - four_at(&block.gain[k]), lead = top.score - four_at(&block.score[k]);
  const Four change = top.discount - four_at(&block.discount[k]);
  const FourWords is_better = zero < gap;
  const Four size = where(is_better, gap, -gap) * top.factor;
  const Four weight = size * where(zero < change, change) * four_at(&block.weight[k]);
  return {weight, where(is_better, lead, -lead), is_better};
}

}  // namespace ranksvm
