// The preference pairs of a data set: labels, queries and weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "array.hpp"
#include "sorting.hpp"

namespace ranksvm {

// Which documents are to be ordered, and how much each pair weighs.  Documents are numbered query
// by query ("slots").  Those that weigh nothing, or whose query does not, belong to no pair: the
// others are the members of their query, and levels are those of members.  Immutable.
class PreferencePairs {
 public:
  // By row, and by query; null where all are 1.  `better` and `worse` are those of the roles of a
  // row: where it is the better one of a pair, and where it is the worse one.
  struct Weights {
    const double *row = nullptr, *query = nullptr, *better = nullptr, *worse = nullptr;
  };
  // y: by row; query_start: n_queries + 1 slots; order: the row in each slot, or empty if they are
  // the same.  The pair (i, j) of query q weighs query[q] row[i] row[j] better[i] worse[j], with
  // gaps this times y[i] - y[j].
  PreferencePairs(const double* y, std::vector<std::int64_t> query_start,
                  std::vector<std::uint32_t> order, const Weights& weights, bool gaps,
                  int n_threads);

  // Those of the queries first..last-1 alone, whose slots are its rows.  Sweeps are by the same way
  // of counting, and in the same units, as among all queries.
  [[nodiscard]] PreferencePairs part(std::int64_t first, std::int64_t last) const;

  [[nodiscard]] std::int64_t n_documents() const { return query_start_.back(); }
  [[nodiscard]] std::int64_t n_queries() const { return std::ssize(query_start_) - 1; }
  [[nodiscard]] bool has_gaps() const { return has_gaps_; }
  [[nodiscard]] bool has_weights() const { return !inner_.empty(); }
  [[nodiscard]] bool has_roles() const { return !better_.empty(); }
  [[nodiscard]] bool is_weighted() const { return has_weights() || has_roles(); }

  // The slots of a query are those from query_start(q) on, before query_start(q + 1).
  [[nodiscard]] std::int64_t query_start(std::int64_t query) const { return query_start_[query]; }
  [[nodiscard]] std::int64_t size(std::int64_t query) const {
    return query_start_[query + 1] - query_start_[query];
  }
  [[nodiscard]] std::int64_t longest_query() const { return longest_query_; }
  // Of so few documents that a word has a bit for each. Among longer ones, where there are very
  // many documents, no query counts as short: there would have to be memory for both ways of
  // counting.
  static constexpr std::int64_t kShortQuery = 64, kMostMixed = 1 << 18;
  [[nodiscard]] bool is_short(std::int64_t query) const {
    return may_be_short_ && 0 < size(query) && size(query) <= kShortQuery;
  }
  [[nodiscard]] bool has_short_queries() const { return has_short_queries_; }
  [[nodiscard]] std::int64_t n_members(std::int64_t query) const {
    return n_members_.empty() ? size(query) : n_members_[query];
  }
  // The slots of a query, members first, those of a short query by their levels; as `place` runs
  // through the slots of the query.
  [[nodiscard]] std::int64_t arranged(std::int64_t place) const {
    return arranged_.empty() ? place : arranged_[place];
  }
  // The labels of the levels of a query, ascending; with gaps only.
  [[nodiscard]] const double* level_values(std::int64_t query) const {
    return values_.data() + query_start_[query];
  }

  [[nodiscard]] std::int64_t row_of(std::int64_t slot) const {
    return row_.empty() ? slot : row_[slot];
  }
  // The row's weight, and the same times the query's.
  [[nodiscard]] double inner(std::int64_t slot) const { return has_weights() ? inner_[slot] : 1; }
  [[nodiscard]] double outer(std::int64_t slot) const { return has_weights() ? outer_[slot] : 1; }
  // What the row weighs besides, as the better one of a pair and as the worse one.
  [[nodiscard]] double better(std::int64_t slot) const { return has_roles() ? better_[slot] : 1; }
  [[nodiscard]] double worse(std::int64_t slot) const { return has_roles() ? worse_[slot] : 1; }
  [[nodiscard]] std::span<const double> better() const { return better_; }
  [[nodiscard]] std::span<const double> worse() const { return worse_; }

  // By slot: the level of a member, that is the rank of its label among those of the query; 0 for
  // others.
  [[nodiscard]] std::span<const std::uint32_t> labels() const { return label_; }
  [[nodiscard]] std::span<const std::uint32_t> n_levels() const { return n_levels_; }
  // Total weight of the pairs of each query.
  [[nodiscard]] std::span<const double> pairs_per_query() const { return pairs_per_query_; }

  // Of a row, with gaps times the largest gap, with roles times the largest product of two; at
  // least 1.
  [[nodiscard]] double largest_weight() const { return largest_weight_; }
  // The largest weight of a better row times that of a worse one; 1 without roles.
  [[nodiscard]] double largest_roles() const { return largest_roles_; }
  // Whether all rows' weights and gaps are whole numbers, so that sums over pairs are exact.
  [[nodiscard]] bool whole_weights() const { return whole_weights_; }
  // Powers of two that bring the largest weights, and the largest gap, close to 1: the inner ones
  // those of better rows, the outer ones those of worse rows.
  struct Scale {
    double inner = 1, outer = 1, gap = 1;
  };
  [[nodiscard]] const Scale& scale() const { return scale_; }

  // Work in pieces that do not depend on the number of threads: runs of short queries, and long
  // queries by themselves.
  struct Piece {
    std::int64_t first_query, last_query;
    bool is_long;
  };
  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }

 private:
  PreferencePairs() = default;
  void measure_queries();
  void cut_into_pieces();
  void begin_arranging();
  void set_weights(const Weights& weights);
  void find_members();
  [[nodiscard]] bool is_member(std::int64_t slot) const {
    return outer(slot) > 0 && (better(slot) > 0 || worse(slot) > 0);
  }
  void rank_query(std::int64_t query, const double* y, LargeVector<double>& labels);
  void arrange_by_level(std::int64_t begin, const ScoredIndex* by_label, std::uint32_t n);
  void measure_weights();

  std::vector<std::int64_t> query_start_;
  std::vector<std::uint32_t> row_;
  bool has_gaps_ = false;
  LargeVector<std::uint32_t> label_;
  std::vector<std::uint32_t> n_levels_;
  std::vector<double> inner_, outer_;    // or empty
  std::vector<double> better_, worse_;   // or empty
  LargeVector<std::uint32_t> arranged_;  // or empty
  std::vector<std::int64_t> n_members_;  // or empty
  std::vector<double> values_;  // with gaps: from the start of a query on, those of its levels
  std::vector<double> pairs_per_query_;
  std::int64_t longest_query_ = 0;
  bool may_be_short_ = false, has_short_queries_ = false;
  double largest_weight_ = 1, largest_roles_ = 1;
  bool whole_weights_ = true;
  Scale scale_;
  std::vector<Piece> pieces_;
};

}  // namespace ranksvm
