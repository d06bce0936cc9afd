// What the native tests share.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace ranksvm::tests {

// Random numbers that a seed determines, with any standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // One of low, ..., high.
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  // Between low and high.
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  bool coin() { return whole(0, 1) == 1; }

 private:
  std::mt19937_64 engine_;
};

// Runs a test for seed 0, 1, ...: once at least, and until its seconds are over.
inline void repeat(double seconds, const std::function<void(Random&)>& test) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t seed = 0;
  do {
    Random random(seed++);
    test(random);
  } while (elapsed() < seconds);
}

inline bool close(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }

void test_sweeps(double seconds);
void test_given_pairs(double seconds);
void test_matrices(double seconds);
void test_thread_pool(double seconds);
void test_simplex_qp(double seconds);
void test_cholesky(double seconds);
void test_row_forest(double seconds);
void test_path(double seconds);
void test_top(double seconds);
void test_dual_descent(double seconds);
void test_interior_pairs(double seconds);
void test_listed_pairs(double seconds);
void test_table_rows(double seconds);

}  // namespace ranksvm::tests
