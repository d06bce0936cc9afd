// Memory for blocks of rows, which are gathered and let go one after the other: what a thread lets
// go it takes again. A heap may give such memory back to the system each time, so that every page
// of every block is a page fault; with MALLOC_TRIM_THRESHOLD_ set, as on workers of Dask, it does.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "array.hpp"

namespace ranksvm {

struct BlockMemory {
  Array<double> values;  // aligned for single precision, too
  std::size_t size = 0;  // bytes
};

// What a thread has let go last.
class FreeBlocks {
 public:
  static FreeBlocks& of_this_thread() {
    static thread_local FreeBlocks blocks;
    return blocks;
  }

  BlockMemory take(std::size_t n_bytes) {
    const auto unit = n_bytes < kLeast ? sizeof(double) : kLeast;  // sizes differ by some rows
    if (n_bytes >= kLeast)
      for (auto& block : blocks_)
        if (block.size >= n_bytes && block.size / 4 <= n_bytes) return std::exchange(block, {});
    const auto size = (n_bytes + unit - 1) / unit * unit;
    return {make_array<double>(static_cast<std::int64_t>(size / sizeof(double))), size};
  }

  // What no heap gives back, or is too large, is not kept, nor the block whose place this takes.
  void give_back(BlockMemory block) noexcept {
    if (block.size < kLeast || block.size > kMost) return;
    for (auto& free : blocks_)
      if (free.size == 0) {
        free = std::move(block);
        return;
      }
    std::swap(blocks_[next_], block);
    next_ = (next_ + 1) % blocks_.size();
  }

 private:
  static constexpr std::size_t kLeast = std::size_t{1} << 17, kMost = std::size_t{1} << 22;
  std::array<BlockMemory, 4> blocks_;
  std::size_t next_ = 0;
};

}  // namespace ranksvm
