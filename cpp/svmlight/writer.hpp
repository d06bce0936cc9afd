// Writing SVMlight / LETOR text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ranksvm::svmlight {

template <class T>
struct CsrView {
  std::span<const std::int64_t> indptr;
  std::span<const std::int32_t> indices;
  std::span<const T> values;

  std::int64_t n_rows() const { return static_cast<std::int64_t>(indptr.size()) - 1; }
};

// What stands beside the features; an empty qid, cost or comment span leaves it out.
struct Columns {
  std::span<const double> labels;
  std::span<const std::string_view> qid;
  std::span<const double> cost;
  std::span<const std::string_view> comments;
};

// Numbers are the shortest that read back as the same label, cost, or value of type T.
template <class T>
std::string format(const Columns& columns, const CsrView<T>& rows, bool zero_based);

}  // namespace ranksvm::svmlight
