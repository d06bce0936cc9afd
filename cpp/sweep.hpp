// The preference pairs of a data set, and one sweep over the scores that finds the active ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pair_sums/sorted_query.hpp"
#include "sorting.hpp"

namespace ranksvm {

enum class Counting { automatic, merge, levels, joachims, tree, pairs };

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

// The pairs active at a margin, margin - (s_i - s_j) > 0 for y_i > y_j, and what follows from them
// for the hinge or the squared hinge.  Immutable.
//
// M is the weighted Laplacian of the graph of active pairs, l+ + l- its diagonal ("degree") and
// l+ - l- the "balance" of a document, as counted by Lee & Lin (2014).
class Sweep {
 public:
  // Not initialised when made: every entry is written once, by the thread that has it at hand.
  template <class T>
  using Buffer = std::unique_ptr<T[]>;

  // scores: by row.
  Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores, double margin,
        bool squared, Counting counting, int n_threads);

  // By row: the balance, a subgradient of the hinge; or 2 (M s + margin balance), the gradient of
  // the squared hinge.
  Buffer<double> gradient;
  // Total weight of the active pairs, balance' s and (squared hinge only) s' M s.
  double n_active = 0, balance_scores = 0, scores_laplacian_scores = 0;

  // The diagonal of M, by row.
  void degree(double* result) const;

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
  struct Sums {  // by position, K columns
    Buffer<double> upper, lower;
  };

  double sort(const double* scores, double margin, double* sorted, int n_threads);
  double sort_query(std::int64_t query, const double* scores, double margin, double* sorted,
                    int n_threads);
  double shift_chains(std::int64_t query, const ScoredIndex* order, double margin, double* sorted,
                      int n_threads) const;
  template <int K>
  Sums sum_partners(const double* v, int n_threads) const;
  template <int K>
  void finish(const double* sorted, double margin, int n_threads);
  template <int K>
  void laplacian_columns(const double* v, std::int64_t stride, double* result, int n_threads) const;
  SortedQuery sorted_query(std::int64_t query) const;
  std::int64_t n_documents() const { return pairs_->n_documents(); }
  double inner(std::uint32_t slot) const { return pairs_->inner.empty() ? 1 : pairs_->inner[slot]; }
  double outer(std::uint32_t slot) const { return pairs_->outer.empty() ? 1 : pairs_->outer[slot]; }

  std::shared_ptr<const PreferencePairs> pairs_;
  Counting counting_;
  // By position, that is in order of query, then score.
  Buffer<std::uint32_t> slot_, label_, window_end_;
  Buffer<double> degree_;
};

}  // namespace ranksvm
