// A copy of sparse rows for products that need not be exact: values in single precision, and
// columns in 16 bits where these can number them.  It takes half the memory, which is what a pass
// over sparse rows waits for.
#pragma once

#include <cstdint>
#include <memory>

#include "array.hpp"
#include "design_matrix.hpp"

namespace ranksvm {

class RoundedRows {
 public:
  // Where the rows start is not copied.
  template <class Index>
  static std::unique_ptr<RoundedRows> of(const CsrMatrix<double, Index>& X, int n_threads);

  [[nodiscard]] std::int64_t n_rows() const { return n_rows_; }
  [[nodiscard]] std::int64_t n_columns() const { return n_columns_; }

  // The largest |x_i - r_i| of a row x_i and what it is rounded to; infinite where there are
  // numbers that single precision cannot hold.
  [[nodiscard]] double rounding() const { return rounding_; }

  // result (n_rows) = R w
  void multiply(const double* w, double* result, int n_threads) const;

  // result (n_columns) = R' u
  void multiply_transposed(const double* u, double* result, int n_threads) const;

 private:
  template <class Call>
  void with_matrix(Call&& call) const;

  std::int64_t n_rows_ = 0, n_columns_ = 0;
  const std::int64_t* row_start_ = nullptr;
  bool ascends_ = false;
  Array<std::uint16_t> short_columns_;
  Array<std::int32_t> columns_;
  Array<float> values_;
  double rounding_ = 0;
};

}  // namespace ranksvm
