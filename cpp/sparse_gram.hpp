// The dot products of sparse rows, all with all.
//
// A block of eight rows goes through the columns that one of them stores, in ascending order. Each
// number of such a column is multiplied by those of the eight rows at once,
//
//   sums[j][0..8) += z[j, k] z[first..first + 8, k],
//
// so that the columns that most rows store, which take most of the work, are read once for eight
// rows. Of a column only the rows up to the block's own take part: the other half is the same. Each
// element is added up in the same order, whatever the number of threads.
#pragma once

#include <cstdint>

#include "sparse_hessian.hpp"

namespace ranksvm {

// result (n_rows x n_rows, row-major) = Z Z', symmetric to the last bit.
void multiply_by_transposed(const SparseMatrix& Z, std::int64_t n_rows, std::int64_t n_columns,
                            double* result, int n_threads);

}  // namespace ranksvm
