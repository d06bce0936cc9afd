#include "design_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler.hpp"
#include "matrix_elements.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kMostRowsPerTask = 1 << 10;

constexpr int kSums = 16;

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

// How many rows of a product make a task.
template <class Matrix>
std::int64_t rows_per_task(const Matrix& X) {
  const auto per_row = n_stored(X) / std::max<std::int64_t>(X.n_rows, 1) + 1;
  return std::clamp<std::int64_t>(kLeastPerThread / per_row, 1, kMostRowsPerTask);
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

#define RANKSVM_INSTANTIATE(...)                                                                 \
  template void multiply(const __VA_ARGS__&, const double*, const double*, double*, int);        \
  template void multiply_within(const __VA_ARGS__&, const double*, const double*, double*,       \
                                double*, int);                                                   \
  template void gather_rows(const __VA_ARGS__&, const std::int64_t*, std::int64_t, std::int64_t, \
                            std::int64_t, std::int64_t, const double*, const double*, float*);   \
  template void gather_rows(const __VA_ARGS__&, const std::int64_t*, std::int64_t, std::int64_t, \
                            std::int64_t, std::int64_t, const double*, const double*, double*);
RANKSVM_FOR_EACH_MATRIX(RANKSVM_INSTANTIATE)
#undef RANKSVM_INSTANTIATE
template void multiply(const CsrMatrix<float, std::uint16_t>&, const double*, const double*,
                       double*, int);

}  // namespace ranksvm
