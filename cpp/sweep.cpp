#include "sweep.hpp"

#include <cmath>
#include <stdexcept>

#include "pair_sums/joachims.hpp"
#include "pair_sums/levels.hpp"
#include "pair_sums/merge.hpp"
#include "pair_sums/pairs.hpp"
#include "pair_sums/row_sums.hpp"
#include "pair_sums/tree.hpp"
#include "parallel.hpp"
#include "sorting.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kLongQuery = 1 << 15;
constexpr std::int64_t kPieceSize = 1 << 12;
constexpr std::int64_t kChunk = 1 << 13;
constexpr std::uint32_t kFewDocuments = 16;
constexpr std::int64_t kLeastPerThread = 1 << 10;  // documents

// The way of counting, chosen query by query.
template <int K>
class Counter {
 public:
  explicit Counter(Counting counting) : counting_(counting) {}
  void upper(const SortedQuery& query, const double* v, double* result) {
    choose(query, [&](auto& way) {
      way.upper(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }
  void lower(const SortedQuery& query, const double* v, double* result) {
    choose(query, [&](auto& way) {
      way.lower(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }

 private:
  template <class Use>
  void choose(const SortedQuery& query, Use&& use) {
    switch (counting_) {
      case Counting::levels:
        return use(levels_);
      case Counting::joachims:
        return use(joachims_);
      case Counting::tree:
        return use(tree_);
      case Counting::pairs:
        return use(pairs_);
      case Counting::merge:
        return use(merge_);
      case Counting::automatic:
        return query.n_documents <= kFewDocuments ? use(pairs_) : use(merge_);
    }
  }
  Counting counting_;
  MergeSums<K> merge_;
  LevelSums<K> levels_;
  JoachimsSums<K> joachims_;
  TreeSums<K> tree_;
  ExplicitPairs<K> pairs_;
};

// Ranks the labels of one query; returns the number of levels and adds up the weight of the pairs.
std::uint32_t rank_labels(const std::vector<double>& y, const double* weight, std::uint32_t* label,
                          double& pair_weight) {
  const auto n = static_cast<std::uint32_t>(y.size());
  std::vector<ScoredIndex> sorted(n);
  sort_scores(y.data(), n, sorted.data(), 1);
  std::uint32_t level = 0;
  double below = 0, here = 0;
  pair_weight = 0;
  for (std::uint32_t p = 0; p < n; ++p) {
    if (p > 0 && sorted[p].score > sorted[p - 1].score) {
      ++level;
      below += here;
      here = 0;
    }
    const double w = weight ? weight[sorted[p].index] : 1;
    pair_weight += w * below;
    here += w;
    label[sorted[p].index] = level;
  }
  return level + 1;
}

}  // namespace

PreferencePairs::PreferencePairs(const double* y, std::vector<std::int64_t> starts,
                                 std::vector<std::int64_t> order, const double* row_weight,
                                 const double* query_weight, int n_threads)
    : query_start(std::move(starts)),
      row(std::move(order)),
      label(n_documents()),
      n_levels(n_queries()),
      pair_weight(n_queries()) {
  if (row_weight || query_weight) {
    inner.resize(n_documents());
    outer.resize(n_documents());
  }
  for (std::int64_t q = 0; q < n_queries();) {
    const std::int64_t first = q;
    const auto size = [&](std::int64_t query) {
      return query_start[query + 1] - query_start[query];
    };
    const bool is_long = size(q) >= kLongQuery;
    for (++q; !is_long && q < n_queries() && size(q) < kLongQuery &&
              query_start[q] - query_start[first] < kPieceSize;)
      ++q;
    pieces.push_back({first, q, is_long});
  }
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    std::vector<double> values;
    for (auto q = pieces[t].first_query; q < pieces[t].last_query; ++q) {
      const auto begin = query_start[q], end = query_start[q + 1];
      values.resize(end - begin);
      for (auto g = begin; g < end; ++g) {
        values[g - begin] = y[row_of(g)];
        if (inner.empty()) continue;
        inner[g] = row_weight ? row_weight[row_of(g)] : 1;
        outer[g] = inner[g] * (query_weight ? query_weight[q] : 1);
      }
      const double* weight = inner.empty() ? nullptr : inner.data() + begin;
      n_levels[q] = begin == end ? 0 : rank_labels(values, weight, &label[begin], pair_weight[q]);
      if (query_weight) pair_weight[q] *= query_weight[q];
    }
  });
}

Sweep::Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores, double margin,
             bool squared, Counting counting, int n_threads)
    : gradient(std::make_unique_for_overwrite<double[]>(pairs->n_documents())),
      pairs_(std::move(pairs)),
      counting_(counting),
      slot_(std::make_unique_for_overwrite<std::uint32_t[]>(n_documents())),
      label_(std::make_unique_for_overwrite<std::uint32_t[]>(n_documents())),
      window_end_(std::make_unique_for_overwrite<std::uint32_t[]>(n_documents())),
      degree_(std::make_unique_for_overwrite<double[]>(n_documents())) {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  const auto sorted = std::make_unique_for_overwrite<double[]>(n_documents());
  const double spread = sort(scores, margin, sorted.get(), n_threads);
  // Sums of widely spread scores would lose the small differences that matter; whole numbers add
  // up exactly, so such scores are summed as whole part and rest.
  constexpr double kSplitSpread = 1024;
  if (!squared)
    finish<1>(sorted.get(), margin, n_threads);
  else if (spread <= kSplitSpread)
    finish<2>(sorted.get(), margin, n_threads);
  else
    finish<3>(sorted.get(), margin, n_threads);
}

void Sweep::degree(double* result) const {
  for (std::int64_t p = 0; p < n_documents(); ++p) result[pairs_->row_of(slot_[p])] = degree_[p];
}

SortedQuery Sweep::sorted_query(std::int64_t query) const {
  const auto begin = pairs_->query_start[query];
  return {static_cast<std::uint32_t>(pairs_->query_start[query + 1] - begin),
          pairs_->n_levels[query], &label_[begin], &window_end_[begin]};
}

// Fills slot_, label_, window_end_ and the sorted scores, shifted to be small; returns the largest
// absolute score after the shift.
double Sweep::sort(const double* scores, double margin, double* sorted, int n_threads) {
  const auto& pieces = pairs_->pieces;
  std::vector<double> spread(pieces.size(), 0.0);
  const auto sort_piece = [&](std::int64_t t, int threads) {
    for (auto q = pieces[t].first_query; q < pieces[t].last_query; ++q)
      if (pairs_->query_start[q] < pairs_->query_start[q + 1])
        spread[t] = std::max(
            spread[t], sort_query(q, scores, margin, sorted + pairs_->query_start[q], threads));
  };
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    if (!pieces[t].is_long) sort_piece(t, 1);
  });
  for (std::int64_t t = 0; t < std::ssize(pieces); ++t)
    if (pieces[t].is_long) sort_piece(t, n_threads);
  return spread.empty() ? 0 : *std::max_element(spread.begin(), spread.end());
}

