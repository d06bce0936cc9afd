// Half the Laplacian of one query times a block of rows, for the explicit Hessian X' M X.
//
// The same walk as merge.hpp, with whole rows instead of numbers: an addition is then a vector
// operation by itself, so a plain Fenwick tree over the label ranks is the right tree.
#pragma once

#include <algorithm>
#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

template <class Real>
class RowSums {
 public:
  // rows, result: `width` numbers per position, `stride` apart.  With the partners j of p those
  // positions with inner_end[p] <= j < window_end[p] and a higher label,
  //
  //   result[p] -= outer[p] * (sum over the partners j of p of inner[j] * rows[j]).
  //
  // inner_end may be null (all zero), and so may inner and outer (all ones).
  RANKSVM_CLONES void subtract_partners(const SortedQuery& query, const std::uint32_t* inner_end,
                                        const Real* inner, const Real* outer, const Real* rows,
                                        std::size_t width, std::size_t stride, Real* result) {
    width_ = width;
    const std::uint32_t top = query.n_levels - 1;
    sums_.assign((std::size_t{top} + 1) * width, Real{0});
    std::uint32_t j = 0, gone = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j)
        add(top - query.label[j], top, rows + stride * j, inner ? inner[j] : Real{1});
      for (; inner_end && gone < inner_end[p]; ++gone)
        add(top - query.label[gone], top, rows + stride * gone, inner ? -inner[gone] : Real{-1});
      subtract(top - query.label[p], result + stride * p, outer ? outer[p] : Real{1});
    }
  }

 private:
  // Adds factor * row at rank; ranks from `top` on are never asked for.
  RANKSVM_INLINE void add(std::uint32_t rank, std::uint32_t top, const Real* row, Real factor) {
    for (std::uint32_t node = rank + 1; node <= top; node += node & -node) {
      Real* __restrict sum = sums_.data() + width_ * node;
      for (std::size_t k = 0; k < width_; ++k) sum[k] += factor * row[k];
    }
  }
  // Subtracts factor * (all that was added below rank).
  RANKSVM_INLINE void subtract(std::uint32_t rank, Real* __restrict row, Real factor) const {
    for (std::uint32_t node = rank; node > 0; node &= node - 1) {
      const Real* sum = sums_.data() + width_ * node;
      for (std::size_t k = 0; k < width_; ++k) row[k] -= factor * sum[k];
    }
  }
  std::vector<Real> sums_;
  std::size_t width_ = 0;
};

}  // namespace ranksvm
