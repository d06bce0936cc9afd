// Columns of tables, as a matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "numpy_arrays.hpp"
#include "table_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
bool fill(const Matrix<T>& X, const std::vector<In<T, 1>>& columns) {
  require(X.shape(1) == columns.size(), "there must be as many columns as X has");
  std::vector<const T*> begins;
  for (const auto& column : columns) {
    require(column.shape(0) == X.shape(0), "columns must be as long as X");
    begins.push_back(column.data());
  }
  T* target = X.data();
  const auto n_rows = static_cast<std::int64_t>(X.shape(0));
  nb::gil_scoped_release release;
  return fill_rows<T>(begins, n_rows, target);
}

}  // namespace

void bind_tables(nb::module_& m) {
  m.def("fill_rows", &fill<double>, "X"_a.noconvert(), "columns"_a.noconvert(),
        "Copy columns into those of a matrix in C order, and tell whether all are finite.");
  m.def("fill_rows", &fill<float>, "X"_a.noconvert(), "columns"_a.noconvert());
}
