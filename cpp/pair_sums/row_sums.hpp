// Half the Laplacian of one query times a block of rows, for the explicit Hessian X' M X.
//
// The same walk as merge.hpp, with whole rows instead of numbers: an addition is then a vector
// operation by itself, so a plain Fenwick tree over the label ranks is the right tree.  The rows
// that are added up may be sparse; their sums are not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
  void prefetch(std::uint32_t) const {}
};

// What a row stores, in any order; columns from the width of a sum on are not its own.
struct SparseRow {
  std::size_t n;
  const std::uint32_t* column;
  const double* value;
};

// Rows that are read one at a time: what is read is there until the next one is.
class SparseReader {
 public:
  virtual ~SparseReader() = default;
  virtual SparseRow read(std::uint32_t position) = 0;
  virtual void prefetch(std::uint32_t position) const = 0;
};

// Those for the positions from first to last.
struct SparseRows {
  SparseReader& reader;
  std::uint32_t first, last;

  [[nodiscard]] SparseRow at(std::uint32_t position) const { return reader.read(position); }
  void prefetch(std::uint32_t position) const { reader.prefetch(position); }
};

template <class Real>
RANKSVM_INLINE void add_row(Real factor, const Real* row, std::size_t width,
                            Real* RANKSVM_RESTRICT sum) {
  for (std::size_t k = 0; k < width; ++k) sum[k] += factor * row[k];
}
RANKSVM_INLINE void add_row(double factor, const SparseRow& row, std::size_t width,
                            double* RANKSVM_RESTRICT sum) {
  for (std::size_t m = 0; m < row.n; ++m)
    if (row.column[m] < width) sum[row.column[m]] += factor * row.value[m];
}

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
  template <bool Gap, class Weights, class Moving>
  RANKSVM_CLONES void subtract_partners(const SortedQuery& query, const std::uint32_t* inner_end,
                                        const Weights& weights, const Moving& entering,
                                        const Moving& leaving, const Rows<Real>& result) {
    std::uint32_t j = entering.first, gone = leaving.first;
    for (auto p = result.first; p < result.last; ++p) {
      add_until<Gap>(query, weights, 1, entering, query.window_end[p], j);
      if (inner_end) add_until<Gap>(query, weights, -1, leaving, inner_end[p], gone);
      const Real outer = weights.outer(p);
      if (outer != 0) subtract<Gap>(query, query.label[p], result.at(p), outer);
    }
    add_until<Gap>(query, weights, 1, entering, entering.last, j);
    add_until<Gap>(query, weights, -1, leaving, leaving.last, gone);
  }

 private:
  // A node holds the sum over a range of labels, of which the lowest is top + 1 - node.  With Gap
  // it also holds the sum of the rows times the way from their label down to that one; from there
  // on the way is the same for all.

  template <bool Gap, class Weights, class Moving>
  RANKSVM_INLINE void add_until(const SortedQuery& query, const Weights& weights, Real sign,
                                const Moving& rows, std::uint32_t end, std::uint32_t& position) {
    constexpr std::uint32_t kAhead = 12;
    for (; position < end; ++position) {
      if (position + kAhead < query.n_documents && query.label[position + kAhead] > 0)
        rows.prefetch(position + kAhead);
      if (query.label[position] > 0)
        add<Gap>(query, query.label[position], rows.at(position), sign * weights.inner(position));
    }
  }
  // Adds factor * row at a label above the lowest, which is never asked for.
  template <bool Gap, class Row>
  RANKSVM_INLINE void add(const SortedQuery& query, std::uint32_t label, const Row& row,
                          Real factor) {
    const std::uint32_t top = query.n_levels - 1;
    for (std::uint32_t node = top - label + 1; node <= top; node += node & -node) {
      add_row(factor, row, width_, sums_.data() + width_ * node);
      if (Gap) {
        const Real way = scaled_gap(query, label, top + 1 - node);
        add_row(factor * way, row, width_, sums_of_ways_.data() + width_ * node);
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
      add_row(-factor * rest, sums_.data() + width_ * node, width_, row);
      if (Gap) add_row(-factor, sums_of_ways_.data() + width_ * node, width_, row);
    }
  }
  RANKSVM_INLINE Real scaled_gap(const SortedQuery& query, std::uint32_t better,
                                 std::uint32_t worse) const {
    return static_cast<Real>(gap_scale_ * query.factor<true>(better, worse));
  }

  double gap_scale_;
  std::size_t width_;
  LargeVector<Real> sums_, sums_of_ways_;
};

}  // namespace ranksvm
