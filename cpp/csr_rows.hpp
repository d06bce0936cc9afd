// Rows of a CSR matrix, one at a time, less an offset of each column and scaled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler.hpp"
#include "design_matrix.hpp"
#include "sparse_hessian.hpp"

namespace ranksvm {

// The rows (X - 1 a') diag(scale), or some of them.
template <class Value, class Index>
class CsrRows final : public SparseMatrix {
 public:
  CsrRows(const CsrMatrix<Value, Index>& X, const double* offset, const double* scale,
          const std::int64_t* rows)
      : X_(X), offset_(offset), scale_(scale), rows_(rows) {}

  [[nodiscard]] std::int64_t n_stored(std::int64_t row) const override {
    const auto i = rows_ ? rows_[row] : row;
    return X_.row_start[i + 1] - X_.row_start[i];
  }
  void copy(std::int64_t row, std::uint32_t first_column, std::uint32_t* column,
            double* value) const override {
    const auto i = rows_ ? rows_[row] : row;
    for (auto m = X_.row_start[i]; m < X_.row_start[i + 1]; ++m, ++column, ++value) {
      const auto k = X_.column[m];
      *column = static_cast<std::uint32_t>(k) - first_column;
      *value = (static_cast<double>(X_.values[m]) - (offset_ ? offset_[k] : 0)) * scale_[k];
    }
  }
  void prefetch_row(std::int64_t row) const override {
    constexpr std::int64_t kLine = 64, kMost = 4 * kLine;  // what follows is foreseen
    const auto i = rows_ ? rows_[row] : row;
    const auto* first = X_.column + X_.row_start[i];
    const auto* value = X_.values + X_.row_start[i];
    const auto n = X_.row_start[i + 1] - X_.row_start[i];
    const auto load = [&](const auto* array) {
      const auto n_bytes = std::min<std::int64_t>(n * sizeof(*array), kMost);
      for (std::int64_t at = 0; at < n_bytes; at += kLine)
        prefetch(reinterpret_cast<const char*>(array) + at);
    };
    load(first);
    load(value);
  }

 private:
  CsrMatrix<Value, Index> X_;
  const double *offset_, *scale_;
  const std::int64_t* rows_;
};

}  // namespace ranksvm
