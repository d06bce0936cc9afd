// A query of very many labels, in blocks of labels whose trees stay in the cache.
//
// A tree over millions of labels lies in memory, and every addition and query waits for it.  So
// labels are cut into blocks.  What the partners of a document in other blocks add up to comes from
// a small tree over the blocks; those of its own block are found among the documents of the block
// alone, in the order of their scores: a query by itself, whose window ends count its documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../array.hpp"
#include "sorted_query.hpp"

namespace ranksvm {

template <int K>
class LabelBlocks {
 public:
  static constexpr int kBits = 12;  // four levels of a tree of eight children to a node

  static std::uint32_t n_blocks(const SortedQuery& query) {
    return ((query.n_levels - 1) >> kBits) + 1;
  }
  // Calls with the query of which each label is a block of labels.
  template <class Call>
  static void over_blocks(SortedQuery query, Call&& call) {
    const auto block = make_array<std::uint32_t>(query.n_documents);
    for (std::uint32_t p = 0; p < query.n_documents; ++p) block[p] = query.label[p] >> kBits;
    query.n_levels = n_blocks(query);
    query.label = block.get();
    call(query);
  }

  // Copies documents and values block by block, which takes one pass over as many streams.
  LabelBlocks(const SortedQuery& query, const Columns<K>* v)
      : query_(query),
        start_(n_blocks(query) + 1),
        label_(make_array<std::uint32_t>(query.n_documents)),
        window_end_(make_array<std::uint32_t>(query.n_documents)),
        sums_(make_array<double>(K * std::int64_t{query.n_documents})) {
    for (std::uint32_t p = 0; p < query.n_documents; ++p) ++start_[block(p) + 1];
    for (std::size_t b = 1; b < start_.size(); ++b) {
      largest_ = std::max(largest_, start_[b]);
      start_[b] += start_[b - 1];
    }
    std::vector<std::uint32_t> next(start_), inside(start_.size());
    for (std::uint32_t p = 0, j = 0; p < query.n_documents; ++p) {
      for (; j < query.window_end[p]; ++j) ++inside[block(j)];
      const auto b = block(p), place = next[b]++;
      label_[place] = query.label[p] - (b << kBits);
      window_end_[place] = inside[b];
      std::copy_n(v[p], K, columns(place));
    }
  }

  // Adds to the result what `sum(query, values, result)` makes of each block.
  template <class Sum>
  void add_up(Columns<K>* result, Sum&& sum) {
    const auto memory = make_array<double>(K * std::int64_t{largest_});
    for (std::uint32_t b = 0; b + 1 < start_.size(); ++b) {
      const std::uint32_t begin = start_[b], n = start_[b + 1] - begin;
      const std::uint32_t n_levels = std::min(query_.n_levels - (b << kBits), 1u << kBits);
      const SortedQuery inner{n, n_levels, &label_[begin], &window_end_[begin], nullptr};
      sum(inner, reinterpret_cast<const Columns<K>*>(columns(begin)),
          reinterpret_cast<Columns<K>*>(memory.get()));
      std::copy_n(memory.get(), K * std::int64_t{n}, columns(begin));
    }
    std::vector<std::uint32_t> next(start_);
    for (std::uint32_t p = 0; p < query_.n_documents; ++p)
      add<K>(1, columns(next[block(p)]++), result[p]);
  }

 private:
  [[nodiscard]] std::uint32_t block(std::uint32_t position) const {
    return query_.label[position] >> kBits;
  }
  [[nodiscard]] double* columns(std::uint32_t place) { return &sums_[K * std::int64_t{place}]; }

  const SortedQuery& query_;
  std::vector<std::uint32_t> start_;  // of each block among the documents
  std::uint32_t largest_ = 0;
  Array<std::uint32_t> label_, window_end_;
  Array<double> sums_;  // the values first
};

}  // namespace ranksvm
