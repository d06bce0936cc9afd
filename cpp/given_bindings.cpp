// Pairs that are given one by one, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "given_sweep.hpp"
#include "numpy_arrays.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace ranksvm;

using Weights = std::optional<In<double, 1>>;

std::shared_ptr<const GivenPairs> make_pairs(std::int64_t n_rows,
                                             const In<std::uint32_t, 1>& winner,
                                             const In<std::uint32_t, 1>& loser,
                                             const Weights& weight, const Weights& margin) {
  const auto n = winner.shape(0);
  require(n_rows >= 0 && n_rows < (std::int64_t{1} << 32) - 1, "at most 2^32 - 2 rows");
  require(n < (std::size_t{1} << 32) - 1, "at most 2^32 - 2 pairs");
  require(loser.shape(0) == n && (!weight || weight->shape(0) == n) &&
              (!margin || margin->shape(0) == n),
          "winners, losers, weights and margins must be as many");
  for (std::size_t p = 0; p < n; ++p)
    require(winner.data()[p] < n_rows && loser.data()[p] < n_rows, "no such row");
  const nb::gil_scoped_release release;
  return std::make_shared<GivenPairs>(n_rows, std::span(winner.data(), n),
                                      std::span(loser.data(), n), weight ? weight->data() : nullptr,
                                      margin ? margin->data() : nullptr);
}

std::shared_ptr<GivenSweep> make_sweep(const std::shared_ptr<const GivenPairs>& pairs,
                                       const In<double, 1>& scores, const std::string& loss,
                                       double margin, double width, int n_threads) {
  require(static_cast<std::int64_t>(scores.shape(0)) == pairs->n_rows(), "one score per row");
  const MarginFunction phi{loss_named(loss), margin, width};
  require((phi.kind == MarginFunction::Kind::smoothed_hinge) == (width > 0),
          "a width above 0 is for the smoothed hinge, and needed there");
  const nb::gil_scoped_release release;
  return std::make_shared<GivenSweep>(pairs, scores.data(), phi, n_threads);
}

template <class Values>
auto view_of(const Values& values) {
  using Number = typename Values::value_type;
  return nb::ndarray<nb::numpy, const Number, nb::ndim<1>>(values.data(), {values.size()},
                                                           nb::handle());
}

Out<std::uint32_t, 1> winners_of(const GivenPairs& pairs) {
  auto result = new_vector<std::uint32_t>(pairs.n_distinct());
  const auto& start = pairs.wins().start;
  for (std::int64_t i = 0; i < pairs.n_rows(); ++i)
    std::fill(result.data() + start[i], result.data() + start[i + 1],
              static_cast<std::uint32_t>(i));
  return result;
}

Out<double, 1> laplacian_vector(const GivenSweep& sweep, const In<double, 1>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_rows(), "one number per row");
  auto result = new_vector<double>(sweep.pairs().n_rows());
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), 1, result.data(), n_threads);
  return result;
}

Out<double, 2> laplacian_block(const GivenSweep& sweep, const In<double, 2>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_rows(), "one number per row");
  const auto n_columns = static_cast<std::int64_t>(v.shape(1));
  auto result = new_matrix<double>(sweep.pairs().n_rows(), n_columns);
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), n_columns, result.data(), n_threads);
  return result;
}

// The pairs that curve the loss, as CSR: where those of each row begin, its partners, the weights.
nb::tuple graph_of(const GivenSweep& sweep, int n_threads) {
  const auto& pieces = sweep.graphs(n_threads);
  std::int64_t n = 0;
  for (const auto& piece : pieces) n += piece.start.back();
  auto start = new_vector<std::int64_t>(sweep.pairs().n_rows() + 1);
  auto partner = new_vector<std::uint32_t>(n);
  auto weight = new_vector<double>(n);
  std::int64_t row = 0, first = 0;
  start.data()[0] = 0;
  for (const auto& piece : pieces) {
    std::copy(piece.partner.begin(), piece.partner.end(), partner.data() + first);
    if (piece.weight.empty())
      std::fill_n(weight.data() + first, piece.partner.size(), 1.0);
    else
      std::copy(piece.weight.begin(), piece.weight.end(), weight.data() + first);
    for (std::size_t i = 1; i < piece.start.size(); ++i)
      start.data()[++row] = first + piece.start[i];
    first += piece.start.back();
  }
  return nb::make_tuple(start, partner, weight);
}

// A property of Python that is one of the totals.
template <double PairTotals::* total>
double total_of(const GivenSweep& sweep) {
  return sweep.totals().*total;
}

}  // namespace

void bind_given_pairs(nb::module_& m) {
  nb::class_<GivenPairs>(m, "GivenPairs", "Pairs of a winner and a loser, duplicates added up.")
      .def(nb::new_(&make_pairs), "n_rows"_a, "winner"_a.noconvert(), "loser"_a.noconvert(),
           "weight"_a.noconvert().none() = nb::none(), "margin"_a.noconvert().none() = nb::none())
      .def_prop_ro("winner", &winners_of, nb::rv_policy::move, "Of each pair, by winner and loser.")
      .def_prop_ro(
          "loser", [](const GivenPairs& self) { return view_of(self.wins().partner); },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "weight", [](const GivenPairs& self) { return view_of(self.wins().weight); },
          nb::rv_policy::reference_internal, "Empty where all weigh 1.")
      .def_prop_ro(
          "margin", [](const GivenPairs& self) { return view_of(self.wins().margin); },
          nb::rv_policy::reference_internal, "Empty where there are none.");

  nb::class_<GivenSweep>(m, "GivenSweep", "What a loss makes of given pairs at some scores.")
      .def(nb::new_(&make_sweep), "pairs"_a, "scores"_a.noconvert(), "loss"_a, "margin"_a,
           "width"_a = 0.0, "n_threads"_a = 1)
      .def_prop_ro(
          "gradient",
          [](const GivenSweep& self) {
            return shared_vector(self.gradient(), self.pairs().n_rows());
          },
          nb::rv_policy::reference, "By row: the derivative of the loss by each score.")
      .def_prop_ro("value", &total_of<&PairTotals::value>)
      .def_prop_ro("offset", &total_of<&PairTotals::offset>)
      .def_prop_ro("smoothing", &total_of<&PairTotals::smoothing>)
      .def_prop_ro("magnitude", &total_of<&PairTotals::magnitude>)
      .def_prop_ro("band_magnitude", &total_of<&PairTotals::magnitude>)
      .def_prop_ro(
          "unit", [](const GivenSweep& self) { return self.pairs().unit(); },
          "A power of two that brings the weights near 1.")
      .def_prop_ro("gradient_norm", &GivenSweep::gradient_norm)
      .def_prop_ro("gradient_rounding", &GivenSweep::gradient_rounding)
      .def(
          "degree",
          [](const GivenSweep& self) {
            auto result = new_vector<double>(self.pairs().n_rows());
            self.degree(result.data(), 1);
            return result;
          },
          "By row: the diagonal of the Laplacian M.")
      .def("graph", &graph_of, "n_threads"_a = 1,
           "The pairs that curve the loss, of each row in either role, as CSR: where they begin, "
           "partners, weights.")
      .def("laplacian", &laplacian_vector, "v"_a.noconvert(), "n_threads"_a = 1)
      .def("laplacian", &laplacian_block, "v"_a.noconvert(), "n_threads"_a = 1);
}
