// Products with design matrices against plain loops, and against themselves on other threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "design_matrix.hpp"
#include "laplacian_product.hpp"
#include "rounded_rows.hpp"
#include "sparse_gram.hpp"
#include "stored_columns.hpp"
#include "symmetric_tile.hpp"

namespace ranksvm::tests {
namespace {

// Small whole numbers: every sum is exact.
std::vector<double> draw(Random& random, std::int64_t n) {
  std::vector<double> values(n);
  for (double& value : values) value = static_cast<double>(random.whole(-9, 9));
  return values;
}

// Offsets of some of the columns that all rows store.
template <class Matrix>
std::vector<double> draw_offset(Random& random, const Matrix& X) {
  std::vector<double> offset(X.n_columns);
  for (const auto k : common_columns(X, {})) offset[k] = static_cast<double>(random.whole(-9, 9));
  return offset;
}

template <class Matrix>
void check_products(Random& random, const Matrix& X, const std::vector<double>& dense,
                    const double* offset) {
  const auto n = X.n_rows, d = X.n_columns;
  const auto w = draw(random, d), u = draw(random, n), v = draw(random, n);
  std::vector<double> Xw(n), Xu(d), squares(2 * d), magnitude(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < d; ++k) {
      const double x = dense[i * d + k] - (offset ? offset[k] : 0);
      Xw[i] += x * w[k];
      magnitude[i] += std::abs(x * w[k]);
      Xu[k] += x * u[i];
      squares[2 * k] += x * u[i];
      squares[2 * k + 1] += x * x * v[i];
    }
  constexpr double kRounding = 0.5 * std::numeric_limits<double>::epsilon();
  for (const int n_threads : {1, 3}) {
    std::vector<double> found(n), again(n), bound(n), transposed(d), both(2 * d);
    multiply(X, offset, w.data(), found.data(), n_threads);
    CHECK(found == Xw);
    multiply_within(X, offset, w.data(), again.data(), bound.data(), n_threads);
    CHECK(again == Xw);
    for (std::int64_t i = 0; i < n; ++i) {
      CHECK(bound[i] >= 12 * kRounding * magnitude[i]);
      CHECK(bound[i] <= static_cast<double>(12 + d / 4) * kRounding * magnitude[i]);
    }
    multiply_transposed(X, offset, u.data(), transposed.data(), n_threads);
    CHECK(transposed == Xu);
    multiply_transposed_with_squares(X, offset, u.data(), v.data(), both.data(), n_threads);
    CHECK(both == squares);
  }
}

template <class Matrix>
void check_products(Random& random, const Matrix& X, const std::vector<double>& dense) {
  check_products(random, X, dense, nullptr);
  check_products(random, X, dense, draw_offset(random, X).data());
}

template <class Real, class Matrix>
void check_gather(Random& random, const Matrix& X, const std::vector<double>& dense) {
  const auto n = X.n_rows, d = X.n_columns;
  const auto shift = draw(random, d), scale = draw(random, d);
  const auto begin = random.whole(0, d), end = random.whole(begin, d);
  std::vector<std::int64_t> rows(random.whole(0, 5));
  if (n == 0) rows.clear();
  for (auto& row : rows) row = random.whole(0, n - 1);
  const auto first = random.whole(0, n);
  const auto check = [&](const std::int64_t* chosen, std::int64_t count) {
    std::vector<Real> result(count * (end - begin));
    gather_rows(X, chosen, first, count, begin, end, shift.data(), scale.data(), result.data());
    for (std::int64_t i = 0; i < count; ++i)
      for (auto k = begin; k < end; ++k) {
        const auto row = chosen ? chosen[i] : first + i;
        const auto expected = static_cast<Real>((dense[row * d + k] - shift[k]) * scale[k]);
        CHECK(result[i * (end - begin) + k - begin] == expected);
      }
  };
  check(rows.data(), std::ssize(rows));
  check(nullptr, n - first);
}

// Whole numbers are not rounded; what single precision cannot hold is told.
template <class Index>
void check_rounded(Random& random, const CsrMatrix<double, Index>& X) {
  const auto n = X.n_rows, d = X.n_columns;
  const auto w = draw(random, d), u = draw(random, n);
  for (const int n_threads : {1, 3}) {
    const auto rounded = RoundedRows::of(X, n_threads);
    CHECK(rounded->rounding() == 0);
    std::vector<double> expected(n), found(n), expected_sums(d), sums(d);
    multiply(X, nullptr, w.data(), expected.data(), 1);
    rounded->multiply(w.data(), found.data(), n_threads);
    CHECK(found == expected);
    multiply_transposed(X, nullptr, u.data(), expected_sums.data(), 1);
    rounded->multiply_transposed(u.data(), sums.data(), n_threads);
    CHECK(sums == expected_sums);
  }
  for (const double factor : {0.1, 1e300, 1e-300}) {
    std::vector<double> values(X.values, X.values + X.row_start[n]);
    double largest = 0;
    for (double& value : values) {
      value *= factor;
      largest = std::max(largest, std::abs(value));
    }
    const CsrMatrix<double, Index> scaled{n, d, X.row_start, X.column, values.data()};
    const double rounding = RoundedRows::of(scaled, 2)->rounding();
    const bool fits = factor == 0.1 || largest == 0;
    CHECK(std::isfinite(rounding) == fits);
    if (fits) CHECK(rounding <= 1e-6 * largest * std::sqrt(static_cast<double>(d)));
  }
}

template <class Value, class Index>
void check_csr(Random& random, std::int64_t n, std::int64_t d, const std::vector<double>& dense) {
  std::vector<std::int64_t> row_start{0};
  std::vector<Index> column;
  std::vector<Value> values;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < d; ++k) {
      if (dense[i * d + k] == 0 && random.coin()) continue;
      column.push_back(static_cast<Index>(k));
      values.push_back(static_cast<Value>(dense[i * d + k]));
    }
    row_start.push_back(std::ssize(values));
  }
  const bool ascends = random.coin();
  const CsrMatrix<Value, Index> X{n, d, row_start.data(), column.data(), values.data(), ascends};
  check_products(random, X, dense);
  check_gather<float>(random, X, dense);
  check_gather<double>(random, X, dense);
  if constexpr (std::is_same_v<Value, double>) check_rounded(random, X);
  CHECK(stored_columns(X).exist);
  CHECK(stored_columns(X).ascend);
  if (column.empty()) return;
  auto narrower = X;
  narrower.n_columns = *std::max_element(column.begin(), column.end());
  CHECK(!stored_columns(narrower).exist);
  column[random.whole(0, std::ssize(column) - 1)] = -1;
  CHECK(!stored_columns(X).exist);
}

