// Pairs of levels in steps of an interior-point method, for Python.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "interior_pairs.hpp"
#include "numpy_arrays.hpp"

using namespace nanobind::literals;

namespace {

using namespace ranksvm;

using InOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make_pairs(InteriorPairs* self, std::size_t first, std::size_t n_better, std::size_t n_worse,
                const In<double, 2>& upper, double margin, double share, double product) {
  const std::size_t n_rows = upper.shape(0), n_columns = upper.shape(1);
  const bool is_uniform = n_rows == 1 && n_columns == 1;
  require(is_uniform || (n_rows == n_better && n_columns == n_worse),
          "one bound, or one for each pair");
  require(n_worse <= first, "worse rows come before better ones");
  require(0 < share && share < 1, "share must be between 0 and 1");
  const nb::gil_scoped_release release;
  new (self)
      InteriorPairs({first, n_better, n_worse}, upper.data(), is_uniform, margin, share, product);
}

template <class... Vectors>
void require_rows(const InteriorPairs& pairs, const Vectors&... vectors) {
  const std::size_t n = pairs.shape().first + pairs.shape().n_better;
  require(((vectors.shape(0) >= n) && ...), "one number for each row of the query");
}

auto weights_of(const InteriorPairs& self) {
  return nb::ndarray<nb::numpy, const double, nb::ndim<2>>(
      self.weights(), {self.shape().n_better, self.shape().n_worse}, nb::find(self));
}

void weigh(InteriorPairs& self, const In<double, 1>& scores, const InOut& balance,
           const InOut& degree) {
  require_rows(self, scores, balance, degree);
  const nb::gil_scoped_release release;
  self.weigh(scores.data(), balance.data(), degree.data());
}

std::tuple<double, double> bend(const InteriorPairs& self, const In<double, 1>& scores,
                                const InOut& of_products, const InOut& of_aim) {
  require_rows(self, scores, of_products, of_aim);
  const nb::gil_scoped_release release;
  const auto [fastest, change] = self.bend(scores.data(), of_products.data(), of_aim.data());
  return {fastest, change};
}

double fastest(const InteriorPairs& self, const In<double, 1>& towards, const In<double, 1>& scores,
               double product) {
  require_rows(self, towards, scores);
  const nb::gil_scoped_release release;
  return self.fastest({towards.data(), scores.data(), product});
}

std::tuple<double, double> move(InteriorPairs& self, const In<double, 1>& towards,
                                const In<double, 1>& scores, double product, double part,
                                const InOut& balance, const InOut& degree) {
  require_rows(self, towards, scores, balance, degree);
  const nb::gil_scoped_release release;
  const auto [slopes, products] =
      self.move({towards.data(), scores.data(), product}, part, balance.data(), degree.data());
  return {slopes, products};
}

}  // namespace

void bind_interior_pairs(nb::module_& m) {
  nb::class_<InteriorPairs>(m, "InteriorPairs",
                            "Pairs of some rows of a level with all rows below, in interior-point "
                            "steps. Vectors are over the rows of the query.")
      .def("__init__", &make_pairs, "first"_a, "n_better"_a, "n_worse"_a, "upper"_a.noconvert(),
           "margin"_a, "share"_a, "product"_a)
      .def_prop_ro("weights", &weights_of, "Of the Laplacian, as `weigh` has found them.")
      .def("weigh", &weigh, "scores"_a.noconvert(), "balance"_a.noconvert(), "degree"_a.noconvert(),
           "Find the weights here; add up the balance of what pairs lack, and the degree.")
      .def("bend", &bend, "scores"_a.noconvert(), "of_products"_a.noconvert(),
           "of_aim"_a.noconvert(),
           "Return how fast a step to products of zero is, and what it changes of these; add up "
           "what that, and an aim, do to the balance.")
      .def("fastest", &fastest, "towards"_a.noconvert(), "scores"_a.noconvert(), "product"_a,
           "Return how fast a step to products of a number is.")
      .def("move", &move, "towards"_a.noconvert(), "scores"_a.noconvert(), "product"_a, "part"_a,
           "balance"_a.noconvert(), "degree"_a.noconvert(),
           "Go a part of it; add up balance and degree there, and return sums of slopes and "
           "products.");
}
