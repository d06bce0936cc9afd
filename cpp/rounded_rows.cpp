#include "rounded_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kRowsPerTask = 1 << 8;  // what these store stays in the cache

// Rounds values; says whether single precision can hold them.
RANKSVM_CLONES bool round_values(const double* values, std::int64_t n, float* rounded) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  constexpr double kMost = std::numeric_limits<float>::max();
  // Sizes are in the order of their bits; these are compared for many at once.
  constexpr auto kFirst = std::bit_cast<std::uint64_t>(kLeast);
  constexpr auto kLast = std::bit_cast<std::uint64_t>(kMost);
  std::uint64_t is_lost = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double size = std::abs(values[k]), held = size < kMost ? size : kMost;
    const auto bits = std::bit_cast<std::uint64_t>(size);
    is_lost |= std::uint64_t{bits - 1 < kFirst - 1} | std::uint64_t{bits > kLast};  // zero is not
    rounded[k] = static_cast<float>(std::copysign(held, values[k]));
  }
  return is_lost == 0;
}

// The square of what a row is rounded by.
RANKSVM_CLONES double rounded_by(const double* values, const float* rounded, std::int64_t n) {
  Lanes sum{};
  std::int64_t k = 0;
  for (; k + std::int64_t{kLanes} <= n; k += kLanes) {
    Lanes by;
    for (std::size_t j = 0; j < kLanes; ++j) by[j] = values[k + j] - rounded[k + j];
    sum += by * by;
  }
  double square = total(sum);
  for (; k < n; ++k) square += (values[k] - rounded[k]) * (values[k] - rounded[k]);
  return square;
}

// Copies rows; returns the largest square of what a row is rounded by, infinite where single
// precision cannot hold it.
template <class Column, class Index>
double copy_rows(const CsrMatrix<double, Index>& X, std::int64_t begin, std::int64_t end,
                 Column* column, float* value) {
  const auto first = X.row_start[begin], last = X.row_start[end];
  const bool fits = round_values(X.values + first, last - first, value + first);
  for (auto k = first; k < last; ++k) column[k] = static_cast<Column>(X.column[k]);
  double most = 0;
  for (auto i = begin; i < end; ++i) {
    const auto k = X.row_start[i];
    most = std::max(most, rounded_by(X.values + k, value + k, X.row_start[i + 1] - k));
  }
  return fits ? most : std::numeric_limits<double>::infinity();
}

}  // namespace

template <class Index>
std::unique_ptr<RoundedRows> RoundedRows::of(const CsrMatrix<double, Index>& X, int n_threads) {
  auto rows = std::make_unique<RoundedRows>();
  rows->n_rows_ = X.n_rows;
  rows->n_columns_ = X.n_columns;
  rows->row_start_ = X.row_start;
  rows->ascends_ = X.ascends;
  rows->rounding_ = std::numeric_limits<double>::infinity();
  if (X.n_columns > std::numeric_limits<std::int32_t>::max()) return rows;
  const auto n_stored = X.row_start[X.n_rows];
  rows->values_ = make_array<float>(n_stored);
  const bool is_short = X.n_columns <= std::int64_t{1} << 16;
  if (is_short)
    rows->short_columns_ = make_array<std::uint16_t>(n_stored);
  else
    rows->columns_ = make_array<std::int32_t>(n_stored);
  std::vector<double> squares((X.n_rows + kRowsPerTask - 1) / kRowsPerTask);
  parallel_chunks(X.n_rows, kRowsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    auto* values = rows->values_.get();
    squares[begin / kRowsPerTask] =
        is_short ? copy_rows(X, begin, end, rows->short_columns_.get(), values)
                 : copy_rows(X, begin, end, rows->columns_.get(), values);
  });
  double most = 0;
  for (const double square : squares) most = std::max(most, square);
  rows->rounding_ = std::sqrt(most);
  return rows;
}

template <class Call>
void RoundedRows::with_matrix(Call&& call) const {
  if (columns_)
    call(CsrMatrix<float, std::int32_t>{n_rows_, n_columns_, row_start_, columns_.get(),
                                        values_.get(), ascends_});
  else
    call(CsrMatrix<float, std::uint16_t>{n_rows_, n_columns_, row_start_, short_columns_.get(),
                                         values_.get(), ascends_});
}

void RoundedRows::multiply(const double* w, double* result, int n_threads) const {
  with_matrix([&](const auto& R) { ranksvm::multiply(R, nullptr, w, result, n_threads); });
}

void RoundedRows::multiply_transposed(const double* u, double* result, int n_threads) const {
  with_matrix(
      [&](const auto& R) { ranksvm::multiply_transposed(R, nullptr, u, result, n_threads); });
}

template std::unique_ptr<RoundedRows> RoundedRows::of(const CsrMatrix<double, std::int32_t>&, int);
template std::unique_ptr<RoundedRows> RoundedRows::of(const CsrMatrix<double, std::int64_t>&, int);

}  // namespace ranksvm
