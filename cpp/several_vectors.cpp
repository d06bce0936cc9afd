#include "several_vectors.hpp"

#include <cstring>

#include "array.hpp"
#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kRowsPerTask = 1 << 10, kElementsPerTask = 1 << 12;
constexpr std::int64_t kLeastPerThread = 1 << 16;  // stored values

// One element of each vector, as many as are multiplied as one, and zeros where there are fewer.
template <class Pack>
constexpr int kWidth = sizeof(Pack) / sizeof(double);

template <int width>
struct alignas(width * sizeof(double)) Elements {
  double of[width];
};

// Rows begin..end-1 times n vectors whose elements lie side by side; of each a product with X, as
// with all vectors, goes to a row of the result.
template <class Pack, class Value, class Index>
RANKSVM_CLONES void multiply_rows(const CsrMatrix<Value, Index>& X, bool squares,
                                  std::int64_t begin, std::int64_t end,
                                  const Elements<kWidth<Pack>>* vectors, int n,
                                  double* RANKSVM_RESTRICT result) {
  constexpr int kSums = 4;
  for (auto i = begin; i < end; ++i) {
    Pack sums[kSums] = {};
    const auto add = [&](std::int64_t k, Pack& sum) {
      const auto value = static_cast<double>(X.values[k]);
      Pack elements;
      std::memcpy(&elements, &vectors[X.column[k]], sizeof elements);
      sum += elements * (squares ? value * value : value);
    };
    const auto stop = X.row_start[i + 1];
    auto k = X.row_start[i];
    for (; k + kSums <= stop; k += kSums)
      for (int l = 0; l < kSums; ++l) add(k + l, sums[l]);
    for (; k < stop; ++k) add(k, sums[0]);
    sums[0] += sums[1];
    sums[2] += sums[3];
    sums[0] += sums[2];
    Elements<kWidth<Pack>> products;
    std::memcpy(&products, sums, sizeof products);
    for (int j = 0; j < n; ++j) result[j * X.n_rows + i] = products.of[j];
  }
}

template <class Pack, class Value, class Index>
void multiply_some(const CsrMatrix<Value, Index>& X, bool squares, const double* const* vectors,
                   int n, double* result, int n_threads) {
  const auto d = X.n_columns;
  const auto w = make_array<Elements<kWidth<Pack>>>(d);
  parallel_chunks(d, kElementsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto k = begin; k < end; ++k) {
      w[k] = {};
      for (int j = 0; j < n; ++j) w[k].of[j] = vectors[j][k];
    }
  });
  parallel_chunks(X.n_rows, kRowsPerTask, n_threads, [&](std::int64_t begin, std::int64_t end) {
    multiply_rows<Pack>(X, squares, begin, end, w.get(), n, result);
  });
}

}  // namespace

template <class Value, class Index>
void multiply_several(const CsrMatrix<Value, Index>& X, bool squares,
                      const std::vector<const double*>& vectors, double* result, int n_threads) {
  n_threads = useful_threads(X.row_start[X.n_rows], kLeastPerThread, n_threads);
  const auto n = std::ssize(vectors), most = std::int64_t{kWidth<Lanes>},
             n_passes = (n + most - 1) / most;
  for (std::int64_t pass = 0; pass < n_passes; ++pass) {
    const auto first = pass * n / n_passes, last = (pass + 1) * n / n_passes;
    const auto width = static_cast<int>(last - first);
    const auto multiply = width == 1              ? multiply_some<double, Value, Index>
                          : width <= kWidth<Four> ? multiply_some<Four, Value, Index>
                                                  : multiply_some<Lanes, Value, Index>;
    multiply(X, squares, vectors.data() + first, width, result + first * X.n_rows, n_threads);
  }
}

template void multiply_several(const CsrMatrix<float, std::int32_t>&, bool,
                               const std::vector<const double*>&, double*, int);
template void multiply_several(const CsrMatrix<double, std::int32_t>&, bool,
                               const std::vector<const double*>&, double*, int);

}  // namespace ranksvm
