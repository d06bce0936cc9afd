// Dual coordinate descent against the optimality conditions of every pair.
#include "dual_descent.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

using Vector = std::vector<double>;

constexpr double kMargin = 1.5;

// Rows of queries, a few columns each, and pairs of rows of the same query.
struct Problem {
  std::vector<std::int64_t> row_start{0}, first_row{0}, pair_start{0};
  std::vector<std::uint32_t> column;
  std::vector<std::int32_t> better, worse;
  Vector value, upper, damping;
  std::int64_t n_columns;

  explicit Problem(Random& random) : n_columns(random.whole(1, 8)) {
    const auto n_queries = random.whole(1, 6);
    for (std::int64_t q = 0; q < n_queries; ++q) {
      const auto n = random.whole(0, 5);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t k = 0; k < n_columns; ++k) {
          if (random.coin()) continue;
          column.push_back(static_cast<std::uint32_t>(k));
          value.push_back(random.real(-2, 2));
        }
        row_start.push_back(std::ssize(value));
        for (std::int64_t j = 0; j < i; ++j) {
          if (random.coin()) continue;
          better.push_back(static_cast<std::int32_t>(random.coin() ? i : j));
          worse.push_back(static_cast<std::int32_t>(i + j - better.back()));
          upper.push_back(random.real(0.01, 2));
          damping.push_back(random.coin() ? 0 : random.real(0.01, 2));
        }
      }
      first_row.push_back(first_row.back() + n);
      pair_start.push_back(std::ssize(upper));
    }
  }

  [[nodiscard]] std::int64_t n_queries() const { return std::ssize(first_row) - 1; }

  [[nodiscard]] DualDescent descent() const {
    return {{row_start.data(), column.data(), value.data()},
            {pair_start.data(), better.data(), worse.data(), upper.data(), damping.data(), kMargin},
            first_row.data(),
            n_queries(),
            n_columns};
  }

  // The row that a number of a query names, as a dense vector.
  [[nodiscard]] Vector row(std::int64_t query, std::int32_t number) const {
    Vector dense(n_columns);
    const auto i = first_row[query] + number;
    for (auto at = row_start[i]; at < row_start[i + 1]; ++at) dense[column[at]] += value[at];
    return dense;
  }

  // Calls with each pair and the difference of its rows.
  template <class Call>
  void each_pair(Call&& call) const {
    for (std::int64_t q = 0; q < n_queries(); ++q)
      for (auto p = pair_start[q]; p < pair_start[q + 1]; ++p) {
        auto difference = row(q, better[p]);
        const auto other = row(q, worse[p]);
        for (std::int64_t k = 0; k < n_columns; ++k) difference[k] -= other[k];
        call(p, difference);
      }
  }
};

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void check_descent(Random& random) {
  const Problem problem(random);
  const auto descent = problem.descent();
  std::vector<std::int64_t> queries(problem.n_queries());
  std::iota(queries.begin(), queries.end(), 0);
  Vector slopes(problem.upper.size()), weights(problem.n_columns), lacking(queries.size());
  double dual = 0;
  for (int pass = 0; pass < 300; ++pass) {
    descent.visit(queries.data(), std::ssize(queries), slopes.data(), weights.data(),
                  lacking.data());
    double better = -0.5 * dot(weights, weights);
    for (std::size_t p = 0; p < slopes.size(); ++p)
      better += kMargin * slopes[p] - 0.5 * problem.damping[p] * slopes[p] * slopes[p];
    CHECK(better >= dual - 1e-9 * (1 + dual));
    dual = better;
  }
  Vector expected(problem.n_columns);
  problem.each_pair([&](std::int64_t p, const Vector& difference) {
    CHECK(0 <= slopes[p] && slopes[p] <= problem.upper[p]);
    for (std::int64_t k = 0; k < problem.n_columns; ++k) expected[k] += slopes[p] * difference[k];
  });
  for (std::int64_t k = 0; k < problem.n_columns; ++k)
    CHECK(close(expected[k], weights[k], 1e-9 * (1 + std::abs(expected[k]))));
  // A slope that moves was off.
  const auto before = weights;
  const auto slopes_before = slopes;
  for (const auto query : queries) {
    auto w = before;
    auto b = slopes_before;
    double furthest = 0;
    descent.visit(&query, 1, b.data(), w.data(), lacking.data());
    for (auto p = problem.pair_start[query]; p < problem.pair_start[query + 1]; ++p)
      furthest = std::max(furthest, std::abs(b[p] - slopes_before[p]));
    CHECK(lacking[query] > 0 || furthest == 0);
  }
}

}  // namespace

void test_dual_descent(double seconds) { repeat(seconds, check_descent); }

}  // namespace ranksvm::tests
