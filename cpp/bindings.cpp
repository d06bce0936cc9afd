// The only place, with the other *_bindings.cpp, that knows Python: shapes, dtypes and the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bus_error.hpp"
#include "cholesky.hpp"
#include "numpy_arrays.hpp"
#include "simplex_qp.hpp"
#include "sweep.hpp"

namespace nb = nanobind;
using namespace nb::literals;

void bind_given_pairs(nb::module_& m);
void bind_top_pairs(nb::module_& m);
void bind_dual_descent(nb::module_& m);
void bind_interior_pairs(nb::module_& m);
void bind_matrices(nb::module_& m);
void bind_path(nb::module_& m);
void bind_rounded(nb::module_& m);
void bind_svmlight(nb::module_& m);
void bind_tables(nb::module_& m);

namespace {

using namespace ranksvm;

Counting counting_named(const std::string& name) {
  if (name == "auto") return Counting::automatic;
  if (name == "merge") return Counting::merge;
  if (name == "levels") return Counting::levels;
  if (name == "joachims") return Counting::joachims;
  if (name == "tree") return Counting::tree;
  if (name == "pairs") return Counting::pairs;
  throw std::invalid_argument("unknown way of counting '" + name + "'");
}

std::shared_ptr<const PreferencePairs> make_pairs(const In<double, 1>& y,
                                                  const In<std::int64_t, 1>& query_start,
                                                  const std::optional<In<std::uint32_t, 1>>& order,
                                                  const std::optional<In<double, 1>>& row_weight,
                                                  const std::optional<In<double, 1>>& query_weight,
                                                  const std::optional<In<double, 1>>& better_weight,
                                                  const std::optional<In<double, 1>>& worse_weight,
                                                  bool gaps, int n_threads) {
  const auto n = static_cast<std::int64_t>(y.shape(0));
  require(n < (std::int64_t{1} << 32) - 1, "at most 2^32 - 2 documents");
  require(query_start.shape(0) >= 1 && query_start.data()[0] == 0 &&
              query_start.data()[query_start.shape(0) - 1] == n,
          "query_start must rise from 0 to the number of documents");
  for (std::size_t q = 1; q < query_start.shape(0); ++q)
    require(query_start.data()[q - 1] <= query_start.data()[q], "query_start must not fall");
  if (order) {
    require(order->shape(0) == y.shape(0), "order must have one entry per document");
    std::vector<bool> seen(n);
    for (std::size_t i = 0; i < order->shape(0); ++i) {
      const std::uint32_t row = order->data()[i];
      require(row < n && !seen[row], "order must be a permutation");
      seen[row] = true;
    }
  }
  for (const auto* weight : {&row_weight, &better_weight, &worse_weight})
    require(!*weight || (*weight)->shape(0) == y.shape(0), "one row weight per document");
  require(!query_weight || query_weight->shape(0) + 1 == query_start.shape(0),
          "one query weight per query");
  std::vector<std::int64_t> starts(query_start.data(), query_start.data() + query_start.shape(0));
  std::vector<std::uint32_t> rows;
  if (order) rows.assign(order->data(), order->data() + order->shape(0));
  const auto data = [](const auto& weight) { return weight ? weight->data() : nullptr; };
  const PreferencePairs::Weights weights{data(row_weight), data(query_weight), data(better_weight),
                                         data(worse_weight)};
  const nb::gil_scoped_release release;
  return std::make_shared<PreferencePairs>(y.data(), std::move(starts), std::move(rows), weights,
                                           gaps, n_threads);
}

std::shared_ptr<const PreferencePairs> part_of(const PreferencePairs& pairs, std::int64_t first,
                                               std::int64_t last) {
  require(0 <= first && first <= last && last <= pairs.n_queries(), "no such queries");
  return std::make_shared<PreferencePairs>(pairs.part(first, last));
}

std::shared_ptr<Sweep> make_sweep(const std::shared_ptr<const PreferencePairs>& pairs,
                                  const In<double, 1>& scores, const std::string& loss,
                                  double margin, const std::string& counting, double width,
                                  int n_threads) {
  require(static_cast<std::int64_t>(scores.shape(0)) == pairs->n_documents(),
          "one score per document");
  const MarginFunction phi{loss_named(loss), margin, width};
  require((phi.kind == MarginFunction::Kind::smoothed_hinge) == (width > 0),
          "a width above 0 is for the smoothed hinge, and needed there");
  const Counting way = counting_named(counting);
  const nb::gil_scoped_release release;
  return std::make_shared<Sweep>(pairs, scores.data(), phi, way, n_threads);
}

template <class T>
auto vector_view(std::span<const T> values) {
  return nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, nb::handle());
}

