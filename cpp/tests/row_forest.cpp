// Rows that pairs join, against heights that the pairs' differences are made from.
#include "row_forest.hpp"

#include <numeric>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

void test_joins(Random& random) {
  const auto n = static_cast<std::size_t>(random.whole(2, 40));
  const auto any_row = [&] {
    return static_cast<std::int32_t>(random.whole(0, static_cast<std::int64_t>(n) - 1));
  };
  RowForest forest(n);
  std::vector<double> height(n);
  std::vector<std::int32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::size_t> tree(n);
    std::iota(tree.begin(), tree.end(), std::size_t{0});
    for (double& value : height) value = random.real(-1, 1);
    for (const auto row : rows) forest.isolate(row);
    for (auto joins = random.whole(0, 2 * static_cast<std::int64_t>(n)); joins-- > 0;) {
      const auto upper = any_row(), lower = any_row();
      const auto u = static_cast<std::size_t>(upper), l = static_cast<std::size_t>(lower);
      forest.join(upper, lower, height[u] - height[l]);
      for (const auto from = tree[u]; auto& t : tree)
        if (t == from) t = tree[l];
    }
    forest.flatten(rows);
    for (std::size_t i = 0; i < n; ++i) {
      const auto root = forest.root(i);
      CHECK(forest.root(root) == root);
      CHECK(close(forest.offset(i), height[i] - height[root], 1e-12));
      for (std::size_t k = 0; k < n; ++k) CHECK(forest.is_joined(i, k) == (tree[i] == tree[k]));
    }
  }
}

}  // namespace

void test_row_forest(double seconds) { repeat(seconds, test_joins); }

}  // namespace ranksvm::tests