double Sweep::sort_query(std::int64_t query, const double* scores, double margin, double* sorted,
                         int n_threads) {
  const auto begin = pairs_->query_start[query];
  const auto n = static_cast<std::uint32_t>(pairs_->query_start[query + 1] - begin);
  const auto order = std::make_unique_for_overwrite<ScoredIndex[]>(n);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto i = first; i < last; ++i) {
      sorted[i] = scores[pairs_->row_of(begin + i)] + 0.0;  // -0 sorts with 0
      if (!std::isfinite(sorted[i])) throw std::domain_error("scores must be finite");
    }
  });
  sort_scores(sorted, n, order.get(), n_threads);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t first, std::int64_t last) {
    const auto outside = [&](std::uint32_t e, double s) { return !(order[e].score - s < margin); };
    std::uint32_t e = 0, past = n;  // the first window end, by bisection
    while (e < past) {
      const std::uint32_t middle = e + (past - e) / 2;
      if (outside(middle, order[first].score))
        past = middle;
      else
        e = middle + 1;
    }
    for (auto p = first; p < last; ++p) {
      const auto slot = static_cast<std::uint32_t>(begin + order[p].index);
      slot_[begin + p] = slot;
      label_[begin + p] = pairs_->label[slot];
      while (e < n && !outside(e, order[p].score)) ++e;
      window_end_[begin + p] = e;
    }
  });
  return shift_chains(query, order.get(), margin, sorted, n_threads);
}

