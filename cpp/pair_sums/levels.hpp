// Direct counting for few levels, O(n k): Lee & Lin (2014), supplement II.1.  One running sum per
// level follows the window; a document adds up the sums of the levels above (below) its own.
#pragma once

#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

template <int K>
class LevelSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    sums_.assign(std::size_t{query.n_levels} * K, 0.0);
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j) add(query.label[j], v[j]);
      total(query.label[p] + 1, query.n_levels, result[p]);
    }
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    sums_.assign(std::size_t{query.n_levels} * K, 0.0);
    std::uint32_t p = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      for (; p > 0 && query.window_end[p - 1] > j; --p) add(query.label[p - 1], v[p - 1]);
      total(0, query.label[j], result[j]);
    }
  }

 private:
  void add(std::uint32_t label, const double* v) {
    for (int k = 0; k < K; ++k) sums_[std::size_t{label} * K + k] += v[k];
  }
  void total(std::uint32_t first, std::uint32_t last, double* result) const {
    for (int k = 0; k < K; ++k) result[k] = 0;
    for (std::size_t level = first; level < last; ++level)
      for (int k = 0; k < K; ++k) result[k] += sums_[level * K + k];
  }
  std::vector<double> sums_;
};

}  // namespace ranksvm
