#include "reader.hpp"

#include <algorithm>
#include <utility>

#include "parallel.hpp"

namespace ranksvm::svmlight {
namespace {

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

}  // namespace

template <class T>
void Reader<T>::feed(string_view text) {
  if (!rest_.empty()) {
    const auto length = std::min(text.find('\n'), text.size() - 1) + 1;
    rest_ += text.substr(0, length);
    text.remove_prefix(length);
    if (rest_.back() != '\n') return;
    parse(std::exchange(rest_, {}));
  }
  const auto length = text.rfind('\n') + 1;
  parse(text.substr(0, length));
  rest_ = text.substr(length);
}

template <class T>
Rows<T> Reader<T>::finish() {
  parse(rest_);
  chunks_ = {};
  return take();
}

template <class T>
Rows<T> Reader<T>::take() {
  Rows<T> rows{std::move(labels_), features_.finish(options_.n_threads), std::move(cost_),
               std::move(queries_), std::move(comments_)};
  options_.min_features = rows.features.n_features;
  labels_ = {};
  features_ = FeatureStore<T>(options_.zero_based, options_.min_features);
  cost_.reset();
  queries_.reset();
  comments_ = {};
  return rows;
}

template <class T>
void Reader<T>::parse(string_view lines) {
  const auto n_chunks = (std::ssize(lines) + options_.chunk_bytes - 1) /
                        std::max<std::int64_t>(options_.chunk_bytes, 1);
  if (n_chunks > std::ssize(chunks_)) chunks_.resize(static_cast<std::size_t>(n_chunks));
  parallel_for(n_chunks, options_.n_threads, [&](std::int64_t t) {
    const auto from = static_cast<std::size_t>(t * options_.chunk_bytes);
    const auto to = from + static_cast<std::size_t>(options_.chunk_bytes);
    chunks_[static_cast<std::size_t>(t)].parse(lines_beginning(lines, from, to), options_.format,
                                               options_.zero_based == false ? 1 : 0,
                                               options_.keep_comments);
  });
  require_no_failure(lines, n_chunks);
  append(n_chunks);
}

// Throws the earliest failure there is.
template <class T>
void Reader<T>::require_no_failure(string_view lines, std::int64_t n_chunks) {
  try {
    for (std::size_t c = 0; c < static_cast<std::size_t>(n_chunks); ++c) {
      const Chunk<T>& chunk = chunks_[c];
      if (!has_qids_ && chunk.n_rows() > 0) has_qids_ = !chunk.queries.empty();
      chunk.require_qids(has_qids_.value_or(false));
      if (chunk.failure) throw *chunk.failure;
    }
  } catch (const Failure& failure) {
    throw located(lines, failure);
  }
  for (std::int64_t c = 0; c < n_chunks; ++c)
    n_lines_ += chunks_[static_cast<std::size_t>(c)].n_lines;
}

template <class T>
SyntaxError Reader<T>::located(string_view lines, const Failure& failure) const {
  const auto before = lines.substr(0, static_cast<std::size_t>(failure.where - lines.data()));
  const auto line = n_lines_ + 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;
  return SyntaxError("line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                     failure.message);
}

template <class T>
void Reader<T>::append(std::int64_t n_chunks) {
  const std::span chunks(chunks_.data(), static_cast<std::size_t>(n_chunks));
  std::vector<std::int64_t> first_row{0}, first_entry{0};
  for (const Chunk<T>& chunk : chunks) {
    first_row.push_back(first_row.back() + chunk.n_rows());
    first_entry.push_back(first_entry.back() + std::ssize(chunk.indices));
  }
  if (first_row.back() == 0) return;
  features_.append(chunks, first_row, first_entry, options_.n_threads);
  for (const Chunk<T>& chunk : chunks) {
    const auto row = labels_.size(), end = row + chunk.n_rows();
    labels_.resize(end);
    std::copy(chunk.labels.begin(), chunk.labels.end(), labels_.data() + row);
    if (!chunk.cost.empty() && !cost_) {
      cost_.emplace(row);
      std::fill_n(cost_->data(), row, 1.0);
    }
    if (cost_) {
      cost_->resize(end);
      std::fill_n(cost_->data() + row, chunk.n_rows(), 1.0);
      std::copy(chunk.cost.begin(), chunk.cost.end(), cost_->data() + row);
    }
    append_queries(chunk);
    for (const auto comment : chunk.comments) comments_.push_back(comment);
  }
}

template <class T>
void Reader<T>::append_queries(const Chunk<T>& chunk) {
  if (chunk.queries.empty()) return;
  if (!queries_) queries_.emplace();
  for (const Query& query : chunk.queries) {
    const auto n = queries_->names.size();
    if (n > 0 && queries_->names[n - 1] == query.name) {
      queries_->n_rows.data()[n - 1] += query.n_rows;
      continue;
    }
    queries_->are_integers &= query.is_integer;
    queries_->names.push_back(query.name);
    queries_->numbers.resize(n + 1);
    queries_->n_rows.resize(n + 1);
    queries_->numbers.data()[n] = query.number;
    queries_->n_rows.data()[n] = query.n_rows;
  }
}

template class Reader<float>;
template class Reader<double>;

}  // namespace ranksvm::svmlight
