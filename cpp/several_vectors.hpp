// Products of sparse rows with several vectors in one pass.  Most of the time of a product is spent
// on finding the element that a stored value goes with; where vectors lie side by side, element by
// element, what is found serves all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "design_matrix.hpp"

namespace ranksvm {

// result (vectors x n_rows, row-major): X w of each vector w, or (X * X) w of squares; each is the
// same to the last bit whatever the others.
template <class Value, class Index>
void multiply_several(const CsrMatrix<Value, Index>& X, bool squares,
                      const std::vector<const double*>& vectors, double* result, int n_threads);

}  // namespace ranksvm
