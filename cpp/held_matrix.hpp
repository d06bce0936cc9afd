// What the bindings of all design matrices share.
#pragma once

#include <cstdint>
#include <optional>

#include "numpy_arrays.hpp"

namespace ranksvm {

// Holds views of the arrays of one kind of matrix.
template <class Matrix>
struct Held {
  Matrix matrix;
};

using Offset = std::optional<In<double, 1>>;

// The offset of each column, or none.
template <class Matrix>
const double* checked(const Offset& offset, const Matrix& X) {
  require(!offset || static_cast<std::int64_t>(offset->shape(0)) == X.n_columns,
          "one offset per column");
  return offset ? offset->data() : nullptr;
}

}  // namespace ranksvm
