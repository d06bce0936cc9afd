// The preference pairs of a data set, and one sweep over the scores that finds the active ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pair_sums/sorted_query.hpp"

namespace ranksvm {

enum class Counting { automatic, merge, levels, pairs };

// Which documents are to be ordered, and how much each pair weighs.  Documents are numbered query
// by query ("slots"); slot g is row[g] of the caller's arrays, or row g where `row` is empty.
struct PreferencePairs {
  // y, row_weight: by row; query_start: n_queries + 1 slots; order, row_weight and query_weight may
  // be empty.  The pair (i, j) of query q weighs query_weight[q] row_weight[i] row_weight[j].
  PreferencePairs(const double* y, std::vector<std::int64_t> query_start,
                  std::vector<std::int64_t> order, const double* row_weight,
                  const double* query_weight, int n_threads);

  std::int64_t n_documents() const { return query_start.back(); }
  std::int64_t n_queries() const { return static_cast<std::int64_t>(query_start.size()) - 1; }
  std::int64_t row_of(std::int64_t slot) const { return row.empty() ? slot : row[slot]; }

  std::vector<std::int64_t> query_start, row;
  std::vector<std::uint32_t> label;     // by slot: rank of the label among those of its query
  std::vector<std::uint32_t> n_levels;  // by query
  std::vector<double> inner, outer;     // by slot: row weight, the same times the query's; or empty
  std::vector<double> pair_weight;      // by query: total weight of its pairs

  // Work in pieces that do not depend on the number of threads: runs of short queries, and long
  // queries by themselves.
  struct Piece {
    std::int64_t first_query, last_query;
    bool is_long;
  };
  std::vector<Piece> pieces;
};

// The pairs active at a margin: margin - (s_i - s_j) > 0 for y_i > y_j.  Immutable.
class Sweep {
 public:
  // scores by row; with_laplacian: also multiply the scores themselves by the Laplacian.
  Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores, double margin,
        Counting counting, bool with_laplacian, int n_threads);

  // With M the weighted Laplacian of the active pairs, by row: l+ - l- (so that the hinge has the
  // subgradient `balance`), l+ + l- (the diagonal of M) and, if asked for, M s.
  std::vector<double> balance, degree, laplacian_scores;
  // Total weight of the active pairs, balance' s and s' M s, with s shifted to be small.
  double n_active = 0, balance_scores = 0, scores_laplacian_scores = 0;

  // result = M v, for row-major n x n_columns blocks.
  void laplacian(const double* v, std::int64_t n_columns, double* result, int n_threads) const;

  // result = M_B v for the diagonal block M_B of the queries first..last-1, in the columns
  // first_column..last_column-1; v and result are row-major, n_columns wide, and hold the slots of
  // these queries only.
  template <class Real>
  void laplacian_rows(std::int64_t first_query, std::int64_t last_query, const Real* v,
                      std::int64_t n_columns, std::int64_t first_column, std::int64_t last_column,
                      Real* result) const;

  const PreferencePairs& pairs() const { return *pairs_; }

 private:
  enum Side { both, upper, lower };
  struct Task {
    std::int64_t first_query, last_query;
    Side side;
  };
  template <int K>
  struct Sums {
    std::vector<double> upper, lower;  // by position, K columns
  };

  double sort(const double* scores, double margin, std::vector<double>& sorted, int n_threads);
  void sort_query(std::int64_t query, const double* scores, double margin, double* sorted,
                  int n_threads);
  template <int K>
  Sums<K> sum_partners(const std::vector<double>& v, int n_threads) const;
  template <int K>
  void finish(const std::vector<double>& sorted, int n_threads);
  template <int K>
  void laplacian_columns(const double* v, std::int64_t stride, double* result, int n_threads) const;
  SortedQuery sorted_query(std::int64_t query) const;
  double inner(std::uint32_t slot) const { return pairs_->inner.empty() ? 1 : pairs_->inner[slot]; }
  double outer(std::uint32_t slot) const { return pairs_->outer.empty() ? 1 : pairs_->outer[slot]; }

  std::shared_ptr<const PreferencePairs> pairs_;
  Counting counting_;
  // By position: slots in order of query, then score.
  std::vector<std::uint32_t> slot_, label_, window_end_;
};

}  // namespace ranksvm
