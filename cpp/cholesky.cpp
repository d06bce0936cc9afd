#include "cholesky.hpp"

#include <algorithm>

#include "lanes.hpp"

namespace ranksvm {
namespace {

using Rows = std::vector<double>*;

// Where rows begin: those of a factor that changes, and those of an array.
struct KeptRows {
  const std::vector<double>* rows;
  RANKSVM_INLINE const double* operator[](std::size_t i) const { return rows[i].data(); }
};

struct ArrayRows {
  const double* values;
  std::size_t n;
  RANKSVM_INLINE const double* operator[](std::size_t i) const { return values + i * n; }
};

// Rows that are gone through at the same time, and turned: their sums do not wait for one another.
constexpr std::size_t kRows = 4, kTurned = 8;

// Inner products of the first i elements of some rows, from row i on, with b.
template <std::size_t Count, class RowsOfL>
RANKSVM_INLINE void multiply(RowsOfL rows, std::size_t i, const double* b, double* products) {
  const double* row[Count];
  Lanes sums[Count] = {};
  for (std::size_t r = 0; r < Count; ++r) row[r] = rows[i + r];
  std::size_t k = 0;
  for (; k + kLanes <= i; k += kLanes) {
    const Lanes factor = load(b + k);
    for (std::size_t r = 0; r < Count; ++r) sums[r] += load(row[r] + k) * factor;
  }
  for (std::size_t r = 0; r < Count; ++r) {
    double rest = 0.0;
    for (std::size_t j = k; j < i; ++j) rest += row[r][j] * b[j];
    products[r] = total(sums[r]) + rest;
  }
}

template <std::size_t Count, class RowsOfL>
RANKSVM_INLINE void solve_lower_rows(RowsOfL rows, std::size_t i, double* b) {
  double products[Count];
  multiply<Count>(rows, i, b, products);
  for (std::size_t r = 0; r < Count; ++r) {
    const double* row = rows[i + r] + i;
    double rest = b[i + r] - products[r];
    for (std::size_t s = 0; s < r; ++s) rest -= row[s] * b[i + s];
    b[i + r] = rest / row[r];
  }
}

template <class RowsOfL>
RANKSVM_CLONES void solve_lower(RowsOfL rows, std::size_t n, double* b) {
  std::size_t i = 0;
  for (; i + kRows <= n; i += kRows) solve_lower_rows<kRows>(rows, i, b);
  for (; i < n; ++i) solve_lower_rows<1>(rows, i, b);
}

template <std::size_t Count, class RowsOfL>
RANKSVM_INLINE void solve_upper_rows(RowsOfL rows, std::size_t i, double* RANKSVM_RESTRICT b) {
  const double* row[Count];
  double value[Count];
  for (std::size_t r = Count; r-- > 0;) {
    row[r] = rows[i + r];
    value[r] = b[i + r] /= row[r][i + r];
    for (std::size_t s = 0; s < r; ++s) b[i + s] -= row[r][i + s] * value[r];
  }
  for (std::size_t k = 0; k < i; ++k) {
    double sum = row[0][k] * value[0];
    for (std::size_t r = 1; r < Count; ++r) sum += row[r][k] * value[r];
    b[k] -= sum;
  }
}

template <class RowsOfL>
RANKSVM_CLONES void solve_upper(RowsOfL rows, std::size_t n, double* b) {
  std::size_t i = n;
  for (; i >= kRows; i -= kRows) solve_upper_rows<kRows>(rows, i - kRows, b);
  for (; i > 0; --i) solve_upper_rows<1>(rows, i - 1, b);
}

// Rotates neighbouring elements of some rows, from column j on, to the right.
template <std::size_t Count>
RANKSVM_INLINE void rotate(Rows rows, std::size_t j, const std::vector<Rotation>& rotations) {
  double* row[Count];
  double left[Count];
  for (std::size_t r = 0; r < Count; ++r) {
    row[r] = rows[r].data() + j;
    left[r] = row[r][0];
  }
  const std::size_t n = rotations.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto [c, s] = rotations[k];
    for (std::size_t r = 0; r < Count; ++r) {
      const double right = row[r][k + 1];
      row[r][k] = c * left[r] + s * right;
      left[r] = c * right - s * left[r];
    }
  }
  for (std::size_t r = 0; r < Count; ++r) row[r][n] = left[r];
}

// Rotations that empty the last column of each row from j on, which reaches one too far.
RANKSVM_CLONES void shorten(Rows rows, std::size_t j, std::size_t n,
                            std::vector<Rotation>& rotations) {
  for (std::size_t i = j; i < n; i += kTurned) {
    const std::size_t count = std::min(kTurned, n - i);
    if (count == kTurned)
      rotate<kTurned>(rows + i, j, rotations);
    else
      for (std::size_t r = 0; r < count; ++r) rotate<1>(rows + i + r, j, rotations);
    for (std::size_t r = 0; r < count; ++r) {
      double* row = rows[i + r].data() + i;
      for (std::size_t s = 0; s < r; ++s) {
        const auto [cosine, sine] = rotations[i + s - j];
        const double left = row[s], right = row[s + 1];
        row[s] = cosine * left + sine * right;
        row[s + 1] = cosine * right - sine * left;
      }
      const double length = std::hypot(row[r], row[r + 1]);
      rotations.push_back({row[r] / length, row[r + 1] / length});
      row[r] = length;
      rows[i + r].pop_back();
    }
  }
}

}  // namespace

void CholeskyFactor::solve_lower(std::vector<double>& b) const {
  ranksvm::solve_lower(KeptRows{rows_.data()}, size(), b.data());
}

void CholeskyFactor::solve_upper(std::vector<double>& b) const {
  ranksvm::solve_upper(KeptRows{rows_.data()}, size(), b.data());
}

void cholesky_solve(const double* L, std::size_t n, double* b) {
  solve_lower(ArrayRows{L, n}, n, b);
  solve_upper(ArrayRows{L, n}, n, b);
}

void CholeskyFactor::extend(std::vector<double>& half_solved, double b) const {
  const std::vector<double>& row = rows_.back();
  for (std::size_t k = 0; k < half_solved.size(); ++k) b -= row[k] * half_solved[k];
  half_solved.push_back(b / row.back());
}

std::vector<Rotation> CholeskyFactor::take_out(std::size_t j) {
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(j));
  std::vector<Rotation> rotations;
  rotations.reserve(size() - j);
  shorten(rows_.data(), j, size(), rotations);
  return rotations;
}

void CholeskyFactor::remove(std::size_t j) { take_out(j); }

void CholeskyFactor::remove(std::size_t j, std::vector<double>& half_solved) {
  rotate<1>(&half_solved, j, take_out(j));
  half_solved.pop_back();
}

}  // namespace ranksvm
