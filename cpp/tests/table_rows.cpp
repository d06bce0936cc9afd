// Columns as rows, against one number after the other.
#include "table_rows.hpp"

#include <limits>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

template <class T>
void test_rows(Random& random) {
  const auto n = random.whole(0, 700), d = random.whole(1, 30);
  std::vector<std::vector<T>> same;
  std::vector<std::vector<std::int16_t>> whole;
  std::vector<Column<T>> columns;
  for (std::int64_t j = 0; j < d; ++j) {
    same.emplace_back(n);
    whole.emplace_back(n);
    for (T& value : same.back()) value = static_cast<T>(random.real(-1, 1));
    for (auto& value : whole.back()) value = static_cast<std::int16_t>(random.whole(-999, 999));
  }
  for (std::int64_t j = 0; j < d; ++j)
    columns.push_back(j % 3 ? Column<T>{same[j].data(), read_as<T, T>}
                            : Column<T>{whole[j].data(), read_as<std::int16_t, T>});
  std::vector<T> X(n * d);
  CHECK(fill_rows<T>(columns, n, X.data(), 1));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < d; ++j)
      CHECK(X[i * d + j] == (j % 3 ? same[j][i] : static_cast<T>(whole[j][i])));
  if (n == 0 || d == 1) return;
  auto& bad = same[1 + 3 * random.whole(0, (d - 2) / 3)][random.whole(0, n - 1)];
  bad = random.coin() ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
  CHECK(!fill_rows<T>(columns, n, X.data(), 3));
}

}  // namespace

void test_table_rows(double seconds) {
  repeat(seconds / 2, test_rows<double>);
  repeat(seconds / 2, test_rows<float>);
}

}  // namespace ranksvm::tests
