// Reading SVMlight / LETOR text, one row a line, and text that has only a part of such a line.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "chunk.hpp"
#include "features.hpp"

namespace ranksvm::svmlight {

// what() is "line 7, column 12: expected index:value, found 'abc'".
struct SyntaxError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Runs of rows with the same qid.
struct Queries {
  Strings names;
  Buffer<std::int64_t> numbers;  // when every qid is an integer
  Buffer<std::int64_t> n_rows;
  bool are_integers = true;
};

template <class T>
struct Rows {
  Buffer<double> labels;
  Features<T> features;
  std::optional<Buffer<double>> cost;
  std::optional<Queries> queries;
  Strings comments;  // what follows '#' in each row, if it is kept
};

struct ReaderOptions {
  LineFormat format = LineFormat::svmlight;
  std::optional<bool> zero_based;
  bool keep_comments = false;
  std::int64_t min_features = 0;  // the columns that the result has at least
  int n_threads = 1;
  std::int64_t chunk_bytes = 1 << 18;  // what a thread parses at a time
};

// Takes text in pieces of any size; rows and the error raised do not depend on how it is cut, nor
// on the number of threads.
template <class T>
class Reader {
 public:
  explicit Reader(const ReaderOptions& options)
      : options_(options), features_(options.zero_based, options.min_features) {}

  void feed(std::string_view text);  // throws SyntaxError
  Rows<T> finish();                  // throws SyntaxError; ends the use of this object
  Rows<T> take();  // the rows so far, which the next ones follow; at least as wide

 private:
  void parse(std::string_view lines);
  void require_no_failure(std::string_view lines, std::int64_t n_chunks);
  void append(std::int64_t n_chunks);
  void append_queries(const Chunk<T>& chunk);
  SyntaxError located(std::string_view lines, const Failure& failure) const;

  ReaderOptions options_;
  std::string rest_;  // the beginning of a line whose end has not been seen
  std::int64_t n_lines_ = 0;
  std::optional<bool> has_qids_;  // once there are rows
  std::vector<Chunk<T>> chunks_;  // used again for each piece
  Buffer<double> labels_;
  FeatureStore<T> features_;
  std::optional<Buffer<double>> cost_;
  std::optional<Queries> queries_;
  Strings comments_;
};

}  // namespace ranksvm::svmlight
