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
  explicit RowSums(double gap_scale) : gap_scale_(gap_scale) {}

  // rows, result: `width` numbers per position, `stride` apart.  With the partners j of p those
  // positions with inner_end[p] <= j < window_end[p] and a higher label,
  //
  //   result[p] -= outer[p] * (sum over the partners j of p of inner[j] * rows[j]).
  //
  // inner_end may be null (all zero), and so may inner and outer (all ones).  With Gap every term
  // is multiplied by the gap between the labels of the two, times the scale.
  template <bool Gap>
  RANKSVM_CLONES void subtract_partners(const SortedQuery& query, const std::uint32_t* inner_end,
                                        const Real* inner, const Real* outer, const Real* rows,
                                        std::size_t width, std::size_t stride, Real* result) {
    width_ = width;
    const std::size_t size = query.n_levels * width;
    sums_.assign(size, Real{0});
    if (Gap) sums_of_ways_.assign(size, Real{0});
    std::uint32_t j = 0, gone = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j)
        add<Gap>(query, query.label[j], rows + stride * j, inner ? inner[j] : Real{1});
      for (; inner_end && gone < inner_end[p]; ++gone)
        add<Gap>(query, query.label[gone], rows + stride * gone, inner ? -inner[gone] : Real{-1});
      subtract<Gap>(query, query.label[p], result + stride * p, outer ? outer[p] : Real{1});
    }
  }

 private:
  // A node holds the sum over a range of labels, of which the lowest is top + 1 - node.  With Gap
  // it also holds the sum of the rows times the way from their label down to that one; from there
  // on the way is the same for all.

  // Adds factor * row at a label; the lowest is never asked for.
  template <bool Gap>
  RANKSVM_INLINE void add(const SortedQuery& query, std::uint32_t label, const Real* row,
                          Real factor) {
    const std::uint32_t top = query.n_levels - 1;
    for (std::uint32_t node = top - label + 1; node <= top; node += node & -node) {
      add_row(factor, row, sums_.data() + width_ * node);
      if (Gap) {
        const Real way = scaled_gap(query, label, top + 1 - node);
        add_row(factor * way, row, sums_of_ways_.data() + width_ * node);
      }
    }
  }
  // Subtracts factor * (all that was added above the label).
  template <bool Gap>
  RANKSVM_INLINE void subtract(const SortedQuery& query, std::uint32_t label, Real* row,
                               Real factor) const {
    const std::uint32_t top = query.n_levels - 1;
    for (std::uint32_t node = top - label; node > 0; node &= node - 1) {
      const Real rest = Gap ? scaled_gap(query, top + 1 - node, label) : Real{1};
      add_row(-factor * rest, sums_.data() + width_ * node, row);
      if (Gap) add_row(-factor, sums_of_ways_.data() + width_ * node, row);
    }
  }
  RANKSVM_INLINE Real scaled_gap(const SortedQuery& query, std::uint32_t better,
                                 std::uint32_t worse) const {
    return static_cast<Real>(gap_scale_ * query.factor<true>(better, worse));
  }
  RANKSVM_INLINE void add_row(Real factor, const Real* row, Real* RANKSVM_RESTRICT sum) const {
    for (std::size_t k = 0; k < width_; ++k) sum[k] += factor * row[k];
  }

  double gap_scale_;
  std::vector<Real> sums_, sums_of_ways_;
  std::size_t width_ = 0;
};

}  // namespace ranksvm
