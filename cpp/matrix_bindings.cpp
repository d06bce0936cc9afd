// Python's side of the design matrices.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

#include "block_memory.hpp"
#include "csr_bindings.hpp"
#include "design_matrix.hpp"
#include "held_matrix.hpp"
#include "numpy_arrays.hpp"
#include "rounded_rows.hpp"
#include "several_vectors.hpp"
#include "sparse_hessian.hpp"
#include "stored_columns.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

// A block that is not initialised.
template <class Real>
Out<Real, 2> new_block(std::int64_t n, std::int64_t d) {
  const auto n_bytes = static_cast<std::size_t>(n * d) * sizeof(Real);
  auto memory = std::make_unique<BlockMemory>(FreeBlocks::of_this_thread().take(n_bytes));
  auto* values = reinterpret_cast<Real*>(memory->values.get());
  const nb::capsule owner(memory.get(), [](void* p) noexcept {
    const std::unique_ptr<BlockMemory> held(static_cast<BlockMemory*>(p));
    FreeBlocks::of_this_thread().give_back(std::move(*held));
  });
  memory.release();
  return Out<Real, 2>(values, {static_cast<std::size_t>(n), static_cast<std::size_t>(d)}, owner);
}

template <class Real>
void bind_block(nb::module_& m, const char* name) {
  m.def(
      name,
      [](std::int64_t n_rows, std::int64_t n_columns) {
        require(n_rows >= 0 && n_columns >= 0, "a block has no fewer than no rows and columns");
        return new_block<Real>(n_rows, n_columns);
      },
      "n_rows"_a, "n_columns"_a, "A block of this shape, not initialised.");
}

template <class Matrix, class Real>
void bind_gather(nb::class_<Held<Matrix>>& cls, const char* name) {
  cls.def(
      name,
      [](const Held<Matrix>& held, std::int64_t first, std::int64_t last,
         const std::optional<In<std::int64_t, 1>>& rows, std::int64_t first_column,
         std::int64_t last_column, const In<double, 1>& shift, const In<double, 1>& scale,
         const std::optional<InOut<Real, 2>>& out) {
        const auto& X = held.matrix;
        const auto d = static_cast<std::size_t>(X.n_columns);
        require(shift.shape(0) == d && scale.shape(0) == d, "one shift and scale per column");
        require(0 <= first_column && first_column <= last_column && last_column <= X.n_columns,
                "no such columns");
        const auto n_places = rows ? static_cast<std::int64_t>(rows->shape(0)) : X.n_rows;
        require(0 <= first && first <= last && last <= n_places, "no such rows");
        if (rows)
          for (auto i = first; i < last; ++i)
            require(rows->data()[i] >= 0 && rows->data()[i] < X.n_rows, "no such row");
        const auto n = last - first, width = last_column - first_column;
        require(!out || (static_cast<std::int64_t>(out->shape(0)) == n &&
                         static_cast<std::int64_t>(out->shape(1)) == width),
                "out is of another shape");
        auto result = out ? Out<Real, 2>(*out) : new_block<Real>(n, width);
        const nb::gil_scoped_release release;
        gather_rows(X, rows ? rows->data() + first : nullptr, first, n, first_column, last_column,
                    shift.data(), scale.data(), result.data());
        return result;
      },
      "first"_a, "last"_a, "rows"_a.noconvert().none(), "first_column"_a, "last_column"_a,
      "shift"_a.noconvert(), "scale"_a.noconvert(), "out"_a.noconvert() = nb::none(),
      "Rows rows[first:last] (rows None: first:last), (X - shift) * scale, dense; in out, if "
      "given.");
}

template <class Matrix>
Out<double, 1> dot(const Held<Matrix>& held, const In<double, 1>& w, const Offset& offset,
                   int n_threads) {
  const auto& X = held.matrix;
  require_length(w, X.n_columns);
  const auto* a = checked(offset, X);
  auto result = new_vector<double>(X.n_rows);
  const nb::gil_scoped_release release;
  multiply(X, a, w.data(), result.data(), n_threads);
  return result;
}

