// Every way of counting behind one face.
#pragma once

#include "counting.hpp"
#include "joachims.hpp"
#include "levels.hpp"
#include "merge.hpp"
#include "pairs.hpp"
#include "totals.hpp"
#include "tree.hpp"

namespace ranksvm {

// The way of counting, with gaps or without.
template <int K>
class Counter {
 public:
  Counter(Counting counting, bool has_gaps) : counting_(counting), has_gaps_(has_gaps) {}
  void upper(const SortedQuery& query, const double* v, double* result) {
    choose(query, [&](auto& way) {
      way.upper(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }
  void lower(const SortedQuery& query, const double* v, double* result) {
    choose(query, [&](auto& way) {
      way.lower(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }

 private:
  template <bool Gap>
  struct Ways {
    MergeSums<K, Gap> merge;
    LevelSums<K, Gap> levels;
    JoachimsSums<K, Gap> joachims;
    TreeSums<K, Gap> tree;
    TotalSums<K, Gap> totals;
    ExplicitPairs<K, Gap> pairs;
  };

  template <class Use>
  void choose(const SortedQuery& query, Use&& use) {
    has_gaps_ ? choose_among(with_gaps_, query, use) : choose_among(without_gaps_, query, use);
  }
  template <bool Gap, class Use>
  void choose_among(Ways<Gap>& ways, const SortedQuery& query, Use& use) {
    switch (counting_) {
      case Counting::levels:
        return use(ways.levels);
      case Counting::joachims:
        return use(ways.joachims);
      case Counting::tree:
        return use(ways.tree);
      case Counting::pairs:
        return use(ways.pairs);
      case Counting::merge:
        return use(ways.merge);
      case Counting::automatic:
        return query.is_all_active() ? use(ways.totals) : use(ways.merge);
    }
  }

  Counting counting_;
  bool has_gaps_;
  Ways<true> with_gaps_;
  Ways<false> without_gaps_;
};

}  // namespace ranksvm