// What every row, or each of some rows, stores just once.
void test_common_columns(Random& random) {
  const auto n = random.whole(0, 6), d = random.whole(0, 6);
  std::vector<std::int64_t> row_start{0}, column, rows(random.whole(0, n));
  std::vector<std::vector<int>> times(n, std::vector<int>(d, 0));
  for (auto& counts : times) {
    for (std::int64_t k = 0; k < d; ++k)
      for (auto copies = random.whole(0, 9) ? 1 : 2 * random.whole(0, 1); copies > 0; --copies) {
        column.push_back(k);
        ++counts[k];
      }
    row_start.push_back(std::ssize(column));
  }
  const std::vector<double> values(column.size(), 1.0);
  for (auto& row : rows) row = random.whole(0, n - 1);
  const CsrMatrix<double, std::int64_t> X{n, d, row_start.data(), column.data(), values.data()};
  std::vector<std::int64_t> expected;
  for (std::int64_t k = 0; k < d && n > 0; ++k) {
    bool each = true;
    for (std::int64_t r = 0; r < (rows.empty() ? n : std::ssize(rows)); ++r)
      each = each && times[rows.empty() ? r : rows[r]][k] == 1;
    if (each) expected.push_back(k);
  }
  CHECK(common_columns(X, rows) == expected);
}

template <class Value>
void check_all(Random& random, std::int64_t n, std::int64_t d, const std::vector<double>& dense) {
  const std::vector<Value> values(dense.begin(), dense.end());
  const DenseMatrix<Value> X{n, d, values.data()};
  check_products(random, X, dense);
  check_gather<float>(random, X, dense);
  check_gather<double>(random, X, dense);
  check_csr<Value, std::int32_t>(random, n, d, dense);
  check_csr<Value, std::int64_t>(random, n, d, dense);
}

