// Python's side of the products of sparse rows with themselves.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "csr_rows.hpp"
#include "design_matrix.hpp"
#include "held_matrix.hpp"
#include "laplacian_product.hpp"
#include "sparse_gram.hpp"
#include "sparse_hessian.hpp"

namespace ranksvm {

using Square = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// How many rows are chosen, all of which there are.
template <class Value, class Index>
std::int64_t n_chosen(const CsrMatrix<Value, Index>& X,
                      const std::optional<In<std::int64_t, 1>>& rows) {
  if (!rows) return X.n_rows;
  const auto n = static_cast<std::int64_t>(rows->shape(0));
  for (std::int64_t i = 0; i < n; ++i)
    require(rows->data()[i] >= 0 && rows->data()[i] < X.n_rows, "no such row");
  return n;
}

template <class Value, class Index>
Out<double, 2> gram(const Held<CsrMatrix<Value, Index>>& held, const Offset& offset,
                    const In<double, 1>& scale, const std::optional<In<std::int64_t, 1>>& rows,
                    int n_threads) {
  const auto& X = held.matrix;
  const auto* a = checked(offset, X);
  require_length(scale, X.n_columns);
  const auto n = n_chosen(X, rows);
  const auto limit = std::int64_t{1} << 32;
  require(n < limit && X.n_columns < limit, "the matrix is too large");
  const CsrRows<Value, Index> chosen(X, a, scale.data(), rows ? rows->data() : nullptr);
  auto result = new_matrix<double>(n, n);
  const nb::gil_scoped_release release;
  multiply_by_transposed(chosen, n, X.n_columns, result.data(), n_threads);
  return result;
}

template <class Sum, class Value, class Index>
Out<Sum, 2> laplacian_product(const Held<CsrMatrix<Value, Index>>& held, const Offset& offset,
                              const In<double, 1>& scale,
                              const std::optional<In<std::int64_t, 1>>& rows,
                              const In<std::int64_t, 1>& start, const In<std::int64_t, 1>& column,
                              const In<double, 1>& value, int n_threads) {
  const auto& X = held.matrix;
  const auto* a = checked(offset, X);
  require_length(scale, X.n_columns);
  const auto n = n_chosen(X, rows);
  require(X.n_columns < std::int64_t{1} << 32, "the matrix is too large");
  require(static_cast<std::int64_t>(start.size()) == n + 1, "one row of L per row");
  require_length(value, static_cast<std::int64_t>(column.size()));
  const SparseSquare L{n, start.data(), column.data(), value.data()};
  require(L.start[0] == 0 && L.start[n] == static_cast<std::int64_t>(column.size()) &&
              std::is_sorted(L.start, L.start + n + 1),
          "rows must start one after the other");
  const auto is_row = [n](std::int64_t i) { return 0 <= i && i < n; };
  require(std::all_of(L.column, L.column + L.start[n], is_row), "no such row");
  const CsrRows<Value, Index> chosen(X, a, scale.data(), rows ? rows->data() : nullptr);
  auto result = new_matrix<Sum>(X.n_columns, X.n_columns);
  const nb::gil_scoped_release release;
  multiply_laplacian(chosen, X.n_columns, L, result.data(), std::max(n_threads, 1));
  return result;
}

template <class Value, class Index>
nb::tuple copy_of(const Held<CsrMatrix<Value, Index>>& held, const Offset& offset,
                  const In<double, 1>& scale, const In<std::int64_t, 1>& rows) {
  const auto& X = held.matrix;
  const auto* a = checked(offset, X);
  require_length(scale, X.n_columns);
  const auto n = n_chosen(X, {rows});
  require(X.n_columns < std::int64_t{1} << 32, "the matrix is too large");
  const CsrRows<Value, Index> chosen(X, a, scale.data(), rows.data());
  auto start = new_vector<std::int64_t>(n + 1);
  start.data()[0] = 0;
  for (std::int64_t i = 0; i < n; ++i) start.data()[i + 1] = start.data()[i] + chosen.n_stored(i);
  auto column = new_vector<std::uint32_t>(start.data()[n]);
  auto value = new_vector<double>(start.data()[n]);
  for (std::int64_t i = 0; i < n; ++i)
    chosen.copy(i, 0, column.data() + start.data()[i], value.data() + start.data()[i]);
  return nb::make_tuple(start, column, value);
}

template <class Value, class Index>
std::unique_ptr<SparseHessian> start_hessian(const Held<CsrMatrix<Value, Index>>& held,
                                             const std::shared_ptr<const Sweep>& sweep,
                                             const Offset& offset, const In<double, 1>& scale,
                                             const std::optional<In<std::int64_t, 1>>& rows,
                                             std::int64_t first_column, std::int64_t last_column,
                                             const Square& result, std::int64_t first_query,
                                             std::int64_t last_query, std::int64_t every) {
  const auto& X = held.matrix;
  const auto* a = checked(offset, X);
  require_length(scale, X.n_columns);
  require(n_chosen(X, rows) == sweep->pairs().n_documents(), "one row per document");
  const auto stride = static_cast<std::int64_t>(result.shape(1));
  require(X.n_columns <= stride && stride < (std::int64_t{1} << 32) &&
              static_cast<std::int64_t>(result.shape(0)) == X.n_columns,
          "the result must have a row and a column for each column");
  require(0 <= first_column && first_column <= last_column && last_column <= stride,
          "no such columns");
  require(0 <= first_query && first_query <= last_query && last_query <= sweep->pairs().n_queries(),
          "no such queries");
  require(every > 0, "every must be positive");
  auto chosen =
      std::make_unique<CsrRows<Value, Index>>(X, a, scale.data(), rows ? rows->data() : nullptr);
  return std::make_unique<SparseHessian>(sweep, std::move(chosen), X.n_columns, first_column,
                                         static_cast<std::size_t>(last_column - first_column),
                                         result.data(), stride,
                                         SomeQueries{first_query, last_query, every});
}

template <class Value, class Index>
void bind_products_of_rows(nb::class_<Held<CsrMatrix<Value, Index>>>& cls) {
  using namespace nanobind::literals;
  cls.def("hessian", &start_hessian<Value, Index>, "sweep"_a, "offset"_a.noconvert().none(),
          "scale"_a.noconvert(), "rows"_a.noconvert().none(), "first_column"_a, "last_column"_a,
          "result"_a.noconvert(), "first_query"_a, "last_query"_a, "every"_a = 1,
          nb::keep_alive<0, 1>(), nb::keep_alive<0, 3>(), nb::keep_alive<0, 4>(),
          nb::keep_alive<0, 5>(), nb::keep_alive<0, 8>(),
          "Begin to add Z.T @ N @ Z to these columns of the result, for "
          "Z = ((X - offset) * scale)[rows], of queries from first to last, one in `every` so many "
          "of all.");
  cls.def("gram", &gram<Value, Index>, "offset"_a.noconvert().none(), "scale"_a.noconvert(),
          "rows"_a.noconvert().none(), "n_threads"_a = 1,
          "Z @ Z.T for Z = ((X - offset) * scale)[rows], symmetric to the last bit.");
  const auto def_laplacian_product = [&cls](const char* name, auto product, const char* doc) {
    cls.def(name, product, "offset"_a.noconvert().none(), "scale"_a.noconvert(),
            "rows"_a.noconvert().none(), "indptr"_a.noconvert(), "indices"_a.noconvert(),
            "data"_a.noconvert(), "n_threads"_a = 1, doc);
  };
  def_laplacian_product(
      "laplacian_product64", &laplacian_product<double, Value, Index>,
      "Z.T @ L @ Z for Z = ((X - offset) * scale)[rows] and a symmetric CSR matrix L, symmetric "
      "to the last bit.");
  def_laplacian_product("laplacian_product32", &laplacian_product<float, Value, Index>,
                        "The same, added up in single precision.");
  cls.def("copy_of", &copy_of<Value, Index>, "offset"_a.noconvert().none(), "scale"_a.noconvert(),
          "rows"_a.noconvert(), "((X - offset) * scale)[rows], as the arrays of a CSR matrix.");
}

}  // namespace ranksvm
