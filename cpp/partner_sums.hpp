// What the partners of every document add up to, in each window.
//
// Held for one short query at a time, where it stays in the cache; long queries have their sums all
// at once, since the two sides of their windows are tasks by themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array.hpp"
#include "pair_sums/counter.hpp"
#include "parallel.hpp"
#include "preference_pairs.hpp"
#include "score_order.hpp"

namespace ranksvm {

// K columns for the documents from a position on: values, and what the values of the partners add
// up to, over the better partners in each window and over the worse ones.
template <int K>
class PartnerSums {
 public:
  PartnerSums(std::int64_t first, std::int64_t n, std::size_t n_windows)
      : first_(first), values_(make_array<double>(K * n)) {
    for (std::size_t side = 0; side < 2 * n_windows; ++side)
      sums_.push_back(make_array<double>(K * n));
  }
  // The same memory for documents from another position on.
  void move_to(std::int64_t first) { first_ = first; }

  [[nodiscard]] std::size_t n_windows() const { return sums_.size() / 2; }
  [[nodiscard]] const double* better(std::size_t window, std::int64_t position) const {
    return &sums_[2 * window][K * (position - first_)];
  }
  [[nodiscard]] const double* worse(std::size_t window, std::int64_t position) const {
    return &sums_[2 * window + 1][K * (position - first_)];
  }
  [[nodiscard]] double* value(std::int64_t position) { return &values_[K * (position - first_)]; }
  void drop_values() { values_.reset(); }

  // Fills one side of a window for a query: an even side with the sums over better partners.
  void add_up(const PreferencePairs& pairs, const ScoreOrder& order, std::int64_t query,
              std::size_t side, Counter<K>& counter) {
    const SortedQuery sorted = order.query(query, side / 2);
    const auto begin = K * (pairs.query_start(query) - first_);
    double* result = sums_[side].get() + begin;
    const auto n_summed = sorted.n_levels < 2 ? 0 : K * std::int64_t{sorted.n_documents};
    std::fill(result + n_summed, result + K * pairs.size(query), 0.0);
    if (n_summed == 0) return;
    const auto count = [&](const double* values) {
      side % 2 == 0 ? counter.upper(sorted, values, result) : counter.lower(sorted, values, result);
    };
    if (!pairs.has_roles()) return count(values_.get() + begin);
    // In a pair of this side, a partner has the one role, and the document itself the other.
    auto of_partners = pairs.better(), of_itself = pairs.worse();
    if (side % 2 == 1) std::swap(of_partners, of_itself);
    const auto weigh = [&](std::span<const double> weight, const double* values, double* weighed) {
      for (std::int64_t p = 0; p < sorted.n_documents; ++p)
        for (int k = 0; k < K; ++k)
          weighed[K * p + k] = weight[order.slot(pairs.query_start(query) + p)] * values[K * p + k];
    };
    const auto values = make_array<double>(n_summed);
    weigh(of_partners, values_.get() + begin, values.get());
    count(values.get());
    weigh(of_itself, result, result);
  }

 private:
  std::int64_t first_;
  Array<double> values_;
  std::vector<Array<double>> sums_;  // better and worse partners by turns
};

// Sums over the partners of all documents, which `use` turns into results.
//
// value_of(position, values) writes K columns; use(result, begin, end, sums) reads what they add up
// to over the partners of the documents at these positions.  Each part of the documents, run by one
// thread, has a Result of its own; these come in an order that depends on the queries alone.
template <int K, class Result, class ValueOf, class Use>
class PartnerVisit {
 public:
  PartnerVisit(const PreferencePairs& pairs, const ScoreOrder& order, Counting counting,
               ValueOf& value_of, Use& use)
      : pairs_(pairs), order_(order), counting_(counting), value_of_(value_of), use_(use) {
    constexpr std::int64_t kChunk = 1 << 13;
    for (const auto& piece : pairs.pieces()) {
      const auto begin = pairs.query_start(piece.first_query);
      const auto end = pairs.query_start(piece.last_query);
      const auto size = piece.is_long ? kChunk : std::max<std::int64_t>(end - begin, 1);
      if (piece.is_long) add_long(piece.first_query);
      for (auto first = begin; first < end; first += size)
        (piece.is_long ? long_parts_ : short_parts_)
            .push_back({&piece, first, std::min(end, first + size), sums_.size(), n_parts_++});
    }
  }