void test_small(Random& random) {
  const auto n = random.whole(0, 30), d = random.whole(0, 40);
  auto dense = draw(random, n * d);
  for (double& value : dense) value *= random.whole(0, 2) == 0;
  check_all<float>(random, n, d, dense);
  check_all<double>(random, n, d, dense);
}

// Rows that are stored in any order, with columns that may come twice.
class Rows final : public SparseMatrix {
 public:
  Rows(Random& random, std::int64_t n, std::int64_t d) : rows_(n) {
    const auto most = random.whole(0, 2 * d);
    for (auto& row : rows_)
      for (auto m = d > 0 ? random.whole(0, most) : 0; m > 0; --m)
        row.emplace_back(random.whole(0, d - 1), random.real(-1, 1));
  }
  [[nodiscard]] std::int64_t n_stored(std::int64_t row) const override {
    return std::ssize(rows_[row]);
  }
  void copy(std::int64_t row, std::uint32_t, std::uint32_t* column, double* value) const override {
    for (const auto& [k, z] : rows_[row]) {
      *column++ = static_cast<std::uint32_t>(k);
      *value++ = z;
    }
  }
  [[nodiscard]] std::vector<double> dense(std::int64_t row, std::int64_t d) const {
    std::vector<double> values(d);
    for (const auto& [k, z] : rows_[row]) values[k] += z;
    return values;
  }

 private:
  std::vector<std::vector<std::pair<std::int64_t, double>>> rows_;
};

void test_dot_products(Random& random) {
  const auto n = random.whole(0, 40), d = random.whole(0, 30);
  const Rows Z(random, n, d);
  std::vector<double> found(n * n), again(n * n);
  multiply_by_transposed(Z, n, d, found.data(), 1);
  multiply_by_transposed(Z, n, d, again.data(), 3);
  CHECK(found == again);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto own = Z.dense(i, d), other = Z.dense(j, d);
      const double expected = std::inner_product(own.begin(), own.end(), other.begin(), 0.0);
      CHECK(std::abs(found[i * n + j] - expected) <= 1e-11);
      CHECK(found[i * n + j] == found[j * n + i]);
    }
}

void test_laplacian(Random& random) {
  const auto n = random.whole(0, 20), d = random.whole(0, 90);
  const Rows Z(random, n, d);
  std::vector<double> square(n * n), expected(d * d), found(d * d), again(d * d);
  for (auto pair = random.whole(0, 2 * n); pair > 0; --pair) {
    const auto i = random.whole(0, n - 1), j = random.whole(0, n - 1);
    const double weight = static_cast<double>(random.whole(0, 9));
    for (const auto place : {i * n + i, j * n + j}) square[place] += weight;
    for (const auto place : {i * n + j, j * n + i}) square[place] -= weight;
  }
  std::vector<std::int64_t> start{0}, column;
  std::vector<double> value;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      if (square[i * n + j] != 0) {
        column.push_back(j);
        value.push_back(square[i * n + j]);
      }
    start.push_back(std::ssize(column));
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const auto own = Z.dense(i, d), other = Z.dense(j, d);
      for (std::int64_t k = 0; k < d; ++k)
        for (std::int64_t l = 0; l < d; ++l)
          expected[k * d + l] += own[k] * square[i * n + j] * other[l];
    }
  const SparseSquare L{n, start.data(), column.data(), value.data()};
  multiply_laplacian(Z, d, L, found.data(), 1);
  multiply_laplacian(Z, d, L, again.data(), 3);
  CHECK(found == again);
  std::vector<float> single(d * d), single_again(d * d);
  multiply_laplacian(Z, d, L, single.data(), 1);
  multiply_laplacian(Z, d, L, single_again.data(), 3);
  CHECK(single == single_again);
  const auto largest =
      std::accumulate(expected.begin(), expected.end(), 1.0,
                      [](double most, double each) { return std::max(most, std::abs(each)); });
  for (std::int64_t k = 0; k < d; ++k)
    for (std::int64_t l = 0; l < d; ++l) {
      CHECK(std::abs(found[k * d + l] - expected[k * d + l]) <= 1e-9);
      CHECK(found[k * d + l] == found[l * d + k]);
      CHECK(std::abs(single[k * d + l] - expected[k * d + l]) <= 1e-5 * largest);
      CHECK(single[k * d + l] == single[l * d + k]);
    }
}

