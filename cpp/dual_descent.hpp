// Dual coordinate descent for either hinge loss on pairs within short queries (Hsieh et al. 2008).
#pragma once

#include <cstdint>
#include <vector>

#include "array.hpp"

namespace ranksvm {

// Maximises  sum_p (margin b_p - 0.5 damping_p b_p^2) - 0.5 |w|^2  over  0 <= b_p <= upper_p,
// w = sum_p b_p (x_i - x_j),  query by query: the scores of its rows come from w once, follow the
// slopes b of its pairs by the dot products of the rows while these are moved, a few times each,
// and go back to w at last.
//
// Rows are those of queries one after the other, and so are pairs, whose rows are counted from the
// first of their query. All that is given has to stay.
class DualDescent {
 public:
  struct Rows {
    const std::int64_t* start;  // of what a row stores
    const std::uint32_t* column;
    const double* value;
  };
  struct Pairs {
    const std::int64_t* start;  // of the pairs of a query
    const std::int32_t* better;
    const std::int32_t* worse;
    const double* upper;
    const double* damping;
    double margin;
  };

  // Queries begin at row `first_row[q]`, and end before that of the next.
  DualDescent(Rows rows, Pairs pairs, const std::int64_t* first_row, std::int64_t n_queries,
              std::int64_t n_columns);

  // Visits some queries in turn. In `lacking`, which has a number for each query, it notes by how
  // much the pair that was furthest from where it should be was off, before it was moved.
  void visit(const std::int64_t* queries, std::int64_t n, double* slopes, double* weights,
             double* lacking) const;

 private:
  void multiply_rows(std::int64_t query, double* unfolded);
  void measure_pairs(std::int64_t query);

  Rows rows_;
  Pairs pairs_;
  const std::int64_t* first_row_;
  std::int64_t longest_ = 0;
  std::vector<std::int64_t> products_start_;
  Array<double> products_;  // of the rows of a query with each other
  Array<double> inverse_;   // of how the dual bends along a slope
};

}  // namespace ranksvm
