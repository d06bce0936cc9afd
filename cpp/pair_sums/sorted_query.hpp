// One query seen in ascending order of its scores: what every way of counting starts from.
//
// Position p holds a document of label rank label[p] (0 = least relevant).  The pair of a less
// relevant position p and a more relevant position j is active, margin - (s_j - s_p) > 0, if and
// only if j < window_end[p]; the window ends ascend.  For K columns of values v the counters give
//
//   upper[p] = sum of v[j] over j < window_end[p] with label[j] > label[p]
//   lower[j] = sum of v[p] over p with window_end[p] > j and label[p] < label[j]
//
// that is, the sums A and B of Lee & Lin (2014): with v = 1 the counts l+ and l-.  With Gap every
// term is multiplied by the gap between the two labels, value[label[j]] - value[label[p]].  A way
// of counting that takes gaps apart takes them into parts that are not negative, so that nothing
// cancels, wherever the labels lie.
#pragma once

#include <cstdint>

#include "compiler.hpp"

namespace ranksvm {

struct SortedQuery {
  std::uint32_t n_documents;
  std::uint32_t n_levels;
  const std::uint32_t* label;
  const std::uint32_t* window_end;
  const double* value;  // of each label rank, ascending; used with Gap only

  // Whether every window holds all documents; there is at least one.
  [[nodiscard]] bool is_all_active() const { return window_end[0] == n_documents; }

  // What a pair of these label ranks counts for, but for the weights of its documents.
  template <bool Gap>
  [[nodiscard]] double factor(std::uint32_t better, std::uint32_t worse) const {
    return Gap ? value[better] - value[worse] : 1;
  }
};

// Values and results hold K columns, position by position; results are overwritten.
template <int K>
using Columns = double[K];

template <int K>
RANKSVM_INLINE void add(double factor, const double* v, double* sum) {
  for (int k = 0; k < K; ++k) sum[k] += factor * v[k];
}

}  // namespace ranksvm
