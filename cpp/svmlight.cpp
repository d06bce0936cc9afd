#include "svmlight.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>

#include "parallel.hpp"
#include "svmlight_chunk.hpp"

namespace ranksvm {
namespace {

using std::string_view;
using svmlight::Chunk;
using svmlight::Failure;

// The lines that begin at one of the offsets from..to.
string_view lines_beginning(string_view text, std::size_t from, std::size_t to) {
  to = std::min(to, text.size());
  std::size_t begin = from;
  if (from > 0) {
    const auto newline = text.substr(0, to - 1).find('\n', from - 1);
    if (newline == text.npos) return {};
    begin = newline + 1;
  }
  return text.substr(begin, std::min(text.find('\n', to - 1), text.size() - 1) + 1 - begin);
}

// How many entries lines may have: colons after a digit, which few others are.
std::int64_t count_entries(string_view lines) {
  std::int64_t n = 0;
  for (std::size_t i = 1; i < lines.size(); ++i)
    n += (lines[i] == ':') & (lines[i - 1] >= '0') & (lines[i - 1] <= '9');
  return n;
}

// The entries of all chunks in one place, with gaps where a chunk has fewer than it may have.
struct Entries {
  std::vector<std::int64_t> first{0};  // of each chunk
  Buffer<std::int32_t> indices;
  Buffer<double> values;
};

string_view lines_of_chunk(string_view text, std::int64_t t, std::int64_t chunk_bytes) {
  const auto from = static_cast<std::size_t>(t * chunk_bytes);
  return lines_beginning(text, from, from + static_cast<std::size_t>(chunk_bytes));
}

Entries make_room(string_view text, std::int64_t n_chunks, int n_threads,
                  std::int64_t chunk_bytes) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n_chunks));
  parallel_for(n_chunks, n_threads, [&](std::int64_t t) {
    counts[static_cast<std::size_t>(t)] = count_entries(lines_of_chunk(text, t, chunk_bytes));
  });
  Entries entries;
  for (const auto count : counts) entries.first.push_back(entries.first.back() + count);
  entries.indices = Buffer<std::int32_t>(entries.first.back());
  entries.values = Buffer<double>(entries.first.back());
  return entries;
}

