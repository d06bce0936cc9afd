#include "design_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "array.hpp"
#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kMostRowsPerTask = 1 << 10;
constexpr std::int64_t kLeastPerThread = 1 << 17;  // stored values, for a task, too

constexpr int kSums = 16;

// An element of column k, less its offset.
struct Plain {
  RANKSVM_INLINE double operator()(double value, std::int64_t) const { return value; }
};
struct Shifted {
  const double* offset;
  RANKSVM_INLINE double operator()(double value, std::int64_t k) const { return value - offset[k]; }
};

// Calls with the kind of element that there is.
template <class Call>
void with_offset(const double* offset, Call&& call) {
  offset ? call(Shifted{offset}) : call(Plain{});
}

// The sum of the terms of d elements, in sixteen interleaved sums, and of what is left over in
// fewer: loops of known lengths stay in registers.
template <class Terms>
RANKSVM_INLINE double sum_of(std::int64_t d, Terms term) {
  double sums[kSums] = {}, eight[8] = {}, four[4] = {}, rest = 0;
  std::int64_t k = 0;
  for (; k + kSums <= d; k += kSums)
    for (int l = 0; l < kSums; ++l) sums[l] += term(k + l);
  if (k + 8 <= d) {
    for (int l = 0; l < 8; ++l) eight[l] = term(k + l);
    k += 8;
  }
  if (k + 4 <= d) {
    for (int l = 0; l < 4; ++l) four[l] = term(k + l);
    k += 4;
  }
  for (; k < d; ++k) rest += term(k);
  for (int l = 0; l < 8; ++l) eight[l] += sums[l] + sums[l + 8];
  for (int l = 0; l < 4; ++l) four[l] += eight[l] + eight[l + 4];
  return ((four[0] + four[2]) + (four[1] + four[3])) + rest;
}

// The terms of the dot product of a dense row, and their absolute values.
template <class Value, class Element>
struct Term {
  const Value* row;
  Element element;
  const double* w;
  RANKSVM_INLINE double operator()(std::int64_t k) const {
    return element(static_cast<double>(row[k]), k) * w[k];
  }
};
template <class Value, class Element>
struct Magnitude {
  Term<Value, Element> term;
  RANKSVM_INLINE double operator()(std::int64_t k) const { return std::abs(term(k)); }
};

// What n terms in so many interleaved sums lose, relative to their magnitude: each term by itself
// (offset, product), on its way through the sums, and in the differences that are made of these.
constexpr double relative_rounding(std::int64_t n, int n_sums) {
  return static_cast<double>(n / n_sums + 12) * 0.5 * std::numeric_limits<double>::epsilon();
}

template <class Value, class Element>
RANKSVM_CLONES void multiply_rows(const DenseMatrix<Value>& X, Element element, std::int64_t begin,
                                  std::int64_t end, const double* w, double* result) {
  for (auto i = begin; i < end; ++i)
    result[i] = sum_of(X.n_columns, Term<Value, Element>{X.values + i * X.n_columns, element, w});
}

template <class Value, class Element>
RANKSVM_CLONES void bound_rows(const DenseMatrix<Value>& X, Element element, std::int64_t begin,
                               std::int64_t end, const double* w, double* bound) {
  const double rounding = relative_rounding(X.n_columns, kSums);
  for (auto i = begin; i < end; ++i) {
    const Term<Value, Element> term{X.values + i * X.n_columns, element, w};
    bound[i] = rounding * sum_of(X.n_columns, Magnitude<Value, Element>{term});
  }
}

// Asks for what follows a row by some: the products with rows in single precision are quick enough
// to be held up by memory otherwise.
template <class Value, class Index>
RANKSVM_INLINE void prefetch_beyond(const CsrMatrix<Value, Index>& X, std::int64_t i) {
  constexpr std::int64_t kBeyond = 512;
  constexpr std::int64_t kValues = 64 / sizeof(Value), kColumns = 64 / sizeof(Index);
  if constexpr (sizeof(Value) == sizeof(float)) {
    const auto begin = X.row_start[i] + kBeyond, end = X.row_start[i + 1] + kBeyond;
    for (auto k = begin; k < end; k += kValues) prefetch(X.values + k);
    for (auto k = begin; k < end; k += kColumns) prefetch(X.column + k);
  }
}

