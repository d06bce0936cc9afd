// One piece of SVMlight text, parsed by one thread.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decimal.hpp"

namespace ranksvm::svmlight {

using std::string_view;

inline constexpr std::int64_t max_index = std::numeric_limits<std::int32_t>::max() - 1;

struct Failure {
  const char* where;
  std::string message;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return '0' <= c && c <= '9'; }
inline bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

// Printable ASCII whatever the token holds.
inline std::string quoted(string_view token) {
  constexpr std::size_t longest = 40;
  constexpr const char* hex = "0123456789abcdef";
  std::string text = "'";
  for (const char c : token.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_control(c) || byte >= 0x80) {
      text += {'\\', 'x', hex[byte / 16], hex[byte % 16]};
    } else {
      text += c;
    }
  }
  return text + (token.size() > longest ? "...'" : "'");
}

[[noreturn]] inline void fail(string_view token, const std::string& expected) {
  throw Failure{token.data(), "expected " + expected + ", found " + quoted(token)};
}

inline const char* skip_blanks(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  return p;
}

// What a line holds, before a comment.
enum class LineFormat {
  svmlight,  // <label> [qid:<id>] [sid:<n>] [cost:<weight>] <index>:<value> ...
  features,  // <index>:<value> ..., ascending
  labels,    // <label>
  qids,      // <id>
};

inline string_view trimmed(string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

inline string_view token_at(const char* p, const char* end) {
  return {p, std::find_if(p, end, is_blank)};
}

// Whether a decimal number is below one in magnitude.
inline bool is_small(string_view number) {
  const auto e = number.find_first_of("eE");
  const auto mantissa = number.substr(0, e);
  int exponent = 0;
  if (e != number.npos) {
    const bool negative = number[e + 1] == '-';
    const char* digits = number.data() + e + 1 + (negative || number[e + 1] == '+');
    const auto parsed = std::from_chars(digits, number.data() + number.size(), exponent);
    if (parsed.ec != std::errc{}) return negative;
    if (negative) exponent = -exponent;
  }
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto leading = mantissa.find_first_of("123456789");
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(leading);
  return magnitude + exponent <= 0;
}

// Reads a decimal number as Python's float() does; null where there is none, or it is not finite.
inline const char* read_number(const char* p, const char* end, double& value) {
  if (end - p > 1 && p[0] == '+' && p[1] != '-') ++p;
  const auto [stop, error] = read_decimal(p, end, value);
  if (error == std::errc::result_out_of_range) {
    value = *p == '-' ? -0.0 : 0.0;
    return is_small({p, stop}) ? stop : nullptr;
  }
  return error == std::errc{} && std::isfinite(value) ? stop : nullptr;
}

inline bool read_integer(string_view token, std::int64_t& value) {
  if (token.size() > 1 && token[0] == '+' && token[1] != '-') token.remove_prefix(1);
  const char* end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, value);
  return error == std::errc{} && stop == end;
}

// Rows that follow each other and have the same qid.
struct Query {
  string_view name;
  bool is_integer;
  std::int64_t number, n_rows;
};

// The rows of one piece of the text; indices as written, feature 0 included, values as type T.
template <class T>
class Chunk {
 public:
  std::vector<double> labels, cost;  // cost is empty if no row has one
  std::vector<std::int64_t> row_ends;
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  std::vector<Query> queries;
  std::vector<string_view> comments;  // only where they are kept
  bool uses_index_zero = false;       // with a value other than zero
  std::int64_t last_index = -1;
  std::int64_t n_lines = 0;
  std::optional<Failure> failure;

  std::int64_t n_rows() const { return std::ssize(labels); }

  // Replaces what the chunk held, in the same memory.
  void parse(string_view lines, LineFormat format, std::int64_t smallest_index,
             bool keep_comments) {
    clear();
    format_ = format;
    smallest_index_ = smallest_index;
    keep_comments_ = keep_comments;
    try {
      while (!lines.empty()) {
        const auto length = std::min(lines.find('\n'), lines.size() - 1) + 1;
        parse_line(lines.substr(0, length));
        lines.remove_prefix(length);
        ++n_lines;
      }
    } catch (Failure& raised) {
      failure = std::move(raised);
    }
    if (!cost.empty()) cost.resize(labels.size(), 1.0);
  }

