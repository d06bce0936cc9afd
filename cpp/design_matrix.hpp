// Products with the design matrix X: dense row-major or CSR, stored as float or double, summed in
// double.  Rows are cut into blocks that depend on the shape alone, so that results are
// bit-identical for any number of threads; where these are more than blocks, they share columns.
//
// Where columns lie far from zero, the rounding of plain products would bury small differences.  So
// an offset a is taken off every element before it is multiplied, and X - 1 a' stands for X:
//
//   offset (null: zeros) has an entry per column; in CSR it may be other than zero only in columns
//   that every row stores just once.
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
  const std::int64_t* row_start;
  const Index* column;
  const Value* values;
  bool ascends = false;  // whether the columns of each row are known to
};

// The types that templates are compiled for, each given to a macro.
#define RANKSVM_FOR_EACH_CSR_MATRIX(DO) \
  DO(CsrMatrix<float, std::int32_t>)    \
  DO(CsrMatrix<double, std::int32_t>)   \
  DO(CsrMatrix<float, std::int64_t>)    \
  DO(CsrMatrix<double, std::int64_t>)
#define RANKSVM_FOR_EACH_MATRIX(DO) \
  DO(DenseMatrix<float>)            \
  DO(DenseMatrix<double>)           \
  RANKSVM_FOR_EACH_CSR_MATRIX(DO)

// A view of the rows first..last-1.
template <class Value>
DenseMatrix<Value> some_rows(const DenseMatrix<Value>& X, std::int64_t first, std::int64_t last) {
  return {last - first, X.n_columns, X.values + first * X.n_columns};
}
template <class Value, class Index>
CsrMatrix<Value, Index> some_rows(const CsrMatrix<Value, Index>& X, std::int64_t first,
                                  std::int64_t last) {
  return {last - first, X.n_columns, X.row_start + first, X.column, X.values, X.ascends};
}

// result (n_rows) = (X - 1 a') w
template <class Matrix>
void multiply(const Matrix& X, const double* offset, const double* w, double* result,
              int n_threads);

// The same, and a bound of the rounding of each element: of every term, and of the longest chain of
// sums of them.
template <class Matrix>
void multiply_within(const Matrix& X, const double* offset, const double* w, double* result,
                     double* bound, int n_threads);

// How many rows the products below add up one after the other; the few sums are added up as well.
template <class Matrix>
std::int64_t rows_in_a_sum(const Matrix& X);

// result (n_columns) = (X - 1 a')' u
template <class Matrix>
void multiply_transposed(const Matrix& X, const double* offset, const double* u, double* result,
                         int n_threads);

// result (n_columns x 2, row-major): the same and, with Z = X - 1 a', (Z * Z)' v, in one pass; the
// first to the last bit as above.
template <class Matrix>
void multiply_transposed_with_squares(const Matrix& X, const double* offset, const double* u,
                                      const double* v, double* result, int n_threads);

// result (n x width, row-major), width = last_column - first_column: of the rows `rows[0..n)` of X
// (null: first..first+n) these columns, (x - shift) * scale.  shift and scale have n_columns
// entries.
template <class Matrix, class Real>
void gather_rows(const Matrix& X, const std::int64_t* rows, std::int64_t first, std::int64_t n,
                 std::int64_t first_column, std::int64_t last_column, const double* shift,
                 const double* scale, Real* result);

}  // namespace ranksvm
