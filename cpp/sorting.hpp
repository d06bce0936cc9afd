// The order of scores: ascending, ties by index, hence unique whatever the method.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
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

constexpr int kBits = 11;
constexpr std::uint32_t kBins = 1u << kBits;
constexpr std::int64_t kPart = 1 << 14;

// One stable counting pass over one digit of the keys, in parts that threads share.
inline void pass(const std::vector<Record>& in, std::vector<Record>& out, int shift,
                 int n_threads) {
  const auto n = static_cast<std::int64_t>(in.size());
  const std::int64_t n_parts = (n + kPart - 1) / kPart;
  std::vector<std::array<std::uint32_t, kBins>> offsets(n_parts);
  parallel_for(n_parts, n_threads, [&](std::int64_t part) {
    auto& count = offsets[part];
    count.fill(0);
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

}  // namespace radix

// Sorts scores[0..n) where a radix sort pays: by the upper halves of the doubles, then each run of
// equal upper halves by comparison.  `sorted` receives scores and indices in order.
inline void radix_sort(const double* scores, std::uint32_t n, ScoredIndex* sorted, int n_threads) {
  std::vector<radix::Record> records(n), other(n);
  parallel_chunks(n, radix::kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i)
      records[i] = {radix::key_of(scores[i]), static_cast<std::uint32_t>(i)};
  });
  for (int shift = 0; shift < 32; shift += radix::kBits) {
    radix::pass(records, other, shift, n_threads);
    records.swap(other);
  }
  parallel_chunks(n, radix::kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) sorted[p] = {scores[records[p].index], records[p].index};
  });
  // A run belongs to the part in which it starts.
  parallel_chunks(n, radix::kPart, n_threads, [&](std::int64_t begin, std::int64_t end) {
    while (begin > 0 && begin < end && records[begin].key == records[begin - 1].key) ++begin;
    for (auto p = begin; p < end;) {
      auto q = p + 1;
      while (q < n && records[q].key == records[p].key) ++q;
      if (q - p > 1) std::sort(sorted + p, sorted + q);
      p = q;
    }
  });
}

inline void sort_scores(const double* scores, std::uint32_t n, ScoredIndex* sorted, int n_threads) {
  constexpr std::uint32_t kRadixPays = 2048;
  if (n >= kRadixPays) return radix_sort(scores, n, sorted, n_threads);
  for (std::uint32_t i = 0; i < n; ++i) sorted[i] = {scores[i], i};
  std::sort(sorted, sorted + n);
}

}  // namespace ranksvm
