// The pairs of some rows of a level with all rows below, in steps of an interior-point method.
#pragma once

#include <cstddef>

#include "array.hpp"

namespace ranksvm {

// Slopes of the pairs, the room above them up to their bounds, the multipliers of both bounds, and
// the weights of the Laplacian: each a number of every better row with every worse one, by rows.
//
// A step leads to scores where pairs lack so much of the margin, m - (s_i - s_j), and products of
// slopes and multipliers become a number. Each pass over the pairs finds its parts anew, which
// takes less time, and memory, than to keep them. Vectors are over all rows of the query, the worse
// first, and what they get is added to them.
class InteriorPairs {
 public:
  struct Shape {
    std::size_t first, n_better, n_worse;  // better rows begin at `first`, which is >= n_worse
    std::size_t size() const { return n_better * n_worse; }
  };
  struct Way {
    double fastest;  // towards the bounds, in ways there by a whole step
    double change;   // of the products, to second order
  };
  struct Sums {
    double slopes, products;
  };
  // Where products are a number, the scores to step to; and those where products are zero.
  struct Aim {
    const double* towards;
    const double* scores;
    double product;
  };

  // Slopes are a share of their bounds, of which `upper` has one for each pair, or one for all;
  // products are this number.
  InteriorPairs(Shape shape, const double* upper, bool is_uniform, double margin, double share,
                double product);

  const Shape& shape() const { return shape_; }
  const double* weights() const { return weights_.get(); }

  // Finds the weights here; adds up their degree, and the balance of what they make of what pairs
  // lack.
  void weigh(const double* scores, double* balance, double* degree);
  // Looks at the step to scores with products of zero; adds up what these, and an aim, do to the
  // balance.
  Way bend(const double* scores, double* of_products, double* of_aim) const;
  // Returns how fast a step goes towards the bounds.
  double fastest(const Aim& aim) const;
  // Goes a part of a step; adds up balance and degree of the slopes there.
  Sums move(const Aim& aim, double part, double* balance, double* degree);

 private:
  Shape shape_;
  bool is_uniform_;
  double margin_;
  Array<double> upper_, slopes_, room_, low_, high_, weights_;
};

}  // namespace ranksvm