template <class Matrix>
nb::tuple dot_within(const Held<Matrix>& held, const In<double, 1>& w, const Offset& offset,
                     int n_threads) {
  const auto& X = held.matrix;
  require_length(w, X.n_columns);
  const auto* a = checked(offset, X);
  auto result = new_vector<double>(X.n_rows), bound = new_vector<double>(X.n_rows);
  {
    const nb::gil_scoped_release release;
    multiply_within(X, a, w.data(), result.data(), bound.data(), n_threads);
  }
  return nb::make_tuple(result, bound);
}

template <class Matrix>
Out<double, 1> t_dot(const Held<Matrix>& held, const In<double, 1>& u, const Offset& offset,
                     int n_threads) {
  const auto& X = held.matrix;
  require_length(u, X.n_rows);
  const auto* a = checked(offset, X);
  auto result = new_vector<double>(X.n_columns);
  const nb::gil_scoped_release release;
  multiply_transposed(X, a, u.data(), result.data(), n_threads);
  return result;
}

template <class Matrix>
Out<double, 2> t_dot_squares(const Held<Matrix>& held, const In<double, 1>& u,
                             const In<double, 1>& v, const Offset& offset, int n_threads) {
  const auto& X = held.matrix;
  require_length(u, X.n_rows);
  require_length(v, X.n_rows);
  const auto* a = checked(offset, X);
  auto result = new_matrix<double>(X.n_columns, 2);
  const nb::gil_scoped_release release;
  multiply_transposed_with_squares(X, a, u.data(), v.data(), result.data(), n_threads);
  return result;
}

template <class Matrix>
std::vector<std::int64_t> columns_of_rows(const Held<Matrix>& held,
                                          const std::optional<In<std::int64_t, 1>>& rows) {
  std::vector<std::int64_t> chosen;
  for (std::size_t r = 0; rows && r < rows->shape(0); ++r) {
    chosen.push_back(rows->data()[r]);
    require(chosen[r] >= 0 && chosen[r] < held.matrix.n_rows, "no such row");
  }
  if (rows && chosen.empty()) return {};
  const nb::gil_scoped_release release;
  return common_columns(held.matrix, chosen);
}

template <class Value, class Index>
Out<double, 2> dots(const Held<CsrMatrix<Value, Index>>& held,
                    const std::vector<In<double, 1>>& vectors, bool squares, int n_threads) {
  const auto& X = held.matrix;
  std::vector<const double*> w;
  for (const auto& vector : vectors) {
    require_length(vector, X.n_columns);
    w.push_back(vector.data());
  }
  auto result = new_matrix<double>(std::ssize(w), X.n_rows);
  const nb::gil_scoped_release release;
  multiply_several(X, squares, w, result.data(), n_threads);
  return result;
}

template <class Matrix>
void bind_matrix_operations(nb::class_<Held<Matrix>>& cls) {
  cls.def("dot", dot<Matrix>, "w"_a.noconvert(), "offset"_a.noconvert() = nb::none(),
          "n_threads"_a = 1, "(X - offset) @ w, summed in float64.");
  cls.def("dot_within", dot_within<Matrix>, "w"_a.noconvert(), "offset"_a.noconvert() = nb::none(),
          "n_threads"_a = 1, "(X - offset) @ w, and a bound of the rounding of each element.");
  cls.def_prop_ro(
      "rows_in_a_sum", [](const Held<Matrix>& held) { return rows_in_a_sum(held.matrix); },
      "How many rows `t_dot` adds up one after the other.");
  cls.def("t_dot", t_dot<Matrix>, "u"_a.noconvert(), "offset"_a.noconvert() = nb::none(),
          "n_threads"_a = 1, "(X - offset).T @ u, summed in float64.");
  cls.def("t_dot_squares", t_dot_squares<Matrix>, "u"_a.noconvert(), "v"_a.noconvert(),
          "offset"_a.noconvert() = nb::none(), "n_threads"_a = 1,
          "Z.T @ u and (Z * Z).T @ v for Z = X - offset, side by side, summed in float64.");
  cls.def("common_columns", columns_of_rows<Matrix>, "rows"_a.noconvert().none() = nb::none(),
          "The columns that each of these rows (None: every row) stores just once.");
  cls.def(
      "rows",
      [](const Held<Matrix>& held, std::int64_t first, std::int64_t last) {
        require(0 <= first && first <= last && last <= held.matrix.n_rows, "no such rows");
        return Held<Matrix>{some_rows(held.matrix, first, last)};
      },
      "first"_a, "last"_a, nb::keep_alive<0, 1>(), "A view of the rows from first to last.");
  bind_gather<Matrix, float>(cls, "gather32");
  bind_gather<Matrix, double>(cls, "gather64");
}

