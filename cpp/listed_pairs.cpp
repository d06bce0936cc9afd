#include "listed_pairs.hpp"

#include <algorithm>
#include <utility>

#include "interior_step.hpp"

namespace ranksvm {
namespace {

constexpr Tile kZeros = {};

Array<double> copied(const double* values, std::size_t n) {
  Array<double> copy = numbers(n);
  std::copy_n(values, n, copy.get());
  return copy;
}

Array<std::int32_t> as_places(const std::int64_t* rows, std::size_t n) {
  auto places = make_array<std::int32_t>(static_cast<std::int64_t>(n));
  for (std::size_t p = 0; p < n; ++p) places[p] = static_cast<std::int32_t>(rows[p]);
  return places;
}

// What a product is off a range around an aim; but no more than its end above.
RANKSVM_INLINE double lacking_of(double product, double aim, double factor) {
  const double within = smaller(larger(product, aim / factor), factor * aim);
  return larger(within - product, -factor * aim);
}

// Goes a part of a step; of arguments, compilers believe that they are different memory.
template <bool kIsBounded>
RANKSVM_INLINE void go(std::size_t n, const double* RANKSVM_RESTRICT step,
                       const double* RANKSVM_RESTRICT of_low,
                       const double* RANKSVM_RESTRICT of_high, double part,
                       const double* RANKSVM_RESTRICT upper, double* RANKSVM_RESTRICT b,
                       double* RANKSVM_RESTRICT room, double* RANKSVM_RESTRICT l,
                       double* RANKSVM_RESTRICT h) {
  for (std::size_t k = 0; k < n; ++k) {
    b[k] += part * step[k];
    l[k] += part * of_low[k];
    if (!kIsBounded) continue;
    b[k] = smaller(b[k], upper[k]);  // steps are rounded
    room[k] -= part * step[k];
    h[k] += part * of_high[k];
  }
}

}  // namespace

// A tile of pairs; where they are not corrected, corrections are zeros.
struct ListedPairs::Block {
  std::size_t n;
  const std::int32_t *better, *worse;
  const double *margin, *upper;
  bool is_uniform;
  double *b, *room, *l, *h, *weight, *lacking;
  const double *more_low, *more_high;

  template <bool kIsBounded>
  RANKSVM_INLINE double curvature(std::size_t k) const {
    return kIsBounded ? 0.0 : 0.5 / upper[k];
  }
  template <bool kIsBounded>
  RANKSVM_INLINE InteriorPair pair(std::size_t k) const {
    return {b[k], kIsBounded ? room[k] : 1.0, l[k], kIsBounded ? h[k] : 0.0, weight[k]};
  }

  RANKSVM_INLINE double ahead(const double* scores, std::size_t k) const {
    return scores[better[k]] - scores[worse[k]];
  }
  // What pairs lack after a move of the scores. It is not the same as at the sum of scores and
  // move, which rounding would add to: weights of pairs may be so large that this decides.
  RANKSVM_INLINE void lack(const double* move, Tile& left) const {
    for (std::size_t k = 0; k < n; ++k) left[k] = lacking[k] - ahead(move, k);
  }

  template <bool kIsBounded>
  RANKSVM_INLINE Step<kIsBounded> step(std::size_t k, const Tile& towards, const Tile& lacking,
                                       double product) const {
    const double of_high = kIsBounded ? product + more_high[k] : 0.0;
    return {pair<kIsBounded>(k), towards[k], lacking[k], product + more_low[k], of_high};
  }

