// Dual coordinate descent on pairs within short queries, for Python.
#include <algorithm>

#include "dual_descent.hpp"
#include "numpy_arrays.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What a method needs of the shapes that its object was made of.
struct Descent : DualDescent {
  Descent(Rows rows, Pairs pairs, const std::int64_t* first_row, std::int64_t n_queries,
          std::int64_t n_columns, std::int64_t n_pairs)
      : DualDescent(rows, pairs, first_row, n_queries, n_columns),
        n_queries(n_queries),
        n_columns(n_columns),
        n_pairs(n_pairs) {}
  std::int64_t n_queries, n_columns, n_pairs;
};

bool ascends(const In<std::int64_t, 1>& starts, std::size_t end) {
  const std::int64_t *data = starts.data(), n = static_cast<std::int64_t>(starts.shape(0));
  return n > 0 && data[0] == 0 && data[n - 1] == static_cast<std::int64_t>(end) &&
         std::is_sorted(data, data + n);
}

template <class T>
bool all_within(const T* values, std::int64_t n, std::int64_t end) {
  return std::all_of(values, values + n, [&](T value) {
    const auto place = static_cast<std::int64_t>(value);
    return 0 <= place && place < end;
  });
}

void make_descent(Descent* self, const In<std::int64_t, 1>& row_start,
                  const In<std::uint32_t, 1>& column, const In<double, 1>& value,
                  std::int64_t n_columns, const In<std::int64_t, 1>& first_row,
                  const In<std::int64_t, 1>& pair_start, const In<std::int32_t, 1>& better,
                  const In<std::int32_t, 1>& worse, const In<double, 1>& upper,
                  const In<double, 1>& damping, double margin) {
  const auto n_stored = value.shape(0), n_pairs = upper.shape(0),
             n_queries = first_row.shape(0) - 1;
  require(column.shape(0) == n_stored && ascends(row_start, n_stored) &&
              all_within(column.data(), static_cast<std::int64_t>(n_stored), n_columns),
          "rows are not those of a sparse matrix");
  require(first_row.shape(0) > 0 && ascends(first_row, row_start.shape(0) - 1),
          "queries are not parts of the rows");
  require(pair_start.shape(0) == first_row.shape(0) && ascends(pair_start, n_pairs) &&
              better.shape(0) == n_pairs && worse.shape(0) == n_pairs &&
              damping.shape(0) == n_pairs,
          "pairs are not those of the queries");
  for (std::size_t q = 0; q < n_queries; ++q) {
    const auto begin = pair_start.data()[q], n = pair_start.data()[q + 1] - begin;
    const auto n_rows = first_row.data()[q + 1] - first_row.data()[q];
    require(
        all_within(better.data() + begin, n, n_rows) && all_within(worse.data() + begin, n, n_rows),
        "pairs are not those of the queries");
  }
  const nb::gil_scoped_release release;
  new (self) Descent(
      {row_start.data(), column.data(), value.data()},
      {pair_start.data(), better.data(), worse.data(), upper.data(), damping.data(), margin},
      first_row.data(), static_cast<std::int64_t>(n_queries), n_columns,
      static_cast<std::int64_t>(n_pairs));
}

void visit(const Descent& self, const In<std::int64_t, 1>& queries, const InOut<double>& slopes,
           const InOut<double>& weights, const InOut<double>& lacking) {
  const auto has = [](const InOut<double>& v, std::int64_t n) {
    return static_cast<std::int64_t>(v.shape(0)) == n;
  };
  const auto n = static_cast<std::int64_t>(queries.shape(0));
  require(has(slopes, self.n_pairs) && has(weights, self.n_columns) &&
              has(lacking, self.n_queries) && all_within(queries.data(), n, self.n_queries),
          "a slope for each pair, a weight for each column, a number for each query");
  const nb::gil_scoped_release release;
  self.visit(queries.data(), n, slopes.data(), weights.data(), lacking.data());
}

}  // namespace

void bind_dual_descent(nb::module_& m) {
  nb::class_<Descent>(m, "DualDescent", "Dual coordinate descent on pairs within short queries.")
      .def("__init__", &make_descent, "row_start"_a.noconvert(), "column"_a.noconvert(),
           "value"_a.noconvert(), "n_columns"_a, "first_row"_a.noconvert(),
           "pair_start"_a.noconvert(), "better"_a.noconvert(), "worse"_a.noconvert(),
           "upper"_a.noconvert(), "damping"_a.noconvert(), "margin"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 6>(),
           nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>(),
           nb::keep_alive<1, 10>(), nb::keep_alive<1, 11>())
      .def("visit", &visit, "queries"_a.noconvert(), "slopes"_a.noconvert(),
           "weights"_a.noconvert(), "lacking"_a.noconvert(),
           "Move the slopes of queries in turn; note how far each has been off.");
}