// The vectors that entries are parsed into: used again, since holes of their size would be left in
// memory between what is kept.
class Scratch {
 public:
  void lend(Chunk& chunk) {
    const std::lock_guard lock(mutex_);
    if (indices_.empty()) return;
    chunk.indices = std::move(indices_.back());
    chunk.values = std::move(values_.back());
    indices_.pop_back();
    values_.pop_back();
  }
  void take_back(Chunk& chunk) {
    chunk.indices.clear();
    chunk.values.clear();
    const std::lock_guard lock(mutex_);
    indices_.push_back(std::move(chunk.indices));
    values_.push_back(std::move(chunk.values));
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::int32_t>> indices_;
  std::vector<std::vector<double>> values_;
};

// Parses each chunk, and puts its entries in their place at once, so that they exist twice for a
// few chunks only.
std::vector<Chunk> parse_chunks(string_view text, std::int64_t smallest_index, bool keep_comments,
                                int n_threads, std::int64_t chunk_bytes, Entries& entries) {
  const auto n_chunks = (std::ssize(text) + chunk_bytes - 1) / chunk_bytes;
  entries = make_room(text, n_chunks, n_threads, chunk_bytes);
  std::vector<Chunk> chunks(static_cast<std::size_t>(n_chunks));
  std::atomic<std::int64_t> first_failed = n_chunks;
  Scratch scratch;
  parallel_for(n_chunks, n_threads, [&](std::int64_t t) {
    if (t > first_failed) return;
    const auto c = static_cast<std::size_t>(t);
    Chunk chunk;  // apart from its neighbours, which other threads write
    scratch.lend(chunk);
    chunk.parse(lines_of_chunk(text, t, chunk_bytes), smallest_index, keep_comments);
    if (chunk.failure) {
      for (auto seen = first_failed.load();
           t < seen && !first_failed.compare_exchange_weak(seen, t);) {
      }
    } else {
      const auto place = entries.first[c];
      std::copy(chunk.indices.begin(), chunk.indices.end(), entries.indices.data.get() + place);
      std::copy(chunk.values.begin(), chunk.values.end(), entries.values.data.get() + place);
    }
    scratch.take_back(chunk);
    chunks[c] = std::move(chunk);
  });
  return chunks;
}

// Throws the earliest failure there is.
void require_no_failure(const std::vector<Chunk>& chunks) {
  const auto first = std::find_if(chunks.begin(), chunks.end(),
                                  [](const Chunk& chunk) { return chunk.n_rows() > 0; });
  const bool has_qids = first != chunks.end() && !first->names.empty();
  for (const Chunk& chunk : chunks) {
    chunk.require_qids(has_qids);
    if (chunk.failure) throw *chunk.failure;
  }
}

SvmlightError located(string_view text, const Failure& failure) {
  const auto before = text.substr(0, static_cast<std::size_t>(failure.where - text.data()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;
  return SvmlightError("line " + std::to_string(line) + ", column " + std::to_string(column) +
                       ": " + failure.message);
}

SvmlightRows allocate(const std::vector<Chunk>& chunks, std::int64_t n_rows) {
  const auto any = [&](auto property) {
    return std::any_of(chunks.begin(), chunks.end(), property);
  };
  SvmlightRows rows;
  rows.labels = Buffer<double>(n_rows);
  rows.indptr = Buffer<std::int64_t>(n_rows + 1);
  rows.indptr.data[0] = 0;
  if (any([](const Chunk& chunk) { return !chunk.cost.empty(); })) rows.cost.emplace(n_rows);
  if (any([](const Chunk& chunk) { return !chunk.integer_qids; })) {
    rows.names.emplace(n_rows);
  } else if (any([](const Chunk& chunk) { return !chunk.names.empty(); })) {
    rows.qid.emplace(n_rows);
  }
  return rows;
}

void copy_rows(const Chunk& chunk, std::int64_t row, std::int64_t entry, SvmlightRows& rows) {
  const auto copy = [](const auto& from, auto* to) { std::copy(from.begin(), from.end(), to); };
  copy(chunk.labels, rows.labels.data.get() + row);
  std::transform(chunk.row_ends.begin(), chunk.row_ends.end(), rows.indptr.data.get() + row + 1,
                 [=](std::int64_t end) { return entry + end; });
  if (rows.qid) copy(chunk.qid, rows.qid->data.get() + row);
  if (rows.names) copy(chunk.names, rows.names->data() + row);
  if (rows.comments) copy(chunk.comments, rows.comments->data() + row);
  if (rows.cost && chunk.cost.empty()) {
    std::fill_n(rows.cost->data.get() + row, chunk.n_rows(), 1.0);
  } else if (rows.cost) {
    copy(chunk.cost, rows.cost->data.get() + row);
  }
}

// Moves the entries of the chunks together; first_entry is where they belong.
void close_gaps(Entries& entries, const std::vector<std::int64_t>& first_entry) {
  for (std::size_t c = 0; c + 1 < first_entry.size(); ++c) {
    const auto from = entries.first[c], to = first_entry[c], n = first_entry[c + 1] - to;
    if (from == to) continue;
    std::copy_n(entries.indices.data.get() + from, n, entries.indices.data.get() + to);
    std::copy_n(entries.values.data.get() + from, n, entries.values.data.get() + to);
  }
  entries.indices.size = entries.values.size = first_entry.back();
}

SvmlightRows assemble(std::vector<Chunk> chunks, Entries entries, std::optional<bool> zero_based,
                      bool keep_comments, int n_threads) {
  std::vector<std::int64_t> first_row{0}, first_entry{0};
  for (const Chunk& chunk : chunks) {
    first_row.push_back(first_row.back() + chunk.n_rows());
    first_entry.push_back(first_entry.back() + chunk.n_kept());
  }
  const bool from_zero = zero_based.value_or(std::any_of(
      chunks.begin(), chunks.end(), [](const Chunk& chunk) { return chunk.uses_index_zero; }));
  SvmlightRows rows = allocate(chunks, first_row.back());
  close_gaps(entries, first_entry);
  rows.indices = std::move(entries.indices);
  rows.values = std::move(entries.values);
  rows.zero_based = from_zero;
  if (keep_comments) rows.comments.emplace(first_row.back());
  for (const Chunk& chunk : chunks) {
    rows.n_features = std::max(rows.n_features, chunk.last_index + from_zero);
  }
  parallel_for(std::ssize(chunks), n_threads, [&](std::int64_t t) {
    const auto c = static_cast<std::size_t>(t);
    copy_rows(chunks[c], first_row[c], first_entry[c], rows);
    if (!from_zero)
      for (auto k = first_entry[c]; k < first_entry[c + 1]; ++k) --rows.indices.data[k];
  });
  return rows;
}

template <class Number>
void append(std::string& text, Number number) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

SvmlightRows parse_svmlight(string_view text, std::optional<bool> zero_based, bool keep_comments,
                            int n_threads, std::int64_t chunk_bytes) {
  try {
    Entries entries;
    auto chunks = parse_chunks(text, zero_based == false ? 1 : 0, keep_comments, n_threads,
                               chunk_bytes, entries);
    require_no_failure(chunks);
    return assemble(std::move(chunks), std::move(entries), zero_based, keep_comments, n_threads);
  } catch (const Failure& failure) {
    throw located(text, failure);
  }
}

template <class T>
void csr_to_dense(const CsrView<double>& rows, std::int64_t n_features, T* dense, int n_threads) {
  parallel_chunks(rows.n_rows(), 256, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::fill(dense + begin * n_features, dense + end * n_features, T(0));
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      T* row = dense + static_cast<std::int64_t>(i) * n_features;
      for (auto k = static_cast<std::size_t>(rows.indptr[i]);
           k < static_cast<std::size_t>(rows.indptr[i + 1]); ++k) {
        row[rows.indices[k]] = static_cast<T>(rows.values[k]);
      }
    }
  });
}

template <class T>
std::string format_svmlight(const SvmlightColumns& columns, const CsrView<T>& rows,
                            bool zero_based) {
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

template void csr_to_dense(const CsrView<double>&, std::int64_t, float*, int);
template void csr_to_dense(const CsrView<double>&, std::int64_t, double*, int);
template std::string format_svmlight(const SvmlightColumns&, const CsrView<float>&, bool);
template std::string format_svmlight(const SvmlightColumns&, const CsrView<double>&, bool);

}  // namespace ranksvm
