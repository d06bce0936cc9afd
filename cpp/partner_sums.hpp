// What the partners of every document add up to, in each window.
#pragma once

#include <vector>

#include "pair_sums/counting.hpp"
#include "preference_pairs.hpp"
#include "score_order.hpp"

namespace ranksvm {

// By position, K columns: over the better partners in a window, and over the worse ones.
struct PartnerSums {
  Array<double> better, worse;
};

// Sums v (by position, K columns) over the partners, once for each window.  K is 1, 2, 3 or 4.
template <int K>
[[nodiscard]] std::vector<PartnerSums> sum_partners(const PreferencePairs& pairs,
                                                    const ScoreOrder& order, Counting counting,
                                                    const double* v, int n_threads);

}  // namespace ranksvm
