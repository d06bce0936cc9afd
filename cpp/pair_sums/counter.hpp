// Every way of counting behind one face.
#pragma once

#include "counting.hpp"
#include "joachims.hpp"
#include "levels.hpp"
#include "merge.hpp"
#include "pairs.hpp"
#include "tree.hpp"

namespace ranksvm {

// The way of counting, chosen query by query.
template <int K, bool Gap>
class Counter {
 public:
  explicit Counter(Counting counting) : counting_(counting) {}
  void upper(const SortedQuery& query, const double* v, double* result) {
    choose([&](auto& way) {
      way.upper(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }
  void lower(const SortedQuery& query, const double* v, double* result) {
    choose([&](auto& way) {
      way.lower(query, reinterpret_cast<const Columns<K>*>(v),
                reinterpret_cast<Columns<K>*>(result));
    });
  }

 private:
  template <class Use>
  void choose(Use&& use) {
    switch (counting_) {
      case Counting::levels:
        return use(levels_);
      case Counting::joachims:
        return use(joachims_);
      case Counting::tree:
        return use(tree_);
      case Counting::pairs:
        return use(pairs_);
      case Counting::merge:
        return use(merge_);
      case Counting::automatic:
        return use(merge_);
    }
  }

  Counting counting_;
  MergeSums<K, Gap> merge_;
  LevelSums<K, Gap> levels_;
  JoachimsSums<K, Gap> joachims_;
  TreeSums<K, Gap> tree_;
  ExplicitPairs<K, Gap> pairs_;
};

}  // namespace ranksvm
