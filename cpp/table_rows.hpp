// Columns of a table as the columns of a matrix whose rows lie one by one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {

// So many rows at a time that their part of the matrix stays at hand for all columns, and each
// column is read on and on.
constexpr std::int64_t rows_together = 256;

// Numbers of some type, which `read` returns as T: n of them from the first-th on, where they are
// or in the space.
template <class T>
struct Column {
  const void* values;
  const T* (*read)(const void* values, std::int64_t first, std::int64_t n, T* space);
};

template <class From, class T>
const T* read_as(const void* values, std::int64_t first, std::int64_t n, T* space) {
  const auto* from = static_cast<const From*>(values) + first;
  if constexpr (std::is_same_v<From, T>) {
    return from;
  } else {
    std::transform(from, from + n, space, [](From value) { return static_cast<T>(value); });
    return space;
  }
}

// Rows of a matrix of d columns, and sums of 0 x over its entries: 0 if all x are finite, and not a
// number else.
template <class T>
struct TableRows {
  using Eight = std::conditional_t<std::is_same_v<T, double>, Lanes, FloatLanes>;

  T* X;
  std::int64_t d;
  Eight sums = {};
  T sum = 0;

  // Eight rows of eight columns, by interleaving these three times: each line of the cache is read
  // and written once.
  RANKSVM_INLINE void fill_square(const T* const* columns, std::int64_t i, std::int64_t j) {
    constexpr std::int64_t ahead = 64;
    Eight a[8], b[8];
    for (int k = 0; k < 8; ++k) {
      std::memcpy(&a[k], columns[k] + i, sizeof(Eight));
      sums += a[k] * T{0};
      prefetch(columns[k] + i + ahead);
    }
    for (int k = 0; k < 4; ++k) interleave(a[k], a[k + 4], b[2 * k], b[2 * k + 1]);
    for (int k = 0; k < 4; ++k) interleave(b[k], b[k + 4], a[2 * k], a[2 * k + 1]);
    for (int k = 0; k < 4; ++k) interleave(a[k], a[k + 4], b[2 * k], b[2 * k + 1]);
    for (int k = 0; k < 8; ++k) std::memcpy(X + (i + k) * d + j, &b[k], sizeof(Eight));
  }

  RANKSVM_INLINE void fill(const T* column, std::int64_t first, std::int64_t last, std::int64_t j) {
    for (auto i = first; i < last; ++i) {
      X[i * d + j] = column[i];
      sum += 0 * column[i];
    }
  }

  RANKSVM_INLINE bool all_finite() const {
    bool finite = sum == 0;
    for (int k = 0; k < 8; ++k) finite &= sums[k] == 0;
    return finite;
  }
};

// Rows first, ..., last - 1 of X, at most rows_together of them. Tells whether all are finite.
template <class T>
RANKSVM_CLONES bool fill_some(std::span<const Column<T>> columns, std::int64_t first,
                              std::int64_t last, T* X) {
  const auto d = static_cast<std::int64_t>(columns.size()), n = last - first;
  T space[8][rows_together];
  TableRows<T> rows{X + first * d, d};
  for (std::int64_t j = 0; j < d; j += 8) {
    const auto width = std::min<std::int64_t>(8, d - j);
    const auto n_squares = width < 8 ? 0 : n / 8;
    const T* together[8];
    for (int k = 0; k < width; ++k)
      together[k] = columns[j + k].read(columns[j + k].values, first, n, space[k]);
    for (std::int64_t square = 0; square < n_squares; ++square)
      rows.fill_square(together, 8 * square, j);
    for (int k = 0; k < width; ++k) rows.fill(together[k], 8 * n_squares, n, j + k);
  }
  return rows.all_finite();
}

// X, n_rows x columns.size(), becomes the numbers of the columns. Tells whether all are finite.
template <class T>
bool fill_rows(std::span<const Column<T>> columns, std::int64_t n_rows, T* X, int n_threads) {
  constexpr std::int64_t worth_a_thread = 1 << 18;
  const auto d = static_cast<std::int64_t>(columns.size());
  const int n_useful = useful_threads(n_rows * d, worth_a_thread, n_threads);
  std::atomic<bool> finite{true};
  parallel_chunks(n_rows, rows_together, n_useful, [&](std::int64_t first, std::int64_t last) {
    if (!fill_some<T>(columns, first, last, X)) finite.store(false, std::memory_order_relaxed);
  });
  return finite;
}

}  // namespace ranksvm
