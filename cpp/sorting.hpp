// The order of scores: ascending, ties by index, hence unique whatever the method.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace ranksvm {

struct ScoredIndex {
  double score;
  std::uint32_t index;
  bool operator<(const ScoredIndex& other) const {
    return score < other.score || (score == other.score && index < other.index);
  }
};

namespace radix {

struct Record {
  std::uint32_t key, index;
};

// The upper half of a double, reordered so that unsigned order is numerical order.
inline std::uint32_t key_of(double score) {
  const auto bits = std::bit_cast<std::uint64_t>(score);
  const std::uint64_t flip = (bits >> 63) ? ~std::uint64_t{0} : std::uint64_t{1} << 63;
  return static_cast<std::uint32_t>((bits ^ flip) >> 32);
}

constexpr std::int64_t kPart = 1 << 15;

// One stable counting pass over one digit of the keys, in parts that threads share.
template <int kBits>
void pass(const Record* in, Record* out, std::int64_t n, int shift, int n_threads) {
  constexpr std::uint32_t kBins = 1u << kBits;
  const std::int64_t n_parts = (n + kPart - 1) / kPart;
  std::vector<std::array<std::uint32_t, kBins>> offsets(n_parts);
  parallel_for(n_parts, n_threads, [&](std::int64_t part) {
    auto& count = offsets[part];
    for (std::int64_t i = part * kPart; i < std::min(n, (part + 1) * kPart); ++i)
      ++count[(in[i].key >> shift) & (kBins - 1)];
  });
  std::uint32_t total = 0;
  for (std::uint32_t bin = 0; bin < kBins; ++bin)
    for (auto& part : offsets) {
      const std::uint32_t count = part[bin];
      part[bin] = total;
      total += count;
    }
  parallel_for(n_parts, n_threads, [&](std::int64_t part) {
    auto& offset = offsets[part];
    for (std::int64_t i = part * kPart; i < std::min(n, (part + 1) * kPart); ++i)
      out[offset[(in[i].key >> shift) & (kBins - 1)]++] = in[i];
  });
}

// Sorts by the upper halves of the scores, then each run of equal ones by comparison.
template <int kBits>
void sort(const double* scores, std::int64_t n, ScoredIndex* sorted, int n_threads) {
  auto records = std::make_unique_for_overwrite<Record[]>(n);
  auto other = std::make_unique_for_overwrite<Record[]>(n);
  parallel_chunks(n, kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i)
      records[i] = {key_of(scores[i]), static_cast<std::uint32_t>(i)};
  });
  for (int shift = 0; shift < 32; shift += kBits) {
    pass<kBits>(records.get(), other.get(), n, shift, n_threads);
    records.swap(other);
  }
  parallel_chunks(n, kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) sorted[p] = {scores[records[p].index], records[p].index};
  });
  // A run belongs to the part in which it starts.
  parallel_chunks(n, kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    while (begin > 0 && begin < end && records[begin].key == records[begin - 1].key) ++begin;
    for (auto p = begin; p < end;) {
      auto q = p + 1;
      while (q < n && records[q].key == records[p].key) ++q;
      if (q - p > 1) std::sort(sorted + p, sorted + q);
      p = q;
    }
  });
}

}  // namespace radix

inline void sort_scores(const double* scores, std::uint32_t n, ScoredIndex* sorted, int n_threads) {
  constexpr std::uint32_t kFew = 64, kMany = 16384;
  if (n >= kMany) return radix::sort<11>(scores, n, sorted, n_threads);
  if (n >= kFew) return radix::sort<8>(scores, n, sorted, 1);
  for (std::uint32_t i = 0; i < n; ++i) sorted[i] = {scores[i], i};
  std::sort(sorted, sorted + n);
}

}  // namespace ranksvm