// A property of Python that is one of the totals.
template <auto total>
double total_of(const Sweep& sweep) {
  return sweep.totals().*total;
}

Out<double, 1> laplacian_vector(const Sweep& sweep, const In<double, 1>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_documents(),
          "v must have one row per document");
  auto result = new_vector<double>(sweep.pairs().n_documents());
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), 1, result.data(), n_threads);
  return result;
}

Out<double, 2> laplacian_block(const Sweep& sweep, const In<double, 2>& v, int n_threads) {
  require(static_cast<std::int64_t>(v.shape(0)) == sweep.pairs().n_documents(),
          "v must have one row per document");
  const auto n_columns = static_cast<std::int64_t>(v.shape(1));
  auto result = new_matrix<double>(sweep.pairs().n_documents(), n_columns);
  const nb::gil_scoped_release release;
  sweep.laplacian(v.data(), n_columns, result.data(), n_threads);
  return result;
}

template <class Real>
void half_laplacian(const Sweep& sweep, std::int64_t first_query, std::int64_t last_query,
                    const In<Real, 2>& v, std::int64_t first_column, std::int64_t last_column,
                    const nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>& result) {
  const auto& pairs = sweep.pairs();
  require(0 <= first_query && first_query <= last_query && last_query <= pairs.n_queries(),
          "no such queries");
  const auto n = pairs.query_start(last_query) - pairs.query_start(first_query);
  const auto n_columns = static_cast<std::int64_t>(v.shape(1));
  require(static_cast<std::int64_t>(v.shape(0)) == n, "one row per document of these queries");
  require(result.shape(0) == v.shape(0) && result.shape(1) == v.shape(1),
          "the result must have the shape of v");
  require(0 <= first_column && first_column <= last_column && last_column <= n_columns,
          "no such columns");
  const nb::gil_scoped_release release;
  sweep.half_laplacian(first_query, last_query, v.data(), n_columns, first_column, last_column,
                       result.data());
}

// Sums over rows of one query, and the sweep that they are of.
template <class Real>
struct Walk {
  std::shared_ptr<const Sweep> sweep;
  std::int64_t query;
  RowSums<Real> sums;
};

// Rows whose numbers are adjacent, though the rows may not be.
template <class Real>
using Block = nb::ndarray<Real, nb::ndim<2>, nb::device::cpu>;

template <class Real>
Rows<Real> rows_from(std::int64_t first, const Block<Real>& block,
                     const Walk<std::remove_const_t<Real>>& walk) {
  const auto last = first + static_cast<std::int64_t>(block.shape(0));
  require(0 <= first && last <= walk.sweep->pairs().size(walk.query), "no such positions");
  require(block.shape(1) == walk.sums.width(), "rows must be as wide as the sums");
  require(block.size() == 0 || block.shape(1) < 2 || block.stride(1) == 1,
          "the numbers of a row must be adjacent");
  return {block.data(), block.stride(0), static_cast<std::uint32_t>(first),
          static_cast<std::uint32_t>(last)};
}

template <class Real>
Walk<Real> start_walk(const std::shared_ptr<const Sweep>& sweep, std::int64_t query,
                      std::int64_t width) {
  require(0 <= query && query < sweep->pairs().n_queries(), "no such query");
  require(sweep->is_sorted(query), "the query is short, and not in order");
  return {sweep, query, sweep->row_sums<Real>(query, width)};
}

template <class Real>
void take_steps(Walk<Real>& walk, std::int64_t first, const Block<const Real>& rows,
                std::int64_t first_entering, const Block<const Real>& entering,
                std::int64_t first_leaving, const Block<const Real>& leaving,
                const Block<Real>& result) {
  const auto own = rows_from(first, rows, walk), coming = rows_from(first_entering, entering, walk),
             going = rows_from(first_leaving, leaving, walk);
  const auto products = rows_from(first, result, walk);
  require(result.shape(0) == rows.shape(0), "the result must have the shape of the rows");
  for (std::size_t window = 0; window < walk.sweep->n_windows(); ++window) {
    const auto& moving = window == 0 ? coming : going;
    const auto ends = walk.sweep->window_ends(walk.query, window);
    const auto last = std::min<std::size_t>(products.last, ends.size());
    require(moving.first == moving.last || moving.last <= ends.size(), "no such members");
    require(last <= products.first || ends[last - 1] <= moving.last,
            "the rows in these windows must have come");
  }
  const nb::gil_scoped_release release;
  walk.sweep->move(walk.sums, walk.query, own, coming, going, products);
}