// Writes the scores of a query shifted to be small; returns the largest absolute one.
//
// Far apart, the small differences of scores that the loss is made of would be lost.  But a query
// falls into chains that no active pair crosses, wherever the scores rise by the margin between
// documents that are all in order; and a shift of a chain changes nothing.
double Sweep::shift_chains(std::int64_t query, const ScoredIndex* order, double margin,
                           double* sorted, int n_threads) const {
  constexpr double kWide = 64;
  const auto begin = pairs_->query_start[query];
  const auto n = static_cast<std::uint32_t>(pairs_->query_start[query + 1] - begin);
  const bool wide = order[n - 1].score - order[0].score > kWide;
  const auto counts = [&](std::uint32_t p) { return inner(slot_[begin + p]) > 0; };
  std::vector<std::uint32_t> least_label(wide ? n + 1 : 0, pairs_->n_levels[query]);  // from p on
  for (std::uint32_t p = n; wide && p-- > 0;)
    least_label[p] =
        counts(p) ? std::min(least_label[p + 1], label_[begin + p]) : least_label[p + 1];
  double spread = 0;
  for (std::uint32_t first = 0, last = n; first < n; first = last) {
    std::uint32_t top_label = 0;
    for (last = wide ? first : n; last < n; ++last) {
      const bool gap = last > first && !(order[last].score - order[last - 1].score < margin);
      if (gap && top_label <= least_label[last]) break;
      if (counts(last)) top_label = std::max(top_label, label_[begin + last]);
    }
    const double shift = order[first + (last - first) / 2].score;
    parallel_chunks(last - first, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = first + begin; p < first + end; ++p) sorted[p] = order[p].score - shift;
    });
    spread = std::max({spread, -sorted[first], sorted[last - 1]});
  }
  return spread;
}

// The sums of v (by position, K columns) over the partners of every position.
template <int K>
Sweep::Sums Sweep::sum_partners(const double* v, int n_threads) const {
  std::vector<Task> tasks;
  for (const auto& piece : pairs_->pieces)
    if (piece.is_long)
      for (const Side side : {upper, lower})
        tasks.push_back({piece.first_query, piece.last_query, side});
  for (const auto& piece : pairs_->pieces)
    if (!piece.is_long) tasks.push_back({piece.first_query, piece.last_query, both});

  Sums sums{std::make_unique_for_overwrite<double[]>(K * n_documents()),
            std::make_unique_for_overwrite<double[]>(K * n_documents())};
  parallel_for(std::ssize(tasks), n_threads, [&](std::int64_t t) {
    Counter<K> counter(counting_);
    for (auto q = tasks[t].first_query; q < tasks[t].last_query; ++q) {
      const SortedQuery query = sorted_query(q);
      const auto begin = K * pairs_->query_start[q], end = K * pairs_->query_start[q + 1];
      for (const Side side : {upper, lower}) {
        if (tasks[t].side != both && tasks[t].side != side) continue;
        double* result = (side == upper ? sums.upper : sums.lower).get() + begin;
        if (query.n_levels < 2)
          std::fill(result, result + (end - begin), 0.0);
        else if (side == upper)
          counter.upper(query, v + begin, result);
        else
          counter.lower(query, v + begin, result);
      }
    }
  });
  return sums;
}

