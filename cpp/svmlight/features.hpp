// Where the features of rows are kept while more of them are read: dense or in CSR form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "buffer.hpp"
#include "chunk.hpp"
#include "parallel.hpp"

namespace ranksvm::svmlight {

// Canonical CSR: indices from zero, ascending and distinct in each row, no value zero.
template <class T>
struct CsrFeatures {
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> indices;
  Buffer<T> values;
};

template <class T>
struct Features {
  std::int64_t n_rows = 0, n_features = 0;
  bool zero_based = false;
  std::optional<Buffer<T>> dense;  // n_rows x n_features, if more than half of it is not zero
  CsrFeatures<T> csr;              // otherwise
};

// Rows go to a dense array at once if the first of them are dense.  Should its width turn out to be
// wrong, or later rows be sparse, they move to CSR form, and back at the end if they must; so each
// row moves at most twice, and seldom at all.
template <class T>
class FeatureStore {
 public:
  // Without zero_based, indices count from zero when some value at index 0 is not zero (`0:0` marks
  // an empty row).
  FeatureStore(std::optional<bool> zero_based, std::int64_t min_features)
      : zero_based_(zero_based), min_features_(min_features) {
    csr_.indptr.resize(1);
    csr_.indptr.data()[0] = 0;
  }

  // first_row, first_entry: where those of each chunk begin, and the last ones end.
  void append(std::span<const Chunk<T>> chunks, const std::vector<std::int64_t>& first_row,
              const std::vector<std::int64_t>& first_entry, int n_threads) {
    for (const Chunk<T>& chunk : chunks) {
      last_index_ = std::max(last_index_, chunk.last_index);
      uses_index_zero_ |= chunk.uses_index_zero;
    }
    const auto n_rows = n_rows_ + first_row.back(), n_nonzero = n_nonzero_ + first_entry.back();
    if (n_rows_ == 0) {
      dense_from_ = base();
      dense_width_ = width();
      is_dense_ = exceeds(n_nonzero, n_rows, 2);
    } else if (is_dense_ && (base() != dense_from_ || width() != dense_width_ ||
                             !exceeds(n_nonzero, n_rows, 4))) {
      make_sparse();
    }
    if (is_dense_) {
      dense_.resize(n_rows * dense_width_);
    } else {
      csr_.indptr.resize(n_rows + 1);
      csr_.indices.resize(n_nonzero);
      csr_.values.resize(n_nonzero);
    }
    parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t t) {
      const auto c = static_cast<std::size_t>(t);
      const auto row = n_rows_ + first_row[c];
      if (is_dense_) {
        scatter(chunks[c], dense_.data() + row * dense_width_);
      } else {
        copy(chunks[c], row, n_nonzero_ + first_entry[c]);
      }
    });
    n_rows_ = n_rows;
    n_nonzero_ = n_nonzero;
  }

  Features<T> finish(int n_threads) {
    const bool dense = exceeds(n_nonzero_, n_rows_, 2);
    if (is_dense_ && !dense) make_sparse();
    Features<T> features{n_rows_, width(), base() == 0, std::nullopt, {}};
    if (!is_dense_ && base() == 1) {
      parallel_chunks(n_nonzero_, 1 << 16, n_threads, [&](std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) --csr_.indices.data()[k];
      });
    }
    if (dense) {
      features.dense.emplace(is_dense_ ? std::move(dense_) : dense_copy(n_threads));
    } else {
      features.csr = std::move(csr_);
    }
    return features;
  }

 private:
  // The index of the first column.
  std::int64_t base() const { return zero_based_.value_or(uses_index_zero_) ? 0 : 1; }
  std::int64_t width() const { return std::max(last_index_ + 1 - base(), min_features_); }

  // Whether more than one element in `share` is not zero.
  bool exceeds(std::int64_t n_nonzero, std::int64_t n_rows, std::int64_t share) const {
    return static_cast<double>(n_nonzero) * static_cast<double>(share) >
           static_cast<double>(n_rows) * static_cast<double>(width());
  }

  void scatter(const Chunk<T>& chunk, T* row) const {
    std::int64_t k = 0;
    for (const auto end : chunk.row_ends) {
      std::fill_n(row, dense_width_, T(0));
      for (; k < end; ++k) {
        const auto entry = static_cast<std::size_t>(k);
        row[chunk.indices[entry] - dense_from_] = chunk.values[entry];
      }
      row += dense_width_;
    }
  }

  void copy(const Chunk<T>& chunk, std::int64_t row, std::int64_t entry) {
    std::transform(chunk.row_ends.begin(), chunk.row_ends.end(), csr_.indptr.data() + row + 1,
                   [=](std::int64_t end) { return entry + end; });
    std::copy(chunk.indices.begin(), chunk.indices.end(), csr_.indices.data() + entry);
    std::copy(chunk.values.begin(), chunk.values.end(), csr_.values.data() + entry);
  }

  // Moves all rows from the dense array.
  void make_sparse() {
    csr_.indptr.resize(n_rows_ + 1);
    csr_.indices.resize(n_nonzero_);
    csr_.values.resize(n_nonzero_);
    std::int64_t k = 0;
    for (std::int64_t i = 0; i < n_rows_; ++i) {
      const T* row = dense_.data() + i * dense_width_;
      for (std::int64_t j = 0; j < dense_width_; ++j) {
        if (row[j] == T(0)) continue;
        csr_.indices.data()[k] = static_cast<std::int32_t>(j + dense_from_);
        csr_.values.data()[k++] = row[j];
      }
      csr_.indptr.data()[i + 1] = k;
    }
    dense_ = {};
    is_dense_ = false;
  }

  Buffer<T> dense_copy(int n_threads) const {
    const auto d = width();
    Buffer<T> dense(n_rows_ * d);
    parallel_chunks(n_rows_, 256, n_threads, [&](std::int64_t begin, std::int64_t end) {
      std::fill(dense.data() + begin * d, dense.data() + end * d, T(0));
      for (auto i = begin; i < end; ++i)
        for (auto k = csr_.indptr.data()[i]; k < csr_.indptr.data()[i + 1]; ++k)
          dense.data()[i * d + csr_.indices.data()[k]] = csr_.values.data()[k];
    });
    return dense;
  }

  std::optional<bool> zero_based_;
  std::int64_t min_features_;
  std::int64_t n_rows_ = 0, n_nonzero_ = 0, last_index_ = -1;
  bool uses_index_zero_ = false;  // with a value other than zero
  bool is_dense_ = false;
  std::int64_t dense_from_ = 0, dense_width_ = 0;
  Buffer<T> dense_;
  CsrFeatures<T> csr_;  // indices as written
};

}  // namespace ranksvm::svmlight
