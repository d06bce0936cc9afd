// A Cholesky factor of a matrix that gains and loses rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ranksvm {

// L with L L' = G.  A row costs O(n^2) to append or remove, and so does a solution.
class CholeskyFactor {
 public:
  std::size_t size() const { return rows_.size(); }

  // L^-1 b, in place.
  void solve_lower(std::vector<double>& b) const {
    for (std::size_t i = 0; i < size(); ++i) {
      const double* row = rows_[i].data();
      b[i] = (b[i] - dot(row, b.data(), i)) / row[i];
    }
  }

  // L'^-1 b, in place.
  void solve_upper(std::vector<double>& b) const {
    for (std::size_t i = size(); i-- > 0;) {
      const double* row = rows_[i].data();
      const double value = b[i] /= row[i];
      for (std::size_t k = 0; k < i; ++k) b[k] -= row[k] * value;
    }
  }

  // Appends the row whose elements left of the diagonal are L^-1 g, for the column g of the new
  // row of G, and whose diagonal element is the square root of the Schur complement.
  void append(std::vector<double> row, double schur_complement) {
    row.push_back(std::sqrt(schur_complement));
    rows_.push_back(std::move(row));
  }

  // Removes row and column j of G.
  void remove(std::size_t j) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(j));
    // The rows from j on reach one column too far: rotations of neighbouring columns, from the
    // left, empty it.
    std::vector<Rotation> rotations;
    for (std::size_t i = j; i < size(); ++i) {
      double* row = rows_[i].data();
      for (std::size_t k = j; k < i; ++k) rotations[k - j].apply(row[k], row[k + 1]);
      const double length = std::hypot(row[i], row[i + 1]);
      rotations.push_back({row[i] / length, row[i + 1] / length});
      row[i] = length;
      rows_[i].pop_back();
    }
  }

 private:
  struct Rotation {
    double c, s;
    void apply(double& left, double& right) const {
      const double turned = c * left + s * right;
      right = c * right - s * left;
      left = turned;
    }
  };

  // In four sums, which do not wait for one another.
  static double dot(const double* a, const double* b, std::size_t n) {
    double sums[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4)
      for (std::size_t s = 0; s < 4; ++s) sums[s] += a[k + s] * b[k + s];
    for (; k < n; ++k) sums[0] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  std::vector<std::vector<double>> rows_;
};

}  // namespace ranksvm
