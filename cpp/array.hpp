// Arrays that are not initialised when made, where every entry is written once by the thread that
// has it at hand; and memory for what is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ranksvm {

// Large memory comes from the system and goes back there at once: the arrays of a sweep live so
// briefly, and end in such an order, that a heap would keep holes for as much again.
template <std::size_t kAlignment>
class Memory {
 public:
  static void* take(std::size_t n_bytes) {
#if defined(__linux__)
    if (n_bytes >= kLarge) {
      void* found =
          mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (found == MAP_FAILED) throw std::bad_alloc();
      madvise(found, n_bytes, MADV_HUGEPAGE);  // fewer page faults, which are what this costs
      return found;
    }
#endif
    return ::operator new(n_bytes, std::align_val_t{kAlignment});
  }
  static void give_back(void* memory, [[maybe_unused]] std::size_t n_bytes) noexcept {
#if defined(__linux__)
    if (n_bytes >= kLarge) {
      munmap(memory, n_bytes);
      return;
    }
#endif
    ::operator delete(memory, std::align_val_t{kAlignment});
  }

 private:
  static constexpr std::size_t kLarge = 1 << 22;
};

template <class T>
struct GiveBack {
  std::size_t n_bytes = 0;
  void operator()(void* memory) const noexcept { Memory<alignof(T)>::give_back(memory, n_bytes); }
};

// Of numbers, and of plain structures of numbers.
template <class T>
using Array = std::unique_ptr<T[], GiveBack<T>>;

template <class T>
[[nodiscard]] Array<T> make_array(std::int64_t n) {
  static_assert(std::is_trivially_destructible_v<T>);
  const auto n_bytes = static_cast<std::size_t>(n) * sizeof(T);
  return Array<T>(static_cast<T*>(Memory<alignof(T)>::take(n_bytes)), GiveBack<T>{n_bytes});
}

template <class T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class Other>
  LargeAllocator(const LargeAllocator<Other>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(Memory<alignof(T)>::take(n * sizeof(T))); }
  void deallocate(T* values, std::size_t n) noexcept {
    Memory<alignof(T)>::give_back(values, n * sizeof(T));
  }
  bool operator==(const LargeAllocator&) const { return true; }
};

// A vector that may be large.
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace ranksvm
