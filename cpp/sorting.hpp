// The order of scores: ascending, ties by index, hence unique whatever the method.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "array.hpp"
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

// Keys of up to 32 bits that rise with the score: the upper half of the double, reordered so that
// unsigned order is numerical order.
struct BitKeys {
  static constexpr int kKeyBits = 32;
  std::uint32_t operator()(double score) const {
    const auto bits = std::bit_cast<std::uint64_t>(score);
    const std::uint64_t flip = (bits >> 63) ? ~std::uint64_t{0} : std::uint64_t{1} << 63;
    return static_cast<std::uint32_t>((bits ^ flip) >> 32);
  }
};

// Shorter keys that tell scores apart as well where those are spread evenly over their range.
struct EvenKeys {
  static constexpr int kKeyBits = 22;
  double least, scale;
  std::uint32_t operator()(double score) const {
    return static_cast<std::uint32_t>((score - least) * scale);
  }
};

// Large enough to pay for the counts of a digit, small enough for every thread to have one.
inline std::int64_t part_size(std::int64_t n) { return std::max<std::int64_t>(1 << 13, n / 16); }

// One stable counting pass over one digit of the keys, in parts that threads share.
template <int kBits>
void pass(const Record* in, Record* out, std::int64_t n, int shift, int n_threads) {
  constexpr std::uint32_t kBins = 1u << kBits;
  const std::int64_t size = part_size(n), n_parts = (n + size - 1) / size;
  std::vector<std::array<std::uint32_t, kBins>> offsets(n_parts);
  parallel_for(n_parts, n_threads, [&](std::int64_t part) {
    auto& count = offsets[part];
    for (std::int64_t i = part * size; i < std::min(n, (part + 1) * size); ++i)
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
    for (std::int64_t i = part * size; i < std::min(n, (part + 1) * size); ++i)
      out[offset[(in[i].key >> shift) & (kBins - 1)]++] = in[i];
  });
}

// Sorts by keys, then each run of equal keys by comparison.
template <int kBits, class Keys>
void sort(const double* scores, std::int64_t n, const Keys& key_of, ScoredIndex* sorted,
          int n_threads) {
  auto records = make_array<Record>(n);
  auto other = make_array<Record>(n);
  parallel_chunks(n, part_size(n), n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i)
      records[i] = {key_of(scores[i]), static_cast<std::uint32_t>(i)};
  });
  for (int shift = 0; shift < Keys::kKeyBits; shift += kBits) {
    pass<kBits>(records.get(), other.get(), n, shift, n_threads);
    records.swap(other);
  }
  parallel_chunks(n, part_size(n), n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) sorted[p] = {scores[records[p].index], records[p].index};
  });
  // A run belongs to the part in which it starts.
  parallel_chunks(n, part_size(n), n_threads, [&](std::int64_t begin, std::int64_t end) {
    while (begin > 0 && begin < end && records[begin].key == records[begin - 1].key) ++begin;
    for (auto p = begin; p < end;) {
      auto q = p + 1;
      while (q < n && records[q].key == records[p].key) ++q;
      if (!std::is_sorted(sorted + p, sorted + q)) std::sort(sorted + p, sorted + q);
      p = q;
    }
  });
}

// Whether the scores are spread evenly enough over their range for short keys: if so, gives the
// keys.  A sample decides; it matters to the speed alone.
inline std::optional<EvenKeys> even_keys(const double* scores, std::uint32_t n) {
  constexpr std::uint32_t kSample = 1024, kCells = 64, kMostInCell = kSample / 4;
  const auto [least, most] = std::minmax_element(scores, scores + n);
  const EvenKeys keys{*least, ((1u << EvenKeys::kKeyBits) - 1) / (*most - *least)};
  if (!std::isnormal(keys.scale)) return {};
  std::array<std::uint32_t, kCells> count{};
  for (std::uint64_t k = 0; k < kSample; ++k)
    if (++count[keys(scores[k * n / kSample]) / ((1u << EvenKeys::kKeyBits) / kCells)] >
        kMostInCell)
      return {};
  return keys;
}

}  // namespace radix

inline void sort_scores(const double* scores, std::uint32_t n, ScoredIndex* sorted, int n_threads) {
  constexpr std::uint32_t kFew = 64, kMany = 16384;
  const auto as_they_come = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) sorted[i] = {scores[i], static_cast<std::uint32_t>(i)};
  };
  if (std::is_sorted(scores, scores + n)) {  // as where all are the same
    parallel_chunks(n, radix::part_size(n), n_threads, as_they_come);
  } else if (n < kFew) {
    as_they_come(0, n);
    std::sort(sorted, sorted + n);
  } else if (n < kMany) {
    radix::sort<8>(scores, n, radix::BitKeys{}, sorted, 1);
  } else if (const auto keys = radix::even_keys(scores, n)) {
    radix::sort<11>(scores, n, *keys, sorted, n_threads);
  } else {
    radix::sort<11>(scores, n, radix::BitKeys{}, sorted, n_threads);
  }
}

}  // namespace ranksvm
