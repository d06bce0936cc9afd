#include "row_forest.hpp"

#include <numeric>
#include <utility>

namespace ranksvm {

RowForest::RowForest(std::size_t n) : parent_(n), size_(n, 1), offset_(n) {
  std::iota(parent_.begin(), parent_.end(), 0u);
}

void RowForest::isolate(std::int32_t row) {
  const auto i = static_cast<std::uint32_t>(row);
  parent_[i] = i;
  size_[i] = 1;
  offset_[i] = 0.0;
}

// The smaller tree goes below the larger one, so that no row is far from its root.
void RowForest::join(std::int32_t upper, std::int32_t lower, double difference) {
  auto above = climb(static_cast<std::uint32_t>(upper)),
       below = climb(static_cast<std::uint32_t>(lower));
  double offset = difference + below.offset - above.offset;  // of the upper root to the lower one
  if (above.root == below.root) return;
  if (size_[above.root] > size_[below.root]) {
    std::swap(above, below);
    offset = -offset;
  }
  parent_[above.root] = below.root;
  offset_[above.root] = offset;
  size_[below.root] += size_[above.root];
}

void RowForest::flatten(const std::vector<std::int32_t>& rows) {
  for (const auto row : rows) {
    const auto i = static_cast<std::size_t>(row);
    const Place place = climb(static_cast<std::uint32_t>(row));
    parent_[i] = place.root;
    offset_[i] = place.offset;
  }
}

RowForest::Place RowForest::climb(std::uint32_t row) const {
  Place place{row, 0.0};
  while (parent_[place.root] != place.root) {
    place.offset += offset_[place.root];
    place.root = parent_[place.root];
  }
  return place;
}

}  // namespace ranksvm
