// Direct counting for few levels, O(n k): Lee & Lin (2014), supplement II.1.  One running sum per
// level follows the window; a document adds up the sums of the levels above (below) its own.
#pragma once

#include <algorithm>
#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

template <int K, bool Gap>
class LevelSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    sums_.assign(std::size_t{query.n_levels} * K, 0.0);
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j) add<K>(1, v[j], sums_of(query.label[j]));
      const std::uint32_t own = query.label[p];
      std::fill_n(result[p], K, 0.0);
      for (std::uint32_t level = own + 1; level < query.n_levels; ++level)
        add<K>(query.factor<Gap>(level, own), sums_of(level), result[p]);
    }
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    sums_.assign(std::size_t{query.n_levels} * K, 0.0);
    std::uint32_t p = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      for (; p > 0 && query.window_end[p - 1] > j; --p)
        add<K>(1, v[p - 1], sums_of(query.label[p - 1]));
      const std::uint32_t own = query.label[j];
      std::fill_n(result[j], K, 0.0);
      for (std::uint32_t level = 0; level < own; ++level)
        add<K>(query.factor<Gap>(own, level), sums_of(level), result[j]);
    }
  }

 private:
  double* sums_of(std::uint32_t level) { return &sums_[std::size_t{level} * K]; }

  std::vector<double> sums_;
};

}  // namespace ranksvm
