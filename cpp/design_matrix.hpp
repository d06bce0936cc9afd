// Products with the design matrix X: dense row-major or CSR, stored as float or double, summed in
// double.  Rows are cut into blocks that depend on the shape alone, so that results are
// bit-identical for any number of threads.
#pragma once

#include <cstdint>

namespace ranksvm {

template <class Value>
struct DenseMatrix {
  std::int64_t n_rows, n_columns;
  const Value* values;
};

template <class Value, class Index>
struct CsrMatrix {
  std::int64_t n_rows, n_columns;
  const Index* row_start;
  const Index* column;
  const Value* values;
};

// result (n_rows) = X w
template <class Matrix>
void multiply(const Matrix& X, const double* w, double* result, int n_threads);

// result (n_columns) = X' u
template <class Matrix>
void multiply_transposed(const Matrix& X, const double* u, double* result, int n_threads);

// result (n_columns x 2, row-major): X' u and (X * X)' v, in one pass
template <class Matrix>
void multiply_transposed_with_squares(const Matrix& X, const double* u, const double* v,
                                      double* result, int n_threads);

// result (n x width, row-major), width = last_column - first_column: of the rows `rows[0..n)` of X
// (null: first..first+n) these columns, (x - shift) * scale.  shift and scale have n_columns
// entries.
template <class Matrix, class Real>
void gather_rows(const Matrix& X, const std::int64_t* rows, std::int64_t first, std::int64_t n,
                 std::int64_t first_column, std::int64_t last_column, const double* shift,
                 const double* scale, Real* result);

}  // namespace ranksvm