// Fills gradient, degree and the totals.  Columns: 1; the scores, or their whole part and the rest.
template <int K>
void Sweep::finish(const double* sorted, double margin, int n_threads) {
  const auto n = n_documents();
  const auto column = [&](double s, int k) {
    if (k == 0) return 1.0;
    if (K == 2) return s;
    return k == 1 ? std::rint(s) : s - std::rint(s);
  };
  const auto v = std::make_unique_for_overwrite<double[]>(K * n);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p)
      for (int k = 0; k < K; ++k) v[K * p + k] = inner(slot_[p]) * column(sorted[p], k);
  });
  const Sums sums = sum_partners<K>(v.get(), n_threads);
  struct Totals {
    double active = 0, balance = 0, laplacian = 0;
  };
  std::vector<Totals> totals((n + kChunk - 1) / kChunk);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    Totals total;
    for (auto p = begin; p < end; ++p) {
      const double weight = outer(slot_[p]), s = sorted[p];
      const double above = sums.upper[K * p], below = sums.lower[K * p];
      const double balance = weight * (above - below);
      degree_[p] = weight * (above + below);
      total.active += weight * above;
      total.balance += balance * s;
      double derivative = balance;
      if constexpr (K > 1) {
        double product = 0;
        for (int k = 1; k < K; ++k)
          product +=
              (above + below) * column(s, k) - (sums.upper[K * p + k] + sums.lower[K * p + k]);
        product *= weight;
        total.laplacian += product * s;
        derivative = 2 * (product + margin * balance);
      }
      gradient[pairs_->row_of(slot_[p])] = derivative;
    }
    totals[begin / kChunk] = total;
  });
  for (const Totals& total : totals) {
    n_active += total.active;
    balance_scores += total.balance;
    scores_laplacian_scores += total.laplacian;
  }
}

template <int K>
void Sweep::laplacian_columns(const double* v, std::int64_t stride, double* result,
                              int n_threads) const {
  const auto n = n_documents();
  const auto by_position = std::make_unique_for_overwrite<double[]>(K * n);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p)
      for (int k = 0; k < K; ++k)
        by_position[K * p + k] = inner(slot_[p]) * v[stride * pairs_->row_of(slot_[p]) + k];
  });
  const Sums sums = sum_partners<K>(by_position.get(), n_threads);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) {
      const auto row = pairs_->row_of(slot_[p]);
      for (int k = 0; k < K; ++k)
        result[stride * row + k] =
            degree_[p] * v[stride * row + k] -
            outer(slot_[p]) * (sums.upper[K * p + k] + sums.lower[K * p + k]);
    }
  });
}

void Sweep::laplacian(const double* v, std::int64_t n_columns, double* result,
                      int n_threads) const {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  std::int64_t k = 0;
  for (; k + 4 <= n_columns; k += 4) laplacian_columns<4>(v + k, n_columns, result + k, n_threads);
  for (; k < n_columns; ++k) laplacian_columns<1>(v + k, n_columns, result + k, n_threads);
}

template <class Real>
void Sweep::laplacian_rows(std::int64_t first_query, std::int64_t last_query, const Real* v,
                           std::int64_t n_columns, std::int64_t first_column,
                           std::int64_t last_column, Real* result) const {
  RowSums<Real> sums;
  std::vector<std::uint32_t> document;
  const auto width = last_column - first_column;
  for (auto q = first_query; q < last_query; ++q) {
    const auto begin = pairs_->query_start[q];
    const SortedQuery query = sorted_query(q);
    const auto offset = (begin - pairs_->query_start[first_query]) * n_columns + first_column;
    const Real* rows = v + offset;
    Real* products = result + offset;
    document.resize(query.n_documents);
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      document[p] = static_cast<std::uint32_t>(slot_[begin + p] - begin);
      const auto row = document[p] * n_columns;
      const auto degree = static_cast<Real>(degree_[begin + p]);
      for (std::int64_t k = 0; k < width; ++k) products[row + k] = degree * rows[row + k];
    }
    if (query.n_levels < 2) continue;
    sums.subtract_partners(
        query, document.data(), pairs_->inner.empty() ? nullptr : &pairs_->inner[begin],
        pairs_->outer.empty() ? nullptr : &pairs_->outer[begin], rows,
        static_cast<std::size_t>(width), static_cast<std::size_t>(n_columns), products);
  }
}

template void Sweep::laplacian_rows<float>(std::int64_t, std::int64_t, const float*, std::int64_t,
                                           std::int64_t, std::int64_t, float*) const;
template void Sweep::laplacian_rows<double>(std::int64_t, std::int64_t, const double*, std::int64_t,
                                            std::int64_t, std::int64_t, double*) const;

}  // namespace ranksvm
