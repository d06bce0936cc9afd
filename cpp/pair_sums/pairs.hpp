// Every pair, O(n^2): PairRSVM, and the fastest way for a handful of documents.
#pragma once

#include "sorted_query.hpp"

namespace ranksvm {

template <int K, bool Gap>
class ExplicitPairs {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (int k = 0; k < K; ++k) result[p][k] = 0;
      for (std::uint32_t j = 0; j < query.window_end[p]; ++j)
        if (query.label[j] > query.label[p])
          add<K>(query.factor<Gap>(query.label[j], query.label[p]), v[j], result[p]);
    }
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    std::uint32_t first = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      while (first > 0 && query.window_end[first - 1] > j) --first;
      for (int k = 0; k < K; ++k) result[j][k] = 0;
      for (std::uint32_t p = first; p < query.n_documents; ++p)
        if (query.label[p] < query.label[j])
          add<K>(query.factor<Gap>(query.label[j], query.label[p]), v[p], result[j]);
    }
  }
};

}  // namespace ranksvm
