// Columns of a table as the columns of a matrix whose rows lie one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "compiler.hpp"

namespace ranksvm {

// Eight columns at a time, so that a line of the cache is written at once; so many rows at a time
// that their part of the matrix stays at hand for all columns, and each column is read on and on.
constexpr std::int64_t columns_together = 8, rows_together = 256;

// X, n_rows x columns.size(), becomes the numbers that begin at columns. Tells whether all are
// finite: a sum of 0 x is 0 if so, and not a number else.
template <class T>
bool fill_rows(std::span<const T* const> columns, std::int64_t n_rows, T* RANKSVM_RESTRICT X) {
  const auto d = static_cast<std::int64_t>(columns.size());
  const auto d8 = d - d % columns_together;
  T sums[columns_together] = {};
  for (std::int64_t first = 0; first < n_rows; first += rows_together) {
    const auto last = std::min(n_rows, first + rows_together);
    for (std::int64_t j = 0; j < d8; j += columns_together) {
      const T* c[columns_together];
      std::copy_n(columns.begin() + j, columns_together, c);
      for (auto i = first; i < last; ++i)
        for (std::int64_t k = 0; k < columns_together; ++k) {
          const T value = c[k][i];
          X[i * d + j + k] = value;
          sums[k] += 0 * value;
        }
    }
    for (auto j = d8; j < d; ++j)
      for (auto i = first; i < last; ++i) {
        const T value = columns[j][i];
        X[i * d + j] = value;
        sums[0] += 0 * value;
      }
  }
  return std::all_of(sums, sums + columns_together, [](T sum) { return sum == 0; });
}

}  // namespace ranksvm
