// Sums over the partners of up to 64 documents, by every pair: four of these documents at a time.
//
// A word has a bit for every partner: whether the two make a pair that curves the loss.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../compiler.hpp"
#include "../margin_function.hpp"

namespace ranksvm::fours {

inline constexpr std::uint32_t kMost = 64;  // documents
using Words = std::array<std::uint64_t, kMost>;

// Numbers by place; those beyond the members are read, but do not matter.
struct alignas(64) Numbers {
  double at[kMost] = {};

  RANKSVM_INLINE double& operator[](std::size_t place) { return at[place]; }
  RANKSVM_INLINE double operator[](std::size_t place) const { return at[place]; }
  RANKSVM_INLINE Four four(std::size_t first) const {
    Four values;
    std::memcpy(&values, at + first, sizeof values);
    return values;
  }
  RANKSVM_INLINE void set_four(std::size_t first, const Four& values) {
    std::memcpy(at + first, &values, sizeof values);
  }
};

RANKSVM_INLINE Four size_of(const Four& a) { return where(Four{} < a, a, -a); }

// The members of a query by place, what they weigh as partners and, with roles, as the better and
// the worse ones of their pairs.
struct Members {
  std::uint32_t n = 0;
  Numbers score, level, weight, better, worse;
};

// What four documents weigh in a role, times what a partner weighs in the other one.
struct FourRoles {
  Four better, worse;

  RANKSVM_INLINE FourRoles(const Members& members, std::uint32_t first)
      : better(members.better.four(first)), worse(members.worse.four(first)) {}
  RANKSVM_INLINE Four with(const Members& members, std::uint32_t j,
                           const FourWords& is_better) const {
    return where(is_better, better * members.worse[j], worse * members.better[j]);
  }
};

// What the active partners of each document add up to, each times its weight. The loss of a pair
// falls by alpha as its margin z grows, twice that for the squared hinge.
struct Sums {
  Numbers weight;              // 1
  Numbers value, size;         // the hinge and |z|; for the squared hinge, their squares
  Numbers gradient, slope;     // alpha with the sign of the gradient, and without
  Numbers curving, smoothing;  // 1 and (margin - z) (1 - alpha), in the band
};

// Four documents, and their partners one after the other.
template <MarginFunction::Kind kind, bool Gap, bool Roles>
class FourSums {
 public:
  RANKSVM_INLINE FourSums(const Members& members, std::uint32_t first, const MarginFunction& phi)
      : score_(members.score.four(first)),
        level_(members.level.four(first)),
        roles_(members, first),
        phi_(phi) {}

  RANKSVM_INLINE void add(const Members& members, std::uint32_t j) {
    const Four way = level_ - members.level[j], difference = score_ - members.score[j];
    const FourWords is_better = Four{} < way;
    const Four margin = where(is_better, difference, -difference);
    const FourWords active = (margin < phi_.margin) & (way != Four{});
    Four weight = Four{} + members.weight[j];
    if constexpr (Gap) weight = weight * size_of(way);
    if constexpr (Roles) weight = weight * roles_.with(members, j, is_better);
    const auto bit = static_cast<std::int64_t>(std::uint64_t{1} << j);
    add(active, is_better, where(active, margin), where(active, weight), bit);
  }
  RANKSVM_INLINE void store(std::uint32_t first, Sums& sums, std::uint64_t* partners) const {
    sums.weight.set_four(first, weight_);
    sums.value.set_four(first, value_);
    sums.size.set_four(first, size_);
    sums.gradient.set_four(first, gradient_);
    sums.slope.set_four(first, slope_);
    sums.curving.set_four(first, curving_);
    sums.smoothing.set_four(first, smoothing_);
    std::memcpy(partners + first, &partners_, sizeof partners_);
  }

 private:
  // margin and weight are zero where the pair is not active.
  RANKSVM_INLINE void add(const FourWords& active, const FourWords& is_better, const Four& margin,
                          const Four& weight, std::int64_t bit) {
    const Four slack = phi_.margin - margin, weighted = weight * margin;
    Four slope = weight;
    FourWords curving = active;
    if constexpr (kind == Kind::squared_hinge) slope = weight * slack;
    if constexpr (kind == Kind::smoothed_hinge) {
      const Four one = Four{} + 1.0, part = slack * (1 / phi_.width);
      curving = active & ~(margin < phi_.margin - phi_.width);
      const Four alpha = where(curving & (part < one), part, one);
      slope = weight * alpha;
      curving_ += where(curving, weight);
      smoothing_ += weight * where(curving, slack * (1.0 - alpha));
    }
    weight_ += weight;
    value_ += kind == Kind::squared_hinge ? slope * slack : weight * slack;
    size_ += kind == Kind::squared_hinge ? weighted * margin : size_of(weighted);
    slope_ += slope;
    gradient_ += where(is_better, -slope, slope);
    partners_ |= curving & bit;
  }

  using Kind = MarginFunction::Kind;
  Four score_, level_;
  FourRoles roles_;
  MarginFunction phi_;
  Four weight_{}, value_{}, size_{}, gradient_{}, slope_{}, curving_{}, smoothing_{};
  FourWords partners_{};
};

template <MarginFunction::Kind kind, bool Gap, bool Roles>
RANKSVM_CLONES void add_up_partners(const Members& members, const MarginFunction& phi, Sums& sums,
                                    std::uint64_t* partners) {
  for (std::uint32_t first = 0; first < members.n; first += 4) {
    FourSums<kind, Gap, Roles> four(members, first, phi);
    for (std::uint32_t j = 0; j < members.n; ++j) four.add(members, j);
    four.store(first, sums, partners);
  }
}

// result[p] = sum of value[j] over the partners j of p, times the gap between the two, and their
// roles.
template <bool Gap, bool Roles>
RANKSVM_CLONES void add_up_values(const Members& members, const std::uint64_t* partners,
                                  const Numbers& value, Numbers& result) {
  const std::uint32_t n = members.n;
  for (std::uint32_t first = 0; first < n; first += 4) {
    FourWords words;
    std::memcpy(&words, partners + first, sizeof words);
    const Four levels = members.level.four(first);
    const FourRoles roles(members, first);
    Four sum{};
    for (std::uint32_t j = 0; j < n; ++j) {
      const auto bit = static_cast<std::int64_t>(std::uint64_t{1} << j);
      Four term = Four{} + value[j];
      const Four way = levels - members.level[j];
      if constexpr (Gap) term = term * size_of(way);
      if constexpr (Roles) term = term * roles.with(members, j, Four{} < way);
      sum += where(nonzero(words & bit), term);
    }
    result.set_four(first, sum);
  }
}

}  // namespace ranksvm::fours