// Large enough for several threads; sums of such numbers round.
void test_threads(Random& random) {
  const auto n = random.whole(20'000, 40'000), d = random.whole(8, 40);
  std::vector<double> values(n * d), u(n);
  for (double& value : values) value = random.real(-1, 1);
  for (double& value : u) value = random.real(-1, 1);
  const DenseMatrix<double> X{n, d, values.data()};
  std::vector<double> one(2 * d), other(2 * d), alone(d);
  multiply_transposed(X, nullptr, u.data(), alone.data(), 1);
  multiply_transposed_with_squares(X, nullptr, u.data(), u.data(), one.data(), 1);
  for (std::int64_t k = 0; k < d; ++k) CHECK(one[2 * k] == alone[k]);
  for (const int n_threads : {2, 5}) {
    multiply_transposed_with_squares(X, nullptr, u.data(), u.data(), other.data(), n_threads);
    CHECK(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
  }
}

// Rows that are few and long, whose columns threads share where they are in order.
void test_threads_on_long_rows(Random& random) {
  const auto n = random.whole(50, 60), d = random.whole(9'000, 10'000);
  std::vector<std::int64_t> row_start{0}, column;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < d; ++k)
      if (random.whole(0, 3) > 0) column.push_back(k);
    row_start.push_back(std::ssize(column));
  }
  std::vector<double> values(n * d), u(n), w(d);
  for (auto* const numbers : {&values, &u, &w})
    for (double& value : *numbers) value = random.real(-1, 1);
  const auto check = [&](const auto& X) {
    std::vector<double> sums(d), squares(2 * d), product(n);
    std::vector<double> same_sums(d), same_squares(2 * d), same_product(n);
    multiply_transposed(X, nullptr, u.data(), sums.data(), 1);
    multiply_transposed_with_squares(X, nullptr, u.data(), u.data(), squares.data(), 1);
    multiply(X, nullptr, w.data(), product.data(), 1);
    for (const int n_threads : {2, 7}) {
      multiply_transposed(X, nullptr, u.data(), same_sums.data(), n_threads);
      CHECK(same_sums == sums);
      multiply_transposed_with_squares(X, nullptr, u.data(), u.data(), same_squares.data(),
                                       n_threads);
      CHECK(same_squares == squares);
      multiply(X, nullptr, w.data(), same_product.data(), n_threads);
      CHECK(same_product == product);
    }
  };
  check(DenseMatrix<double>{n, d, values.data()});
  for (const bool ascend : {true, false}) {
    if (!ascend)
      for (std::int64_t i = 0; i < n; ++i)
        std::reverse(column.begin() + row_start[i], column.begin() + row_start[i + 1]);
    CsrMatrix<double, std::int64_t> X{n, d, row_start.data(), column.data(), values.data()};
    X.ascends = stored_columns(X).ascend;
    CHECK(X.ascends == ascend);
    check(X);
  }
}

void test_tiles(Random& random) {
  const auto n = random.whole(1, 20), d = random.whole(0, 40);
  const auto tile = draw(random, n * d), left = draw(random, n), right = draw(random, d);
  auto by_row = draw(random, n), by_column = draw(random, d);
  auto expected_by_row = by_row, expected_by_column = by_column;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < d; ++k) {
      expected_by_row[i] += tile[i * d + k] * right[k];
      expected_by_column[k] += tile[i * d + k] * left[i];
    }
  add_tile_products(tile.data(), static_cast<std::size_t>(n), static_cast<std::size_t>(d),
                    left.data(), right.data(), by_row.data(), by_column.data());
  CHECK(by_row == expected_by_row);
  CHECK(by_column == expected_by_column);
}

}  // namespace

void test_matrices(double seconds) {
  repeat(seconds / 4, test_small);
  repeat(seconds / 8, test_common_columns);
  repeat(seconds / 16, test_dot_products);
  repeat(seconds / 16, test_laplacian);
  repeat(seconds / 8, test_tiles);
  repeat(seconds * 3 / 16, test_threads);
  repeat(seconds * 3 / 16, test_threads_on_long_rows);
}

}  // namespace ranksvm::tests
