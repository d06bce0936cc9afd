#include "score_order.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kChunk = 1 << 13;

}  // namespace

ScoreOrder::ScoreOrder(const PreferencePairs& pairs, const double* scores,
                       std::vector<double> margins, bool with_short, int n_threads)
    : pairs_(pairs),
      margins_(std::move(margins)),
      with_short_(with_short),
      slot_(make_array<std::uint32_t>(pairs.n_documents())),
      label_(make_array<std::uint32_t>(pairs.n_documents())),
      score_(make_array<double>(pairs.n_documents())) {
  for (std::size_t w = 0; w < margins_.size(); ++w)
    window_ends_.push_back(make_array<std::uint32_t>(pairs.n_documents()));
  const auto pieces = pairs.pieces();
  std::vector<double> spreads(pieces.size(), 0.0);
  const auto sort_piece = [&](std::int64_t t, int threads) {
    for (auto q = pieces[t].first_query; q < pieces[t].last_query; ++q) {
      if (holds(q))
        spreads[t] = std::max(spreads[t], sort_query(q, scores, threads));
      else
        for (auto p = pairs_.query_start(q); p < pairs_.query_start(q + 1); ++p)
          slot_[p] = static_cast<std::uint32_t>(pairs_.arranged(p));
    }
  };
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    if (!pieces[t].is_long) sort_piece(t, 1);
  });
  for (std::int64_t t = 0; t < std::ssize(pieces); ++t)
    if (pieces[t].is_long) sort_piece(t, n_threads);
  for (const double s : spreads) spread_ = std::max(spread_, s);
}

SortedQuery ScoreOrder::query(std::int64_t query, std::size_t window) const {
  const auto begin = pairs_.query_start(query);
  return {static_cast<std::uint32_t>(pairs_.n_members(query)), pairs_.n_levels()[query],
          &label_[begin], &window_ends_[window][begin],
          pairs_.has_gaps() ? pairs_.level_values(query) : nullptr};
}

// Returns the largest absolute score, shifted.
double ScoreOrder::sort_query(std::int64_t query, const double* scores, int n_threads) {
  const auto begin = pairs_.query_start(query), size = pairs_.size(query);
  const auto n = static_cast<std::uint32_t>(pairs_.n_members(query));
  double* unsorted = &score_[begin];
  parallel_chunks(size, kChunk, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto i = first; i < last; ++i) {
      // -0 sorts with 0
      unsorted[i] = scores[pairs_.row_of(pairs_.arranged(begin + i))] + 0.0;
      if (!std::isfinite(unsorted[i])) throw std::domain_error("scores must be finite");
    }
  });
  for (auto p = begin + n; p < begin + size; ++p) {
    slot_[p] = static_cast<std::uint32_t>(pairs_.arranged(p));
    score_[p] = 0;
  }
  if (n == 0) return 0;
  const auto order = make_array<ScoredIndex>(n);
  sort_scores(unsorted, n, order.get(), n_threads);
  find_windows(begin, n, order.get(), n_threads);
  return shift_chains(query, order.get(), n_threads);
}

void ScoreOrder::find_windows(std::int64_t begin, std::uint32_t n, const ScoredIndex* order,
                              int n_threads) {
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t first, std::int64_t last) {
    for (auto p = first; p < last; ++p) {
      const auto g = static_cast<std::uint32_t>(pairs_.arranged(begin + order[p].index));
      slot_[begin + p] = g;
      label_[begin + p] = pairs_.labels()[g];
    }
    for (std::size_t w = 0; w < margins_.size(); ++w) {
      const auto outside = [&](std::uint32_t e, double s) {
        return !(order[e].score - s < margins_[w]);
      };
      std::uint32_t e = 0, past = n;  // the first window end, by bisection
      while (e < past) {
        const std::uint32_t middle = e + (past - e) / 2;
        if (outside(middle, order[first].score))
          past = middle;
        else
          e = middle + 1;
      }
      for (auto p = first; p < last; ++p) {
        while (e < n && !outside(e, order[p].score)) ++e;
        window_ends_[w][begin + p] = e;
      }
    }
  });
}

// Writes the scores of a query shifted to be small; returns the largest absolute one.
//
// Far apart, the small differences of scores that the loss is made of would be lost.  But a query
// falls into chains that no active pair crosses, wherever the scores rise by the margin between
// documents that are all in order; and a shift of a chain changes nothing.
double ScoreOrder::shift_chains(std::int64_t query, const ScoredIndex* order, int n_threads) {
  constexpr double kWide = 64;
  const double margin = margins_.front();
  const auto begin = pairs_.query_start(query);
  const auto n = static_cast<std::uint32_t>(pairs_.n_members(query));
  const bool wide = order[n - 1].score - order[0].score > kWide;
  double* sorted = &score_[begin];
  std::vector<std::uint32_t> least_label(wide ? n + 1 : 0, pairs_.n_levels()[query]);  // from p on
  for (std::uint32_t p = n; wide && p-- > 0;)
    least_label[p] = std::min(least_label[p + 1], label_[begin + p]);
  double widest = 0;
  for (std::uint32_t first = 0, last = n; first < n; first = last) {
    std::uint32_t top_label = 0;
    for (last = wide ? first : n; last < n; ++last) {
      const bool gap = last > first && !(order[last].score - order[last - 1].score < margin);
      if (gap && top_label <= least_label[last]) break;
      top_label = std::max(top_label, label_[begin + last]);
    }
    const double shift = order[first + (last - first) / 2].score;
    parallel_chunks(last - first, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = first + begin; p < first + end; ++p) sorted[p] = order[p].score - shift;
    });
    widest = std::max({widest, -sorted[first], sorted[last - 1]});
  }
  return widest;
}

}  // namespace ranksvm
