// The documents of every query in ascending order of their scores, and which pairs are active.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pair_sums/sorted_query.hpp"
#include "preference_pairs.hpp"
#include "sorting.hpp"

namespace ranksvm {

// Not initialised when made: every entry is written once, by the thread that has it at hand.
template <class T>
using Array = std::unique_ptr<T[]>;

// By position, that is in order of query, then score.
class ScoreOrder {
 public:
  // scores: by row.  margins: descending, one window for each.
  ScoreOrder(const PreferencePairs& pairs, const double* scores, std::vector<double> margins,
             int n_threads);

  Array<std::uint32_t> slot, label;
  Array<double> score;                            // shifted to be small, without effect on losses
  double spread = 0;                              // the largest of them, in absolute value
  std::vector<Array<std::uint32_t>> window_ends;  // of each margin; see SortedQuery

  SortedQuery query(std::int64_t q, std::size_t window) const;

 private:
  double sort_query(std::int64_t query, const double* scores, int n_threads);
  void find_windows(std::int64_t begin, std::uint32_t n, const ScoredIndex* order, int n_threads);
  double shift_chains(std::int64_t query, const ScoredIndex* order, int n_threads);

  const PreferencePairs& pairs_;
  std::vector<double> margins_;
};

}  // namespace ranksvm
