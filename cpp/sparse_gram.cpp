#include "sparse_gram.hpp"

#include <algorithm>
#include <vector>

#include "compiler.hpp"
#include "parallel.hpp"
#include "row_reader.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kLanes = 8;

// What the rows store, column by column, in ascending order of the rows.
struct Columns {
  std::vector<std::int64_t> start;
  std::vector<std::uint32_t> row;
  std::vector<double> value;
};

Columns transposed(const SparseMatrix& Z, std::int64_t n_rows, std::int64_t n_columns) {
  RowReader reader(Z);
  Columns found{std::vector<std::int64_t>(n_columns + 1), {}, {}};
  for (std::int64_t i = 0; i < n_rows; ++i)
    reader.each(i, [&](std::uint32_t k, double) { ++found.start[k + 1]; });
  for (std::int64_t k = 0; k < n_columns; ++k) found.start[k + 1] += found.start[k];
  found.row.resize(found.start[n_columns]);
  found.value.resize(found.start[n_columns]);
  std::vector<std::int64_t> next(found.start.begin(), found.start.end() - 1);
  for (std::int64_t i = 0; i < n_rows; ++i)
    reader.each(i, [&](std::uint32_t k, double value) {
      const auto place = next[k]++;
      found.row[place] = static_cast<std::uint32_t>(i);
      found.value[place] = value;
    });
  return found;
}

// A number for each row of a block, aligned for any instruction set.
struct alignas(64) OfRows {
  Lanes lanes;
};

// A column, and what each row of a block stores there.
struct alignas(64) OfBlock {
  std::uint32_t column;
  OfRows values;
};

// The columns that a block of rows stores, in ascending order.
std::vector<OfBlock> columns_of_block(RowReader& reader, std::int64_t first, std::int64_t last) {
  struct Stored {
    std::uint32_t column, lane;
    double value;
  };
  std::vector<Stored> stored;
  for (auto i = first; i < last; ++i)
    reader.each(i, [&](std::uint32_t k, double value) {
      stored.push_back({k, static_cast<std::uint32_t>(i - first), value});
    });
  std::stable_sort(stored.begin(), stored.end(),
                   [](const Stored& a, const Stored& b) { return a.column < b.column; });
  std::vector<OfBlock> found;
  for (const auto& [column, lane, value] : stored) {
    if (found.empty() || found.back().column != column) found.push_back({column, OfRows{}});
    found.back().values.lanes[lane] += value;
  }
  return found;
}

// sums[row] += value * factors, for each number of a column.
RANKSVM_CLONES void add_column(const std::uint32_t* row, const double* value, std::int64_t n,
                               const OfRows& factors, OfRows* sums) {
  for (std::int64_t m = 0; m < n; ++m) sums[row[m]].lanes += factors.lanes * value[m];
}

// The block's part of the result, and the other half of it.
void copy_out(const OfRows* sums, std::int64_t first, std::int64_t last, std::int64_t n_rows,
              double* result) {
  for (std::int64_t j = 0; j < last; ++j)
    for (auto i = std::max(first, j); i < last; ++i)
      result[i * n_rows + j] = result[j * n_rows + i] = sums[j].lanes[i - first];
}

}  // namespace

void multiply_by_transposed(const SparseMatrix& Z, std::int64_t n_rows, std::int64_t n_columns,
                            double* result, int n_threads) {
  const auto columns = transposed(Z, n_rows, n_columns);
  const auto multiply_block = [&](std::int64_t first, std::int64_t last) {
    RowReader reader(Z);
    std::vector<OfRows> sums(last, OfRows{});
    for (const auto& [k, factors] : columns_of_block(reader, first, last)) {
      const auto* begin = columns.row.data() + columns.start[k];
      const auto* end = columns.row.data() + columns.start[k + 1];
      const auto n = std::lower_bound(begin, end, static_cast<std::uint32_t>(last)) - begin;
      add_column(begin, columns.value.data() + columns.start[k], n, factors, sums.data());
    }
    copy_out(sums.data(), first, last, n_rows, result);
  };
  parallel_chunks(n_rows, kLanes, n_threads, multiply_block);
}

}  // namespace ranksvm
