// Direct counting level by level, O(n k) time and O(1) space beside the result: Joachims (2006) as
// Algorithm (I) of Lee & Lin (2014), supplement II.2.
//
// Algorithm (I) goes over the sorted documents once for every level r, with a pointer j to the end
// of the window, and finds both l+ of the documents of level r and their part in l- of the more
// relevant documents j.  Here the two sides are separate passes of that form, each restricted to
// its side.  The supplement's "r = 2, ..., k" must be all levels but the highest: a pass for r
// looks for labels above r, which the lowest level needs and the highest does not have.
#pragma once

#include "sorted_query.hpp"

namespace ranksvm {

template <int K, bool Gap>
class JoachimsSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    clear(query, result);
    for (std::uint32_t r = 0; r + 1 < query.n_levels; ++r) upper_of_level(r, query, v, result);
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    clear(query, result);
    for (std::uint32_t r = 0; r + 1 < query.n_levels; ++r) lower_from_level(r, query, v, result);
  }

 private:
  static void clear(const SortedQuery& query, Columns<K>* result) {
    for (std::uint32_t p = 0; p < query.n_documents; ++p)
      for (int k = 0; k < K; ++k) result[p][k] = 0;
  }

  // Steps 4.1 and 4.2 for count+.
  static void upper_of_level(std::uint32_t r, const SortedQuery& query, const Columns<K>* v,
                             Columns<K>* result) {
    double above[K] = {};
    std::uint32_t j = 0;
    for (std::uint32_t i = 0; i < query.n_documents; ++i) {
      if (query.label[i] != r) continue;
      for (; j < query.window_end[i]; ++j)
        if (query.label[j] > r) add<K>(query.factor<Gap>(query.label[j], r), v[j], above);
      add<K>(1, above, result[i]);
    }
  }
  // Steps 4.1 and 4.2 for count-, the documents of level r from i on.  The supplement takes i in
  // ascending order and subtracts each from the total of the level; descending order adds, so that
  // nothing cancels.
  static void lower_from_level(std::uint32_t r, const SortedQuery& query, const Columns<K>* v,
                               Columns<K>* result) {
    double remaining[K] = {};
    std::uint32_t j = query.n_documents;
    const auto give_down_to = [&](std::uint32_t end) {
      while (j > end)
        if (query.label[--j] > r)
          add<K>(query.factor<Gap>(query.label[j], r), remaining, result[j]);
    };
    for (std::uint32_t i = query.n_documents; i-- > 0;) {
      if (query.label[i] != r) continue;
      give_down_to(query.window_end[i]);
      add<K>(1, v[i], remaining);
    }
    give_down_to(0);
  }
};

}  // namespace ranksvm
