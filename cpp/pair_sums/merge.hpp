// The default: O(n log k) by merging the scores with the window ends, over a tree of label digits.
//
// The order-statistics tree of Airola et al. (2011) answers "how much has been added above this
// label".  Labels are known beforehand, so the tree can be static; with eight children to a node
// the running sums of a node are one vector, an addition is one masked vector addition on each of
// log8(k) levels and a query one load on each.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

template <int K>
class DigitTree {
 public:
  // Empties the tree and makes room for label ranks below n_levels.
  void reset(std::uint32_t n_levels) {
    depth_ = 0;
    std::size_t n_nodes = 0;
    do {
      level_start_[depth_++] = n_nodes;
      n_levels = (n_levels + 7) / 8;
      n_nodes += n_levels;
    } while (n_levels > 1);
    nodes_.assign(n_nodes, Node{});
  }
  int depth() const { return depth_; }

  // Adds v to the sums of all labels below `label`.
  template <int D>
  RANKSVM_INLINE void add(std::uint32_t label, const double* v) {
    for (int level = 0; level < D; ++level) {
      Node& node = nodes_[level_start_[level] + (label >> 3)];
      const Lanes below = kBelow[label & 7];
      for (int k = 0; k < K; ++k) node.sums[k] += below * v[k];
      label >>= 3;
    }
  }
  // Starts loading the lowest node of a label that a walk will need soon.
  RANKSVM_INLINE void prefetch(std::uint32_t label) const {
    __builtin_prefetch(&nodes_[label >> 3], 1);
    if constexpr (K > 1) __builtin_prefetch(&nodes_[label >> 3].sums[1], 1);
  }
  // What was added at labels above `label`.
  template <int D>
  RANKSVM_INLINE void above(std::uint32_t label, double* result) const {
    for (int k = 0; k < K; ++k) result[k] = 0;
    for (int level = 0; level < D; ++level) {
      const Node& node = nodes_[level_start_[level] + (label >> 3)];
      for (int k = 0; k < K; ++k) result[k] += node.sums[k][label & 7];
      label >>= 3;
    }
  }

 private:
  typedef double Lanes __attribute__((vector_size(64)));
  struct alignas(64) Node {
    Lanes sums[K];
  };
  static constexpr Lanes kBelow[8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0},
                                      {1, 1, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 0, 0},
                                      {1, 1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 0, 0, 0},
                                      {1, 1, 1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 0}};
  std::vector<Node> nodes_;
  std::array<std::size_t, 12> level_start_{};
  int depth_ = 0;
};

template <int K>
class MergeSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    tree_.reset(query.n_levels);
    with_depth([&]<int D>() { upper_walk<D>(query, v, result, tree_); });
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    tree_.reset(query.n_levels);
    with_depth([&]<int D>() { lower_walk<D>(query, v, result, tree_); });
  }

 private:
  // The labels to come are known; in a tree deeper than this the lowest nodes are not in the cache
  // otherwise.
  static constexpr int kCachedDepth = 4;
  static constexpr std::uint32_t kAhead = 12;

  template <int D>
  RANKSVM_CLONES static void upper_walk(const SortedQuery& query, const Columns<K>* v,
                                        Columns<K>* result, DigitTree<K>& tree) {
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      if (D > kCachedDepth && p + kAhead < query.n_documents)
        tree.prefetch(query.label[p + kAhead]);
      for (; j < query.window_end[p]; ++j) {
        if (D > kCachedDepth && j + kAhead < query.n_documents)
          tree.prefetch(query.label[j + kAhead]);
        tree.template add<D>(query.label[j], v[j]);
      }
      tree.template above<D>(query.label[p], result[p]);
    }
  }
  // The same walk backwards, with the labels mirrored so that "below" becomes "above".
  template <int D>
  RANKSVM_CLONES static void lower_walk(const SortedQuery& query, const Columns<K>* v,
                                        Columns<K>* result, DigitTree<K>& tree) {
    const std::uint32_t top = query.n_levels - 1;
    std::uint32_t p = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      if (D > kCachedDepth && j >= kAhead) tree.prefetch(top - query.label[j - kAhead]);
      for (; p > 0 && query.window_end[p - 1] > j; --p) {
        if (D > kCachedDepth && p > kAhead) tree.prefetch(top - query.label[p - 1 - kAhead]);
        tree.template add<D>(top - query.label[p - 1], v[p - 1]);
      }
      tree.template above<D>(top - query.label[j], result[j]);
    }
  }
  template <class Walk>
  void with_depth(Walk&& walk) {
    switch (tree_.depth()) {
      case 1:
        return walk.template operator()<1>();
      case 2:
        return walk.template operator()<2>();
      case 3:
        return walk.template operator()<3>();
      case 4:
        return walk.template operator()<4>();
      case 5:
        return walk.template operator()<5>();
      case 6:
        return walk.template operator()<6>();
      case 7:
        return walk.template operator()<7>();
      case 8:
        return walk.template operator()<8>();
      case 9:
        return walk.template operator()<9>();
      case 10:
        return walk.template operator()<10>();
      default:
        return walk.template operator()<11>();
    }
  }
  DigitTree<K> tree_;
};

}  // namespace ranksvm