  // Throws unless the rows carry qids exactly if `expected`.
  void require_qids(bool expected) const {
    if (n_rows() == 0) return;
    require_qid(expected, first_word_, queries.empty() ? string_view{} : queries[0].name);
  }

 private:
  struct Row {
    string_view qid, sid;
    std::optional<double> cost;
  };

  static void require_qid(bool expected, string_view label, string_view qid) {
    if (expected && qid.empty()) {
      throw Failure{label.data(), "expected a qid, as in the rows before, found none"};
    }
    if (!expected && !qid.empty()) {
      fail({qid.data() - 4, qid.size() + 4}, "no qid, as in the rows before");  // with its "qid:"
    }
  }

  void parse_line(string_view line) {
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    const auto hash = std::min(line.find('#'), line.size());
    const char* end = line.data() + hash;
    const char* begin = skip_blanks(line.data(), end);
    if (begin == end) return;
    parse_row(begin, end);
    if (keep_comments_) comments.push_back(trimmed(line.substr(std::min(hash + 1, line.size()))));
  }

  void parse_row(const char* begin, const char* end) {
    const string_view first = token_at(begin, end);
    const char* p = begin;
    double label = 0.0;
    Row row;
    if (format_ == LineFormat::qids) {
      require_only(first, end, "one query id (an integer or a word) per line");
      row.qid = first;
    } else if (format_ == LineFormat::labels) {
      constexpr auto expected = "one label (a finite decimal number) per line";
      require_only(first, end, expected);
      if (read_number(p, end, label) != p + first.size()) fail(first, expected);
    } else {
      if (format_ == LineFormat::svmlight) {
        p = read_number(p, end, label);
        if (p != begin + first.size()) fail(first, "a label (a finite decimal number)");
      }
      row = parse_tokens(p, end);
    }
    if (n_rows() == 0) first_word_ = first;
    if (n_rows() > 0) require_qid(!queries.empty(), first, row.qid);
    if (!row.qid.empty()) add_qid(row.qid);
    if (row.cost) add_cost(*row.cost);
    labels.push_back(label);
    row_ends.push_back(std::ssize(indices));
  }

  static void require_only(string_view word, const char* end, const char* expected) {
    const char* begin = word.data();
    const bool unfit = std::any_of(word.begin(), word.end(), is_control);
    if (unfit || skip_blanks(begin + word.size(), end) != end) {
      fail(trimmed({begin, static_cast<std::size_t>(end - begin)}), expected);
    }
  }

  Row parse_tokens(const char* p, const char* end) {
    const char* begin = p;
    const auto first = indices.size();
    Row row;
    std::int64_t previous = -1;
    bool ascending = true, has_zero = false;
    while ((p = skip_blanks(p, end)) != end) {
      const char* token = p;
      std::int64_t index = 0;
      while (p != end && is_digit(*p)) index = std::min(10 * index + (*p++ - '0'), max_index + 1);
      if (p == token && format_ == LineFormat::svmlight) {
        p = parse_keyword(token_at(token, end), row);
        if (p) continue;
      }
      if (!p || p == end || *p != ':') fail(token_at(token, end), "index:value");
      if (index > max_index || index < smallest_index_) fail_index(token_at(token, end), index);
      double number = 0.0;
      p = read_number(p + 1, end, number);
      if (!p || (p != end && !is_blank(*p))) {
        fail(token_at(token, end), "index:value with a finite decimal value");
      }
      const T value = static_cast<T>(number);
      if (!std::isfinite(value)) fail(token_at(token, end), "a value of single precision");
      if (index <= previous) {
        if (format_ == LineFormat::features) fail_order(token_at(token, end), index, previous);
        ascending = false;
      }
      has_zero |= value == T(0);
      previous = index;
      indices.push_back(static_cast<std::int32_t>(index));
      values.push_back(value);
    }
    if (!ascending) sort_entries(first, begin, end);
    finish_entries(first, has_zero);
    return row;
  }

  [[noreturn]] static void fail_index(string_view token, std::int64_t index) {
    if (index == 0) fail(token, "feature indices from 1, as zero_based is False");
    fail(token, "a feature index of at most " + std::to_string(max_index));
  }