  std::vector<Result> run(int n_threads) {
    std::vector<Result> results(n_parts_);
    parallel_for(std::ssize(long_parts_), n_threads, [&](std::int64_t t) {
      const Part& part = long_parts_[t];
      set_values(sums_[part.place - 1], part.begin, part.end);
    });
    parallel_for(std::ssize(tasks_) + std::ssize(short_parts_), n_threads, [&](std::int64_t t) {
      if (t < std::ssize(tasks_))
        add_up_long(tasks_[t]);
      else
        visit_short(short_parts_[t - std::ssize(tasks_)], results);
    });
    for (auto& sums : sums_) sums.drop_values();
    parallel_for(std::ssize(long_parts_), n_threads, [&](std::int64_t t) {
      const Part& part = long_parts_[t];
      use_(results[part.index], part.begin, part.end, sums_[part.place - 1]);
    });
    return results;
  }

 private:
  struct Part {
    const PreferencePairs::Piece* piece;
    std::int64_t begin, end;
    std::size_t place;  // of a long query: how many have come with it
    std::size_t index;
  };
  struct Task {
    std::int64_t query;
    std::size_t place, side;
  };

  void add_long(std::int64_t query) {
    for (std::size_t side = 0; side < 2 * order_.n_windows(); ++side)
      tasks_.push_back({query, sums_.size(), side});
    sums_.emplace_back(pairs_.query_start(query), pairs_.size(query), order_.n_windows());
  }
  void add_up_long(const Task& task) {
    Counter<K> counter(counting_, pairs_.has_gaps());
    sums_[task.place].add_up(pairs_, order_, task.query, task.side, counter);
  }
  void visit_short(const Part& part, std::vector<Result>& results) {
    std::int64_t longest = 0;
    for (auto q = part.piece->first_query; q < part.piece->last_query; ++q)
      if (order_.holds(q)) longest = std::max(longest, pairs_.size(q));
    if (longest == 0) return;
    Counter<K> counter(counting_, pairs_.has_gaps());
    PartnerSums<K> sums(part.begin, longest, order_.n_windows());
    Result result{};
    for (auto q = part.piece->first_query; q < part.piece->last_query; ++q) {
      if (!order_.holds(q)) continue;
      const auto begin = pairs_.query_start(q), end = begin + pairs_.size(q);
      sums.move_to(begin);
      set_values(sums, begin, end);
      for (std::size_t side = 0; side < 2 * order_.n_windows(); ++side)
        sums.add_up(pairs_, order_, q, side, counter);
      use_(result, begin, end, sums);
    }
    results[part.index] = result;
  }
  void set_values(PartnerSums<K>& sums, std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) value_of_(p, sums.value(p));
  }

  const PreferencePairs& pairs_;
  const ScoreOrder& order_;
  Counting counting_;
  ValueOf& value_of_;
  Use& use_;
  std::vector<PartnerSums<K>> sums_;  // of the long queries
  std::vector<Part> long_parts_, short_parts_;
  std::vector<Task> tasks_;
  std::size_t n_parts_ = 0;
};

template <int K, class Result, class ValueOf, class Use>
std::vector<Result> visit_partners(const PreferencePairs& pairs, const ScoreOrder& order,
                                   Counting counting, int n_threads, ValueOf&& value_of,
                                   Use&& use) {
  return PartnerVisit<K, Result, ValueOf, Use>(pairs, order, counting, value_of, use)
      .run(n_threads);
}

}  // namespace ranksvm
