// Products with the transpose of the design matrix.
#include <algorithm>
#include <vector>

#include "array.hpp"
#include "compiler.hpp"
#include "design_matrix.hpp"
#include "matrix_elements.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

// Columns from begin to end.
struct Columns {
  std::int64_t begin, end;
};

// Asks for four rows of some columns.
template <class Value>
RANKSVM_INLINE void prefetch_rows(const Value* rows, std::int64_t d, const Columns& columns) {
  constexpr std::int64_t kLine = 64 / sizeof(Value);
  if (columns.end - columns.begin == d)
    for (std::int64_t k = 0; k < 4 * d; k += kLine) prefetch(rows + k);
  else
    for (int row = 0; row < 4; ++row)
      for (auto k = columns.begin; k < columns.end; k += kLine) prefetch(rows + row * d + k);
}

// result[stride * k] += sum over the rows of u[i] X[i, k], for some columns k; with squares, the
// next element as well, the sum of v[i] X[i, k]^2.  Four rows share one pass over the result.  Four
// short streams are more than the hardware foresees, so the rows after next are asked for by hand.
template <bool Squares, class Value, class Element>
RANKSVM_CLONES void add_rows(const DenseMatrix<Value>& X, Element element, std::int64_t begin,
                             std::int64_t end, const Columns& columns, const double* u,
                             const double* v, double* RANKSVM_RESTRICT result) {
  constexpr std::int64_t kRows = 4, kStride = Squares ? 2 : 1;
  const auto d = X.n_columns, first = columns.begin, last = columns.end;
  auto i = begin;
  for (; i + kRows <= end; i += kRows) {
    const Value* row = X.values + i * d;
    prefetch_rows(row + 2 * kRows * d, d, columns);
    for (auto k = first; k < last; ++k) {
      const double x0 = element(row[k], k), x1 = element(row[k + d], k),
                   x2 = element(row[k + 2 * d], k), x3 = element(row[k + 3 * d], k);
      result[kStride * k] += (u[i] * x0 + u[i + 1] * x1) + (u[i + 2] * x2 + u[i + 3] * x3);
      if (Squares)
        result[kStride * k + 1] +=
            (v[i] * x0 * x0 + v[i + 1] * x1 * x1) + (v[i + 2] * x2 * x2 + v[i + 3] * x3 * x3);
    }
  }
  for (; i < end; ++i)
    for (auto k = first; k < last; ++k) {
      const double x = element(X.values[i * d + k], k);
      result[kStride * k] += u[i] * x;
      if (Squares) result[kStride * k + 1] += v[i] * x * x;
    }
}

// Where a row, whose columns ascend, has the first of a column or of one beyond.
template <class Value, class Index>
std::int64_t first_from(const CsrMatrix<Value, Index>& X, std::int64_t column, std::int64_t begin,
                        std::int64_t end) {
  const auto is_before = [](Index stored, std::int64_t bound) {
    return static_cast<std::int64_t>(stored) < bound;
  };
  return std::lower_bound(X.column + begin, X.column + end, column, is_before) - X.column;
}

template <bool Squares, class Value, class Index, class Element>
void add_rows(const CsrMatrix<Value, Index>& X, Element element, std::int64_t begin,
              std::int64_t end, const Columns& columns, const double* u, const double* v,
              double* RANKSVM_RESTRICT result) {
  for (auto i = begin; i < end; ++i) {
    prefetch_beyond(X, i);
    auto k = X.row_start[i], stop = X.row_start[i + 1];
    if (columns.begin > 0) k = first_from(X, columns.begin, k, stop);
    if (columns.end < X.n_columns) stop = first_from(X, columns.end, k, stop);
    for (; k < stop; ++k) {
      const double x = element(static_cast<double>(X.values[k]), X.column[k]);
      double* sums = result + (Squares ? 2 : 1) * std::int64_t{X.column[k]};
      sums[0] += u[i] * x;
      if (Squares) sums[1] += v[i] * x * x;
    }
  }
}

// Up to n parts of the columns, of about as much each.
template <class Value>
std::vector<Columns> parts_of_columns(const DenseMatrix<Value>& X, std::int64_t n) {
  constexpr std::int64_t kLine = 8;  // sums, that no two threads share
  const auto d = X.n_columns, width = (d / n / kLine + 1) * kLine;
  std::vector<Columns> parts;
  for (std::int64_t begin = 0; begin < d; begin += width)
    parts.push_back({begin, std::min(d, begin + width)});
  return parts;
}

