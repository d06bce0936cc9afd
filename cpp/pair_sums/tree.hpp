// TreeRSVM, O(n log k): Algorithm 1 of Airola, Pahikkala & Salakoski (2011), on their order
// statistics tree.  merge.hpp does the same walk over a tree that need not balance itself.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sorted_query.hpp"

namespace ranksvm {

// A red-black tree keyed by label, "modified so that each node stores the size of the subtree";
// here the sums of K columns, which are the size for v = 1.  Equal labels share one node, so that
// the height is O(log k).  Insertion follows Cormen et al., Introduction to Algorithms, chapters
// 13 (red-black trees) and 14 (augmenting them).
//
// A node also keeps the sums of its own label: recovering them from the sums of subtrees would take
// a subtraction, and cancellation with it.
//
// A tree answers for the labels beyond another, on one side.  With gaps, the sums over some labels
// come with those of v times the way from the nearest of these labels, seen from the other one.
enum Side { kLeft, kRight };

template <int K, bool Gap>
struct LabelSums {
  double sum[K] = {};
};
template <int K>
struct LabelSums<K, true> {
  double sum[K] = {}, of_ways[K] = {}, nearest = 0;
};

template <int K, bool Gap, Side beyond>
class OrderStatisticsTree {
 public:
  // Lines 5 and 13: a new empty tree, in the memory of the last one.
  void reset(std::uint32_t n_levels) {
    nodes_.clear();
    nodes_.reserve(std::size_t{n_levels} + 1);
    nodes_.push_back(Node{});  // kNil: black, with empty sums
    root_ = kNil;
  }
  // Lines 10 and 18: s.insert.
  void insert(const SortedQuery& query, std::uint32_t label, const double* v) {
    Sums one;
    std::copy_n(v, K, one.sum);
    if constexpr (Gap) one.nearest = query.value[label];
    std::uint32_t parent = kNil;
    Side side = kLeft;
    for (std::uint32_t x = root_; x != kNil; x = nodes_[x].child[side]) {
      Node& node = nodes_[x];
      include(one, node.subtree);
      if (label == node.label) return include(one, node.own);
      parent = x;
      side = label < node.label ? kLeft : kRight;
    }
    attach(label, one, parent, side);
  }
  // Lines 12 and 20, s.count_larger and s.count_smaller: the sums of all labels beyond `label`.
  void sum_beyond(const SortedQuery& query, std::uint32_t label, double* result) const {
    for (int k = 0; k < K; ++k) result[k] = 0;
    for (std::uint32_t x = root_; x != kNil;) {
      const Node& node = nodes_[x];
      const Sums& sums_beyond = nodes_[node.child[beyond]].subtree;
      if (label == node.label) return add_seen_from(query, label, sums_beyond, result);
      const Side next = label < node.label ? kLeft : kRight;
      if (next != beyond) {
        add_seen_from(query, label, node.own, result);
        add_seen_from(query, label, sums_beyond, result);
      }
      x = node.child[next];
    }
  }

 private:
  using Sums = LabelSums<K, Gap>;
  static constexpr std::uint32_t kNil = 0;
  struct Node {
    Sums subtree, own;
    std::uint32_t label = 0, parent = kNil, child[2] = {kNil, kNil};
    bool red = false;
  };

  static Side opposite(Side side) { return side == kLeft ? kRight : kLeft; }
  // The way from one label to another that lies beyond it.
  static double way(double from, double to) { return beyond == kRight ? to - from : from - to; }

  static void include(const Sums& more, Sums& sums) {
    if constexpr (Gap) {
      const double nearer = way(more.nearest, sums.nearest);
      if (nearer > 0) {
        add<K>(nearer, sums.sum, sums.of_ways);
        sums.nearest = more.nearest;
      } else {
        add<K>(-nearer, more.sum, sums.of_ways);
      }
      add<K>(1, more.of_ways, sums.of_ways);
    }
    add<K>(1, more.sum, sums.sum);
  }
  static void add_seen_from(const SortedQuery& query, std::uint32_t label, const Sums& sums,
                            double* result) {
    if constexpr (Gap) {
      add<K>(way(query.value[label], sums.nearest), sums.sum, result);
      add<K>(1, sums.of_ways, result);
    } else {
      add<K>(1, sums.sum, result);
    }
  }

