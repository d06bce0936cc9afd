// Where every window holds the whole query, as at w = 0, O(n + k): all pairs are active, and sums
// depend on the label alone.  With gaps, the way from a label to one that is further up leads
// through those between, so that every part of it is passed by what lies beyond.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../array.hpp"
#include "sorted_query.hpp"

namespace ranksvm {

template <int K, bool Gap>
class TotalSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    add_levels(query, v);
    std::uint32_t level = query.n_levels;
    while (level-- > 0) {
      const bool is_last = level + 1 == query.n_levels;
      pass(is_last ? 0 : query.factor<Gap>(level + 1, level), sums_of(level));
    }
    look_up(query, result);
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    add_levels(query, v);
    for (std::uint32_t level = 0; level < query.n_levels; ++level)
      pass(level == 0 ? 0 : query.factor<Gap>(level, level - 1), sums_of(level));
    look_up(query, result);
  }

 private:
  void add_levels(const SortedQuery& query, const Columns<K>* v) {
    sums_.assign(std::size_t{query.n_levels} * K, 0.0);
    for (std::uint32_t p = 0; p < query.n_documents; ++p) add<K>(1, v[p], sums_of(query.label[p]));
    for (int k = 0; k < K; ++k) plain_[k] = weighed_[k] = 0;
  }
  // Replaces the sums of a level by those of all levels passed before.
  void pass(double gap, double* sums) {
    for (int k = 0; k < K; ++k) {
      weighed_[k] = Gap ? weighed_[k] + gap * plain_[k] : plain_[k];
      plain_[k] += sums[k];
      sums[k] = weighed_[k];
    }
  }
  void look_up(const SortedQuery& query, Columns<K>* result) {
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      const double* sums = sums_of(query.label[p]);
      for (int k = 0; k < K; ++k) result[p][k] = sums[k];
    }
  }
  double* sums_of(std::uint32_t level) { return &sums_[std::size_t{level} * K]; }

  LargeVector<double> sums_;
  double plain_[K], weighed_[K];  // of the levels passed
};

}  // namespace ranksvm
