#include "stored_columns.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>

#include "parallel.hpp"

namespace ranksvm {

constexpr std::int64_t kLeastPerThread = 1 << 17;  // stored values

template <class Value, class Index>
StoredColumns stored_columns(const CsrMatrix<Value, Index>& X) {
  using Unsigned = std::make_unsigned_t<Index>;
  constexpr std::int64_t kMost = std::numeric_limits<Index>::max(), kRows = 1 << 10;
  const auto last = static_cast<Unsigned>(std::min(X.n_columns - 1, kMost));
  // A number below zero has the highest bit, and so has what is less than a number above.
  Unsigned bits = 0;
  std::int64_t n_falls = 0;  // but those from a row to the next
  for (std::int64_t first = 0; first < X.n_rows; first += kRows) {
    const auto stop = std::min(X.n_rows, first + kRows);
    auto k = X.row_start[first];
    if (k < X.row_start[stop]) {
      const auto column = static_cast<Unsigned>(X.column[k++]);
      bits |= column | (last - column);
    }
    for (; k < X.row_start[stop]; ++k) {
      const auto column = static_cast<Unsigned>(X.column[k]);
      bits |= column | (last - column);
      n_falls += X.column[k] < X.column[k - 1];
    }
    for (auto i = first + 1; i < stop; ++i) {
      const auto start = X.row_start[i];
      if (X.row_start[first] < start && start < X.row_start[i + 1])
        n_falls -= X.column[start] < X.column[start - 1];
    }
  }
  return {bits <= static_cast<Unsigned>(kMost), n_falls == 0};
}

template <class Value>
std::vector<std::int64_t> common_columns(const DenseMatrix<Value>& X,
                                         const std::vector<std::int64_t>&) {
  std::vector<std::int64_t> columns(X.n_rows > 0 ? X.n_columns : 0);
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

template <class Value, class Index>
std::vector<std::int64_t> common_columns(const CsrMatrix<Value, Index>& X,
                                         const std::vector<std::int64_t>& rows) {
  const auto n = rows.empty() ? X.n_rows : std::ssize(rows);
  if (n == 0) return {};
  // How many rows have stored a column, one after the other; none, once a row stores it twice.
  std::vector<std::int64_t> n_rows(X.n_columns, 0);
  std::int64_t n_left = 1;
  for (std::int64_t r = 0; r < n && n_left > 0; ++r) {
    const auto row = rows.empty() ? r : rows[r];
    n_left = 0;
    for (auto k = X.row_start[row]; k < X.row_start[row + 1]; ++k) {
      auto& count = n_rows[X.column[k]];
      n_left += count == r ? 1 : count == r + 1 ? -1 : 0;
      count = count == r ? r + 1 : count == r + 1 ? -1 : count;
    }
  }
  std::vector<std::int64_t> columns;
  for (std::int64_t k = 0; k < X.n_columns && n_left > 0; ++k)
    if (n_rows[k] == n) columns.push_back(k);
  return columns;
}

template <class Value, class Index>
void count_columns(const CsrMatrix<Value, Index>& X, std::int64_t* counts, int n_threads) {
  const auto first = X.row_start[0], n = X.row_start[X.n_rows] - first, d = X.n_columns;
  n_threads = useful_threads(n, kLeastPerThread, n_threads);
  std::vector<std::int64_t> parts(n_threads * d);
  parallel_for(n_threads, n_threads, [&](std::int64_t t) {
    auto* part = parts.data() + t * d;
    const auto* const last = X.column + first + (t + 1) * n / n_threads;
    for (const auto* k = X.column + first + t * n / n_threads; k < last; ++k) ++part[*k];
  });
  std::fill(counts, counts + d, 0);
  for (std::int64_t t = 0; t < n_threads; ++t)
    for (std::int64_t k = 0; k < d; ++k) counts[k] += parts[t * d + k];
}

#define RANKSVM_INSTANTIATE(...)                                        \
  template std::vector<std::int64_t> common_columns(const __VA_ARGS__&, \
                                                    const std::vector<std::int64_t>&);
#define RANKSVM_INSTANTIATE_CSR(...)                         \
  template StoredColumns stored_columns(const __VA_ARGS__&); \
  template void count_columns(const __VA_ARGS__&, std::int64_t*, int);
RANKSVM_FOR_EACH_MATRIX(RANKSVM_INSTANTIATE)
RANKSVM_FOR_EACH_CSR_MATRIX(RANKSVM_INSTANTIATE_CSR)
#undef RANKSVM_INSTANTIATE_CSR
#undef RANKSVM_INSTANTIATE

}  // namespace ranksvm