  [[noreturn]] static void fail_order(string_view token, std::int64_t index,
                                      std::int64_t previous) {
    if (index == previous) fail(token, once_in_a_row);
    fail(token, "a feature above " + std::to_string(previous) + ", as features must ascend");
  }

  // Where the token ends, or null if it is none of qid:, cost: and sid:.
  static const char* parse_keyword(string_view token, Row& row) {
    if (token.starts_with("qid:")) {
      if (!row.qid.empty()) fail(token, "at most one qid in a row");
      row.qid = token.substr(4);
      if (row.qid.empty() || std::any_of(row.qid.begin(), row.qid.end(), is_control)) {
        fail(token, "qid:identifier");
      }
    } else if (token.starts_with("cost:")) {
      if (row.cost) fail(token, "at most one cost in a row");
      row.cost = read_cost(token);
    } else if (token.starts_with("sid:")) {
      if (!row.sid.empty()) fail(token, "at most one sid in a row");
      row.sid = token.substr(4);
      std::int64_t number = 0;
      if (!read_integer(row.sid, number)) fail(token, "sid:integer");
    } else {
      return nullptr;
    }
    return token.data() + token.size();
  }

  static double read_cost(string_view token) {
    const char* end = token.data() + token.size();
    double cost = 0.0;
    if (read_number(token.data() + 5, end, cost) != end || cost < 0.0) {
      fail(token, "cost:number, finite and at least 0");
    }
    return cost;
  }

  void add_qid(string_view name) {
    if (queries.empty() || queries.back().name != name) {
      std::int64_t number = 0;
      const bool is_integer = read_integer(name, number);
      queries.push_back({name, is_integer, number, 0});
    }
    ++queries.back().n_rows;
  }

  void add_cost(double weight) {
    cost.resize(labels.size(), 1.0);
    cost.push_back(weight);
  }

  void sort_entries(std::size_t first, const char* begin, const char* end) {
    struct Entry {
      std::int32_t index;
      std::size_t place;
      T value;
    };
    std::vector<Entry> entries;
    for (auto k = first; k < indices.size(); ++k) entries.push_back({indices[k], k, values[k]});
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.index, a.place) < std::pair(b.index, b.place);
    });
    auto repeated = indices.size();
    for (std::size_t k = 0; k < entries.size(); ++k) {
      indices[first + k] = entries[k].index;
      values[first + k] = entries[k].value;
      if (k > 0 && entries[k - 1].index == entries[k].index) {
        repeated = std::min(repeated, entries[k].place);
      }
    }
    if (repeated < indices.size()) fail_repeated(repeated - first, begin, end);
  }

  [[noreturn]] static void fail_repeated(std::size_t nth, const char* p, const char* end) {
    for (;;) {
      p = skip_blanks(p, end);
      const auto token = token_at(p, end);
      if (is_digit(*p) && nth-- == 0) fail(token, once_in_a_row);
      p += token.size();
    }
  }

  void finish_entries(std::size_t first, bool has_zero) {
    if (first == indices.size()) return;
    last_index = std::max<std::int64_t>(last_index, indices.back());
    uses_index_zero |= indices[first] == 0 && values[first] != T(0);
    if (has_zero) drop_zeros(first);
  }

  void drop_zeros(std::size_t first) {
    auto kept = first;
    for (auto k = first; k < indices.size(); ++k) {
      indices[kept] = indices[k];
      values[kept] = values[k];
      kept += values[k] != T(0);
    }
    indices.resize(kept);
    values.resize(kept);
  }

  void clear() {
    labels.clear();
    cost.clear();
    row_ends.clear();
    indices.clear();
    values.clear();
    queries.clear();
    comments.clear();
    uses_index_zero = false;
    last_index = -1;
    n_lines = 0;
    failure.reset();
  }

  static constexpr const char* once_in_a_row = "each feature at most once in a row";

  LineFormat format_ = LineFormat::svmlight;
  std::int64_t smallest_index_ = 0;
  bool keep_comments_ = false;
  string_view first_word_;
};

}  // namespace ranksvm::svmlight
