// Python's side of the SVMlight reader and writer: shapes, dtypes and the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "svmlight.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.shape(0)};
}

template <class T>
Vector<T> to_numpy(Buffer<T> buffer) {
  T* data = buffer.data.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Vector<T>(data, {static_cast<std::size_t>(buffer.size)}, owner);
}

template <class T>
std::optional<Vector<T>> to_numpy(std::optional<Buffer<T>> buffer) {
  if (!buffer) return std::nullopt;
  return to_numpy(std::move(*buffer));
}

using Names = nb::typed<nb::list, nb::str>;
using Tokens = nb::typed<nb::list, nb::bytes>;

nb::str decoded(std::string_view bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

std::optional<Names> to_list(const std::optional<std::vector<std::string_view>>& names) {
  if (!names) return std::nullopt;
  Names list;
  nb::object name;
  for (std::size_t i = 0; i < names->size(); ++i) {
    if (i == 0 || (*names)[i] != (*names)[i - 1]) name = decoded((*names)[i]);
    list.append(name);
  }
  return list;
}

// Views of the elements, which the list keeps alive.
std::vector<std::string_view> views(const std::optional<Tokens>& list) {
  std::vector<std::string_view> result;
  if (list) {
    for (nb::handle element : *list) {
      const auto bytes = nb::cast<nb::bytes>(element);
      result.emplace_back(bytes.c_str(), bytes.size());
    }
  }
  return result;
}

auto parse(const In<std::uint8_t>& text, std::optional<bool> zero_based, bool comments,
           int n_threads, std::int64_t chunk_bytes) {
  if (n_threads < 1 || chunk_bytes < 1) {
    throw std::invalid_argument("n_threads and chunk_bytes must be at least 1");
  }
  const auto rows = [&] {
    const nb::gil_scoped_release release;
    const std::string_view view(reinterpret_cast<const char*>(text.data()), text.shape(0));
    return std::make_unique<SvmlightRows>(
        parse_svmlight(view, zero_based, comments, n_threads, chunk_bytes));
  }();
  return std::make_tuple(to_numpy(std::move(rows->labels)), to_numpy(std::move(rows->indptr)),
                         to_numpy(std::move(rows->indices)), to_numpy(std::move(rows->values)),
                         rows->n_features, rows->zero_based, to_numpy(std::move(rows->cost)),
                         to_numpy(std::move(rows->qid)), to_list(rows->names),
                         to_list(rows->comments));
}

template <class T>
CsrView<T> csr_view(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
                    const In<T>& values, std::int64_t n_features) {
  const CsrView<T> rows{view(indptr), view(indices), view(values)};
  const auto n_entries = std::ssize(rows.values);
  bool sound = rows.n_rows() >= 0 && rows.indptr.front() == 0 && rows.indptr.back() == n_entries &&
               std::ssize(rows.indices) == n_entries;
  for (std::size_t i = 1; sound && i < rows.indptr.size(); ++i) {
    sound = rows.indptr[i - 1] <= rows.indptr[i];
  }
  if (!sound) throw std::invalid_argument("indptr, indices and values are not a CSR matrix");
  for (const std::int32_t index : rows.indices) {
    if (index < 0 || index >= n_features) {
      throw std::invalid_argument("feature index " + std::to_string(index) + " lies outside 0 .. " +
                                  std::to_string(n_features - 1));
    }
  }
  return rows;
}

template <class T>
void to_dense(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
              const In<double>& values, const Matrix<T>& out, int n_threads) {
  const auto n_features = static_cast<std::int64_t>(out.shape(1));
  const auto rows = csr_view(indptr, indices, values, n_features);
  if (rows.n_rows() != static_cast<std::int64_t>(out.shape(0))) {
    throw std::invalid_argument("out must have one row per row of the CSR matrix");
  }
  const nb::gil_scoped_release release;
  csr_to_dense(rows, n_features, out.data(), n_threads);
}

template <class T>
nb::bytes format(const In<double>& labels, const In<std::int64_t>& indptr,
                 const In<std::int32_t>& indices, const In<T>& values, bool zero_based,
                 const std::optional<Tokens>& qid, const std::optional<In<double>>& cost,
                 const std::optional<Tokens>& comments) {
  const auto rows = csr_view(indptr, indices, values, std::int64_t{1} << 31);
  const auto names = views(qid);
  const auto remarks = views(comments);
  const SvmlightColumns columns{view(labels), names, cost ? view(*cost) : std::span<const double>{},
                                remarks};
  const auto fits = [&](std::size_t n, bool given) {
    return !given || static_cast<std::int64_t>(n) == rows.n_rows();
  };
  if (!fits(columns.labels.size(), true) || !fits(names.size(), qid.has_value()) ||
      !fits(columns.cost.size(), cost.has_value()) || !fits(remarks.size(), comments.has_value())) {
    throw std::invalid_argument("labels, qid, cost and comments must have one element per row");
  }
  const auto text = [&] {
    const nb::gil_scoped_release release;
    return format_svmlight(columns, rows, zero_based);
  }();
  return nb::bytes(text.data(), text.size());
}

template <class T>
void bind_values(nb::module_& m) {
  m.def("csr_to_dense", &to_dense<T>, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        "values"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        "Write a CSR matrix to every element of `out`.");
  m.def("format_svmlight", &format<T>, "labels"_a.noconvert(), "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "values"_a.noconvert(), "zero_based"_a, "qid"_a.noconvert().none(),
        "cost"_a.noconvert().none(), "comments"_a.noconvert().none(),
        "Rows as SVMlight text; qid and comments are lists of bytes.");
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  m.def("parse_svmlight", &parse, "text"_a.noconvert(), "zero_based"_a.none(), "comments"_a,
        "n_threads"_a, "chunk_bytes"_a,
        "(labels, indptr, indices, values, n_features, zero_based, cost, integer qid, other qid, "
        "comments).\n\n"
        "`text` is an array of bytes; ValueError says where it is not SVMlight.");
  bind_values<float>(m);
  bind_values<double>(m);
}
