// Hostile SVMlight text: whatever the bytes, the parser gives the same rows or the same error for
// every cut into chunks, and rows survive being written and read again.
//
// A libFuzzer target; without libFuzzer, mutate.hpp drives it.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "mutate.hpp"
#include "svmlight.hpp"

namespace {

using namespace ranksvm;

struct Outcome {
  SvmlightRows rows;
  std::string error;
};

Outcome parse(std::string_view text, std::optional<bool> zero_based, int n_threads,
              std::int64_t chunk_bytes) {
  Outcome outcome;
  try {
    outcome.rows = parse_svmlight(text, zero_based, true, n_threads, chunk_bytes);
  } catch (const SvmlightError& error) {
    outcome.error = error.what();
  }
  return outcome;
}

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T>
void require_same(const Buffer<T>& a, const Buffer<T>& b) {
  require(a.size == b.size);
  require(a.size == 0 || std::memcmp(a.data.get(), b.data.get(), sizeof(T) * a.size) == 0);
}

void require_same(const Outcome& a, const Outcome& b) {
  require(a.error == b.error);
  if (!a.error.empty()) return;
  require_same(a.rows.labels, b.rows.labels);
  require_same(a.rows.indptr, b.rows.indptr);
  require_same(a.rows.indices, b.rows.indices);
  require_same(a.rows.values, b.rows.values);
  require(a.rows.n_features == b.rows.n_features && a.rows.zero_based == b.rows.zero_based);
  require(a.rows.cost.has_value() == b.rows.cost.has_value());
  require(a.rows.names == b.rows.names && a.rows.comments == b.rows.comments);
}

void require_canonical(const SvmlightRows& rows) {
  for (std::int64_t i = 0; i < rows.labels.size; ++i)
    for (auto k = rows.indptr.data[i]; k < rows.indptr.data[i + 1]; ++k) {
      require(rows.indices.data[k] >= 0 && rows.indices.data[k] < rows.n_features);
      require(k == rows.indptr.data[i] || rows.indices.data[k - 1] < rows.indices.data[k]);
      require(rows.values.data[k] != 0);
    }
}

// Labels and values are the same after writing and reading.
void require_round_trip(const SvmlightRows& rows) {
  const auto n = static_cast<std::size_t>(rows.labels.size);
  const auto n_entries = static_cast<std::size_t>(rows.values.size);
  const SvmlightColumns columns{{rows.labels.data.get(), n}, {}, {}, {}};
  const CsrView<double> view{{rows.indptr.data.get(), n + 1},
                             {rows.indices.data.get(), n_entries},
                             {rows.values.data.get(), n_entries}};
  const Outcome again = parse(format_svmlight(columns, view, true), true, 1, 1 << 20);
  require(again.error.empty());
  require_same(again.rows.labels, rows.labels);
  require_same(again.rows.indptr, rows.indptr);
  require_same(again.rows.indices, rows.indices);
  require_same(again.rows.values, rows.values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::optional<bool> zero_based : {std::optional<bool>{}, {true}, {false}}) {
    const Outcome whole = parse(text, zero_based, 1, 1 << 20);
    require_same(whole, parse(text, zero_based, 1, 1 + static_cast<std::int64_t>(size % 13)));
    require_same(whole, parse(text, zero_based, 2, 7));
    if (!whole.error.empty()) continue;
    require_canonical(whole.rows);
    require_round_trip(whole.rows);
  }
  return 0;
}
