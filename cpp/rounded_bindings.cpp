// Python's side of sparse rows in single precision.
#include <cmath>

#include "numpy_arrays.hpp"
#include "rounded_rows.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

void require_rounded(const RoundedRows& rows) {
  require(std::isfinite(rows.rounding()), "single precision cannot hold the matrix");
}

}  // namespace

void bind_rounded(nanobind::module_& m) {
  nb::class_<RoundedRows>(m, "RoundedRows", "A copy of sparse rows in single precision.")
      .def_prop_ro("rounding", &RoundedRows::rounding,
                   "The largest length of what a row is rounded by.")
      .def(
          "dot",
          [](const RoundedRows& rows, const In<double, 1>& w, int n_threads) {
            require_rounded(rows);
            require_length(w, rows.n_columns());
            auto result = new_vector<double>(rows.n_rows());
            const nb::gil_scoped_release release;
            rows.multiply(w.data(), result.data(), n_threads);
            return result;
          },
          "w"_a.noconvert(), "n_threads"_a = 1, "X @ w, rounded as X is, summed in float64.")
      .def(
          "t_dot",
          [](const RoundedRows& rows, const In<double, 1>& u, int n_threads) {
            require_rounded(rows);
            require_length(u, rows.n_rows());
            auto result = new_vector<double>(rows.n_columns());
            const nb::gil_scoped_release release;
            rows.multiply_transposed(u.data(), result.data(), n_threads);
            return result;
          },
          "u"_a.noconvert(), "n_threads"_a = 1, "X.T @ u, rounded as X is, summed in float64.");
}
