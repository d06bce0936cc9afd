// The product Z' L Z of sparse rows with a sparse Laplacian, such as that of listed pairs.
//
// One row after the other: its row of L Z is dense in general, but its own row z is not, and each
// value that this stores adds a multiple of the one to a row of the result, whose lower half is all
// that is computed,
//
//   result[k, 0..k] += z[k] (L Z)[i, 0..k].
//
// Threads share the columns, about as many elements each. Every element is added up in the same
// order, whatever their number.
#pragma once

#include <cstdint>

#include "sparse_hessian.hpp"

namespace ranksvm {

// What row i of a symmetric matrix stores is at start[i], ..., start[i + 1] - 1.
struct SparseSquare {
  std::int64_t n_rows;
  const std::int64_t* start;
  const std::int64_t* column;
  const double* value;
};

// result (n_columns x n_columns, row-major), symmetric to the last bit; what it holds is lost. It
// is added up in its own precision, float or double.
template <class Sum>
void multiply_laplacian(const SparseMatrix& Z, std::int64_t n_columns, const SparseSquare& L,
                        Sum* result, int n_threads);

}  // namespace ranksvm
