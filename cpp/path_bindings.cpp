// Python's side of what kernels take: the regularization path, and products with their matrices.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "numpy_arrays.hpp"
#include "regularization_path.hpp"
#include "symmetric_tile.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

template <class T, class U>
Out<T, 1> to_numpy(const U& values) {
  auto result = new_vector<T>(static_cast<std::int64_t>(values.size()));
  std::transform(values.begin(), values.end(), result.data(),
                 [](auto value) { return static_cast<T>(value); });
  return result;
}

using Events = std::tuple<Out<double, 1>, Out<std::int64_t, 1>, Out<std::uint8_t, 1>,
                          Out<std::int64_t, 1>, Out<std::int64_t, 1>, Out<double, 1>,
                          Out<std::int32_t, 1>, Out<double, 1>, Out<std::int64_t, 1>>;

Events to_python(const PathEvents& events) {
  return {to_numpy<double>(events.lambda),
          to_numpy<std::int64_t>(events.pair),
          to_numpy<std::uint8_t>(events.set),
          to_numpy<std::int64_t>(events.n_free),
          to_numpy<std::int64_t>(events.n_one),
          to_numpy<double>(events.gamma),
          to_numpy<std::int32_t>(events.changed_row),
          to_numpy<double>(events.changed_gamma),
          to_numpy<std::int64_t>(events.n_changed)};
}

std::vector<std::int32_t> rows_of(const In<std::int32_t, 1>& rows, std::int64_t n) {
  std::vector<std::int32_t> result(rows.data(), rows.data() + rows.shape(0));
  for (const auto row : result) require(row >= 0 && row < n, "a pair names a row that K lacks");
  return result;
}

void make_path(RegularizationPath* self, const In<double, 2>& K, const In<std::int32_t, 1>& upper,
               const In<std::int32_t, 1>& lower, const In<double, 1>& margin) {
  const auto n = static_cast<std::int64_t>(K.shape(0));
  require(K.shape(0) == K.shape(1), "K must be square");
  require(upper.shape(0) == lower.shape(0) && upper.shape(0) == margin.shape(0),
          "upper, lower and margin must have one element for each pair");
  auto u = rows_of(upper, n), l = rows_of(lower, n);
  std::vector<double> m(margin.data(), margin.data() + margin.shape(0));
  require(std::all_of(m.begin(), m.end(), [](double value) { return value > 0; }),
          "margins must be positive");
  const nb::gil_scoped_release release;
  new (self) RegularizationPath(K.data(), n, std::move(u), std::move(l), std::move(m));
}

std::tuple<Out<double, 1>, Out<double, 1>> tile_products(const In<double, 2>& tile,
                                                         const In<double, 1>& left,
                                                         const In<double, 1>& right) {
  const std::size_t n_rows = tile.shape(0), n_columns = tile.shape(1);
  require(left.shape(0) == n_rows && right.shape(0) == n_columns,
          "left and right must have an element for each row and each column");
  auto by_row = new_vector<double>(static_cast<std::int64_t>(n_rows));
  auto by_column = new_vector<double>(static_cast<std::int64_t>(n_columns));
  {
    const nb::gil_scoped_release release;
    std::fill_n(by_row.data(), n_rows, 0.0);
    std::fill_n(by_column.data(), n_columns, 0.0);
    add_tile_products(tile.data(), n_rows, n_columns, left.data(), right.data(), by_row.data(),
                      by_column.data());
  }
  return {by_row, by_column};
}

}  // namespace

void bind_path(nb::module_& m) {
  m.def("tile_products", &tile_products, "tile"_a.noconvert(), "left"_a.noconvert(),
        "right"_a.noconvert(), "Return ``tile @ right`` and ``left @ tile``, in one pass.");
  nb::class_<RegularizationPath>(m, "RegularizationPath",
                                 "The solutions of the kernel RankSVM as lambda falls.")
      .def("__init__", &make_path, "K"_a.noconvert(), "upper"_a.noconvert(), "lower"_a.noconvert(),
           "margin"_a.noconvert(), nb::keep_alive<1, 2>())
      .def(
          "advance",
          [](RegularizationPath& self, double lambda_min, std::int64_t n_events) {
            require(lambda_min >= 0, "lambda_min must not be negative");
            const auto events = [&] {
              const nb::gil_scoped_release release;
              return self.advance(lambda_min, n_events);
            }();
            return to_python(events);
          },
          "lambda_min"_a, "n_events"_a,
          "Follow the path: (lambda, pair, its set, n_free, n_one) of each event, gamma before the "
          "first, and (row, gamma, how many up to each event) of what changes.")
      .def_prop_ro("lam", &RegularizationPath::lambda)
      .def_prop_ro(
          "gamma", [](const RegularizationPath& self) { return to_numpy<double>(self.gamma()); },
          nb::rv_policy::move)
      .def_prop_ro("n_free", &RegularizationPath::n_free)
      .def_prop_ro("n_one", &RegularizationPath::n_one)
      .def_prop_ro("stuck", &RegularizationPath::stuck)
      .def("violation", &RegularizationPath::violation, nb::call_guard<nb::gil_scoped_release>());
}
