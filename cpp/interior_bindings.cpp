// Pairs in steps of an interior-point method, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "interior_pairs.hpp"
#include "listed_pairs.hpp"
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

using Places = In<std::int64_t, 1>;
using Vector = Out<double, 1>;

void make_listed(ListedPairs* self, const Places& better, const Places& worse, std::int64_t n_rows,
                 const In<double, 1>& margin, const In<double, 1>& upper,
                 const In<double, 1>& slopes, const In<double, 1>& low,
                 const std::optional<In<double, 1>>& high) {
  const std::size_t n = better.shape(0);
  const auto fits = [n](const In<double, 1>& values) { return values.shape(0) == n; };
  require(worse.shape(0) == n && fits(upper) && fits(slopes) && fits(low) && (!high || fits(*high)),
          "one number for each pair");
  require(margin.shape(0) == 1 || fits(margin), "one margin, or one for each pair");
  for (const Places& rows : {better, worse})
    for (std::size_t p = 0; p < n; ++p)
      require(0 <= rows.data()[p] && rows.data()[p] < n_rows, "no row has this number");
  const bool is_uniform = margin.shape(0) == 1 && n != 1;
  const nb::gil_scoped_release release;
  new (self) ListedPairs(
      {better.data(), worse.data(), n, static_cast<std::size_t>(n_rows), margin.data(), is_uniform},
      upper.data(), slopes.data(), low.data(), high ? high->data() : nullptr);
}

void require_all_rows(const ListedPairs& pairs, const In<double, 1>& scores) {
  require(scores.shape(0) == pairs.n_rows(), "one number for each row");
}

Vector zeros_of(const ListedPairs& pairs) {
  auto sums = new_vector<double>(static_cast<std::int64_t>(pairs.n_rows()));
  std::fill_n(sums.data(), pairs.n_rows(), 0.0);
  return sums;
}

auto listed_weights(const ListedPairs& self) {
  return nb::ndarray<nb::numpy, const double, nb::ndim<1>, nb::c_contig>(
      self.weights(), {self.size()}, nb::find(self));
}

Vector weigh_listed(ListedPairs& self, const In<double, 1>& scores, double least) {
  require_all_rows(self, scores);
  Vector balance = zeros_of(self);
  const nb::gil_scoped_release release;
  self.weigh(scores.data(), least, balance.data());
  return balance;
}

void add_laplacian(const ListedPairs& self,
                   const nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& matrix) {
  require(matrix.shape(0) == self.n_rows() && matrix.shape(1) == self.n_rows(),
          "one row and column for each row");
  const nb::gil_scoped_release release;
  self.add_laplacian(matrix.data());
}

Vector laplacian_of_listed(const ListedPairs& self, const In<double, 1>& v) {
  require_all_rows(self, v);
  Vector product = zeros_of(self);
  const nb::gil_scoped_release release;
  self.laplacian(v.data(), product.data());
  return product;
}

std::tuple<double, double, Vector, Vector, Vector> bend_listed(const ListedPairs& self,
                                                               const In<double, 1>& move) {
  require_all_rows(self, move);
  Vector of_products = zeros_of(self), of_aim = zeros_of(self), of_step = zeros_of(self);
  ListedPairs::Way way;
  {
    const nb::gil_scoped_release release;
    way = self.bend(move.data(), of_products.data(), of_aim.data(), of_step.data());
  }
  return {way.fastest, way.change, of_products, of_aim, of_step};
}

ListedPairs::Aim aim_of(const ListedPairs& self, const In<double, 1>& towards,
                        const In<double, 1>& move, double product) {
  require_all_rows(self, towards);
  require_all_rows(self, move);
  return {towards.data(), move.data(), product};
}

std::tuple<double, Vector> fastest_listed(const ListedPairs& self, const In<double, 1>& towards,
                                          const In<double, 1>& move, double product) {
  const auto aim = aim_of(self, towards, move, product);
  Vector of_step = zeros_of(self);
  double fastest = 0;
  {
    const nb::gil_scoped_release release;
    fastest = self.fastest(aim, of_step.data());
  }
  return {fastest, of_step};
}

Vector correct_listed(ListedPairs& self, const In<double, 1>& towards, const In<double, 1>& move,
                      double product, double part, double factor) {
  const auto aim = aim_of(self, towards, move, product);
  Vector balance = zeros_of(self);
  const nb::gil_scoped_release release;
  self.correct(aim, part, factor, balance.data());
  return balance;
}

void move_listed(ListedPairs& self, const In<double, 1>& towards, const In<double, 1>& move,
                 double product, double part) {
  const auto aim = aim_of(self, towards, move, product);
  const nb::gil_scoped_release release;
  self.move(aim, part);
}

std::tuple<Vector, Vector, double, double, double> sums_of_listed(const ListedPairs& self) {
  Vector balance = zeros_of(self), degree = zeros_of(self);
  ListedPairs::Sums sums;
  {
    const nb::gil_scoped_release release;
    sums = self.sums(balance.data(), degree.data());
  }
  return {balance, degree, sums.offset, sums.quadratic, sums.products};
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

  nb::class_<ListedPairs>(m, "ListedPairs",
                          "Listed pairs in interior-point steps. Vectors are over all rows.")
      .def("__init__", &make_listed, "better"_a.noconvert(), "worse"_a.noconvert(), "n_rows"_a,
           "margin"_a.noconvert(), "upper"_a.noconvert(), "slopes"_a.noconvert(),
           "low"_a.noconvert(), "high"_a.noconvert().none() = nb::none())
      .def_prop_ro("weights", &listed_weights, "Of the Laplacian, as `weigh` has found them.")
      .def("weigh", &weigh_listed, "scores"_a.noconvert(), "least"_a,
           "Find the weights here; return the balance of what pairs lack.")
      .def("add_laplacian", &add_laplacian, "matrix"_a.noconvert(),
           "Add the Laplacian of the weights to a matrix, on and below its diagonal.")
      .def("laplacian", &laplacian_of_listed, "v"_a.noconvert(),
           "Multiply a vector by the Laplacian of the weights.")
      .def("bend", &bend_listed, "move"_a.noconvert(),
           "Return how fast a step to products of zero is, what it changes of these, what that, "
           "and an aim, do to the balance, and the balance of the step.")
      .def("fastest", &fastest_listed, "towards"_a.noconvert(), "move"_a.noconvert(), "product"_a,
           "Return how fast a step to products of a number is, and its balance.")
      .def("correct", &correct_listed, "towards"_a.noconvert(), "move"_a.noconvert(), "product"_a,
           "part"_a, "factor"_a,
           "Correct the aim of products off it; return what that does to the balance.")
      .def("undo", &ListedPairs::undo, "Take the last correction back.")
      .def("move", &move_listed, "towards"_a.noconvert(), "move"_a.noconvert(), "product"_a,
           "part"_a, "Go a part of a step.")
      .def("sums", &sums_of_listed,
           "Return balance and degree of the slopes, their sum with margins, that of their "
           "squares, and that of the products.");
}