// Of sparse rows, by what some of them store.
template <class Value, class Index>
std::vector<Columns> parts_of_columns(const CsrMatrix<Value, Index>& X, std::int64_t n) {
  constexpr std::int64_t kRows = 16, kOfEach = 64;
  if (n == 1 || !X.ascends) return {{0, X.n_columns}};
  std::vector<std::int64_t> stored;
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto* const row = X.row_start + (r * X.n_rows) / kRows;
    const auto step = (row[1] - row[0]) / kOfEach + 1;
    for (auto k = row[0]; k < row[1]; k += step) stored.push_back(X.column[k]);
  }
  std::vector<Columns> parts;
  for (std::int64_t part = 1, begin = 0; part <= n; ++part) {
    const auto middle = stored.begin() + (part * std::ssize(stored)) / n;
    if (part < n) std::nth_element(stored.begin(), middle, stored.end());
    const auto end = part < n && middle != stored.end() ? *middle : X.n_columns;
    if (begin < end) parts.push_back({begin, end});
    begin = std::max(begin, end);
  }
  return parts;
}

template <class Matrix>
std::int64_t n_blocks_of(const Matrix& X) {
  constexpr std::int64_t kMostBlocks = 16, kSumsPerBlock = 24;
  return std::clamp<std::int64_t>(
      n_stored(X) / (kSumsPerBlock * std::max<std::int64_t>(X.n_columns, 1024)), 1, kMostBlocks);
}

// Adds up blocks of rows into so many sums for each column.  Each block has its own sums, which are
// added in order; there are few blocks, so that this costs little beside the pass itself.  Sums are
// set to zero by the thread that needs them, next, in its cache.
template <class Matrix, class AddRows>
void sum_rows(const Matrix& X, std::int64_t n_each, double* result, int n_threads, AddRows&& add) {
  const auto n_blocks = n_blocks_of(X), n_sums = n_each * X.n_columns;
  const auto rows_per_block = (X.n_rows + n_blocks - 1) / n_blocks;
  const auto add_block = [&](std::int64_t b, const Columns& columns, double* sums) {
    std::fill(sums + n_each * columns.begin, sums + n_each * columns.end, 0.0);
    add(std::min(X.n_rows, b * rows_per_block), std::min(X.n_rows, (b + 1) * rows_per_block),
        columns, sums);
  };
  n_threads = useful_threads(n_stored(X), kLeastPerThread, n_threads);
  if (n_threads == 1) {  // the same sums with one vector, which stays in the cache
    const Columns all{0, X.n_columns};
    add_block(0, all, result);
    const auto sums = make_array<double>(n_blocks > 1 ? n_sums : 0);
    for (std::int64_t b = 1; b < n_blocks; ++b) {
      add_block(b, all, sums.get());
      for (std::int64_t k = 0; k < n_sums; ++k) result[k] += sums[k];
    }
    return;
  }
  const auto parts = parts_of_columns(X, (n_threads + n_blocks - 1) / n_blocks);
  const auto n_parts = std::ssize(parts);
  const auto sums = make_array<double>((n_blocks - 1) * n_sums);
  parallel_for(n_blocks * n_parts, n_threads, [&](std::int64_t t) {
    const auto b = t / n_parts;
    add_block(b, parts[t % n_parts], b == 0 ? result : sums.get() + (b - 1) * n_sums);
  });
  parallel_chunks(n_sums, 1 << 12, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = 0; b < n_blocks - 1; ++b)
      for (auto k = begin; k < end; ++k) result[k] += sums[b * n_sums + k];
  });
}

}  // namespace

template <class Matrix>
void multiply_transposed(const Matrix& X, const double* offset, const double* u, double* result,
                         int n_threads) {
  with_offset(offset, [&](auto element) {
    sum_rows(X, 1, result, n_threads, [&](auto begin, auto end, const auto& columns, double* sums) {
      add_rows<false>(X, element, begin, end, columns, u, nullptr, sums);
    });
  });
}

template <class Matrix>
void multiply_transposed_with_squares(const Matrix& X, const double* offset, const double* u,
                                      const double* v, double* result, int n_threads) {
  with_offset(offset, [&](auto element) {
    sum_rows(X, 2, result, n_threads, [&](auto begin, auto end, const auto& columns, double* sums) {
      add_rows<true>(X, element, begin, end, columns, u, v, sums);
    });
  });
}

template <class Matrix>
std::int64_t rows_in_a_sum(const Matrix& X) {
  return (X.n_rows + n_blocks_of(X) - 1) / n_blocks_of(X);
}

#define RANKSVM_INSTANTIATE(...)                                                                   \
  template std::int64_t rows_in_a_sum(const __VA_ARGS__&);                                         \
  template void multiply_transposed(const __VA_ARGS__&, const double*, const double*, double*,     \
                                    int);                                                          \
  template void multiply_transposed_with_squares(const __VA_ARGS__&, const double*, const double*, \
                                                 const double*, double*, int);
RANKSVM_FOR_EACH_MATRIX(RANKSVM_INSTANTIATE)
#undef RANKSVM_INSTANTIATE
template void multiply_transposed(const CsrMatrix<float, std::uint16_t>&, const double*,
                                  const double*, double*, int);

}  // namespace ranksvm
