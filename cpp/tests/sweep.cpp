// Sweeps against explicit pairs, and against themselves on other numbers of threads.
#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "pair_sums/merge.hpp"
#include "pair_sums/tree.hpp"
#include "sparse_hessian.hpp"

namespace ranksvm::tests {
namespace {

struct Problem {
  std::vector<double> y, scores, row_weight, query_weight, better_weight, worse_weight;
  std::vector<std::int64_t> query_start;
  std::vector<std::uint32_t> order;
  bool gaps;
  MarginFunction phi;

  std::int64_t n() const { return std::ssize(y); }
  double weight(std::int64_t query, std::int64_t i, std::int64_t j) const {
    const auto of = [](const std::vector<double>& weights, std::int64_t k) {
      return weights.empty() ? 1 : weights[k];
    };
    return of(row_weight, i) * of(row_weight, j) * of(query_weight, query) * of(better_weight, i) *
           of(worse_weight, j) * (gaps ? y[i] - y[j] : 1);
  }
  std::shared_ptr<const PreferencePairs> pairs(int n_threads) const {
    const auto data = [](const std::vector<double>& weights) {
      return weights.empty() ? nullptr : weights.data();
    };
    const PreferencePairs::Weights weights{data(row_weight), data(query_weight),
                                           data(better_weight), data(worse_weight)};
    return std::make_shared<PreferencePairs>(y.data(), query_start, order, weights, gaps,
                                             n_threads);
  }
};

// Scores and margins are multiples of 1/8, so that which pairs are active is no matter of rounding.
Problem draw(Random& random, std::int64_t n, std::int64_t n_queries) {
  Problem problem;
  const auto n_levels = random.coin() ? random.whole(1, 6) : random.whole(1, 2 * n);
  const double step = random.coin() ? 1 : 0.37;
  // Now and then all pairs are active, or all scores the same.
  const bool is_near = random.whole(0, 3) == 0;
  const double unit = !is_near ? 1 : random.coin() ? 0.1 : 0;
  const double spread = is_near ? 0 : random.coin() ? 1 : 1e5;
  for (std::int64_t i = 0; i < n; ++i) {
    problem.y.push_back(step * static_cast<double>(random.whole(0, n_levels)));
    problem.scores.push_back(unit * static_cast<double>(random.whole(-16, 16)) / 8 +
                             (random.whole(0, 9) == 0 ? spread : 0));
  }
  problem.query_start = {0, n};
  for (std::int64_t q = 1; q < n_queries; ++q) problem.query_start.push_back(random.whole(0, n));
  std::sort(problem.query_start.begin(), problem.query_start.end());
  if (random.coin()) {
    problem.order.resize(n);
    std::iota(problem.order.begin(), problem.order.end(), 0);
    for (auto i = n; i-- > 1;) std::swap(problem.order[i], problem.order[random.whole(0, i)]);
  }
  const auto draw_weights = [&](std::vector<double>& weights, std::int64_t count) {
    const bool whole = random.coin();
    for (std::int64_t i = 0; i < count; ++i)
      weights.push_back(whole ? static_cast<double>(random.whole(0, 3)) : random.real(0.1, 3));
  };
  if (random.coin()) draw_weights(problem.row_weight, n);
  if (random.coin()) draw_weights(problem.query_weight, n_queries);
  if (random.coin()) draw_weights(problem.better_weight, n);
  if (random.coin()) draw_weights(problem.worse_weight, n);
  problem.gaps = random.coin();
  const auto kind = static_cast<MarginFunction::Kind>(random.whole(0, 2));
  const bool smoothed = kind == MarginFunction::Kind::smoothed_hinge;
  problem.phi = {kind, 1.0, smoothed ? std::ldexp(1.0, -static_cast<int>(random.whole(0, 9))) : 0};
  return problem;
}

struct Expected {
  double n_active = 0, n_pairs = 0, value = 0, offset = 0, magnitude = 1;
  std::vector<double> gradient, laplacian;  // the latter n x n
};

// phi of a margin, its slope with the sign turned, where the tangent meets 0 less the smoothing,
// and whether the pair curves the loss.
struct Point {
  double value, alpha, offset;
  bool curves;
};

Point evaluate(const MarginFunction& phi, double z) {
  const double slack = std::max(0.0, phi.margin - z);
  if (phi.kind == MarginFunction::Kind::squared_hinge)
    return {slack * slack, 2 * slack, slack * (phi.margin + z), slack > 0};
  const bool rounded = phi.kind == MarginFunction::Kind::smoothed_hinge;
  const double alpha = slack > 0 ? (rounded ? std::min(1.0, slack / phi.width) : 1.0) : 0.0;
  return {slack, alpha, alpha * phi.margin, slack > 0 && !(rounded && z < phi.margin - phi.width)};
}

Expected by_pairs(const Problem& problem) {
  const auto n = problem.n();
  Expected found;
  found.gradient.assign(n, 0.0);
  found.laplacian.assign(n * n, 0.0);
  const auto row = [&](std::int64_t g) { return problem.order.empty() ? g : problem.order[g]; };
  for (std::size_t q = 0; q + 1 < problem.query_start.size(); ++q)
    for (auto a = problem.query_start[q]; a < problem.query_start[q + 1]; ++a)
      for (auto b = problem.query_start[q]; b < problem.query_start[q + 1]; ++b) {
        const auto i = row(a), j = row(b);
        if (!(problem.y[i] > problem.y[j])) continue;
        const double z = problem.scores[i] - problem.scores[j];
        const double weight = problem.weight(static_cast<std::int64_t>(q), i, j);
        const Point point = evaluate(problem.phi, z);
        found.n_pairs += weight;
        found.n_active += z < problem.phi.margin ? weight : 0;
        found.value += weight * point.value;
        found.offset += weight * point.offset;
        found.magnitude += weight * (1 + point.value + point.alpha);
        found.gradient[i] -= weight * point.alpha;
        found.gradient[j] += weight * point.alpha;
        if (!point.curves) continue;
        found.laplacian[i * n + i] += weight;
        found.laplacian[j * n + j] += weight;
        found.laplacian[i * n + j] -= weight;
        found.laplacian[j * n + i] -= weight;
      }
  return found;
}

// unit (N + N') = M, for the identity in N's place.
template <class Real>
void check_half_laplacian(const Sweep& sweep, const Expected& expected, double tolerance) {
  const auto n = sweep.pairs().n_documents();
  std::vector<std::int64_t> rows(n);
  sweep.rows(0, n, rows.data());
  std::vector<double> N(n * n);
  for (std::int64_t q = 0; q < sweep.pairs().n_queries(); ++q) {
    const auto begin = sweep.pairs().query_start(q), size = sweep.pairs().size(q);
    std::vector<Real> v(size * size), result(size * size);
    for (std::int64_t p = 0; p < size; ++p) v[p * size + p] = 1;
    sweep.half_laplacian(q, q + 1, v.data(), size, std::int64_t{0}, size, result.data());
    for (std::int64_t p = 0; p < size; ++p)
      for (std::int64_t k = 0; k < size; ++k)
        N[(begin + p) * n + begin + k] = sweep.half_laplacian_unit() * result[p * size + k];
  }
  for (std::int64_t p = 0; p < n; ++p)
    for (std::int64_t k = 0; k < n; ++k)
      CHECK(close(N[p * n + k] + N[k * n + p], expected.laplacian[rows[p] * n + rows[k]],
                  tolerance * expected.magnitude));
}

// Rows of whole numbers, most of them zero.
class WholeNumbers final : public SparseMatrix {
 public:
  WholeNumbers(Random& random, std::int64_t n, std::int64_t d) : dense(n * d), rows_(n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (auto left = random.whole(0, 5); d > 0 && left > 0; --left) {
        const auto k = random.whole(0, d - 1);
        const auto value = static_cast<double>(random.whole(-3, 3));
        rows_[i].emplace_back(static_cast<std::uint32_t>(k), value);
        dense[i * d + k] += value;
      }
  }
  [[nodiscard]] std::int64_t n_stored(std::int64_t row) const override {
    return std::ssize(rows_[row]);
  }
  void copy(std::int64_t row, std::uint32_t first_column, std::uint32_t* column,
            double* value) const override {
    for (const auto& [k, x] : rows_[row]) {
      *column++ = k - first_column;
      *value++ = x;
    }
  }
  std::vector<double> dense;

