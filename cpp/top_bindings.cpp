// Pairs of the top of a ranking, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "numpy_arrays.hpp"
#include "top_sweep.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm;

template <class Values>
auto span_of(const Values& values) {
  return std::span(values.data(), values.shape(0));
}

std::shared_ptr<const TopPairs> make_pairs(const In<std::int64_t, 1>& start,
                                           const In<std::uint32_t, 1>& row,
                                           const In<double, 1>& gain,
                                           const std::optional<In<double, 1>>& weight,
                                           const In<double, 1>& factor,
                                           const In<double, 1>& discount) {
  const auto n = row.shape(0), n_starts = start.shape(0);
  require(n_starts > 0 && start.data()[0] == 0 &&
              start.data()[n_starts - 1] == static_cast<std::int64_t>(n) &&
              std::is_sorted(start.data(), start.data() + n_starts),
          "queries must begin at 0 and end with the rows");
  require(gain.shape(0) == n && (!weight || weight->shape(0) == n),
          "rows, gains and weights must be as many");
  require(factor.shape(0) + 1 == n_starts, "one factor per query");
  require(discount.shape(0) > 0, "at least one discount");
  for (std::size_t p = 0; p < n; ++p) require(row.data()[p] < n, "no such row");
  const nb::gil_scoped_release release;
  return std::make_shared<TopPairs>(span_of(start), span_of(row), gain.data(),
                                    weight ? weight->data() : nullptr, span_of(factor),
                                    span_of(discount));
}

std::shared_ptr<TopSweep> make_sweep(const std::shared_ptr<const TopPairs>& pairs,
                                     const In<double, 1>& scores, const std::string& loss,
                                     double margin, double width, int n_threads) {
  require(static_cast<std::int64_t>(scores.shape(0)) == pairs->n_rows(), "one score per row");
  const MarginFunction phi{loss_named(loss), margin, width};
  require((phi.kind == MarginFunction::Kind::smoothed_hinge) == (width > 0),
          "a width above 0 is for the smoothed hinge, and needed there");
  const nb::gil_scoped_release release;
  return std::make_shared<TopSweep>(pairs, scores.data(), phi, n_threads);
}

Out<double, 1> laplacian_vector(const TopSweep& sweep, const In<double, 1>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_rows(), "one number per row");
  auto result = new_vector<double>(sweep.pairs().n_rows());
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), 1, result.data(), n_threads);
  return result;
}

Out<double, 2> laplacian_block(const TopSweep& sweep, const In<double, 2>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_rows(), "one row per row");
  const auto n_columns = static_cast<std::int64_t>(v.shape(1));
  auto result = new_matrix<double>(sweep.pairs().n_rows(), n_columns);
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), n_columns, result.data(), n_threads);
  return result;
}

template <class Real>
void half_laplacian(const TopSweep& sweep, std::int64_t first_query, std::int64_t last_query,
                    const In<Real, 2>& v, std::int64_t first_column, std::int64_t last_column,
                    const nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>& result) {
  const auto& pairs = sweep.pairs();
  require(0 <= first_query && first_query <= last_query && last_query <= pairs.n_queries(),
          "no such queries");
  const auto n = pairs.start(last_query) - pairs.start(first_query);
  const auto n_columns = static_cast<std::int64_t>(v.shape(1));
  require(static_cast<std::int64_t>(v.shape(0)) == n, "one row per document of these queries");
  require(result.shape(0) == v.shape(0) && result.shape(1) == v.shape(1),
          "the result must have the shape of v");
  require(first_column == 0 && last_column == n_columns, "all columns at a time");
  const nb::gil_scoped_release release;
  sweep.half_laplacian(first_query, last_query, v.data(), n_columns, result.data());
}

Out<std::int64_t, 1> rows_between(const TopSweep& sweep, std::int64_t first, std::int64_t last) {
  const auto& row = sweep.pairs().row();
  require(0 <= first && first <= last && last <= std::ssize(row), "no such places");
  auto result = new_vector<std::int64_t>(last - first);
  std::copy(row.begin() + first, row.begin() + last, result.data());
  return result;
}

// A property of Python that is one of the totals.
template <double PairTotals::* total>
double total_of(const TopSweep& sweep) {
  return sweep.totals().*total;
}

}  // namespace

void bind_top_pairs(nb::module_& m) {
  nb::class_<TopPairs>(m, "TopPairs", "Pairs of the first rows of each query with all others.")
      .def(nb::new_(&make_pairs), "start"_a.noconvert(), "row"_a.noconvert(), "gain"_a.noconvert(),
           "weight"_a.noconvert().none(), "factor"_a.noconvert(), "discount"_a.noconvert())
      .def(
          "pairs_per_query",
          [](const TopPairs& self, int n_threads) {
            auto result = new_vector<double>(self.n_queries());
            const auto weights = self.pairs_per_query(n_threads);
            std::copy(weights.begin(), weights.end(), result.data());
            return result;
          },
          "n_threads"_a = 1, "The total weight of the pairs of each query.");

  nb::class_<TopSweep>(m, "TopSweep", "What a loss makes of the top's pairs at some scores.")
      .def(nb::new_(&make_sweep), "pairs"_a, "scores"_a.noconvert(), "loss"_a, "margin"_a,
           "width"_a = 0.0, "n_threads"_a = 1)
      .def_prop_ro(
          "gradient",
          [](const TopSweep& self) {
            return shared_vector(self.gradient(), self.pairs().n_rows());
          },
          nb::rv_policy::reference, "By row: the derivative of the loss by each score.")
      .def_prop_ro("value", &total_of<&PairTotals::value>)
      .def_prop_ro("offset", &total_of<&PairTotals::offset>)
      .def_prop_ro("smoothing", &total_of<&PairTotals::smoothing>)
      .def_prop_ro("magnitude", &total_of<&PairTotals::magnitude>)
      .def_prop_ro("band_magnitude", &total_of<&PairTotals::magnitude>)
      .def_prop_ro("gradient_norm", &TopSweep::gradient_norm)
      .def_prop_ro("gradient_rounding", &TopSweep::gradient_rounding)
      .def_prop_ro(
          "unit", [](const TopSweep& self) { return self.pairs().unit(); },
          "A power of two that brings the weights near 1.")
      .def_prop_ro(
          "half_laplacian_unit", [](const TopSweep& self) { return self.pairs().unit(); },
          "The unit of `half_laplacian`.")
      .def(
          "degree",
          [](const TopSweep& self) {
            auto result = new_vector<double>(self.pairs().n_rows());
            self.degree(result.data(), 1);
            return result;
          },
          "By row: the diagonal of the Laplacian M.")
      .def("laplacian", &laplacian_vector, "v"_a.noconvert(), "n_threads"_a = 1)
      .def("laplacian", &laplacian_block, "v"_a.noconvert(), "n_threads"_a = 1)
      .def("rows", &rows_between, "first"_a, "last"_a, "The row at each place.")
      .def("half_laplacian", &half_laplacian<float>, "first_query"_a, "last_query"_a,
           "v"_a.noconvert(), "first_column"_a, "last_column"_a, "result"_a.noconvert())
      .def("half_laplacian", &half_laplacian<double>, "first_query"_a, "last_query"_a,
           "v"_a.noconvert(), "first_column"_a, "last_column"_a, "result"_a.noconvert());
}
