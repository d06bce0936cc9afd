// The regularization path: wherever it has come, no step away from its solution leads down.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"
#include "regularization_path.hpp"

namespace ranksvm::tests {
namespace {

struct Problem {
  std::size_t n;
  std::vector<double> K;
  std::vector<std::int32_t> upper, lower;
  std::vector<double> margin;

  // sum of max(0, m_p - f_p) + lambda / 2 |f|^2 for f = K gamma / lambda.
  double objective(const std::vector<double>& gamma, double lambda) const {
    std::vector<double> f(n);
    double square = 0, loss = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k) f[i] += K[i * n + k] * gamma[k] / lambda;
      square += f[i] * gamma[i] / lambda;
    }
    for (std::size_t p = 0; p < margin.size(); ++p)
      loss += std::max(0.0, margin[p] - (f[upper[p]] - f[lower[p]]));
    return loss + 0.5 * lambda * square;
  }
};

Problem draw(Random& random) {
  Problem problem;
  problem.n = static_cast<std::size_t>(random.whole(2, 14));
  const auto n = problem.n, d = static_cast<std::size_t>(random.whole(1, 6));
  std::vector<double> X(n * d);
  for (double& value : X) value = random.real(-1, 1);
  problem.K.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < d; ++k) problem.K[i * n + j] += X[i * d + k] * X[j * d + k];
  std::vector<std::int64_t> y(n);
  for (auto& label : y) label = random.whole(0, 4);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (!(y[i] > y[j])) continue;
      problem.upper.push_back(static_cast<std::int32_t>(i));
      problem.lower.push_back(static_cast<std::int32_t>(j));
      problem.margin.push_back(1 + 1e-3 * random.real(-1, 1));
    }
  return problem;
}

void test_optimality(Random& random) {
  const Problem problem = draw(random);
  RegularizationPath path(problem.K.data(), static_cast<std::int64_t>(problem.n), problem.upper,
                          problem.lower, problem.margin);
  const double least = path.lambda() * 1e-3;
  while (path.lambda() > least && !path.stuck()) {
    path.advance(least, random.whole(1, 20));
    const std::vector<double> gamma(path.gamma().begin(), path.gamma().end());
    const double lambda = path.lambda(), here = problem.objective(gamma, lambda);
    for (int k = 0; k < 10; ++k) {
      auto moved = gamma;
      const double length = std::pow(10, random.real(-4, 0));
      for (double& value : moved) value += length * random.real(-1, 1);
      CHECK(problem.objective(moved, lambda) >= here * (1 - 1e-9));
    }
  }
  CHECK(!path.stuck());
}

}  // namespace

void test_path(double seconds) { repeat(seconds, test_optimality); }

}  // namespace ranksvm::tests
