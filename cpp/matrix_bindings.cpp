// Python's side of the design matrices.
#include <nanobind/stl/optional.h>

#include <optional>

#include "design_matrix.hpp"
#include "numpy_arrays.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

// Holds views of the arrays of one kind of matrix.
template <class Matrix>
struct Held {
  Matrix matrix;
};

template <class Matrix, class Real>
void bind_gather(nb::class_<Held<Matrix>>& cls, const char* name) {
  cls.def(
      name,
      [](const Held<Matrix>& held, std::int64_t first, std::int64_t last,
         const std::optional<In<std::int64_t, 1>>& rows, std::int64_t first_column,
         std::int64_t last_column, const In<double, 1>& shift, const In<double, 1>& scale) {
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
        auto result = new_matrix<Real>(last - first, last_column - first_column);
        const nb::gil_scoped_release release;
        gather_rows(X, rows ? rows->data() + first : nullptr, first, last - first, first_column,
                    last_column, shift.data(), scale.data(), result.data());
        return result;
      },
      "first"_a, "last"_a, "rows"_a.noconvert().none(), "first_column"_a, "last_column"_a,
      "shift"_a.noconvert(), "scale"_a.noconvert(),
      "Rows rows[first:last] (rows None: first:last), (X - shift) * scale, dense.");
}

template <class Matrix>
void bind_matrix_operations(nb::class_<Held<Matrix>>& cls) {
  const auto product = [](auto apply, const Matrix& X, const In<double, 1>& v, std::int64_t n_in,
                          std::int64_t n_out, int n_threads) {
    require(static_cast<std::int64_t>(v.shape(0)) == n_in, "the vector does not fit the matrix");
    auto result = new_vector<double>(n_out);
    const nb::gil_scoped_release release;
    apply(X, v.data(), result.data(), n_threads);
    return result;
  };
  cls.def(
      "dot",
      [product](const Held<Matrix>& held, const In<double, 1>& w, int n_threads) {
        const auto& X = held.matrix;
        return product(multiply<Matrix>, X, w, X.n_columns, X.n_rows, n_threads);
      },
      "w"_a.noconvert(), "n_threads"_a = 1, "X @ w, summed in float64.");
  cls.def(
      "t_dot",
      [product](const Held<Matrix>& held, const In<double, 1>& u, int n_threads) {
        const auto& X = held.matrix;
        return product(multiply_transposed<Matrix>, X, u, X.n_rows, X.n_columns, n_threads);
      },
      "u"_a.noconvert(), "n_threads"_a = 1, "X.T @ u, summed in float64.");
  cls.def(
      "t_dot_squares",
      [](const Held<Matrix>& held, const In<double, 1>& u, const In<double, 1>& v, int n_threads) {
        const auto& X = held.matrix;
        const auto n = static_cast<std::size_t>(X.n_rows);
        require(u.shape(0) == n && v.shape(0) == n, "the vectors do not fit the matrix");
        auto result = new_matrix<double>(X.n_columns, 2);
        const nb::gil_scoped_release release;
        multiply_transposed_with_squares(X, u.data(), v.data(), result.data(), n_threads);
        return result;
      },
      "u"_a.noconvert(), "v"_a.noconvert(), "n_threads"_a = 1,
      "X.T @ u and (X * X).T @ v side by side, summed in float64.");
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
      [](Held<Matrix>* self, const In<Index, 1>& indptr, const In<Index, 1>& indices,
         const In<Value, 1>& data, std::int64_t n_columns) {
        const auto n_rows = static_cast<std::int64_t>(indptr.shape(0)) - 1;
        const auto n_stored = static_cast<std::int64_t>(data.shape(0));
        require(n_rows >= 0 && indptr.data()[0] == 0, "indptr must begin with 0");
        for (std::int64_t i = 0; i < n_rows; ++i)
          require(indptr.data()[i] <= indptr.data()[i + 1], "indptr must not fall");
        require(indptr.data()[n_rows] <= n_stored &&
                    indptr.data()[n_rows] <= static_cast<std::int64_t>(indices.shape(0)),
                "indptr points beyond the stored values");
        for (std::int64_t k = 0; k < indptr.data()[n_rows]; ++k)
          require(indices.data()[k] >= 0 && indices.data()[k] < n_columns,
                  "a column index lies outside the matrix");
        new (self) Held<Matrix>{{n_rows, n_columns, indptr.data(), indices.data(), data.data()}};
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), "n_columns"_a,
      nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
  bind_matrix_operations<Matrix>(cls);
}

}  // namespace

void bind_matrices(nanobind::module_& m) {
  bind_dense<float>(m, "DenseMatrix32");
  bind_dense<double>(m, "DenseMatrix64");
  bind_csr<float, std::int32_t>(m, "CsrMatrix32");
  bind_csr<double, std::int32_t>(m, "CsrMatrix64");
  bind_csr<float, std::int64_t>(m, "CsrMatrix32Long");
  bind_csr<double, std::int64_t>(m, "CsrMatrix64Long");
}
