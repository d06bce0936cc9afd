// Reads rows of a sparse matrix into room that is used again.
#pragma once

#include <cstdint>
#include <vector>

#include "sparse_hessian.hpp"

namespace ranksvm {

class RowReader {
 public:
  explicit RowReader(const SparseMatrix& Z) : Z_(Z) {}

  // Calls with the column and the value of all that a row stores.
  template <class Call>
  void each(std::int64_t row, Call&& call) {
    const auto n = static_cast<std::size_t>(Z_.n_stored(row));
    if (n > column_.size()) {
      column_.resize(n);
      value_.resize(n);
    }
    Z_.copy(row, 0, column_.data(), value_.data());
    for (std::size_t m = 0; m < n; ++m) call(column_[m], value_[m]);
  }

 private:
  const SparseMatrix& Z_;
  std::vector<std::uint32_t> column_;
  std::vector<double> value_;
};

}  // namespace ranksvm