  // Adds values to the sums of better rows, which often are the same for many pairs, and takes them
  // from those of worse ones.
  RANKSVM_INLINE void balance(const Tile& values, double* sums) const {
    std::size_t k = 0;
    while (k < n) {
      const std::int32_t row = better[k];
      double sum = sums[row];
      for (; k < n && better[k] == row; ++k) {
        sum += values[k];
        sums[worse[k]] -= values[k];
      }
      sums[row] = sum;
    }
  }
};

ListedPairs::ListedPairs(const List& list, const double* upper, const double* slopes,
                         const double* low, const double* high)
    : n_(list.n_pairs),
      n_rows_(list.n_rows),
      is_uniform_(list.is_uniform),
      is_bounded_(high != nullptr),
      better_(as_places(list.better, n_)),
      worse_(as_places(list.worse, n_)),
      margin_(copied(list.margin, is_uniform_ ? 1 : n_)),
      upper_(copied(upper, n_)),
      slopes_(copied(slopes, n_)),
      low_(copied(low, n_)),
      weights_(numbers(n_)),
      lacking_(numbers(n_)) {
  if (!is_bounded_) return;
  high_ = copied(high, n_);
  room_ = numbers(n_);
  for (std::size_t p = 0; p < n_; ++p) room_[p] = upper_[p] - slopes_[p];
}

ListedPairs::Block ListedPairs::block_at(std::size_t begin) const {
  const auto at = [begin](const Array<double>& values) {
    return values ? values.get() + begin : nullptr;
  };
  return {std::min(kTile, n_ - begin),
          better_.get() + begin,
          worse_.get() + begin,
          margin_.get() + (is_uniform_ ? 0 : begin),
          at(upper_),
          is_uniform_,
          at(slopes_),
          at(room_),
          at(low_),
          at(high_),
          at(weights_),
          at(lacking_),
          is_corrected_ ? at(now_.low) : kZeros.number,
          is_corrected_ && is_bounded_ ? at(now_.high) : kZeros.number};
}

template <bool kIsBounded>
RANKSVM_INLINE void ListedPairs::weigh_all(const double* scores, double least, double* balance) {
  is_corrected_ = false;
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile lacking, weights, weighed;
    for (std::size_t k = 0; k < block.n; ++k) {
      const double curved = kIsBounded ? 0.0 : block.curvature<false>(k);
      lacking[k] = block.margin[is_uniform_ ? 0 : k] - block.ahead(scores, k) - curved * block.b[k];
      const double of_high = kIsBounded ? block.h[k] / block.room[k] : curved;
      weights[k] = 1 / larger(block.l[k] / block.b[k] + of_high, least);
      weighed[k] = weights[k] * lacking[k];
    }
    std::copy_n(weights.number, block.n, block.weight);
    std::copy_n(lacking.number, block.n, block.lacking);
    block.balance(weighed, balance);
  }
}

template <bool kIsBounded>
RANKSVM_INLINE ListedPairs::Way ListedPairs::bend_all(const double* move, double* of_products,
                                                      double* of_aim, double* of_step) const {
  Tile ways, changes;
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile lacking, steps, bent, aimed;
    block.lack(move, lacking);
    for (std::size_t k = 0; k < block.n; ++k) {
      const InteriorPair pair = block.pair<kIsBounded>(k);
      const Towards<kIsBounded> to(pair, lacking[k]);
      ways[k] = larger(to.fastest(), ways[k]);
      changes[k] += to.step * (to.low - to.high);
      bent[k] = pair.weight * (to.x * to.low + to.y * to.high);
      aimed[k] = pair.weight * (1 / pair.b - (kIsBounded ? 1 / pair.room : 0.0));
      steps[k] = to.step;
    }
    block.balance(bent, of_products);
    block.balance(aimed, of_aim);
    block.balance(steps, of_step);
  }
  return {largest_of(ways), sum_of(changes)};
}

template <bool kIsBounded>
RANKSVM_INLINE double ListedPairs::fastest_of_all(const Aim& aim, double* of_step) const {
  Tile ways, beyond;
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile towards, lacking, steps;
    block.lack(aim.towards, towards);
    block.lack(aim.move, lacking);
    for (std::size_t k = 0; k < block.n; ++k) {
      const auto to = block.step<kIsBounded>(k, towards, lacking, aim.product);
      ways[k] = larger(to.fastest(block.pair<kIsBounded>(k)), ways[k]);
      beyond[k] += 0 * (to.step + to.low + to.high);
      steps[k] = to.step;
    }
    block.balance(steps, of_step);
  }
  return largest_of(ways) + sum_of(beyond);
}

template <bool kIsBounded>
RANKSVM_INLINE void ListedPairs::correct_all(const Aim& aim, double part, double factor,
                                             double* balance) {
  if (!now_.low) {
    now_ = {numbers(n_), kIsBounded ? numbers(n_) : nullptr};
    before_ = {numbers(n_), kIsBounded ? numbers(n_) : nullptr};
  }
  std::swap(now_, before_);
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    Block block = block_at(begin);
    block.more_low = is_corrected_ ? before_.low.get() + begin : kZeros.number;
    block.more_high = is_corrected_ && kIsBounded ? before_.high.get() + begin : kZeros.number;
    Tile towards, lacking, low, high, changes;
    block.lack(aim.towards, towards);
    block.lack(aim.move, lacking);
    for (std::size_t k = 0; k < block.n; ++k) {
      const auto to = block.step<kIsBounded>(k, towards, lacking, aim.product);
      const InteriorPair pair = block.pair<kIsBounded>(k);
      const double of_low = (pair.b + part * to.step) * (pair.l + part * to.low);
      const double more_low = lacking_of(of_low, aim.product, factor);
      low[k] = block.more_low[k] + more_low;
      changes[k] = more_low / pair.b;
      if (!kIsBounded) continue;
      const double of_high = (pair.room - part * to.step) * (pair.h + part * to.high);
      const double more_high = lacking_of(of_high, aim.product, factor);
      high[k] = block.more_high[k] + more_high;
      changes[k] -= more_high / pair.room;
    }
    for (std::size_t k = 0; k < block.n; ++k) changes[k] *= block.weight[k];
    std::copy_n(low.number, block.n, now_.low.get() + begin);
    if (kIsBounded) std::copy_n(high.number, block.n, now_.high.get() + begin);
    block.balance(changes, balance);
  }
  was_corrected_ = is_corrected_;
  is_corrected_ = true;
}

