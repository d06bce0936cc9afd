// The documents of every query in ascending order of their scores, and which pairs are active.
#pragma once

#include <cstdint>
#include <vector>

#include "array.hpp"
#include "pair_sums/sorted_query.hpp"
#include "preference_pairs.hpp"
#include "sorting.hpp"

namespace ranksvm {

// Documents by position, that is in order of query, then score; behind the members of a query come
// its other documents.  Immutable.
class ScoreOrder {
 public:
  // scores: by row.  margins: descending, one window for each.  Without with_short, the documents
  // of short queries are left as PreferencePairs has arranged them.  The pairs outlive this object.
  ScoreOrder(const PreferencePairs& pairs, const double* scores, std::vector<double> margins,
             bool with_short, int n_threads);

  // Whether a query is in order.
  [[nodiscard]] bool holds(std::int64_t query) const {
    return with_short_ || !pairs_.is_short(query);
  }

  [[nodiscard]] std::int64_t slot(std::int64_t position) const { return slot_[position]; }
  // Shifted to be small, without effect on losses; until these are dropped.
  [[nodiscard]] double score(std::int64_t position) const { return score_[position]; }
  void drop_scores() { score_.reset(); }
  // The largest of these scores, in absolute value.
  [[nodiscard]] double spread() const { return spread_; }
  [[nodiscard]] std::size_t n_windows() const { return window_ends_.size(); }
  [[nodiscard]] SortedQuery query(std::int64_t query, std::size_t window) const;

 private:
  double sort_query(std::int64_t query, const double* scores, int n_threads);
  void find_windows(std::int64_t begin, std::uint32_t n, const ScoredIndex* order, int n_threads);
  double shift_chains(std::int64_t query, const ScoredIndex* order, int n_threads);

  const PreferencePairs& pairs_;
  std::vector<double> margins_;
  bool with_short_;
  Array<std::uint32_t> slot_, label_;
  Array<double> score_;
  double spread_ = 0;
  std::vector<Array<std::uint32_t>> window_ends_;  // of each margin; see SortedQuery
};

}  // namespace ranksvm
