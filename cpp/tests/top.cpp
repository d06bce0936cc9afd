// Sweeps over the pairs of the top against explicit pairs, and on other numbers of threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "top_sweep.hpp"

namespace ranksvm::tests {
namespace {

struct Ranked {
  std::vector<std::int64_t> start{0};
  std::vector<std::uint32_t> row;
  std::vector<double> gain, weight, factor, discount, scores;
  MarginFunction phi;

  std::int64_t n() const { return std::ssize(row); }
  std::shared_ptr<const TopPairs> pairs() const {
    return std::make_shared<TopPairs>(start, row, gain.data(), weight.data(), factor, discount);
  }
};

Ranked random_problem(Random& random) {
  Ranked problem;
  const auto n_queries = random.whole(1, 4);
  for (std::int64_t q = 0; q < n_queries; ++q) {
    problem.start.push_back(problem.start.back() + random.whole(0, random.coin() ? 9 : 400));
    problem.factor.push_back(random.whole(0, 3) == 0 ? 0 : random.real(0, 2));
  }
  const auto n = problem.start.back();
  problem.row.resize(n);
  std::iota(problem.row.begin(), problem.row.end(), 0U);
  for (auto i = n; i > 1; --i) std::swap(problem.row[i - 1], problem.row[random.whole(0, i - 1)]);
  for (std::int64_t p = 0; p < n; ++p) {
    problem.gain.push_back(static_cast<double>(random.whole(0, 4)));
    problem.weight.push_back(random.coin() ? 1 : random.real(0, 2));
    problem.scores.push_back(static_cast<double>(random.whole(-8, 8)) / 4);
  }
  const auto top = random.whole(1, random.coin() ? 3 : 60);
  for (std::int64_t rank = 0; rank < top; ++rank)
    problem.discount.push_back(1 / std::log2(2 + static_cast<double>(rank)));
  const auto kind = static_cast<MarginFunction::Kind>(random.whole(0, 2));
  problem.phi = {kind, 1, kind == MarginFunction::Kind::smoothed_hinge ? 0.5 : 0};
  return problem;
}

struct Truth {
  double value = 0, weight = 0;
  std::vector<double> gradient, moved;
};

// What a pair of the better and the worse row adds, v being by row.
void add_pair(const Ranked& problem, std::uint32_t better, std::uint32_t worse, double weight,
              const std::vector<double>& v, Truth& truth) {
  using Kind = MarginFunction::Kind;
  const auto [kind, margin, width] = problem.phi;
  const double lacking = std::max(margin - (problem.scores[better] - problem.scores[worse]), 0.0);
  double slope = 2 * lacking;
  if (kind == Kind::hinge) slope = lacking > 0 ? 1 : 0;
  if (kind == Kind::smoothed_hinge) slope = std::min(lacking / width, 1.0);
  truth.weight += weight;
  truth.value += weight * (kind == Kind::squared_hinge ? lacking * lacking : lacking);
  truth.gradient[better] -= weight * slope;
  truth.gradient[worse] += weight * slope;
  if (lacking > 0 && (kind != Kind::smoothed_hinge || lacking <= width)) {
    truth.moved[better] += weight * (v[better] - v[worse]);
    truth.moved[worse] += weight * (v[worse] - v[better]);
  }
}

Truth truth_of(const Ranked& problem, const std::vector<double>& v) {
  Truth truth;
  truth.gradient.resize(problem.n());
  truth.moved.resize(problem.n());
  const auto discount = [&](std::int64_t rank) {
    return rank < std::ssize(problem.discount) ? problem.discount[rank] : 0;
  };
  for (std::size_t q = 0; q < problem.factor.size(); ++q)
    for (auto a = problem.start[q]; a < problem.start[q + 1]; ++a)
      for (auto b = a + 1; b < problem.start[q + 1]; ++b) {
        const double gap = problem.gain[a] - problem.gain[b];
        const double change = discount(a - problem.start[q]) - discount(b - problem.start[q]);
        const double weight =
            problem.factor[q] * std::abs(gap) * change * problem.weight[a] * problem.weight[b];
        if (weight == 0) continue;
        const auto better = problem.row[gap > 0 ? a : b], worse = problem.row[gap > 0 ? b : a];
        add_pair(problem, better, worse, weight, v, truth);
      }
  return truth;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-10 * (1 + std::abs(a)); }

void check_sweep(Random& random) {
  const Ranked problem = random_problem(random);
  const auto n = problem.n();
  std::vector<double> v(n);
  for (double& value : v) value = random.real(-1, 1);
  const Truth truth = truth_of(problem, v);
  const auto pairs = problem.pairs();
  const TopSweep one(pairs, problem.scores.data(), problem.phi, 1);
  const TopSweep three(pairs, problem.scores.data(), problem.phi, 3);
  const auto per_query = pairs->pairs_per_query(3);
  CHECK(near(std::accumulate(per_query.begin(), per_query.end(), 0.0), truth.weight));
  CHECK(near(one.totals().value, truth.value));
  CHECK(one.totals().value == three.totals().value);
  std::vector<double> moved(n), moved_by_three(n), half(n), by_place(n);
  one.laplacian(v.data(), 1, moved.data(), 1);
  three.laplacian(v.data(), 1, moved_by_three.data(), 3);
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(near(one.gradient()[i], truth.gradient[i]));
    CHECK(one.gradient()[i] == three.gradient()[i]);
    CHECK(near(moved[i], truth.moved[i]));
    CHECK(moved[i] == moved_by_three[i]);
    by_place[i] = v[problem.row[i]];
  }
  one.half_laplacian(0, pairs->n_queries(), by_place.data(), 1, half.data());
  const double form = std::inner_product(half.begin(), half.end(), by_place.begin(), 0.0);
  const double expected = std::inner_product(v.begin(), v.end(), moved.begin(), 0.0);
  CHECK(near(2 * pairs->unit() * form, expected));
}

}  // namespace

void test_top(double seconds) { repeat(seconds, check_sweep); }

}  // namespace ranksvm::tests
