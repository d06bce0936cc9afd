// Eight numbers from memory, and their sum: what inner products are made of.
#pragma once

#include <cstddef>
#include <cstring>

#include "compiler.hpp"

namespace ranksvm {

constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(double);

RANKSVM_INLINE Lanes load(const double* values) {
  Lanes lanes;
  std::memcpy(&lanes, values, sizeof lanes);
  return lanes;
}

RANKSVM_INLINE void store(const Lanes& lanes, double* values) {
  std::memcpy(values, &lanes, sizeof lanes);
}

// In the order in which halves of halves add up.
RANKSVM_INLINE double total(const Lanes& sum) {
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

}  // namespace ranksvm
