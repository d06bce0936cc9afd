// The preference pairs of a data set: labels, queries and weights.
#pragma once

#include <cstdint>
#include <vector>

namespace ranksvm {

// Which documents are to be ordered, and how much each pair weighs.  Documents are numbered query
// by query ("slots"); slot g is row[g] of the caller's arrays, or row g where `row` is empty.
struct PreferencePairs {
  // y, row_weight: by row; query_start: n_queries + 1 slots; order, row_weight and query_weight may
  // be empty.  The pair (i, j) of query q weighs query_weight[q] row_weight[i] row_weight[j], with
  // gaps this times y[i] - y[j].
  PreferencePairs(const double* y, std::vector<std::int64_t> query_start,
                  std::vector<std::int64_t> order, const double* row_weight,
                  const double* query_weight, bool gaps, int n_threads);

  std::int64_t n_documents() const { return query_start.back(); }
  std::int64_t n_queries() const { return static_cast<std::int64_t>(query_start.size()) - 1; }
  bool has_gaps() const { return !value.empty(); }
  std::int64_t row_of(std::int64_t slot) const { return row.empty() ? slot : row[slot]; }

  std::vector<std::int64_t> query_start, row;
  std::vector<std::uint32_t> label;     // by slot: rank of the label among those of its query
  std::vector<std::uint32_t> n_levels;  // by query
  std::vector<double> inner, outer;     // by slot: row weight, the same times the query's; or empty
  std::vector<double> value;            // with gaps, at query_start + rank: the label of that rank
  std::vector<double> pair_weight;      // by query: total weight of its pairs
  double largest_weight = 1;            // of a row, with gaps times the largest gap
  bool whole_weights = true;            // of all rows and gaps

  // Work in pieces that do not depend on the number of threads: runs of short queries, and long
  // queries by themselves.
  struct Piece {
    std::int64_t first_query, last_query;
    bool is_long;
  };
  std::vector<Piece> pieces;

 private:
  void measure_gaps();
};

}  // namespace ranksvm
