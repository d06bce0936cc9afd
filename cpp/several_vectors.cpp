#include "several_vectors.hpp"

#include <algorithm>

#include "array.hpp"
#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kRowsPerTask = 1 << 10, kElementsPerTask = 1 << 12;
constexpr std::int64_t kLeastPerThread = 1 << 16;  // stored values
constexpr std::int64_t kMost = 6;                  // vectors, whose sums find room in registers

// Rows begin..end-1 times n vectors that lie side by side; of each a product with X, as with all
// vectors, goes to a row of the result.
template <int n, class Value, class Index>
RANKSVM_CLONES void multiply_rows(const CsrMatrix<Value, Index>& X, bool squares,
                                  std::int64_t begin, std::int64_t end, const double* w,
                                  double* RANKSVM_RESTRICT result) {
  constexpr int kSums = 4;
  for (auto i = begin; i < end; ++i) {
    double sums[kSums][n] = {};
    const auto add = [&](std::int64_t k, double* sum) {
      const auto value = static_cast<double>(X.values[k]);
      const double x = squares ? value * value : value;
      const double* elements = w + n * std::int64_t{X.column[k]};
      for (int j = 0; j < n; ++j) sum[j] += x * elements[j];
    };
    const auto stop = X.row_start[i + 1];
    auto k = X.row_start[i];
    for (; k + kSums <= stop; k += kSums)
      for (int l = 0; l < kSums; ++l) add(k + l, sums[l]);
    for (; k < stop; ++k) add(k, sums[0]);
    for (int j = 0; j < n; ++j)
      result[j * X.n_rows + i] = (sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j]);
  }
}

template <int n, class Value, class Index>
void multiply_some(const CsrMatrix<Value, Index>& X, bool squares, const double* const* vectors,
                   double* result, int n_threads) {
  const auto d = X.n_columns;
  const auto w = make_array<double>(n * d);
  parallel_chunks(d, kElementsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = begin; k < end; ++k)
      for (int j = 0; j < n; ++j) w[n * k + j] = vectors[j][k];
  });
  parallel_chunks(X.n_rows, kRowsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    multiply_rows<n>(X, squares, begin, end, w.get(), result);
  });
}

}  // namespace

template <class Value, class Index>
void multiply_several(const CsrMatrix<Value, Index>& X, bool squares,
                      const std::vector<const double*>& vectors, double* result, int n_threads) {
  constexpr decltype(&multiply_some<1, Value, Index>) kMultiply[kMost] = {
      multiply_some<1, Value, Index>, multiply_some<2, Value, Index>,
      multiply_some<3, Value, Index>, multiply_some<4, Value, Index>,
      multiply_some<5, Value, Index>, multiply_some<6, Value, Index>};
  n_threads = useful_threads(X.row_start[X.n_rows], kLeastPerThread, n_threads);
  const auto n = std::ssize(vectors), n_passes = (n + kMost - 1) / kMost;
  for (std::int64_t pass = 0; pass < n_passes; ++pass) {
    const auto first = pass * n / n_passes, last = (pass + 1) * n / n_passes;
    kMultiply[last - first - 1](X, squares, vectors.data() + first, result + first * X.n_rows,
                                n_threads);
  }
}

template void multiply_several(const CsrMatrix<float, std::int32_t>&, bool,
                               const std::vector<const double*>&, double*, int);
template void multiply_several(const CsrMatrix<double, std::int32_t>&, bool,
                               const std::vector<const double*>&, double*, int);

}  // namespace ranksvm
