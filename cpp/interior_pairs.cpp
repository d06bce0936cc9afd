#include "interior_pairs.hpp"

#include <algorithm>
#include <cstdint>

#include "interior_step.hpp"

namespace ranksvm {
namespace {

// Takes the pairs of a better row a part of a step on; of arguments, compilers believe that they
// are different memory.
RANKSVM_INLINE void go(std::size_t n, const double* RANKSVM_RESTRICT towards, double before,
                       const double* RANKSVM_RESTRICT worse, double ahead, double product,
                       double part, const double* RANKSVM_RESTRICT upper,
                       const double* RANKSVM_RESTRICT weight, double* RANKSVM_RESTRICT b,
                       double* RANKSVM_RESTRICT room, double* RANKSVM_RESTRICT l,
                       double* RANKSVM_RESTRICT h, double* RANKSVM_RESTRICT moved,
                       double* RANKSVM_RESTRICT of_moved, double* RANKSVM_RESTRICT products) {
  for (std::size_t k = 0; k < n; ++k) {
    const InteriorPair pair{b[k], room[k], l[k], h[k], weight[k]};
    const Step<true> to(pair, before + towards[k], ahead + worse[k], product, product);
    b[k] = moved[k] = smaller(b[k] + part * to.step, upper[k]);  // steps are rounded
    room[k] -= part * to.step;
    l[k] += part * to.low;
    h[k] += part * to.high;
    of_moved[k] += moved[k];
    products[k] += b[k] * l[k] + room[k] * h[k];
  }
}

}  // namespace

InteriorPairs::InteriorPairs(Shape shape, const double* upper, bool is_uniform, double margin,
                             double share, double product)
    : shape_(shape),
      is_uniform_(is_uniform),
      margin_(margin),
      upper_(numbers(is_uniform ? kTile : shape.size())),
      slopes_(numbers(shape.size())),
      room_(numbers(shape.size())),
      low_(numbers(shape.size())),
      high_(numbers(shape.size())),
      weights_(numbers(shape.size())) {
  if (is_uniform)
    std::fill_n(upper_.get(), kTile, *upper);
  else
    std::copy_n(upper, shape.size(), upper_.get());
  for (std::size_t p = 0; p < shape.size(); ++p) {
    const double bound = upper[is_uniform ? 0 : p];
    slopes_[p] = share * bound;
    room_[p] = bound - slopes_[p];
    low_[p] = product / slopes_[p];
    high_[p] = product / room_[p];
  }
}

RANKSVM_CLONES void InteriorPairs::weigh(const double* scores, double* balance, double* degree) {
  for (std::size_t j = 0; j < shape_.n_worse; j += kTile) {
    const std::size_t n = std::min(kTile, shape_.n_worse - j);
    Tile lacking, weights, of_lacking, of_weights;
    for (std::size_t i = 0; i < shape_.n_better; ++i) {
      const std::size_t begin = i * shape_.n_worse + j;
      const double* RANKSVM_RESTRICT b = slopes_.get() + begin;
      const double* RANKSVM_RESTRICT room = room_.get() + begin;
      const double* RANKSVM_RESTRICT l = low_.get() + begin;
      const double* RANKSVM_RESTRICT h = high_.get() + begin;
      double* RANKSVM_RESTRICT weight = weights_.get() + begin;
      const double* RANKSVM_RESTRICT worse = scores + j;
      const double ahead = margin_ - scores[shape_.first + i];
      for (std::size_t k = 0; k < n; ++k) {
        weight[k] = weights[k] = 1 / (l[k] / b[k] + h[k] / room[k]);
        lacking[k] = weights[k] * (ahead + worse[k]);
        of_weights[k] += weights[k];
        of_lacking[k] += lacking[k];
      }
      balance[shape_.first + i] += sum_of(lacking);
      degree[shape_.first + i] += sum_of(weights);
    }
    for (std::size_t k = 0; k < n; ++k) {
      balance[j + k] -= of_lacking[k];
      degree[j + k] += of_weights[k];
    }
  }
}

RANKSVM_CLONES InteriorPairs::Way InteriorPairs::bend(const double* scores, double* of_products,
                                                      double* of_aim) const {
  Tile ways, changes;
  for (std::size_t j = 0; j < shape_.n_worse; j += kTile) {
    const std::size_t n = std::min(kTile, shape_.n_worse - j);
    Tile bent, aimed, of_bent, of_aimed;
    for (std::size_t i = 0; i < shape_.n_better; ++i) {
      const std::size_t begin = i * shape_.n_worse + j;
      const double* RANKSVM_RESTRICT b = slopes_.get() + begin;
      const double* RANKSVM_RESTRICT room = room_.get() + begin;
      const double* RANKSVM_RESTRICT l = low_.get() + begin;
      const double* RANKSVM_RESTRICT h = high_.get() + begin;
      const double* RANKSVM_RESTRICT weight = weights_.get() + begin;
      const double* RANKSVM_RESTRICT worse = scores + j;
      const double ahead = margin_ - scores[shape_.first + i];
      for (std::size_t k = 0; k < n; ++k) {
        const Towards<true> to({b[k], room[k], l[k], h[k], weight[k]}, ahead + worse[k]);
        ways[k] = larger(to.fastest(), ways[k]);
        changes[k] += to.step * (to.low - to.high);
        bent[k] = weight[k] * (to.x * to.low + to.y * to.high);
        aimed[k] = weight[k] * (1 / b[k] - 1 / room[k]);
        of_bent[k] += bent[k];
        of_aimed[k] += aimed[k];
      }
      of_products[shape_.first + i] += sum_of(bent);
      of_aim[shape_.first + i] += sum_of(aimed);
    }
    for (std::size_t k = 0; k < n; ++k) {
      of_products[j + k] -= of_bent[k];
      of_aim[j + k] -= of_aimed[k];
    }
  }
  return {largest_of(ways), sum_of(changes)};
}

RANKSVM_CLONES double InteriorPairs::fastest(const Aim& aim) const {
  Tile ways;
  const double product = aim.product;
  for (std::size_t j = 0; j < shape_.n_worse; j += kTile) {
    const std::size_t n = std::min(kTile, shape_.n_worse - j);
    for (std::size_t i = 0; i < shape_.n_better; ++i) {
      const std::size_t begin = i * shape_.n_worse + j;
      const double* RANKSVM_RESTRICT b = slopes_.get() + begin;
      const double* RANKSVM_RESTRICT room = room_.get() + begin;
      const double* RANKSVM_RESTRICT l = low_.get() + begin;
      const double* RANKSVM_RESTRICT h = high_.get() + begin;
      const double* RANKSVM_RESTRICT weight = weights_.get() + begin;
      const double* RANKSVM_RESTRICT towards = aim.towards + j;
      const double* RANKSVM_RESTRICT worse = aim.scores + j;
      const double before = margin_ - aim.towards[shape_.first + i];
      const double ahead = margin_ - aim.scores[shape_.first + i];
      for (std::size_t k = 0; k < n; ++k) {
        const InteriorPair pair{b[k], room[k], l[k], h[k], weight[k]};
        const Step<true> to(pair, before + towards[k], ahead + worse[k], product, product);
        ways[k] = larger(to.fastest(pair), ways[k]);
      }
    }
  }
  return largest_of(ways);
}

RANKSVM_CLONES InteriorPairs::Sums InteriorPairs::move(const Aim& aim, double part, double* balance,
                                                       double* degree) {
  Tile products;
  ExactSum slopes;
  for (std::size_t j = 0; j < shape_.n_worse; j += kTile) {
    const std::size_t n = std::min(kTile, shape_.n_worse - j);
    Tile moved, of_moved;
    for (std::size_t i = 0; i < shape_.n_better; ++i) {
      const std::size_t begin = i * shape_.n_worse + j;
      const double before = margin_ - aim.towards[shape_.first + i];
      const double ahead = margin_ - aim.scores[shape_.first + i];
      go(n, aim.towards + j, before, aim.scores + j, ahead, aim.product, part,
         upper_.get() + (is_uniform_ ? 0 : begin), weights_.get() + begin, slopes_.get() + begin,
         room_.get() + begin, low_.get() + begin, high_.get() + begin, moved.number,
         of_moved.number, products.number);
      const double sum = sum_of(moved);
      slopes.add(sum);
      balance[shape_.first + i] += sum;
      degree[shape_.first + i] += sum;
    }
    for (std::size_t k = 0; k < n; ++k) {
      balance[j + k] -= of_moved[k];
      degree[j + k] += of_moved[k];
    }
  }
  return {slopes.value(), sum_of(products)};
}

}  // namespace ranksvm
