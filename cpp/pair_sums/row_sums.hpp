// The Laplacian of one query times a block of rows, for the explicit Hessian X' M X.
//
// The same walks as merge.hpp, with whole rows instead of numbers: an addition is then a vector
// operation by itself, so a plain Fenwick tree over the label ranks is the right tree.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

template <class Real>
class RowSums {
 public:
  // rows, result: one row of `width` numbers per document, `stride` apart; document[p] is the one
  // at position p.  result[i] -= sign * outer[i] * (sum over the partners j of i of inner[j] *
  // rows[j]); inner and outer may be null (all ones).
  RANKSVM_CLONES void subtract_partners(const SortedQuery& query, const std::uint32_t* document,
                                        const double* inner, const double* outer, Real sign,
                                        const Real* rows, std::size_t width, std::size_t stride,
                                        Real* result) {
    width_ = width;
    const std::uint32_t top = query.n_levels - 1;
    sums_.assign((std::size_t{top} + 1) * width, Real{0});
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j)
        add(top - query.label[j], top, rows + stride * document[j], factor(inner, document[j]));
      subtract(top - query.label[p], result + stride * document[p],
               sign * factor(outer, document[p]));
    }
    std::fill(sums_.begin(), sums_.end(), Real{0});
    std::uint32_t p = query.n_documents;
    for (j = query.n_documents; j-- > 0;) {
      for (; p > 0 && query.window_end[p - 1] > j; --p)
        add(query.label[p - 1], top, rows + stride * document[p - 1],
            factor(inner, document[p - 1]));
      subtract(query.label[j], result + stride * document[j], sign * factor(outer, document[j]));
    }
  }

 private:
  static RANKSVM_INLINE Real factor(const double* weight, std::uint32_t i) {
    return weight ? static_cast<Real>(weight[i]) : Real{1};
  }
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