template <class Value>
void bind_dense(nb::module_& m, const char* name) {
  using Matrix = DenseMatrix<Value>;
  nb::class_<Held<Matrix>> cls(m, name, "A view of a C-contiguous matrix.");
  cls.def(
      "__init__",
      [](Held<Matrix>* self, const In<Value, 2>& X) {
        new (self) Held<Matrix>{{static_cast<std::int64_t>(X.shape(0)),
                                 static_cast<std::int64_t>(X.shape(1)), X.data()}};
      },
      "X"_a.noconvert(), nb::keep_alive<1, 2>());
  bind_matrix_operations<Matrix>(cls);
}

template <class Value, class Index>
void bind_csr(nb::module_& m, const char* name) {
  using Matrix = CsrMatrix<Value, Index>;
  nb::class_<Held<Matrix>> cls(m, name, "A view of the arrays of a CSR matrix.");
  cls.def(
      "__init__",
      [](Held<Matrix>* self, const In<std::int64_t, 1>& indptr, const In<Index, 1>& indices,
         const In<Value, 1>& data, std::int64_t n_columns) {
        const auto n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        const auto n_stored = static_cast<std::int64_t>(data.shape(0));
        require(n_rows >= 0 && indptr.data()[0] == 0, "indptr must begin with 0");
        for (std::int64_t i = 0; i < n_rows; ++i)
          require(indptr.data()[i] <= indptr.data()[i + 1], "indptr must not fall");
        require(indptr.data()[n_rows] <= n_stored &&
                    indptr.data()[n_rows] <= static_cast<std::int64_t>(indices.shape(0)),
                "indptr points beyond the stored values");
        Matrix X{n_rows, n_columns, indptr.data(), indices.data(), data.data()};
        const auto columns = stored_columns(X);
        require(columns.exist, "a column index lies outside the matrix");
        X.ascends = columns.ascend;
        new (self) Held<Matrix>{X};
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
      nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
  bind_products_of_rows<Value, Index>(cls);
  if constexpr (std::is_same_v<Index, std::int32_t>)
    cls.def("dots", &dots<Value, Index>, "vectors"_a, "squares"_a = false, "n_threads"_a = 1,
            "X @ w of each vector, or (X * X) @ w, as rows, summed in float64.");
  if constexpr (std::is_same_v<Value, double>)
    cls.def(
        "rounded",
        [](const Held<Matrix>& held, int n_threads) {
          const nb::gil_scoped_release release;
          return RoundedRows::of(held.matrix, n_threads);
        },
        "n_threads"_a = 1, nb::keep_alive<0, 1>(), "A copy in single precision.");
  cls.def(
      "column_counts",
      [](const Held<Matrix>& held, int n_threads) {
        auto counts = new_vector<std::int64_t>(held.matrix.n_columns);
        const nb::gil_scoped_release release;
        count_columns(held.matrix, counts.data(), n_threads);
        return counts;
      },
      "n_threads"_a = 1, "How many values each column stores.");
  bind_matrix_operations<Matrix>(cls);
}

}  // namespace

void bind_matrices(nanobind::module_& m) {
  nb::class_<SparseHessian>(m, "SparseHessian", "Some columns of Z' N Z, document by document.")
      .def("advance", &SparseHessian::advance, "n_documents"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "Go through so many documents more; return whether there are others left.");
  bind_block<float>(m, "block32");
  bind_block<double>(m, "block64");
  bind_dense<float>(m, "DenseMatrix32");
  bind_dense<double>(m, "DenseMatrix64");
  bind_csr<float, std::int32_t>(m, "CsrMatrix32");
  bind_csr<double, std::int32_t>(m, "CsrMatrix64");
  bind_csr<float, std::int64_t>(m, "CsrMatrix32Long");
  bind_csr<double, std::int64_t>(m, "CsrMatrix64Long");
}
