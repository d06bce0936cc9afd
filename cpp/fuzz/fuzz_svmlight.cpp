// Hostile text: whatever the bytes, the reader gives the same rows or the same error for every cut
// into pieces, and rows survive being written and read again.
//
// A libFuzzer target; without libFuzzer, mutate.hpp drives it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "mutate.hpp"
#include "svmlight/reader.hpp"
#include "svmlight/writer.hpp"

namespace {

using namespace ranksvm::svmlight;

struct Outcome {
  Rows<double> rows;
  std::string error;
};

Outcome read(std::string_view text, const ReaderOptions& options, std::size_t piece_bytes) {
  Outcome outcome;
  try {
    Reader<double> reader(options);
    for (std::size_t begin = 0; begin < text.size(); begin += piece_bytes) {
      reader.feed(text.substr(begin, piece_bytes));
    }
    outcome.rows = reader.finish();
  } catch (const SyntaxError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
void require_same(const Buffer<T>& a, const Buffer<T>& b) {
  require(a.size() == b.size());
  const auto bytes = sizeof(T) * static_cast<std::size_t>(a.size());
  require(bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0);
}

template <class T>
void require_same(const std::optional<Buffer<T>>& a, const std::optional<Buffer<T>>& b) {
  require(a.has_value() == b.has_value());
  if (a) require_same(*a, *b);
}

void require_same(const Strings& a, const Strings& b) {
  require(a.size() == b.size());
  for (std::int64_t i = 0; i < a.size(); ++i) require(a[i] == b[i]);
}

void require_same(const Features<double>& a, const Features<double>& b) {
  require(a.n_rows == b.n_rows && a.n_features == b.n_features && a.zero_based == b.zero_based);
  require_same(a.dense, b.dense);
  require_same(a.csr.indptr, b.csr.indptr);
  require_same(a.csr.indices, b.csr.indices);
  require_same(a.csr.values, b.csr.values);
}

void require_same(const Outcome& a, const Outcome& b) {
  require(a.error == b.error);
  if (!a.error.empty()) return;
  require_same(a.rows.labels, b.rows.labels);
  require_same(a.rows.features, b.rows.features);
  require_same(a.rows.cost, b.rows.cost);
  require_same(a.rows.comments, b.rows.comments);
  require(a.rows.queries.has_value() == b.rows.queries.has_value());
  if (!a.rows.queries) return;
  require_same(a.rows.queries->names, b.rows.queries->names);
  require_same(a.rows.queries->numbers, b.rows.queries->numbers);
  require_same(a.rows.queries->n_rows, b.rows.queries->n_rows);
  require(a.rows.queries->are_integers == b.rows.queries->are_integers);
}

// The rows in CSR form, whichever they have.
CsrFeatures<double> canonical(const Features<double>& X) {
  CsrFeatures<double> csr;
  csr.indptr.resize(1);
  csr.indptr.data()[0] = 0;
  const auto add = [&](std::int64_t j, double value) {
    const auto n = csr.values.size();
    csr.indices.resize(n + 1);
    csr.values.resize(n + 1);
    csr.indices.data()[n] = static_cast<std::int32_t>(j);
    csr.values.data()[n] = value;
  };
  for (std::int64_t i = 0; i < X.n_rows; ++i) {
    if (X.dense) {
      const double* row = X.dense->data() + i * X.n_features;
      for (std::int64_t j = 0; j < X.n_features; ++j)
        if (row[j] != 0) add(j, row[j]);
    } else {
      const auto begin = X.csr.indptr.data()[i], end = X.csr.indptr.data()[i + 1];
      for (auto k = begin; k < end; ++k) {
        const auto index = X.csr.indices.data()[k];
        require(index >= 0 && index < X.n_features && X.csr.values.data()[k] != 0);
        require(k == begin || X.csr.indices.data()[k - 1] < index);
        add(index, X.csr.values.data()[k]);
      }
    }
    csr.indptr.resize(i + 2);
    csr.indptr.data()[i + 1] = csr.values.size();
  }
  return csr;
}

void require_same(const CsrFeatures<double>& a, const CsrFeatures<double>& b) {
  require_same(a.indptr, b.indptr);
  require_same(a.indices, b.indices);
  require_same(a.values, b.values);
}

// Labels and values are the same after writing and reading.
void require_round_trip(const Rows<double>& rows) {
  const auto csr = canonical(rows.features);
  const auto n = static_cast<std::size_t>(rows.labels.size());
  const auto n_entries = static_cast<std::size_t>(csr.values.size());
  const Columns columns{{rows.labels.data(), n}, {}, {}, {}};
  const CsrView<double> view{
      {csr.indptr.data(), n + 1}, {csr.indices.data(), n_entries}, {csr.values.data(), n_entries}};
  ReaderOptions options;
  options.zero_based = true;
  const Outcome again = read(format(columns, view, true), options, 1 << 20);
  require(again.error.empty());
  require_same(again.rows.labels, rows.labels);
  require_same(canonical(again.rows.features), csr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto format :
       {LineFormat::svmlight, LineFormat::features, LineFormat::labels, LineFormat::qids})
    for (const std::optional<bool> zero_based : {std::optional<bool>{}, {true}, {false}}) {
      if (format != LineFormat::svmlight && !zero_based.value_or(false)) continue;
      ReaderOptions options{format, zero_based, true, 0, 1, 1 << 20};
      const Outcome whole = read(text, options, 1 << 20);
      options.chunk_bytes = 1 + static_cast<std::int64_t>(size % 13);
      require_same(whole, read(text, options, 1 << 20));
      options.n_threads = 2;
      options.chunk_bytes = 7;
      require_same(whole, read(text, options, 1 + size % 17));
      if (whole.error.empty()) require_round_trip(whole.rows);
    }
  return 0;
}
