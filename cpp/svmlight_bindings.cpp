// Python's side of the SVMlight reader and writer: shapes, dtypes and the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "svmlight/reader.hpp"
#include "svmlight/writer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm::svmlight;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T, int N = 1>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig>;

using Names = nb::typed<nb::list, nb::str>;
using Tokens = nb::typed<nb::list, nb::bytes>;
using Qids = std::tuple<std::variant<Out<std::int64_t>, Names>, Out<std::int64_t>>;
template <class T>
using Csr = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<T>>;
template <class T>
using Parsed = std::tuple<Out<double>, std::variant<Out<T, 2>, Csr<T>>, std::int64_t, bool,
                          std::optional<Out<double>>, std::optional<Qids>, Names>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), array.shape(0)};
}

template <class T, int N, class... Shape>
Out<T, N> owned(Buffer<T>& buffer, Shape... shape) {
  T* data = buffer.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return Out<T, N>(data, {static_cast<std::size_t>(shape)...}, owner);
}

template <class T>
Out<T> to_numpy(Buffer<T>& buffer) {
  const auto size = buffer.size();
  return owned<T, 1>(buffer, size);
}

Names to_list(const Strings& strings) {
  Names list;
  for (std::int64_t i = 0; i < strings.size(); ++i) {
    const auto bytes = strings[i];
    list.append(nb::steal<nb::str>(PyUnicode_DecodeUTF8(
        bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape")));
  }
  return list;
}

std::optional<Qids> to_python(std::optional<Queries>& queries) {
  if (!queries) return std::nullopt;
  auto n_rows = to_numpy(queries->n_rows);
  if (queries->are_integers) return Qids(to_numpy(queries->numbers), n_rows);
  return Qids(to_list(queries->names), n_rows);
}

template <class T>
Parsed<T> to_python(Rows<T> rows) {
  Features<T>& X = rows.features;
  auto features = [&]() -> std::variant<Out<T, 2>, Csr<T>> {
    if (X.dense) return owned<T, 2>(*X.dense, X.n_rows, X.n_features);
    return Csr<T>(to_numpy(X.csr.indptr), to_numpy(X.csr.indices), to_numpy(X.csr.values));
  }();
  std::optional<Out<double>> cost;
  if (rows.cost) cost = to_numpy(*rows.cost);
  return {to_numpy(rows.labels), std::move(features),     X.n_features,          X.zero_based,
          std::move(cost),       to_python(rows.queries), to_list(rows.comments)};
}

template <class T>
void bind_reader(nb::module_& m, const char* name) {
  using R = Reader<T>;
  nb::class_<R>(m, name)
      .def(
          "__init__",
          [](R* self, LineFormat format, std::optional<bool> zero_based, bool comments,
             std::int64_t n_features, int n_threads, std::int64_t chunk_bytes) {
            if (n_features < 0 || n_threads < 1 || chunk_bytes < 1) {
              throw std::invalid_argument(
                  "n_features must not be negative, and n_threads and "
                  "chunk_bytes must be at least 1");
            }
            new (self) R({format, zero_based, comments, n_features, n_threads, chunk_bytes});
          },
          "format"_a, "zero_based"_a.none(), "comments"_a, "n_features"_a, "n_threads"_a,
          "chunk_bytes"_a)
      .def(
          "feed",
          [](R& self, const In<std::uint8_t>& text) {
            const nb::gil_scoped_release release;
            self.feed({reinterpret_cast<const char*>(text.data()), text.shape(0)});
          },
          "text"_a.noconvert(), "Parse the next bytes; ValueError says where they are wrong.")
      .def(
          "finish",
          [](R& self) {
            auto rows = [&] {
              const nb::gil_scoped_release release;
              return self.finish();
            }();
            return to_python(std::move(rows));
          },
          "(labels, dense X or its CSR arrays, n_features, "
          "zero_based, cost, (qids, number of rows of each), comments)")
      .def(
          "take",
          [](R& self) {
            auto rows = [&] {
              const nb::gil_scoped_release release;
              return self.take();
            }();
            return to_python(std::move(rows));
          },
          "The same of the rows that are whole so far, which later ones follow.");
}

template <class T>
CsrView<T> csr_view(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
                    const In<T>& values) {
  const CsrView<T> rows{view(indptr), view(indices), view(values)};
  const auto n_entries = std::ssize(rows.values);
  bool sound = rows.n_rows() >= 0 && rows.indptr.front() == 0 && rows.indptr.back() == n_entries &&
               std::ssize(rows.indices) == n_entries;
  for (std::size_t i = 1; sound && i < rows.indptr.size(); ++i) {
    sound = rows.indptr[i - 1] <= rows.indptr[i];
  }
  for (std::size_t k = 0; sound && k < rows.indices.size(); ++k) sound = rows.indices[k] >= 0;
  if (!sound) throw std::invalid_argument("indptr, indices and values are not a CSR matrix");
  return rows;
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

template <class T>
nb::bytes format_rows(const In<double>& labels, const In<std::int64_t>& indptr,
                      const In<std::int32_t>& indices, const In<T>& values, bool zero_based,
                      const std::optional<Tokens>& qid, const std::optional<In<double>>& cost,
                      const std::optional<Tokens>& comments) {
  const auto rows = csr_view(indptr, indices, values);
  const auto names = views(qid);
  const auto remarks = views(comments);
  const Columns columns{view(labels), names, cost ? view(*cost) : std::span<const double>{},
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
    return format(columns, rows, zero_based);
  }();
  return nb::bytes(text.data(), text.size());
}

template <class T>
void bind_writer(nb::module_& m) {
  m.def("format_svmlight", &format_rows<T>, "labels"_a.noconvert(), "indptr"_a.noconvert(),
        "indices"_a.noconvert(), "values"_a.noconvert(), "zero_based"_a, "qid"_a.noconvert().none(),
        "cost"_a.noconvert().none(), "comments"_a.noconvert().none(),
        "Rows as SVMlight text; qid and comments are lists of bytes.");
}

}  // namespace

void bind_svmlight(nb::module_& m) {
  nb::exception<SyntaxError>(m, "SvmlightSyntaxError", PyExc_ValueError);
  nb::enum_<LineFormat>(m, "LineFormat")
      .value("svmlight", LineFormat::svmlight)
      .value("features", LineFormat::features)
      .value("labels", LineFormat::labels)
      .value("qids", LineFormat::qids);
  bind_reader<float>(m, "SvmlightReader32");
  bind_reader<double>(m, "SvmlightReader64");
  bind_writer<float>(m);
  bind_writer<double>(m);
}
