// The minimum over the simplex by its optimality conditions, as elements come and go.
#include "simplex_qp.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

struct Elements {  // vectors whose products are G, and the linear terms
  std::vector<std::vector<double>> vectors;
  std::vector<double> linear;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void check_optimal(const SimplexQp& qp, const Elements& elements) {
  const auto& a = qp.weights();
  const std::size_t n = elements.vectors.size();
  CHECK(a.size() == n);
  CHECK(close(std::accumulate(a.begin(), a.end(), 0.0), 1, 1e-12));
  std::vector<double> sum(elements.vectors[0].size()), gradient(n);
  double size = 1e-300;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(a[i] >= 0);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += a[i] * elements.vectors[i][k];
    size = std::max(
        {size, dot(elements.vectors[i], elements.vectors[i]), std::abs(elements.linear[i])});
  }
  const double objective = 0.5 * dot(sum, sum) - dot(a, elements.linear);
  CHECK(close(qp.objective(), objective, 1e-9 * size));
  for (std::size_t i = 0; i < n; ++i)
    gradient[i] = dot(elements.vectors[i], sum) - elements.linear[i];
  const double mean = dot(a, gradient);
  for (const double value : gradient) CHECK(value >= mean - 1e-7 * size);
}

void test_changes(Random& random) {
  const auto dimension = static_cast<std::size_t>(random.whole(1, 8));
  SimplexQp qp;
  Elements elements;
  for (auto change = random.whole(1, 40); change-- > 0;) {
    std::vector<double> vector(dimension), products;
    for (double& value : vector) value = random.real(-1, 1) + 0.3;
    elements.vectors.push_back(random.whole(0, 9) == 0 && !elements.vectors.empty()
                                   ? elements.vectors.front()  // dependent on the others
                                   : vector);
    elements.linear.push_back(random.real(-0.5, 0.5));
    for (const auto& other : elements.vectors)
      products.push_back(dot(other, elements.vectors.back()));
    qp.add(products.data(), elements.linear.back());
    if (random.coin()) {
      qp.solve();
      check_optimal(qp, elements);
    }
    if (random.whole(0, 4) != 0) continue;
    Elements left;
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < elements.linear.size(); ++i) {
      if (qp.weights()[i] == 0 && random.coin()) continue;
      kept.push_back(i);
      left.vectors.push_back(elements.vectors[i]);
      left.linear.push_back(elements.linear[i]);
    }
    qp.keep(kept);
    elements = left;
  }
  qp.solve();
  check_optimal(qp, elements);
}

}  // namespace

void test_simplex_qp(double seconds) { repeat(seconds, test_changes); }

}  // namespace ranksvm::tests
