// Rows that pairs without circles join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ranksvm {

// Trees of rows, each known by one of its rows, its root. Where the difference between the two rows
// of each pair is given, so is that between any two rows of a tree.
class RowForest {
 public:
  explicit RowForest(std::size_t n);

  // Takes the rows apart, and joins the rows of each pair.  O(log n) for each row and each pair.
  void isolate(std::int32_t row);
  void join(std::int32_t upper, std::int32_t lower, double difference);
  // Until then, `root` and `offset` are those of a part of the tree.
  void flatten(const std::vector<std::int32_t>& rows);

  std::size_t root(std::size_t row) const { return parent_[row]; }
  // What the row has more than its root.
  double offset(std::size_t row) const { return offset_[row]; }
  bool is_joined(std::size_t row, std::size_t other) const {
    return parent_[row] == parent_[other];
  }

 private:
  struct Place {
    std::uint32_t root;
    double offset;
  };
  Place climb(std::uint32_t row) const;

  std::vector<std::uint32_t> parent_, size_;
  std::vector<double> offset_;  // to the parent
};

}  // namespace ranksvm