template <class Value, class Index, class Element>
void multiply_rows(const CsrMatrix<Value, Index>& X, Element element, std::int64_t begin,
                   std::int64_t end, const double* w, double* result) {
  for (auto i = begin; i < end; ++i) {
    prefetch_beyond(X, i);
    const auto stop = X.row_start[i + 1];
    auto k = X.row_start[i];
    double sums[4] = {};
    for (; k + 4 <= stop; k += 4)
      for (int l = 0; l < 4; ++l)
        sums[l] +=
            element(static_cast<double>(X.values[k + l]), X.column[k + l]) * w[X.column[k + l]];
    for (; k < stop; ++k)
      sums[0] += element(static_cast<double>(X.values[k]), X.column[k]) * w[X.column[k]];
    result[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

template <class Value, class Index, class Element>
void bound_rows(const CsrMatrix<Value, Index>& X, Element element, std::int64_t begin,
                std::int64_t end, const double* w, double* bound) {
  for (auto i = begin; i < end; ++i) {
    double sum = 0;
    for (auto k = X.row_start[i]; k < X.row_start[i + 1]; ++k)
      sum += std::abs(element(static_cast<double>(X.values[k]), X.column[k]) * w[X.column[k]]);
    bound[i] = relative_rounding(X.row_start[i + 1] - X.row_start[i], 4) * sum;
  }
}

// Columns from begin to end, which may be all.
struct Columns {
  std::int64_t begin, end;
  bool are_all = true;
};

// Asks for four rows of some columns.
template <class Value>
RANKSVM_INLINE void prefetch_rows(const Value* rows, std::int64_t d, const Columns& columns) {
  constexpr std::int64_t kLine = 64 / sizeof(Value);
  if (columns.are_all)
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
    parts.push_back({begin, std::min(d, begin + width), width >= d});
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
    if (begin < end) parts.push_back({begin, end, false});
    begin = std::max(begin, end);
  }
  return parts;
}

template <class Value>
std::int64_t n_stored(const DenseMatrix<Value>& X) {
  return X.n_rows * X.n_columns;
}
template <class Value, class Index>
std::int64_t n_stored(const CsrMatrix<Value, Index>& X) {
  return X.row_start[X.n_rows] - X.row_start[0];
}

template <class Matrix>
std::int64_t n_blocks_of(const Matrix& X) {
  constexpr std::int64_t kMostBlocks = 16, kSumsPerBlock = 24;
  return std::clamp<std::int64_t>(
      n_stored(X) / (kSumsPerBlock * std::max<std::int64_t>(X.n_columns, 1024)), 1, kMostBlocks);
}

// How many rows of a product make a task.
template <class Matrix>
std::int64_t rows_per_task(const Matrix& X) {
  const auto per_row = n_stored(X) / std::max<std::int64_t>(X.n_rows, 1) + 1;
  return std::clamp<std::int64_t>(kLeastPerThread / per_row, 1, kMostRowsPerTask);
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

template <class Value, class Real>
RANKSVM_CLONES void gather_row(const DenseMatrix<Value>& X, std::int64_t i, std::int64_t begin,
                               std::int64_t end, const double* shift, const double* scale,
                               Real* RANKSVM_RESTRICT result) {
  const Value* row = X.values + i * X.n_columns;
  for (auto k = begin; k < end; ++k)
    result[k - begin] = static_cast<Real>((row[k] - shift[k]) * scale[k]);
}

template <class Value, class Index, class Real>
void gather_row(const CsrMatrix<Value, Index>& X, std::int64_t i, std::int64_t begin,
                std::int64_t end, const double* shift, const double* scale,
                Real* RANKSVM_RESTRICT result) {
  for (auto k = begin; k < end; ++k) result[k - begin] = static_cast<Real>(-shift[k] * scale[k]);
  for (auto k = X.row_start[i]; k < X.row_start[i + 1]; ++k) {
    const std::int64_t column = X.column[k];
    if (begin <= column && column < end)
      result[column - begin] += static_cast<Real>(X.values[k] * scale[column]);
  }
}

// The first of what a row stores, after which a processor foresees the rest.
template <class Value>
RANKSVM_INLINE void prefetch_array(const Value* values, std::int64_t n) {
  constexpr std::int64_t kLine = 64, kMost = 4 * kLine;
  const auto n_bytes = std::min<std::int64_t>(n * static_cast<std::int64_t>(sizeof(Value)), kMost);
  for (std::int64_t at = 0; at < n_bytes; at += kLine)
    prefetch(reinterpret_cast<const char*>(values) + at);
}

template <class Value>
void prefetch_row(const DenseMatrix<Value>& X, std::int64_t i, std::int64_t begin,
                  std::int64_t end) {
  prefetch_array(X.values + i * X.n_columns + begin, end - begin);
}

// That takes two reads, one after the other, and dense copies of few elements hide no more.
template <class Value, class Index>
void prefetch_row(const CsrMatrix<Value, Index>&, std::int64_t, std::int64_t, std::int64_t) {}

}  // namespace

template <class Matrix>
void multiply(const Matrix& X, const double* offset, const double* w, double* result,
              int n_threads) {
  n_threads = useful_threads(n_stored(X), kLeastPerThread, n_threads);
  with_offset(offset, [&](auto element) {
    parallel_chunks(X.n_rows, rows_per_task(X), n_threads,
                    [&](std::int64_t begin, std::int64_t end) {
                      multiply_rows(X, element, begin, end, w, result);
                    });
  });
}

template <class Matrix>
void multiply_within(const Matrix& X, const double* offset, const double* w, double* result,
                     double* bound, int n_threads) {
  constexpr std::int64_t kRowsAtOnce = 16;  // those that the second sum finds in the cache
  n_threads = useful_threads(n_stored(X), kLeastPerThread, n_threads);
  with_offset(offset, [&](auto element) {
    parallel_chunks(X.n_rows, rows_per_task(X), n_threads,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (auto i = begin; i < end; i += kRowsAtOnce) {
                        const auto stop = std::min(end, i + kRowsAtOnce);
                        multiply_rows(X, element, i, stop, w, result);
                        bound_rows(X, element, i, stop, w, bound);
                      }
                    });
  });
}

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

template <class Matrix, class Real>
void gather_rows(const Matrix& X, const std::int64_t* rows, std::int64_t first, std::int64_t n,
                 std::int64_t first_column, std::int64_t last_column, const double* shift,
                 const double* scale, Real* result) {
  constexpr std::int64_t kAhead = 8;
  for (std::int64_t i = 0; i < n; ++i) {
    if (rows && i + kAhead < n) prefetch_row(X, rows[i + kAhead], first_column, last_column);
    gather_row(X, rows ? rows[i] : first + i, first_column, last_column, shift, scale,
               result + i * (last_column - first_column));
  }
}

#define RANKSVM_INSTANTIATE(...)                                                                   \
  template void multiply(const __VA_ARGS__&, const double*, const double*, double*, int);          \
  template void multiply_within(const __VA_ARGS__&, const double*, const double*, double*,         \
                                double*, int);                                                     \
  template std::int64_t rows_in_a_sum(const __VA_ARGS__&);                                         \
  template void multiply_transposed(const __VA_ARGS__&, const double*, const double*, double*,     \
                                    int);                                                          \
  template void multiply_transposed_with_squares(const __VA_ARGS__&, const double*, const double*, \
                                                 const double*, double*, int);                     \
  template void gather_rows(const __VA_ARGS__&, const std::int64_t*, std::int64_t, std::int64_t,   \
                            std::int64_t, std::int64_t, const double*, const double*, float*);     \
  template void gather_rows(const __VA_ARGS__&, const std::int64_t*, std::int64_t, std::int64_t,   \
                            std::int64_t, std::int64_t, const double*, const double*, double*)
RANKSVM_INSTANTIATE(DenseMatrix<float>);
RANKSVM_INSTANTIATE(DenseMatrix<double>);
RANKSVM_INSTANTIATE(CsrMatrix<float, std::int32_t>);
RANKSVM_INSTANTIATE(CsrMatrix<double, std::int32_t>);
RANKSVM_INSTANTIATE(CsrMatrix<float, std::int64_t>);
RANKSVM_INSTANTIATE(CsrMatrix<double, std::int64_t>);
#undef RANKSVM_INSTANTIATE
template void multiply(const CsrMatrix<float, std::uint16_t>&, const double*, const double*,
                       double*, int);
template void multiply_transposed(const CsrMatrix<float, std::uint16_t>&, const double*,
                                  const double*, double*, int);

}  // namespace ranksvm
