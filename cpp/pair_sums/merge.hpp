// The default: O(n log k) by merging the scores with the window ends, over a tree of label digits.
//
// The order-statistics tree of Airola et al. (2011) answers "how much has been added above this
// label".  Labels are known beforehand, so the tree can be static; with eight children to a node
// the running sums of a node are one vector, an addition is one masked vector addition on each of
// log8(k) levels and a query one load on each.
//
// With gaps, the way from a label down to a less relevant one leads past the highest label of the
// child that holds the latter.  An addition goes there, and a query adds the rest of the way times
// the plain sum; there is no rest at the lowest level, where a child is one label.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "../array.hpp"
#include "blocks.hpp"
#include "sorted_query.hpp"

namespace ranksvm {

// Any depth beyond those that a walk is compiled for.
inline constexpr int kDeep = 0;

template <int K, bool Gap>
class DigitTree {
 public:
  // Empties the tree and makes room for the label ranks of a query, in ascending order or mirrored.
  void reset(const SortedQuery& query, bool mirrored) {
    depth_ = 0;
    std::size_t n_nodes = 0;
    std::uint32_t n_children = query.n_levels;
    do {
      level_start_[depth_++] = n_nodes;
      n_children = (n_children + 7) / 8;
      n_nodes += n_children;
    } while (n_children > 1);
    nodes_.assign(n_nodes, Node{});
    if constexpr (Gap) {
      plain_.assign(depth_ > 1 ? n_nodes - level_start_[1] : 0, Sums{});
      set_tops(query, mirrored);
    }
  }
  int depth() const { return depth_; }

  // Adds v to the sums of all labels below `label`.  D is the depth, if the compiler shall know it.
  template <int D>
  RANKSVM_INLINE void add(std::uint32_t label, const double* v) {
    const double y = value(label);
    const int depth = D == kDeep ? depth_ : D;
    add_to(nodes_[label >> 3], kBelow[label & 7], y, v);
    for (int level = 1; level < depth; ++level) {
      label >>= 3;
      const std::size_t place = level_start_[level] + (label >> 3);
      const Lanes below = kBelow[label & 7];
      add_to(nodes_[place], below, y, v);
      if constexpr (Gap)
        for (int k = 0; k < K; ++k) plain(place).sums[k] += below * v[k];
    }
  }
  // Starts loading the lowest node of a label that a walk will need soon.
  RANKSVM_INLINE void prefetch(std::uint32_t label) const {
    const auto& node = nodes_[label >> 3];
    for (int k = 0; k < K; ++k) ranksvm::prefetch_to_write(&node.sums[k]);
    if constexpr (Gap) ranksvm::prefetch(&node.top);
  }
  // What was added at labels above `label`.
  template <int D>
  RANKSVM_INLINE void above(std::uint32_t label, double* result) const {
    [[maybe_unused]] const double y = value(label);
    const int depth = D == kDeep ? depth_ : D;
    for (int k = 0; k < K; ++k) result[k] = 0.0 + nodes_[label >> 3].sums[k][label & 7];
    for (int level = 1; level < depth; ++level) {
      label >>= 3;
      const std::size_t place = level_start_[level] + (label >> 3);
      for (int k = 0; k < K; ++k) result[k] += nodes_[place].sums[k][label & 7];
      if constexpr (Gap) {
        const double rest = nodes_[place].top[label & 7] - y;
        for (int k = 0; k < K; ++k) result[k] += rest * plain(place).sums[k][label & 7];
      }
    }
  }

 private:
  struct alignas(64) Sums {
    Lanes sums[K];
  };
  struct SumsOfWays : Sums {
    Lanes top;  // the highest label of each child
  };
  using Node = std::conditional_t<Gap, SumsOfWays, Sums>;

