#include "symmetric_tile.hpp"

#include "lanes.hpp"

namespace ranksvm {
namespace {

constexpr std::size_t kRows = 4;  // at a time: so much more rarely are sums by column stored

template <std::size_t Count>
RANKSVM_INLINE void add_rows(const double* tile, std::size_t n, const double* left,
                             const double* right, double* by_row,
                             double* RANKSVM_RESTRICT by_column) {
  Lanes sums[Count] = {};
  std::size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    const Lanes factor = load(right + j);
    Lanes column = load(by_column + j);
    for (std::size_t r = 0; r < Count; ++r) {
      const Lanes values = load(tile + r * n + j);
      sums[r] += values * factor;
      column += values * left[r];
    }
    store(column, by_column + j);
  }
  for (std::size_t r = 0; r < Count; ++r) {
    double rest = 0.0;
    for (std::size_t k = j; k < n; ++k) {
      rest += tile[r * n + k] * right[k];
      by_column[k] += tile[r * n + k] * left[r];
    }
    by_row[r] += total(sums[r]) + rest;
  }
}

}  // namespace

RANKSVM_CLONES void add_tile_products(const double* tile, std::size_t n_rows, std::size_t n_columns,
                                      const double* left, const double* right, double* by_row,
                                      double* by_column) {
  std::size_t i = 0;
  for (; i + kRows <= n_rows; i += kRows)
    add_rows<kRows>(tile + i * n_columns, n_columns, left + i, right, by_row + i, by_column);
  for (; i < n_rows; ++i)
    add_rows<1>(tile + i * n_columns, n_columns, left + i, right, by_row + i, by_column);
}

}  // namespace ranksvm
