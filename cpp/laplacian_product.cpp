#include "laplacian_product.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compiler.hpp"
#include "parallel.hpp"
#include "row_reader.hpp"

namespace ranksvm {
namespace {

RANKSVM_CLONES void add_multiple(double* RANKSVM_RESTRICT sums, double factor,
                                 const double* RANKSVM_RESTRICT row, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) sums[k] += factor * row[k];
}

RANKSVM_CLONES void add_multiple(float* RANKSVM_RESTRICT sums, float factor,
                                 const float* RANKSVM_RESTRICT row, std::int64_t n) {
  for (std::int64_t k = 0; k < n; ++k) sums[k] += factor * row[k];
}

// The columns first, ..., last - 1 of the lower half.
template <class Sum>
void multiply_columns(const SparseMatrix& Z, std::int64_t n_columns, const SparseSquare& L,
                      std::int64_t first, std::int64_t last, Sum* result) {
  for (auto k = first; k < n_columns; ++k)
    std::fill(result + k * n_columns + first, result + k * n_columns + std::min(k + 1, last),
              Sum{0});
  std::vector<Sum> moved(last - first);
  RowReader reader(Z);
  for (std::int64_t i = 0; i < L.n_rows; ++i) {
    const auto is_zero = [](double x) { return x == 0; };
    if (std::all_of(L.value + L.start[i], L.value + L.start[i + 1], is_zero)) continue;
    std::fill(moved.begin(), moved.end(), Sum{0});
    for (auto m = L.start[i]; m < L.start[i + 1]; ++m) {
      reader.each(L.column[m], [&](std::int64_t k, double value) {
        if (first <= k && k < last) moved[k - first] += static_cast<Sum>(L.value[m] * value);
      });
    }
    reader.each(i, [&](std::int64_t k, double value) {
      if (k >= first)
        add_multiple(result + k * n_columns + first, static_cast<Sum>(value), moved.data(),
                     std::min(k + 1, last) - first);
    });
  }
}

}  // namespace

template <class Sum>
void multiply_laplacian(const SparseMatrix& Z, std::int64_t n_columns, const SparseSquare& L,
                        Sum* result, int n_threads) {
  // Of the lower half, those to the right of a column at d (1 - x) are the part x^2.
  const auto edge = [&](std::int64_t part) {
    const auto left = 1 - static_cast<double>(part) / n_threads;
    return n_columns - std::llround(std::sqrt(left) * static_cast<double>(n_columns));
  };
  parallel_for(n_threads, n_threads, [&](std::int64_t part) {
    multiply_columns(Z, n_columns, L, edge(part), edge(part + 1), result);
  });
  constexpr std::int64_t kTile = 64;
  parallel_chunks(n_columns, kTile, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = 0; k < end; k += kTile)
      for (auto i = begin; i < end; ++i)
        for (auto j = k; j < std::min(i, k + kTile); ++j)
          result[j * n_columns + i] = result[i * n_columns + j];
  });
}

template void multiply_laplacian(const SparseMatrix&, std::int64_t, const SparseSquare&, float*,
                                 int);
template void multiply_laplacian(const SparseMatrix&, std::int64_t, const SparseSquare&, double*,
                                 int);

}  // namespace ranksvm