  // RB-INSERT, once the place of the new leaf is known.
  void attach(std::uint32_t label, const Sums& one, std::uint32_t parent, Side side) {
    const auto x = static_cast<std::uint32_t>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.subtree = node.own = one;
    node.label = label;
    node.parent = parent;
    node.red = true;
    (parent == kNil ? root_ : nodes_[parent].child[side]) = x;
    balance(x);
  }
  // RB-INSERT-FIXUP: no red node keeps a red parent.
  void balance(std::uint32_t x) {
    while (nodes_[nodes_[x].parent].red) {
      std::uint32_t parent = nodes_[x].parent;
      const std::uint32_t grandparent = nodes_[parent].parent;
      const Side side = side_of(parent), other = opposite(side);
      const std::uint32_t uncle = nodes_[grandparent].child[other];
      nodes_[grandparent].red = true;
      if (nodes_[uncle].red) {  // case 1
        nodes_[parent].red = nodes_[uncle].red = false;
        x = grandparent;
        continue;
      }
      if (side_of(x) == other) {  // case 2
        rotate(parent, side);
        std::swap(x, parent);
      }
      nodes_[parent].red = false;  // case 3
      rotate(grandparent, other);
    }
    nodes_[root_].red = false;
  }
  Side side_of(std::uint32_t x) const {
    return x == nodes_[nodes_[x].parent].child[kLeft] ? kLeft : kRight;
  }
  // LEFT-ROTATE or RIGHT-ROTATE: x moves down to that side, its child on the other side takes its
  // place.
  void rotate(std::uint32_t x, Side side) {
    const Side other = opposite(side);
    const std::uint32_t y = nodes_[x].child[other], middle = nodes_[y].child[side];
    const std::uint32_t parent = nodes_[x].parent;
    (parent == kNil ? root_ : nodes_[parent].child[side_of(x)]) = y;
    nodes_[y].parent = parent;
    nodes_[y].child[side] = x;
    nodes_[x].parent = y;
    nodes_[x].child[other] = middle;
    if (middle != kNil) nodes_[middle].parent = x;
    nodes_[y].subtree = nodes_[x].subtree;  // the same labels are below y now
    add_up(nodes_[x]);
  }
  void add_up(Node& node) {
    node.subtree = node.own;
    for (const std::uint32_t child : node.child)
      if (child != kNil) include(nodes_[child].subtree, node.subtree);
  }

  std::vector<Node> nodes_;
  std::uint32_t root_ = kNil;
};

template <int K, bool Gap>
class TreeSums {
 public:
  // Lines 5-12, with p for the paper's i.
  void upper(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    larger_.reset(query.n_levels);
    std::uint32_t j = 0;
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j) larger_.insert(query, query.label[j], v[j]);
      larger_.sum_beyond(query, query.label[p], result[p]);
    }
  }
  // Lines 13-20, with j for the paper's i and p for its j: as everywhere, p is the less relevant
  // position of a pair.  One comparison of scores, that of the window ends, serves both walks; two
  // that round differently would give pairs that only one of their documents knows of.
  void lower(const SortedQuery& query, const Columns<K>* v, Columns<K>* result) {
    smaller_.reset(query.n_levels);
    std::uint32_t p = query.n_documents;
    for (std::uint32_t j = query.n_documents; j-- > 0;) {
      for (; p > 0 && query.window_end[p - 1] > j; --p)
        smaller_.insert(query, query.label[p - 1], v[p - 1]);
      smaller_.sum_beyond(query, query.label[j], result[j]);
    }
  }

 private:
  OrderStatisticsTree<K, Gap, kRight> larger_;
  OrderStatisticsTree<K, Gap, kLeft> smaller_;
};

}  // namespace ranksvm
