// Sweeps over given pairs against sums over the list, and against themselves on more threads.
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "check.hpp"
#include "given_sweep.hpp"

namespace ranksvm::tests {
namespace {

struct Problem {
  std::vector<std::uint32_t> winner, loser;
  std::vector<double> weight, margin, scores;
  MarginFunction phi;

  std::int64_t n() const { return std::ssize(scores); }
  double weight_of(std::size_t p) const { return weight.empty() ? 1 : weight[p]; }
  double lacking(std::size_t p) const {
    const double wanted = phi.margin + (margin.empty() ? 0 : margin[p]);
    return std::max(wanted - (scores[winner[p]] - scores[loser[p]]), 0.0);
  }
  double slope(std::size_t p) const {
    if (phi.kind == MarginFunction::Kind::hinge) return lacking(p) > 0 ? 1 : 0;
    if (phi.kind == MarginFunction::Kind::squared_hinge) return 2 * lacking(p);
    return std::min(lacking(p) / phi.width, 1.0);
  }
  bool curves(std::size_t p) const {
    const bool smoothed = phi.kind == MarginFunction::Kind::smoothed_hinge;
    return lacking(p) > 0 && (!smoothed || lacking(p) <= phi.width);
  }
  std::shared_ptr<const GivenPairs> pairs() const {
    return std::make_shared<GivenPairs>(n(), winner, loser,
                                        weight.empty() ? nullptr : weight.data(),
                                        margin.empty() ? nullptr : margin.data());
  }
};

// Scores and margins are multiples of 1/8, so that which pairs are active is no matter of rounding.
Problem draw(Random& random, std::int64_t n, std::int64_t n_pairs) {
  Problem problem;
  for (std::int64_t i = 0; i < n; ++i)
    problem.scores.push_back(static_cast<double>(random.whole(-16, 16)) / 8);
  const bool weights = random.coin(), margins = random.coin(), hub = random.coin();
  for (std::int64_t p = 0; p < n_pairs; ++p) {
    const auto i = hub && random.coin() ? 0 : random.whole(0, n - 1);
    problem.winner.push_back(static_cast<std::uint32_t>(i));
    problem.loser.push_back(static_cast<std::uint32_t>((i + random.whole(1, n - 1)) % n));
    if (weights) problem.weight.push_back(static_cast<double>(random.whole(0, 3)));
    if (margins) problem.margin.push_back(static_cast<double>(random.whole(1, 16)) / 8);
  }
  const MarginFunction::Kind kinds[] = {MarginFunction::Kind::hinge,
                                        MarginFunction::Kind::squared_hinge,
                                        MarginFunction::Kind::smoothed_hinge};
  problem.phi = {kinds[random.whole(0, 2)], margins ? 0.0 : 1.0, 0.5};
  return problem;
}

void compare(const Problem& problem) {
  const GivenSweep sweep(problem.pairs(), problem.scores.data(), problem.phi, 1);
  double value = 0, terms = 1;
  const auto n = static_cast<std::size_t>(problem.n());
  std::vector<double> gradient(n), product(n), v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<double>(i * i % 7);
  for (std::size_t p = 0; p < problem.winner.size(); ++p) {
    const auto i = problem.winner[p], j = problem.loser[p];
    const bool squared = problem.phi.kind == MarginFunction::Kind::squared_hinge;
    const double weight = problem.weight_of(p), lacking = problem.lacking(p);
    value += weight * (squared ? lacking * lacking : lacking);
    terms += weight * (1 + problem.slope(p));
    gradient[i] -= weight * problem.slope(p);
    gradient[j] += weight * problem.slope(p);
    if (!problem.curves(p)) continue;
    product[i] += weight * (v[i] - v[j]);
    product[j] += weight * (v[j] - v[i]);
  }
  CHECK(close(sweep.totals().value, value, 1e-13 * (1 + value)));
  std::vector<double> result(n);
  sweep.laplacian(v.data(), 1, result.data(), 1);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(close(sweep.gradient()[i], gradient[i], 1e-13 * terms));
    CHECK(close(result[i], product[i], 1e-13 * 7 * terms));
  }
}

void require_same_bits(const Problem& problem) {
  const auto pairs = problem.pairs();
  const auto n = static_cast<std::size_t>(problem.n());
  std::vector<double> first(9 * n), second(9 * n), v(9 * n);
  for (std::size_t k = 0; k < v.size(); ++k) v[k] = std::sin(static_cast<double>(k));
  const GivenSweep one(pairs, problem.scores.data(), problem.phi, 1),
      three(pairs, problem.scores.data(), problem.phi, 3);
  CHECK(one.totals().value == three.totals().value);
  CHECK(one.totals().magnitude == three.totals().magnitude);
  CHECK(std::memcmp(one.gradient().get(), three.gradient().get(), n * sizeof(double)) == 0);
  one.laplacian(v.data(), 9, first.data(), 1);
  three.laplacian(v.data(), 9, second.data(), 3);
  CHECK(first == second);
}

}  // namespace

void test_given_pairs(double seconds) {
  repeat(seconds / 2,
         [](Random& random) { compare(draw(random, random.whole(2, 40), random.whole(1, 600))); });
  repeat(seconds / 2, [](Random& random) { require_same_bits(draw(random, 3000, 60000)); });
}

}  // namespace ranksvm::tests
