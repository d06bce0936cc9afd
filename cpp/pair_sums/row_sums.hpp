// Half the Laplacian of one query times a block of rows, for the explicit Hessian X' M X.
//
// The same walk as merge.hpp, with whole rows instead of numbers: an addition is then a vector
// operation by itself, so a plain Fenwick tree over the label ranks is the right tree.
#pragma once

#include <algorithm>
#include <cstddef>

#include "../array.hpp"
#include "sorted_query.hpp"

namespace ranksvm {

// Rows of numbers for the positions from first to last, `stride` apart.
template <class Real>
struct Rows {
  Real* data;
  std::ptrdiff_t stride;
  std::uint32_t first, last;

  [[nodiscard]] Real* at(std::uint32_t position) const {
    return data + stride * static_cast<std::ptrdiff_t>(position - first);
  }
};

template <class Real>
class RowSums {
 public:
  // For rows of `width` numbers.
  RowSums(double gap_scale, std::size_t width) : gap_scale_(gap_scale), width_(width) {}

  // Forgets all rows; what comes is of this query.
  void reset(const SortedQuery& query, bool gap) {
    const std::size_t size = query.n_levels * width_;
    sums_.assign(size, Real{0});
    if (gap) sums_of_ways_.assign(size, Real{0});
  }
  [[nodiscard]] std::size_t width() const { return width_; }

  // With the partners j of p those positions with inner_end[p] <= j < window_end[p] and a higher
  // label,
  //
  //   result[p] -= outer(p) * (sum over the partners j of p of inner(j) * rows[j]),
  //
  // for the positions p of `result`.  Rows enter the sums when the first window that holds them
  // comes, and leave when it has passed: so `entering` and `leaving` begin where those of the call
  // before ended, and end where the last p needs them to, or beyond.  No rows leave where inner_end
  // is null.  With Gap every term is multiplied by the gap between the labels of the two, times the
  // scale.
  template <bool Gap, class Weights>
  RANKSVM_CLONES void subtract_partners(const SortedQuery& query, const std::uint32_t* inner_end,
                                        const Weights& weights, const Rows<const Real>& entering,
                                        const Rows<const Real>& leaving, const Rows<Real>& result) {
    std::uint32_t j = entering.first, gone = leaving.first;
    for (auto p = result.first; p < result.last; ++p) {
      add_until<Gap>(query, weights, 1, entering, query.window_end[p], j);
      if (inner_end) add_until<Gap>(query, weights, -1, leaving, inner_end[p], gone);
      subtract<Gap>(query, query.label[p], result.at(p), weights.outer(p));
    }
    add_until<Gap>(query, weights, 1, entering, entering.last, j);
    add_until<Gap>(query, weights, -1, leaving, leaving.last, gone);
  }

 private:
  // A node holds the sum over a range of labels, of which the lowest is top + 1 - node.  With Gap
  // it also holds the sum of the rows times the way from their label down to that one; from there
  // on the way is the same for all.

  template <bool Gap, class Weights>
  RANKSVM_INLINE void add_until(const SortedQuery& query, const Weights& weights, Real sign,
                                const Rows<const Real>& rows, std::uint32_t end,
                                std::uint32_t& position) {
    for (; position < end; ++position)
      add<Gap>(query, query.label[position], rows.at(position), sign * weights.inner(position));
  }
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
  std::size_t width_;
  LargeVector<Real> sums_, sums_of_ways_;
};

}  // namespace ranksvm
