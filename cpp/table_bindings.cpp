// Columns of tables, as a matrix.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string_view>
#include <vector>

#include "arrow_interface.hpp"
#include "numpy_arrays.hpp"
#include "table_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm;

template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class From, class T>
Column<T> column_from(const void* values, std::int64_t first) {
  return {static_cast<const From*>(values) + first, read_as<From, T>};
}

template <class T>
Column<T> column_of(std::string_view format, const void* values, std::int64_t first) {
  require(format.size() == 1, "columns must hold numbers");
  switch (format[0]) {
    case 'g':
      return column_from<double, T>(values, first);
    case 'f':
      return column_from<float, T>(values, first);
    case 'l':
      return column_from<std::int64_t, T>(values, first);
    case 'L':
      return column_from<std::uint64_t, T>(values, first);
    case 'i':
      return column_from<std::int32_t, T>(values, first);
    case 'I':
      return column_from<std::uint32_t, T>(values, first);
    case 's':
      return column_from<std::int16_t, T>(values, first);
    case 'S':
      return column_from<std::uint16_t, T>(values, first);
    case 'c':
      return column_from<std::int8_t, T>(values, first);
    case 'C':
      return column_from<std::uint8_t, T>(values, first);
    default:
      throw std::invalid_argument("columns must hold numbers");
  }
}

template <class T>
bool fill(const Matrix<T>& X, const nb::capsule& schema, const nb::capsule& batch, int n_threads) {
  require(std::string_view(schema.name()) == "arrow_schema", "a capsule of a schema is needed");
  require(std::string_view(batch.name()) == "arrow_array", "a capsule of an array is needed");
  const auto& types = *static_cast<const ArrowSchema*>(schema.data());
  const auto& table = *static_cast<const ArrowArray*>(batch.data());
  const auto n_rows = static_cast<std::int64_t>(X.shape(0));
  const auto d = static_cast<std::int64_t>(X.shape(1));
  require(table.n_children >= d && types.n_children == table.n_children,
          "there must be as many columns as X has");
  require(table.length == n_rows, "columns must be as long as X");
  std::vector<Column<T>> columns;
  bool all_present = true;
  for (std::int64_t k = 0; k < d; ++k) {
    const ArrowArray& column = *table.children[k];
    all_present &= column.null_count == 0 || column.buffers[0] == nullptr;
    columns.push_back(
        column_of<T>(types.children[k]->format, column.buffers[1], table.offset + column.offset));
  }
  T* target = X.data();
  nb::gil_scoped_release release;
  return fill_rows<T>(columns, n_rows, target, n_threads) && all_present;
}

}  // namespace

void bind_tables(nb::module_& m) {
  m.def("fill_rows", &fill<double>, "X"_a.noconvert(), "schema"_a, "batch"_a, "n_threads"_a,
        "Copy the first columns of a batch of rows, which come by Arrow's interface, into those of "
        "a matrix in C order, and tell whether all are there and finite.");
  m.def("fill_rows", &fill<float>, "X"_a.noconvert(), "schema"_a, "batch"_a, "n_threads"_a);
}
