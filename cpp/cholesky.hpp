// Solutions by Cholesky factors, and one of a matrix that gains and loses rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace ranksvm {

// (L L')^-1 b, in place, for a lower triangular array L with rows one after the other.
void cholesky_solve(const double* L, std::size_t n, double* b);

struct Rotation {
  double c, s;
};

// L with L L' = G.  A row costs O(n^2) to append or remove, and so does a solution.
class CholeskyFactor {
 public:
  std::size_t size() const { return rows_.size(); }

  // L^-1 b, in place.
  void solve_lower(std::vector<double>& b) const;
  // L'^-1 b, in place.
  void solve_upper(std::vector<double>& b) const;
  // G^-1 b, in place.
  void solve(std::vector<double>& b) const {
    solve_lower(b);
    solve_upper(b);
  }

  // Appends the row whose elements left of the diagonal are L^-1 g, for the column g of the new
  // row of G, and whose diagonal element is the square root of the Schur complement.
  void append(std::vector<double> row, double schur_complement) {
    row.push_back(std::sqrt(schur_complement));
    rows_.push_back(std::move(row));
  }
  // Lets L^-1 b follow when a row has been appended, with this element of b.
  void extend(std::vector<double>& half_solved, double b) const;

  // Removes row and column j of G.
  void remove(std::size_t j);
  // The same; L^-1 b follows, without element j of b.
  void remove(std::size_t j, std::vector<double>& half_solved);

 private:
  std::vector<Rotation> take_out(std::size_t j);

  std::vector<std::vector<double>> rows_;
};

}  // namespace ranksvm
