#include "design_matrix.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kRowsPerTask = 1 << 10;
constexpr std::int64_t kLeastPerThread = 1 << 17;  // stored values

// The dot product of a dense row, in eight interleaved sums.
template <class Value>
RANKSVM_INLINE double dot(const Value* row, const double* w, std::int64_t d) {
  constexpr int kLanes = 8;
  double sums[2 * kLanes] = {};
  std::int64_t k = 0;
  for (; k + 2 * kLanes <= d; k += 2 * kLanes)
    for (int l = 0; l < 2 * kLanes; ++l) sums[l] += static_cast<double>(row[k + l]) * w[k + l];
  for (int l = 0; k + l < d; ++l) sums[l] += static_cast<double>(row[k + l]) * w[k + l];
  for (int step = kLanes; step > 0; step /= 2)
    for (int l = 0; l < step; ++l) sums[l] += sums[l + step];
  return sums[0];
}

template <class Value>
RANKSVM_CLONES void multiply_rows(const DenseMatrix<Value>& X, std::int64_t begin, std::int64_t end,
                                  const double* w, double* result) {
  for (auto i = begin; i < end; ++i) result[i] = dot(X.values + i * X.n_columns, w, X.n_columns);
}

template <class Value, class Index>
void multiply_rows(const CsrMatrix<Value, Index>& X, std::int64_t begin, std::int64_t end,
                   const double* w, double* result) {
  for (auto i = begin; i < end; ++i) {
    const auto stop = X.row_start[i + 1];
    auto k = X.row_start[i];
    double sums[4] = {};
    for (; k + 4 <= stop; k += 4)
      for (int l = 0; l < 4; ++l)
        sums[l] += static_cast<double>(X.values[k + l]) * w[X.column[k + l]];
    for (; k < stop; ++k) sums[0] += static_cast<double>(X.values[k]) * w[X.column[k]];
    result[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

// result += sum over the rows of u[i] X[i]; four rows share one pass over the result.  Four short
// streams are more than the hardware foresees, so the rows after next are asked for by hand.
template <class Value>
RANKSVM_CLONES void add_rows(const DenseMatrix<Value>& X, std::int64_t begin, std::int64_t end,
                             const double* u, double* RANKSVM_RESTRICT result) {
  constexpr std::int64_t kRows = 4, kLine = 64 / sizeof(Value);
  const auto d = X.n_columns;
  auto i = begin;
  for (; i + kRows <= end; i += kRows) {
    const Value* row = X.values + i * d;
    for (std::int64_t k = 0; k < kRows * d; k += kLine) prefetch(row + 2 * kRows * d + k);
    for (std::int64_t k = 0; k < d; ++k)
      result[k] += (u[i] * row[k] + u[i + 1] * row[k + d]) +
                   (u[i + 2] * row[k + 2 * d] + u[i + 3] * row[k + 3 * d]);
  }
  for (; i < end; ++i)
    for (std::int64_t k = 0; k < d; ++k) result[k] += u[i] * X.values[i * d + k];
}

template <class Value, class Index>
void add_rows(const CsrMatrix<Value, Index>& X, std::int64_t begin, std::int64_t end,
              const double* u, double* RANKSVM_RESTRICT result) {
  for (auto i = begin; i < end; ++i)
    for (auto k = X.row_start[i]; k < X.row_start[i + 1]; ++k)
      result[X.column[k]] += u[i] * static_cast<double>(X.values[k]);
}

// Pairs of sums, side by side: of u[i] X[i] and of v[i] X[i]^2.
template <class Value>
RANKSVM_CLONES void add_rows_and_squares(const DenseMatrix<Value>& X, std::int64_t begin,
                                         std::int64_t end, const double* u, const double* v,
                                         double* RANKSVM_RESTRICT result) {
  for (auto i = begin; i < end; ++i)
    for (std::int64_t k = 0; k < X.n_columns; ++k) {
      const double x = X.values[i * X.n_columns + k];
      result[2 * k] += u[i] * x;
      result[2 * k + 1] += v[i] * x * x;
    }
}

template <class Value, class Index>
void add_rows_and_squares(const CsrMatrix<Value, Index>& X, std::int64_t begin, std::int64_t end,
                          const double* u, const double* v, double* RANKSVM_RESTRICT result) {
  for (auto i = begin; i < end; ++i)
    for (auto k = X.row_start[i]; k < X.row_start[i + 1]; ++k) {
      const double x = X.values[k];
      double* sums = result + 2 * std::int64_t{X.column[k]};
      sums[0] += u[i] * x;
      sums[1] += v[i] * x * x;
    }
}

template <class Value>
std::int64_t n_stored(const DenseMatrix<Value>& X) {
  return X.n_rows * X.n_columns;
}
template <class Value, class Index>
std::int64_t n_stored(const CsrMatrix<Value, Index>& X) {
  return X.row_start[X.n_rows];
}

// Adds up blocks of rows into n_sums sums.  Each block has its own sums, which are added in
// order; there are few blocks, so that this costs little beside the pass itself.
template <class Matrix, class AddRows>
void sum_rows(const Matrix& X, std::int64_t n_sums, double* result, int n_threads, AddRows&& add) {
  constexpr std::int64_t kMostBlocks = 16, kSumsPerBlock = 24;
  const auto n_blocks = std::clamp<std::int64_t>(
      n_stored(X) / (kSumsPerBlock * std::max<std::int64_t>(n_sums, 1024)), 1, kMostBlocks);
  const auto rows_per_block = (X.n_rows + n_blocks - 1) / n_blocks;
  const auto add_block = [&](std::int64_t b, double* sums) {
    add(std::min(X.n_rows, b * rows_per_block), std::min(X.n_rows, (b + 1) * rows_per_block), sums);
  };
  n_threads = useful_threads(n_stored(X), kLeastPerThread, n_threads);
  std::fill(result, result + n_sums, 0.0);
  if (n_threads == 1) {  // the same sums with one vector, which stays in the cache
    add_block(0, result);
    std::vector<double> sums(n_blocks > 1 ? n_sums : 0);
    for (std::int64_t b = 1; b < n_blocks; ++b) {
      std::fill(sums.begin(), sums.end(), 0.0);
      add_block(b, sums.data());
      for (std::int64_t k = 0; k < n_sums; ++k) result[k] += sums[k];
    }
    return;
  }
  std::vector<double> sums((n_blocks - 1) * n_sums);
  parallel_for(n_blocks, n_threads, [&](std::int64_t b) {
    add_block(b, b == 0 ? result : sums.data() + (b - 1) * n_sums);
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

}  // namespace

template <class Matrix>
void multiply(const Matrix& X, const double* w, double* result, int n_threads) {
  n_threads = useful_threads(n_stored(X), kLeastPerThread, n_threads);
  parallel_chunks(X.n_rows, kRowsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    multiply_rows(X, begin, end, w, result);
  });
}

template <class Matrix>
void multiply_transposed(const Matrix& X, const double* u, double* result, int n_threads) {
  sum_rows(X, X.n_columns, result, n_threads,
           [&](auto begin, auto end, double* sums) { add_rows(X, begin, end, u, sums); });
}

template <class Matrix>
void multiply_transposed_with_squares(const Matrix& X, const double* u, const double* v,
                                      double* result, int n_threads) {
  sum_rows(X, 2 * X.n_columns, result, n_threads, [&](auto begin, auto end, double* sums) {
    add_rows_and_squares(X, begin, end, u, v, sums);
  });
}

template <class Matrix, class Real>
void gather_rows(const Matrix& X, const std::int64_t* rows, std::int64_t first, std::int64_t n,
                 std::int64_t first_column, std::int64_t last_column, const double* shift,
                 const double* scale, Real* result) {
  for (std::int64_t i = 0; i < n; ++i)
    gather_row(X, rows ? rows[i] : first + i, first_column, last_column, shift, scale,
               result + i * (last_column - first_column));
}

#define RANKSVM_INSTANTIATE(...)                                                                   \
  template void multiply(const __VA_ARGS__&, const double*, double*, int);                         \
  template void multiply_transposed(const __VA_ARGS__&, const double*, double*, int);              \
  template void multiply_transposed_with_squares(const __VA_ARGS__&, const double*, const double*, \
                                                 double*, int);                                    \
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

}  // namespace ranksvm