  RANKSVM_INLINE static void add_to(Node& node, const Lanes& below, [[maybe_unused]] double y,
                                    const double* v) {
    if constexpr (Gap) {
      const Lanes way = below * (y - node.top);
      for (int k = 0; k < K; ++k) node.sums[k] += way * v[k];
    } else {
      for (int k = 0; k < K; ++k) node.sums[k] += below * v[k];
    }
  }
  // The label of this rank; mirrored, its negative.
  RANKSVM_INLINE double value(std::uint32_t rank) const {
    if constexpr (Gap) return nodes_[rank >> 3].top[rank & 7];
    return 0;
  }
  // The sums without gaps of a node above the lowest level.
  RANKSVM_INLINE Sums& plain(std::size_t place) { return plain_[place - level_start_[1]]; }
  RANKSVM_INLINE const Sums& plain(std::size_t place) const {
    return plain_[place - level_start_[1]];
  }
  void set_tops(const SortedQuery& query, bool mirrored) {
    const std::uint32_t n = query.n_levels;
    for (std::uint32_t rank = 0; rank < n; ++rank)
      nodes_[rank >> 3].top[rank & 7] = mirrored ? -query.value[n - 1 - rank] : query.value[rank];
    for (int level = 1; level < depth_; ++level)
      for (std::size_t child = level_start_[level - 1]; child < level_start_[level]; ++child) {
        const std::size_t rank = child - level_start_[level - 1];
        nodes_[level_start_[level] + (rank >> 3)].top[rank & 7] = nodes_[child].top[7];
      }
  }
  static constexpr Lanes kBelow[8] = {{0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0},
                                      {1, 1, 0, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 0, 0},
                                      {1, 1, 1, 1, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 0, 0, 0},
                                      {1, 1, 1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 0}};
  LargeVector<Node> nodes_;
  LargeVector<Sums> plain_;
  std::array<std::size_t, 12> level_start_{};
  int depth_ = 0;
};

// Beyond kManyLevels, in blocks of labels.
template <int K, bool Gap, std::uint32_t kManyLevels = 1u << 19>
class MergeSums {
 public:
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    const auto walk = [&](const SortedQuery& part, const Columns<K>* values, Columns<K>* sums) {
      tree_.reset(part, false);
      with_depth([&]<int D>() { upper_walk<D>(part, values, sums, tree_); });
    };
    in_blocks(query) ? walk_blocks(query, v, result, walk) : walk(query, v, result);
  }
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    const auto walk = [&](const SortedQuery& part, const Columns<K>* values, Columns<K>* sums) {
      tree_.reset(part, true);
      with_depth([&]<int D>() { lower_walk<D>(part, values, sums, tree_); });
    };
    in_blocks(query) ? walk_blocks(query, v, result, walk) : walk(query, v, result);
  }

 private:
  // The labels to come are known; in a deep tree the lowest nodes are not in the cache otherwise.
  static constexpr std::uint32_t kAhead = 12;

  // With gaps the ways between blocks would have to be known, too.
  static bool in_blocks(const SortedQuery& query) { return !Gap && query.n_levels > kManyLevels; }
  template <class Walk>
  static void walk_blocks(const SortedQuery& query, const Columns<K>* v, Columns<K>* result,
                          Walk&& walk) {
    LabelBlocks<K>::over_blocks(query, [&](const SortedQuery& blocks) { walk(blocks, v, result); });
    LabelBlocks<K>(query, v).add_up(result, walk);
  }

  template <int D>
  RANKSVM_CLONES static void upper_walk(const SortedQuery& query, const Columns<K>* v,
                                        Columns<K>* result, DigitTree<K, Gap>& tree) {
    const std::uint32_t* label = query.label;
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      if (D == kDeep && p + kAhead < query.n_documents) tree.prefetch(label[p + kAhead]);
      for (; j < query.window_end[p]; ++j) {
        if (D == kDeep && j + kAhead < query.n_documents) tree.prefetch(label[j + kAhead]);
        tree.template add<D>(label[j], v[j]);
      }
      tree.template above<D>(label[p], result[p]);
    }
  }
  // The same walk backwards, with the labels mirrored so that "below" becomes "above".
  template <int D>
  RANKSVM_CLONES static void lower_walk(const SortedQuery& query, const Columns<K>* v,
                                        Columns<K>* result, DigitTree<K, Gap>& tree) {
    const std::uint32_t top = query.n_levels - 1;
    const auto label = [&](std::uint32_t p) { return top - query.label[p]; };
    std::uint32_t p = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      if (D == kDeep && j >= kAhead) tree.prefetch(label(j - kAhead));
      for (; p > 0 && query.window_end[p - 1] > j; --p) {
        if (D == kDeep && p > kAhead) tree.prefetch(label(p - 1 - kAhead));
        tree.template add<D>(label(p - 1), v[p - 1]);
      }
      tree.template above<D>(label(j), result[j]);
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
      default:
        return walk.template operator()<kDeep>();
    }
  }
  DigitTree<K, Gap> tree_;
};

}  // namespace ranksvm
