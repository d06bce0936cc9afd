// What a step of an interior-point method does to a pair, and tiles of pairs in the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "array.hpp"
#include "lanes.hpp"

namespace ranksvm {

inline Array<double> numbers(std::size_t n) {
  return make_array<double>(static_cast<std::int64_t>(n));
}

constexpr std::size_t kTile = 512;  // pairs at a time

// A number of each pair of a tile; zero beyond the last.
struct alignas(64) Tile {
  double number[kTile] = {};

  double& operator[](std::size_t k) { return number[k]; }
  double operator[](std::size_t k) const { return number[k]; }
};

RANKSVM_INLINE double sum_of(const Tile& tile) {
  Lanes sums[4] = {};
  for (std::size_t k = 0; k < kTile; k += 4 * kLanes)
    for (std::size_t j = 0; j < 4; ++j) sums[j] += load(tile.number + k + j * kLanes);
  sums[0] += sums[1];
  sums[2] += sums[3];
  sums[0] += sums[2];
  return total(sums[0]);
}

RANKSVM_INLINE double larger(double a, double b) { return a > b ? a : b; }
RANKSVM_INLINE double smaller(double a, double b) { return b < a ? b : a; }

RANKSVM_INLINE double largest_of(const Tile& tile) {
  return *std::max_element(tile.number, tile.number + kTile);
}

// A sum that rounding takes hardly anything from (Kahan 1965), as certificates go by.
class ExactSum {
 public:
  void add(double value) {
    const double added = value - lost_, sum = sum_ + added;
    lost_ = (sum - sum_) - added;
    sum_ = sum;
  }
  double value() const { return sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// A pair's slope, the room above it, the multipliers of both bounds, and the weight of the pair in
// the Laplacian. Slopes that are bounded below alone have no room to speak of, and no h.
struct InteriorPair {
  double b, room, l, h, weight;
};

// A step of a pair to where it lacks so much of the margin, with products of zero: how far slopes
// go, in parts x of the slope and y of the room, and by how much multipliers change.
template <bool kIsBounded>
struct Towards {
  double step, x, y = 0, low, high = 0;

  RANKSVM_INLINE Towards(const InteriorPair& pair, double lacking)
      : step(pair.weight * lacking), x(step / pair.b), low(-pair.l * (1 + x)) {
    if (kIsBounded) {
      y = step / pair.room;
      high = -pair.h * (1 - y);
    }
  }
  // How fast it goes to the bounds of slopes and multipliers, in ways there by a whole step.
  RANKSVM_INLINE double fastest() const {
    if (!kIsBounded) return larger(-x, 1 + x);
    return larger(larger(-x, y), larger(1 + x, 1 - y));
  }
};

// The same with products that are numbers, to second order.
template <bool kIsBounded>
struct Step {
  double step, x, y = 0, low, high = 0;

  RANKSVM_INLINE Step(const InteriorPair& pair, double towards, double lacking, double of_low,
                      double of_high) {
    const Towards<kIsBounded> bend(pair, towards);
    const double low_term = of_low / pair.b - bend.x * bend.low;
    const double high_term = kIsBounded ? of_high / pair.room + bend.y * bend.high : 0;
    step = pair.weight * (lacking + low_term - high_term);
    x = step / pair.b;
    low = low_term - pair.l * (1 + x);
    if (kIsBounded) {
      y = step / pair.room;
      high = high_term - pair.h * (1 - y);
    }
  }
  RANKSVM_INLINE double fastest(const InteriorPair& pair) const {
    const double of_low = larger(-x, -low / pair.l);
    return kIsBounded ? larger(of_low, larger(y, -high / pair.h)) : of_low;
  }
};

}  // namespace ranksvm