 private:
  std::vector<std::vector<std::pair<std::uint32_t, double>>> rows_;
};

// unit (Z' N Z + its transpose) = Z' M Z, in parts of the columns and queries, one in so many of
// these and then the others, and a few documents at a time.
void check_sparse_hessian(Random& random, const std::shared_ptr<const Sweep>& sweep,
                          const Expected& expected) {
  const auto n = sweep->pairs().n_documents(), d = random.whole(0, 12), cut = random.whole(0, d);
  const auto Z = std::make_shared<WholeNumbers>(random, n, d);
  std::vector<double> half(d * d), MZ(n * d);
  const auto n_queries = sweep->pairs().n_queries(), cut_queries = random.whole(0, n_queries);
  const auto add = [&](std::int64_t first, std::int64_t last, SomeQueries queries) {
    SparseHessian hessian(sweep, std::make_unique<WholeNumbers>(*Z), d, first,
                          static_cast<std::size_t>(last - first), half.data(), d, queries);
    while (hessian.advance(random.whole(1, 9))) {
    }
  };
  add(0, cut, {0, cut_queries, 1});
  add(0, cut, {cut_queries, n_queries, 1});
  const auto every = random.whole(1, 3);  // of which all others are taken one by one
  add(cut, d, {0, n_queries, every});
  for (std::int64_t q = 0; q < n_queries; ++q)
    if (q % every != 0) add(cut, d, {q, q + 1, 1});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < d; ++k)
        MZ[i * d + k] += expected.laplacian[i * n + j] * Z->dense[j * d + k];
  for (std::int64_t k = 0; k < d; ++k)
    for (std::int64_t l = 0; l < d; ++l) {
      double product = 0;
      for (std::int64_t i = 0; i < n; ++i) product += Z->dense[i * d + k] * MZ[i * d + l];
      CHECK(close(sweep->half_laplacian_unit() * (half[k * d + l] + half[l * d + k]), product,
                  1e-9 * expected.magnitude));
    }
}

// Sweeps over some queries and over the others, by the slots of each.
void check_parts(Random& random, const Problem& problem, const PreferencePairs& pairs,
                 const Expected& expected) {
  const auto n_queries = pairs.n_queries(), cut = random.whole(0, n_queries);
  double n_active = 0;
  for (const auto& [first, last] : {std::pair{std::int64_t{0}, cut}, std::pair{cut, n_queries}}) {
    const auto part = std::make_shared<PreferencePairs>(pairs.part(first, last));
    const auto begin = pairs.query_start(first), n = part->n_documents();
    CHECK(n == pairs.query_start(last) - begin);
    std::vector<double> scores(n);
    for (std::int64_t i = 0; i < n; ++i) scores[i] = problem.scores[pairs.row_of(begin + i)];
    const Sweep sweep(part, scores.data(), problem.phi, Counting::automatic, 1);
    const double rounding = 1e-12 * (expected.magnitude + sweep.totals().magnitude) +
                            1e-13 * sweep.totals().band_magnitude;
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(close(sweep.gradient()[i], expected.gradient[pairs.row_of(begin + i)], rounding));
    n_active += sweep.totals().n_active;
  }
  CHECK(close(n_active, expected.n_active, 1e-12 * expected.magnitude));
}

void test_against_pairs(Random& random) {
  // Short queries, or a mixture with longer ones.
  const auto most = random.whole(0, 3) == 0 ? 4 * PreferencePairs::kShortQuery : 40;
  const Problem problem = draw(random, random.whole(1, most), random.whole(1, 4));
  const auto n = problem.n();
  const Expected expected = by_pairs(problem);
  const auto pairs = problem.pairs(1);
  const auto per_query = pairs->pairs_per_query();
  CHECK(close(std::accumulate(per_query.begin(), per_query.end(), 0.0), expected.n_pairs,
              1e-12 * expected.magnitude));
  for (const auto way : {Counting::automatic, Counting::merge, Counting::levels, Counting::joachims,
                         Counting::tree, Counting::pairs}) {
    const auto made = std::make_shared<Sweep>(pairs, problem.scores.data(), problem.phi, way, 1);
    const Sweep& sweep = *made;
    const double rounding = 1e-13 * (expected.magnitude + sweep.totals().magnitude) +
                            1e-14 * sweep.totals().band_magnitude;
    CHECK(close(sweep.totals().n_active, expected.n_active, rounding));
    CHECK(close(sweep.totals().value, expected.value, rounding));
    CHECK(close(sweep.totals().offset, expected.offset, 10 * rounding));
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(close(sweep.gradient()[i], expected.gradient[i], 10 * rounding));
    std::vector<double> identity(n * n), product(n * n), degree(n);
    for (std::int64_t i = 0; i < n; ++i) identity[i * n + i] = 1;
    sweep.laplacian(identity.data(), n, product.data(), 1);
    sweep.degree(degree.data());
    for (std::int64_t i = 0; i < n * n; ++i)
      CHECK(close(product[i], expected.laplacian[i], 1e-12 * expected.magnitude));
    for (std::int64_t i = 0; i < n; ++i)
      CHECK(close(degree[i], expected.laplacian[i * n + i], 1e-12 * expected.magnitude));
    check_half_laplacian<double>(sweep, expected, 1e-12);
    check_half_laplacian<float>(sweep, expected, 1e-5);
    check_sparse_hessian(random, made, expected);
  }
  check_parts(random, problem, *pairs, expected);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void test_threads(Random& random) {
  const auto n_queries = random.coin() ? random.whole(1, 9) : random.whole(100, 1000);
  const Problem problem = draw(random, random.whole(1 << 12, 1 << 15), n_queries);
  const auto n = problem.n();
  std::vector<double> v(2 * n), first;
  for (double& value : v) value = random.real(-1, 1);
  for (const int n_threads : {1, 2, 5}) {
    const Sweep sweep(problem.pairs(n_threads), problem.scores.data(), problem.phi,
                      Counting::automatic, n_threads);
    const auto& totals = sweep.totals();
    std::vector<double> found{totals.n_active, totals.value, totals.offset, totals.magnitude,
                              totals.smoothing};
    found.insert(found.end(), sweep.gradient().get(), sweep.gradient().get() + n);
    found.resize(found.size() + v.size());
    sweep.laplacian(v.data(), 2, found.data() + found.size() - v.size(), n_threads);
    if (first.empty()) first = found;
    CHECK(same_bits(found, first));
  }
}

// Labels in blocks against a tree of another kind; equal labels, and windows that hold their own
// document or not.
template <int K>
void check_blocks(Random& random) {
  const auto n = static_cast<std::uint32_t>(random.whole(1, 1 << 13));
  std::vector<std::uint32_t> label(n), window_end(n);
  const auto n_levels = (1u << LabelBlocks<K>::kBits) + n;
  for (auto& rank : label) rank = static_cast<std::uint32_t>(random.whole(0, n_levels - 1));
  for (auto& end : window_end) end = static_cast<std::uint32_t>(random.whole(0, n));
  std::sort(window_end.begin(), window_end.end());
  std::vector<double> v(K * n), found(K * n), expected(K * n);
  for (double& value : v) value = static_cast<double>(random.whole(-9, 9));
  const SortedQuery query{n, n_levels, label.data(), window_end.data(), nullptr};
  const auto columns = [](std::vector<double>& values) {
    return reinterpret_cast<Columns<K>*>(values.data());
  };
  MergeSums<K, false, 1 << LabelBlocks<K>::kBits> in_blocks;
  TreeSums<K, false> tree;
  in_blocks.upper(query, columns(v), columns(found));
  tree.upper(query, columns(v), columns(expected));
  CHECK(found == expected);
  in_blocks.lower(query, columns(v), columns(found));
  tree.lower(query, columns(v), columns(expected));
  CHECK(found == expected);
}

void test_blocks(Random& random) {
  check_blocks<1>(random);
  check_blocks<2>(random);
}

}  // namespace

void test_sweeps(double seconds) {
  repeat(seconds / 3, test_against_pairs);
  repeat(seconds / 3, test_threads);
  repeat(seconds / 3, test_blocks);
}

}  // namespace ranksvm::tests