template <class Real>
void bind_walk(nb::module_& m, const char* name) {
  nb::class_<Walk<Real>>(m, name, "N times the rows of one query, in order of score, by pieces.")
      .def("__call__", &take_steps<Real>, "first"_a, "rows"_a.noconvert(), "first_entering"_a,
           "entering"_a.noconvert(), "first_leaving"_a, "leaving"_a.noconvert(),
           "result"_a.noconvert());
}

// Solves L L' x = b, for a lower triangular L.
Out<double, 1> solve_by_cholesky(const In<double, 2>& L, const In<double, 1>& b) {
  const auto d = static_cast<std::int64_t>(b.shape(0));
  require(static_cast<std::int64_t>(L.shape(0)) == d && static_cast<std::int64_t>(L.shape(1)) == d,
          "L must be square and fit b");
  auto result = new_vector<double>(d);
  const nb::gil_scoped_release release;
  std::copy_n(b.data(), d, result.data());
  cholesky_solve(L.data(), static_cast<std::size_t>(d), result.data());
  return result;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The sweeps over preference pairs, products with X, and file parsing.";

  nb::class_<PreferencePairs>(m, "PreferencePairs", "Labels, queries and weights of the pairs.")
      .def(nb::new_(&make_pairs), "y"_a.noconvert(), "query_start"_a.noconvert(),
           "order"_a.noconvert().none(), "row_weight"_a.noconvert().none(),
           "query_weight"_a.noconvert().none(), "better_weight"_a.noconvert().none() = nb::none(),
           "worse_weight"_a.noconvert().none() = nb::none(), "gaps"_a = false, "n_threads"_a = 1)
      .def("part", &part_of, "first_query"_a, "last_query"_a,
           "Those of some queries alone, whose rows are numbered query by query.")
      .def_prop_ro(
          "pairs_per_query",
          [](const PreferencePairs& self) { return vector_view(self.pairs_per_query()); },
          nb::rv_policy::reference_internal, "Total weight of the pairs of each query.")
      .def_prop_ro(
          "n_levels", [](const PreferencePairs& self) { return vector_view(self.n_levels()); },
          nb::rv_policy::reference_internal, "Number of distinct labels of each query.")
      .def_prop_ro(
          "label", [](const PreferencePairs& self) { return vector_view(self.labels()); },
          nb::rv_policy::reference_internal,
          "Query by query: the rank of each label among those of its query.");

  nb::class_<Sweep>(m, "Sweep", "The pairs active at a margin: margin - (s_i - s_j) > 0.")
      .def(nb::new_(&make_sweep), "pairs"_a, "scores"_a.noconvert(), "loss"_a, "margin"_a,
           "counting"_a, "width"_a = 0.0, "n_threads"_a = 1)
      .def_prop_ro(
          "gradient",
          [](const Sweep& self) {
            return shared_vector(self.gradient(), self.pairs().n_documents());
          },
          nb::rv_policy::reference, "By row: the derivative of the loss by each score.")
      .def(
          "degree",
          [](const Sweep& self) {
            auto result = new_vector<double>(self.pairs().n_documents());
            self.degree(result.data());
            return result;
          },
          "By row: the diagonal of the Laplacian M.")
      .def(
          "rows",
          [](const Sweep& self, std::int64_t first, std::optional<std::int64_t> last) {
            const auto n = self.pairs().n_documents(), end = last.value_or(n);
            require(0 <= first && first <= end && end <= n, "no such positions");
            auto result = new_vector<std::int64_t>(end - first);
            self.rows(first, end, result.data());
            return result;
          },
          "first"_a = 0, "last"_a = nb::none(),
          "The row at each position from first to last, that is in order of query, then score, or "
          "in "
          "any order where the query is short; rows of no weight come last.")
      .def_prop_ro("n_active", &total_of<&Totals::n_active>)
      .def_prop_ro("value", &total_of<&Totals::value>)
      .def_prop_ro("offset", &total_of<&Totals::offset>)
      .def_prop_ro("smoothing", &total_of<&Totals::smoothing>)
      .def_prop_ro("magnitude", &total_of<&Totals::magnitude>)
      .def_prop_ro("band_magnitude", &total_of<&Totals::band_magnitude>)
      .def_prop_ro("gradient_norm", &Sweep::gradient_norm)
      .def_prop_ro("gradient_rounding", &Sweep::gradient_rounding)
      .def("laplacian", &laplacian_vector, "v"_a.noconvert(), "n_threads"_a = 1)
      .def("laplacian", &laplacian_block, "v"_a.noconvert(), "n_threads"_a = 1)
      .def_prop_ro("half_laplacian_unit", &Sweep::half_laplacian_unit)
      .def("half_laplacian", &half_laplacian<float>, "first_query"_a, "last_query"_a,
           "v"_a.noconvert(), "first_column"_a, "last_column"_a, "result"_a.noconvert())
      .def("half_laplacian", &half_laplacian<double>, "first_query"_a, "last_query"_a,
           "v"_a.noconvert(), "first_column"_a, "last_column"_a, "result"_a.noconvert())
      .def_prop_ro("has_gaps", [](const Sweep& self) { return self.pairs().has_gaps(); })
      .def_prop_ro("n_windows", &Sweep::n_windows)
      .def(
          "window_ends",
          [](const Sweep& self, std::int64_t query, std::size_t window) {
            require(0 <= query && query < self.pairs().n_queries(), "no such query");
            require(self.is_sorted(query), "the query is short, and not in order");
            require(window < self.n_windows(), "no such window");
            return vector_view(self.window_ends(query, window));
          },
          "query"_a, "window"_a, nb::rv_policy::reference_internal,
          "For each position of a query with pairs, in order: the first position beyond its "
          "window.")
      .def("walk32", &start_walk<float>, "query"_a, "width"_a)
      .def("walk64", &start_walk<double>, "query"_a, "width"_a);

  bind_walk<float>(m, "Walk32");
  bind_walk<double>(m, "Walk64");

  nb::class_<SimplexQp>(m, "SimplexQp", "Minimises 0.5 a'Ga - b'a for a >= 0, sum a = 1.")
      .def(nb::init<>())
      .def("__len__", &SimplexQp::size)
      .def(
          "add",
          [](SimplexQp& self, const In<double, 1>& products, double linear) {
            require(products.shape(0) == self.size() + 1, "one product per element, and its own");
            self.add(products.data(), linear);
          },
          "products"_a.noconvert(), "linear"_a)
      .def(
          "keep",
          [](SimplexQp& self, const In<std::int64_t, 1>& elements) {
            std::vector<std::size_t> kept;
            for (std::size_t i = 0; i < elements.shape(0); ++i) {
              const auto element = static_cast<std::size_t>(elements.data()[i]);
              require(element < self.size() && (kept.empty() || kept.back() < element),
                      "elements must ascend");
              kept.push_back(element);
            }
            double weight = 0;
            for (const std::size_t element : kept) weight += self.weights()[element];
            require(!(weight < 0.999), "elements left out must have weight 0");
            self.keep(kept);
          },
          "elements"_a.noconvert())
      .def("scale", &SimplexQp::scale, "factor"_a)
      .def("solve", &SimplexQp::solve)
      .def_prop_ro("objective", &SimplexQp::objective)
      .def_prop_ro(
          "weights",
          [](const SimplexQp& self) {
            auto result = new_vector<double>(static_cast<std::int64_t>(self.size()));
            std::copy(self.weights().begin(), self.weights().end(), result.data());
            return result;
          },
          nb::rv_policy::move);

  m.def("end_bus_errors_with", &end_bus_errors_with, "message"_a,
        "End this process with a message where a mapped file has been cut off.");
  bind_given_pairs(m);
  bind_top_pairs(m);
  bind_dual_descent(m);
  bind_interior_pairs(m);
  bind_rounded(m);
  bind_matrices(m);
  m.def("cholesky_solve", &solve_by_cholesky, "L"_a.noconvert(), "b"_a.noconvert());
  bind_path(m);
  bind_svmlight(m);
  bind_tables(m);
}