template <bool kIsBounded>
RANKSVM_INLINE void ListedPairs::move_all(const Aim& aim, double part) {
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile towards, lacking, steps, low, high;
    block.lack(aim.towards, towards);
    block.lack(aim.move, lacking);
    for (std::size_t k = 0; k < block.n; ++k) {
      const auto to = block.step<kIsBounded>(k, towards, lacking, aim.product);
      steps[k] = to.step;
      low[k] = to.low;
      high[k] = to.high;
    }
    go<kIsBounded>(block.n, steps.number, low.number, high.number, part, block.upper, block.b,
                   block.room, block.l, block.h);
  }
}

template <bool kIsBounded>
RANKSVM_INLINE ListedPairs::Sums ListedPairs::sums_of_all(double* balance, double* degree) const {
  Tile products;
  ExactSum offset, quadratic;
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile slopes, kept, squares;
    for (std::size_t k = 0; k < block.n; ++k) {
      const InteriorPair pair = block.pair<kIsBounded>(k);
      slopes[k] = pair.b;
      kept[k] = block.margin[is_uniform_ ? 0 : k] * pair.b;
      products[k] += pair.b * pair.l + pair.room * pair.h;
      if (!kIsBounded) squares[k] = 0.5 * block.curvature<false>(k) * pair.b * pair.b;
    }
    offset.add(sum_of(kept));
    quadratic.add(sum_of(squares));
    block.balance(slopes, balance);
    for (std::size_t k = 0; k < block.n; ++k) {
      degree[block.better[k]] += slopes[k];
      degree[block.worse[k]] += slopes[k];
    }
  }
  return {offset.value(), quadratic.value(), sum_of(products)};
}

RANKSVM_CLONES void ListedPairs::weigh(const double* scores, double least, double* balance) {
  is_bounded_ ? weigh_all<true>(scores, least, balance) : weigh_all<false>(scores, least, balance);
}

void ListedPairs::add_laplacian(double* matrix) const {
  Array<double> degree = numbers(n_rows_);
  std::fill_n(degree.get(), n_rows_, 0.0);
  for (std::size_t p = 0; p < n_; ++p) {
    const auto [first, last] = std::minmax(better_[p], worse_[p]);
    const auto row = static_cast<std::size_t>(last);
    matrix[row * n_rows_ + static_cast<std::size_t>(first)] -= weights_[p];
    degree[first] += weights_[p];
    degree[last] += weights_[p];
  }
  for (std::size_t row = 0; row < n_rows_; ++row) matrix[row * (n_rows_ + 1)] += degree[row];
}

RANKSVM_CLONES void ListedPairs::laplacian(const double* v, double* product) const {
  for (std::size_t begin = 0; begin < n_; begin += kTile) {
    const Block block = block_at(begin);
    Tile weighed;
    for (std::size_t k = 0; k < block.n; ++k) weighed[k] = block.weight[k] * block.ahead(v, k);
    block.balance(weighed, product);
  }
}

RANKSVM_CLONES ListedPairs::Way ListedPairs::bend(const double* move, double* of_products,
                                                  double* of_aim, double* of_step) const {
  return is_bounded_ ? bend_all<true>(move, of_products, of_aim, of_step)
                     : bend_all<false>(move, of_products, of_aim, of_step);
}

RANKSVM_CLONES double ListedPairs::fastest(const Aim& aim, double* of_step) const {
  return is_bounded_ ? fastest_of_all<true>(aim, of_step) : fastest_of_all<false>(aim, of_step);
}

RANKSVM_CLONES void ListedPairs::correct(const Aim& aim, double part, double factor,
                                         double* balance) {
  is_bounded_ ? correct_all<true>(aim, part, factor, balance)
              : correct_all<false>(aim, part, factor, balance);
}

void ListedPairs::undo() {
  std::swap(now_, before_);
  is_corrected_ = was_corrected_;
}

RANKSVM_CLONES void ListedPairs::move(const Aim& aim, double part) {
  is_bounded_ ? move_all<true>(aim, part) : move_all<false>(aim, part);
}

RANKSVM_CLONES ListedPairs::Sums ListedPairs::sums(double* balance, double* degree) const {
  return is_bounded_ ? sums_of_all<true>(balance, degree) : sums_of_all<false>(balance, degree);
}

}  // namespace ranksvm
