// Pairs that are listed one by one, in steps of an interior-point method.
#pragma once

#include <cstddef>
#include <cstdint>

#include "array.hpp"

namespace ranksvm {

// As InteriorPairs, for either hinge: with the squared one, slopes are bounded below alone, and the
// dual curves by 1 / (2 u) in the slope of a pair that weighs u.
//
// Vectors are over all rows, and what they get is added to them.
class ListedPairs {
 public:
  struct List {
    const std::int64_t *better, *worse;
    std::size_t n_pairs, n_rows;
    const double* margin;  // of each pair, or of all
    bool is_uniform;
  };
  struct Way {
    double fastest;  // towards the bounds, in ways there by a whole step; NaN beyond floating point
    double change;   // of the products, to second order
  };
  struct Sums {
    double offset;     // of slopes, each times its margin
    double quadratic;  // of b^2 / (4 u), where the dual curves
    double products;
  };
  // How scores move to where products are zero, and to where they are a number.
  struct Aim {
    const double *towards, *move;
    double product;
  };

  // Slopes, and the multipliers of their bounds; without `high`, they are bounded below alone.
  ListedPairs(const List& list, const double* upper, const double* slopes, const double* low,
              const double* high);

  std::size_t size() const { return n_; }
  std::size_t n_rows() const { return n_rows_; }
  const double* weights() const { return weights_.get(); }

  // Finds the weights here, of pairs that are at least so stiff; adds up the balance of what they
  // make of what pairs lack.
  void weigh(const double* scores, double least, double* balance);
  // Adds the Laplacian of the weights to a matrix of all rows, on and below its diagonal.
  void add_laplacian(double* matrix) const;
  // Multiplies a vector by it.
  void laplacian(const double* v, double* product) const;
  // Looks at the step that moves scores so, with products of zero; adds up what these, and an aim,
  // do to the balance, and the balance of the step itself.
  Way bend(const double* move, double* of_products, double* of_aim, double* of_step) const;
  // Returns how fast a step goes towards the bounds, and adds up its balance.
  double fastest(const Aim& aim, double* of_step) const;
  // Corrects the aim of products that would be off it by this factor, a part of a step on, or what
  // is less than the factor allows; adds up what that does to the balance. The last may be undone.
  void correct(const Aim& aim, double part, double factor, double* balance);
  void undo();
  // Goes a part of a step.
  void move(const Aim& aim, double part);
  // Adds up balance and degree of the slopes.
  Sums sums(double* balance, double* degree) const;

 private:
  struct Corrections {
    Array<double> low, high;
  };
  struct Block;

  Block block_at(std::size_t begin) const;
  template <bool kIsBounded>
  void weigh_all(const double* scores, double least, double* balance);
  template <bool kIsBounded>
  Way bend_all(const double* move, double* of_products, double* of_aim, double* of_step) const;
  template <bool kIsBounded>
  double fastest_of_all(const Aim& aim, double* of_step) const;
  template <bool kIsBounded>
  void correct_all(const Aim& aim, double part, double factor, double* balance);
  template <bool kIsBounded>
  void move_all(const Aim& aim, double part);
  template <bool kIsBounded>
  Sums sums_of_all(double* balance, double* degree) const;

  std::size_t n_, n_rows_;
  bool is_uniform_, is_bounded_, is_corrected_ = false, was_corrected_ = false;
  Array<std::int32_t> better_, worse_;
  Array<double> margin_, upper_, slopes_, room_, low_, high_, weights_, lacking_;
  Corrections now_, before_;
};

}  // namespace ranksvm
