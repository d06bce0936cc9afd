#include "writer.hpp"

#include <charconv>

namespace ranksvm::svmlight {
namespace {

template <class Number>
void append(std::string& text, Number number) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

template <class T>
std::string format(const Columns& columns, const CsrView<T>& rows, bool zero_based) {
  std::string text;
  for (std::size_t i = 0; i < columns.labels.size(); ++i) {
    append(text, columns.labels[i]);
    if (!columns.qid.empty()) (text += " qid:") += columns.qid[i];
    if (!columns.cost.empty()) append(text += " cost:", columns.cost[i]);
    for (auto k = static_cast<std::size_t>(rows.indptr[i]);
         k < static_cast<std::size_t>(rows.indptr[i + 1]); ++k) {
      if (rows.values[k] == T(0)) continue;
      append(text += ' ', rows.indices[k] + (zero_based ? 0 : 1));
      append(text += ':', rows.values[k]);
    }
    if (!columns.comments.empty()) (text += " # ") += columns.comments[i];
    text += '\n';
  }
  return text;
}

template std::string format(const Columns&, const CsrView<float>&, bool);
template std::string format(const Columns&, const CsrView<double>&, bool);

}  // namespace ranksvm::svmlight
