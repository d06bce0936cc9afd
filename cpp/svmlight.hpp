// SVMlight / LETOR text, one row a line:  <label> [qid:<id>] [sid:<n>] [cost:<w>] i:v ... [#
// comment]
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ranksvm {

// Storage left uninitialised, so that the threads that fill it are the first to touch its pages.
template <class T>
struct Buffer {
  explicit Buffer(std::int64_t n = 0)
      : data(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(n))), size(n) {}

  std::unique_ptr<T[]> data;
  std::int64_t size;
};

// Rows in canonical CSR: indices from zero, ascending and distinct in each row, no value zero.
struct SvmlightRows {
  Buffer<double> labels;
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> indices;
  Buffer<double> values;
  std::int64_t n_features = 0;  // counts features that only occur with value zero, too
  bool zero_based = false;      // what was asked for or found
  std::optional<Buffer<double>> cost;
  std::optional<Buffer<std::int64_t>> qid;                // when every qid is an integer
  std::optional<std::vector<std::string_view>> names;     // the qids otherwise, parts of the text
  std::optional<std::vector<std::string_view>> comments;  // what follows '#', if it is kept
};

// what() is "line 7, column 12: expected index:value, found 'abc'".
struct SvmlightError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Without zero_based, indices count from zero when some value at index 0 is not zero (`0:0` marks
// an empty row).  Rows and the error raised do not depend on n_threads or chunk_bytes.
SvmlightRows parse_svmlight(std::string_view text, std::optional<bool> zero_based,
                            bool keep_comments, int n_threads, std::int64_t chunk_bytes);

template <class T>
struct CsrView {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> indices;
  std::span<const T> values;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
};

// Fills all of `dense`, n_rows x n_features in C order.
template <class T>
void csr_to_dense(const CsrView<double>& rows, std::int64_t n_features, T* dense, int n_threads);

// What stands beside the features; an empty qid, cost or comment span leaves it out.
struct SvmlightColumns {
  std::span<const double> labels;
  std::span<const std::string_view> qid;
  std::span<const double> cost;
  std::span<const std::string_view> comments;
};

// Numbers are the shortest that read back as the same label, cost, or value of type T.
template <class T>
std::string format_svmlight(const SvmlightColumns& columns, const CsrView<T>& rows,
                            bool zero_based);

}  // namespace ranksvm
