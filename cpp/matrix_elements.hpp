// What products with X and with its transpose share.
#pragma once

#include <cstdint>

#include "compiler.hpp"
#include "design_matrix.hpp"

namespace ranksvm {

constexpr std::int64_t kLeastPerThread = 1 << 17;  // stored values, for a task, too

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

template <class Value>
std::int64_t n_stored(const DenseMatrix<Value>& X) {
  return X.n_rows * X.n_columns;
}
template <class Value, class Index>
std::int64_t n_stored(const CsrMatrix<Value, Index>& X) {
  return X.row_start[X.n_rows] - X.row_start[0];
}

}  // namespace ranksvm
