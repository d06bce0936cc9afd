#include "partner_sums.hpp"

#include <algorithm>

#include "pair_sums/counter.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

enum class Side { both, better, worse };

struct Task {
  std::int64_t first_query, last_query;
  std::size_t window;
  Side side;
};

// The two sides of the windows of a long query are separate tasks; long queries come first.
std::vector<Task> make_tasks(const PreferencePairs& pairs, std::size_t n_windows) {
  std::vector<Task> tasks;
  for (const bool is_long : {true, false})
    for (const auto& piece : pairs.pieces())
      for (std::size_t w = 0; w < n_windows && piece.is_long == is_long; ++w) {
        if (is_long)
          for (const Side side : {Side::better, Side::worse})
            tasks.push_back({piece.first_query, piece.last_query, w, side});
        else
          tasks.push_back({piece.first_query, piece.last_query, w, Side::both});
      }
  return tasks;
}

template <int K, bool Gap>
void run_task(const Task& task, const PreferencePairs& pairs, const ScoreOrder& order,
              Counting counting, const double* v, PartnerSums& sums) {
  Counter<K, Gap> counter(counting);
  for (auto q = task.first_query; q < task.last_query; ++q) {
    const SortedQuery query = order.query(q, task.window);
    const auto begin = K * pairs.query_start(q), size = K * pairs.size(q);
    for (const Side side : {Side::better, Side::worse}) {
      if (task.side != Side::both && task.side != side) continue;
      double* result = (side == Side::better ? sums.better : sums.worse).get() + begin;
      const auto n_summed = query.n_levels < 2 ? 0 : K * std::int64_t{query.n_documents};
      std::fill(result + n_summed, result + size, 0.0);
      if (n_summed == 0) continue;
      if (side == Side::better)
        counter.upper(query, v + begin, result);
      else
        counter.lower(query, v + begin, result);
    }
  }
}

}  // namespace

template <int K>
std::vector<PartnerSums> sum_partners(const PreferencePairs& pairs, const ScoreOrder& order,
                                      Counting counting, const double* v, int n_threads) {
  std::vector<PartnerSums> sums(order.n_windows());
  for (PartnerSums& of_window : sums)
    for (Array<double>* side : {&of_window.better, &of_window.worse})
      *side = make_array<double>(K * pairs.n_documents());
  const std::vector<Task> tasks = make_tasks(pairs, order.n_windows());
  parallel_for(std::ssize(tasks), n_threads, [&](std::int64_t t) {
    const auto run = pairs.has_gaps() ? run_task<K, true> : run_task<K, false>;
    run(tasks[t], pairs, order, counting, v, sums[tasks[t].window]);
  });
  return sums;
}

#define RANKSVM_INSTANTIATE(K)                                                                 \
  template std::vector<PartnerSums> sum_partners<K>(const PreferencePairs&, const ScoreOrder&, \
                                                    Counting, const double*, int)
RANKSVM_INSTANTIATE(1);
RANKSVM_INSTANTIATE(2);
RANKSVM_INSTANTIATE(3);
RANKSVM_INSTANTIATE(4);
#undef RANKSVM_INSTANTIATE

}  // namespace ranksvm
