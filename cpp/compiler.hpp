// All that is not standard C++, each with a portable stand-in. RANKSVM_PORTABLE takes these.
#pragma once

#include <cstddef>
#include <cstdint>

// A function marked RANKSVM_CLONES is compiled for several instruction sets, and the loader picks
// one, where the build has found that compiler and loader can. Kernels behind it must be
// RANKSVM_INLINE to share its instruction set.
#if defined(RANKSVM_HAVE_CLONES) && !defined(RANKSVM_PORTABLE)
#define RANKSVM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RANKSVM_CLONES
#endif

#if defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
#define RANKSVM_INLINE inline __attribute__((always_inline))
#else
#define RANKSVM_INLINE inline
#endif

#if defined(__has_builtin)
#define RANKSVM_HAS_SHUFFLE __has_builtin(__builtin_shufflevector)
#else
#define RANKSVM_HAS_SHUFFLE 0
#endif

// No other pointer in scope leads to what this one does.
#if defined(__GNUC__) || defined(_MSC_VER)
#define RANKSVM_RESTRICT __restrict
#else
#define RANKSVM_RESTRICT
#endif

namespace ranksvm {

// Eight numbers that add and multiply as one, and are taken in turn from two of them.
#if defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
typedef double Lanes __attribute__((vector_size(64)));
typedef float FloatLanes __attribute__((vector_size(32)));
#else
template <class T>
struct alignas(8 * sizeof(T)) LanesOf {
  T lane[8];

  T& operator[](std::size_t k) { return lane[k]; }
  T operator[](std::size_t k) const { return lane[k]; }
  LanesOf& operator+=(const LanesOf& other) {
    for (std::size_t k = 0; k < 8; ++k) lane[k] += other.lane[k];
    return *this;
  }
  friend LanesOf operator*(const LanesOf& a, const LanesOf& b) {
    LanesOf product = a;
    for (std::size_t k = 0; k < 8; ++k) product.lane[k] *= b.lane[k];
    return product;
  }
  friend LanesOf operator*(const LanesOf& a, T factor) {
    LanesOf product = a;
    for (T& value : product.lane) value *= factor;
    return product;
  }
  friend LanesOf operator-(T from, const LanesOf& a) {
    LanesOf difference = a;
    for (T& value : difference.lane) value = from - value;
    return difference;
  }
};
typedef LanesOf<double> Lanes;
typedef LanesOf<float> FloatLanes;
#endif

// a0 b0 a1 b1 ... b3, and a4 b4 ... b7.
template <class Eight>
RANKSVM_INLINE void interleave(const Eight& a, const Eight& b, Eight& low, Eight& high) {
#if RANKSVM_HAS_SHUFFLE && (defined(__x86_64__) || defined(__clang__)) && !defined(RANKSVM_PORTABLE)
  low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  for (std::size_t k = 0; k < 4; ++k) {
    low[2 * k] = a[k];
    low[2 * k + 1] = b[k];
    high[2 * k] = a[k + 4];
    high[2 * k + 1] = b[k + 4];
  }
#endif
}

// Four numbers, and four words, with comparisons, whose results are words of ones or of zeros. What
// takes or returns them is always inlined, so that how they would be passed does not matter.
#if defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#else
#if __has_warning("-Wpsabi")
#pragma clang diagnostic ignored "-Wpsabi"
#endif
#endif
typedef double Four __attribute__((vector_size(32)));
typedef decltype(Four{} < Four{}) FourWords;

RANKSVM_INLINE Four where(const FourWords& mask, const Four& a) { return mask ? a : Four{}; }
RANKSVM_INLINE Four where(const FourWords& mask, const Four& a, const Four& b) {
  return mask ? a : b;
}
RANKSVM_INLINE FourWords nonzero(const FourWords& words) { return words != 0; }
#else
template <class T>
struct alignas(32) FourOf {
  T lane[4];

  T operator[](std::size_t k) const { return lane[k]; }
  template <class Operation>
  static auto each(Operation&& operation) {
    FourOf<decltype(operation(std::size_t{0}))> result;
    for (std::size_t k = 0; k < 4; ++k) result.lane[k] = operation(k);
    return result;
  }
  friend FourOf operator+(const FourOf& a, T b) {
    return each([&](auto k) { return a[k] + b; });
  }
  friend FourOf operator-(const FourOf& a) {
    return each([&](auto k) { return -a[k]; });
  }
  friend FourOf operator-(const FourOf& a, const FourOf& b) {
    return each([&](auto k) { return a[k] - b[k]; });
  }
  friend FourOf operator-(const FourOf& a, T b) {
    return each([&](auto k) { return a[k] - b; });
  }
  friend FourOf operator-(T a, const FourOf& b) {
    return each([&](auto k) { return a - b[k]; });
  }
  friend FourOf operator*(const FourOf& a, const FourOf& b) {
    return each([&](auto k) { return a[k] * b[k]; });
  }
  friend FourOf operator*(const FourOf& a, T b) {
    return each([&](auto k) { return a[k] * b; });
  }
  friend FourOf operator&(const FourOf& a, const FourOf& b) {
    return each([&](auto k) { return a[k] & b[k]; });
  }
  friend FourOf operator&(const FourOf& a, T b) {
    return each([&](auto k) { return a[k] & b; });
  }
  friend FourOf operator~(const FourOf& a) {
    return each([&](auto k) { return ~a[k]; });
  }
  FourOf& operator+=(const FourOf& b) {
    for (std::size_t k = 0; k < 4; ++k) lane[k] += b[k];
    return *this;
  }
  FourOf& operator|=(const FourOf& b) {
    for (std::size_t k = 0; k < 4; ++k) lane[k] |= b[k];
    return *this;
  }
  static std::int64_t word(bool set) { return set ? -1 : 0; }
  friend auto operator<(const FourOf& a, const FourOf& b) {
    return each([&](auto k) { return word(a[k] < b[k]); });
  }
  friend auto operator<(const FourOf& a, T b) {
    return each([&](auto k) { return word(a[k] < b); });
  }
  friend auto operator!=(const FourOf& a, const FourOf& b) {
    return each([&](auto k) { return word(a[k] != b[k]); });
  }
};
typedef FourOf<double> Four;
typedef FourOf<std::int64_t> FourWords;

inline Four where(const FourWords& mask, const Four& a, const Four& b = Four{}) {
  return Four::each([&](auto k) { return mask[k] ? a[k] : b[k]; });
}
inline FourWords nonzero(const FourWords& words) {
  return FourWords::each([&](auto k) { return FourWords::word(words[k] != 0); });
}
#endif

// Starts loading memory that will be read, or written, soon.
RANKSVM_INLINE void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
  __builtin_prefetch(address);
#endif
}
RANKSVM_INLINE void prefetch_to_write([[maybe_unused]] const void* address) {
#if defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
  __builtin_prefetch(address, 1);
#endif
}

// Lets the other thread of a core have it, in a loop that waits.
inline void pause() {
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(RANKSVM_PORTABLE)
  __builtin_ia32_pause();
#endif
}

}  // namespace ranksvm
