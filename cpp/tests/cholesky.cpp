// The factor of a matrix of any scale, as its rows come and go.
#include "cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

// What has followed is L^-1 b, where b is one more than the row.
void check_following(const CholeskyFactor& factor, const std::vector<double>& followed,
                     const std::vector<std::size_t>& rows) {
  CHECK(followed.size() == rows.size());
  std::vector<double> b(rows.begin(), rows.end());
  for (double& value : b) value += 1;
  factor.solve_lower(b);
  auto difference = followed;
  for (std::size_t k = 0; k < b.size(); ++k) difference[k] -= b[k];
  const auto square = [](const std::vector<double>& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  CHECK(square(difference) <= 1e-18 * square(b));
}

// With b = 1, 2, ...: G x = b for the rows that are there, and |L^-1 b|^2 = b' x.
void check_solutions(const CholeskyFactor& factor, const std::vector<double>& G, std::size_t n,
                     const std::vector<std::size_t>& rows) {
  CHECK(factor.size() == rows.size());
  std::vector<double> b(rows.size()), half;
  std::iota(b.begin(), b.end(), 1.0);
  half = b;
  factor.solve_lower(half);
  auto x = half;
  factor.solve_upper(x);
  double product = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 0, size = b[i];
    for (std::size_t k = 0; k < rows.size(); ++k) {
      sum += G[rows[i] * n + rows[k]] * x[k];
      size += std::abs(G[rows[i] * n + rows[k]] * x[k]);
    }
    CHECK(close(sum, b[i], 1e-9 * size));
    product += b[i] * x[i];
  }
  CHECK(close(std::inner_product(half.begin(), half.end(), half.begin(), 0.0), product,
              1e-7 * product));
}

void test_changes(Random& random) {
  const auto n = static_cast<std::size_t>(random.whole(1, 24));
  const double scales[] = {1e-150, 1e-8, 1, 1e8, 1e150};
  const double scale = scales[random.whole(0, 4)];
  std::vector<double> A(n * n), G(n * n);
  for (double& value : A) value = random.real(-1, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::pow(10, random.real(-1, 1));
    for (std::size_t k = 0; k < n; ++k) A[i * n + k] *= size;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      G[i * n + j] = i == j ? 0.1 : 0;
      for (std::size_t k = 0; k < n; ++k) G[i * n + j] += A[i * n + k] * A[j * n + k];
      G[i * n + j] *= scale;
    }
  CholeskyFactor factor;
  std::vector<std::size_t> rows;
  std::vector<double> followed;
  for (auto change = random.whole(0, 60); change-- > 0;) {
    const auto i = static_cast<std::size_t>(random.whole(0, static_cast<std::int64_t>(n) - 1));
    const auto found = std::find(rows.begin(), rows.end(), i);
    if (found == rows.end()) {
      std::vector<double> column;
      for (const auto k : rows) column.push_back(G[i * n + k]);
      factor.solve_lower(column);
      double rest = G[i * n + i];
      for (const double value : column) rest -= value * value;
      factor.append(std::move(column), rest);
      factor.extend(followed, static_cast<double>(i) + 1);
      rows.push_back(i);
    } else {
      factor.remove(static_cast<std::size_t>(found - rows.begin()), followed);
      rows.erase(found);
    }
    check_solutions(factor, G, n, rows);
    check_following(factor, followed, rows);
  }
}

// Whatever stands above the diagonal: L L' x = b.
void test_array(Random& random) {
  const auto n = static_cast<std::size_t>(random.whole(0, 40));
  std::vector<double> L(n * n), x(n), half(n), b(n);
  for (double& value : L) value = random.real(-1, 1) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) L[i * n + i] = random.real(1, 2);
  for (double& value : x) value = random.real(-1, 1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k <= i; ++k) half[k] += L[i * n + k] * x[i];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k <= i; ++k) b[i] += L[i * n + k] * half[k];
  cholesky_solve(L.data(), n, b.data());
  for (std::size_t i = 0; i < n; ++i) CHECK(close(b[i], x[i], 1e-9));
}

}  // namespace

void test_cholesky(double seconds) {
  repeat(seconds / 2, test_changes);
  repeat(seconds / 2, test_array);
}

}  // namespace ranksvm::tests
