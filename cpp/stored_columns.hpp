// Which columns the rows of a design matrix store.
#pragma once

#include <cstdint>
#include <vector>

#include "design_matrix.hpp"

namespace ranksvm {

// Whether every stored value belongs to a column that there is, and whether those of each row
// ascend, or stay.
struct StoredColumns {
  bool exist, ascend;
};
template <class Value, class Index>
StoredColumns stored_columns(const CsrMatrix<Value, Index>& X);

// The columns that each of these rows (none: every row) stores just once, in ascending order.
template <class Value>
std::vector<std::int64_t> common_columns(const DenseMatrix<Value>& X,
                                         const std::vector<std::int64_t>& rows);
template <class Value, class Index>
std::vector<std::int64_t> common_columns(const CsrMatrix<Value, Index>& X,
                                         const std::vector<std::int64_t>& rows);

// counts (n_columns): how many values each column stores.
template <class Value, class Index>
void count_columns(const CsrMatrix<Value, Index>& X, std::int64_t* counts, int n_threads);

}  // namespace ranksvm
