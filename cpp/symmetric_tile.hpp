// Products with a symmetric matrix of which a half is held, in tiles.
#pragma once

#include <cstddef>

namespace ranksvm {

// Adds tile * right to `by_row`, and left' * tile to `by_column`; reads the tile once.
void add_tile_products(const double* tile, std::size_t n_rows, std::size_t n_columns,
                       const double* left, const double* right, double* by_row, double* by_column);

}  // namespace ranksvm
