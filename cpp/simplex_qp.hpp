// minimise 0.5 a' G a - b' a over the simplex: a >= 0, sum a = 1.
//
// The dual of a cutting-plane model: G holds the products of the planes' slopes, b their offsets.
// An active-set method: the support grows by the element that promises most and shrinks where a
// step meets the boundary, so that it ends at the exact solution. A solution is kept to start the
// next one from, which then takes a few steps.
#pragma once

#include <cstddef>
#include <vector>

#include "cholesky.hpp"

namespace ranksvm {

class SimplexQp {
 public:
  std::size_t size() const { return b_.size(); }
  // Adds an element: its products with all elements, itself the last, and its linear term.
  void add(const double* products, double linear);
  // Keeps these elements, given in ascending order; those left out must have weight 0.
  void keep(const std::vector<std::size_t>& elements);
  // Multiplies G by factor^2 and b by factor.
  void scale(double factor);
  void solve();
  const std::vector<double>& weights() const { return weights_; }
  // At the solution.
  double objective() const { return objective_; }

 private:
  double product(std::size_t i, std::size_t j) const { return G_[i * stride_ + j]; }
  double difference_product(std::size_t i, std::size_t j) const;
  bool append(std::size_t element);
  void erase(std::size_t place);
  void factorize();
  std::vector<double> affine_minimum() const;
  bool move(const std::vector<double>& direction, double most);
  void minimize_on_support();
  bool exchange(std::size_t element);
  void update_gradient();

  std::vector<double> G_;  // by rows, `stride_` apart
  std::size_t stride_ = 0;
  std::vector<double> b_, weights_;
  // The elements of weight above 0 are the reference and the support. The factor is that of the
  // products of the differences of the support from the reference, which is definite where the
  // elements are affinely independent.
  std::size_t reference_ = 0;
  std::vector<std::size_t> support_;
  CholeskyFactor factor_;
  double objective_ = 0;
  double step_ = 0;               // the length of the latest move
  std::vector<double> gradient_;  // G a - b
};

}  // namespace ranksvm
