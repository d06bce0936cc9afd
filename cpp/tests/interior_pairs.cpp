// Passes over the pairs of a level in interior-point steps against one pair after the other.
#include "interior_pairs.hpp"

#include <algorithm>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

using Vector = std::vector<double>;

constexpr double kMargin = 1.5, kShare = 0.3, kProduct = 0.2;

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); }

// What is true of a pair: where it is, and where a step leads.
struct Pair {
  double slope, room, low, high, weight, to_slope = 0, to_low = 0, to_high = 0;

  explicit Pair(double upper)
      : slope(kShare * upper),
        room(upper - slope),
        low(kProduct / slope),
        high(kProduct / room),
        weight(1 / (low / slope + high / room)) {}

  void aim(double lacking, double of_low, double of_high) {
    to_slope = weight * (lacking + of_low - of_high);
    to_low = of_low - low * (1 + to_slope / slope);
    to_high = of_high - high * (1 - to_slope / room);
  }
  double fastest() const {
    return std::max({-to_slope / slope, to_slope / room, -to_low / low, -to_high / high});
  }
};

void check_passes(Random& random) {
  const auto whole = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(random.whole(low, high));
  };
  const std::size_t n_worse = random.coin() ? whole(1, 9) : whole(500, 1100);
  const std::size_t n_better = whole(1, 4), first = n_worse + whole(0, 2), n = first + n_better;
  const bool is_uniform = random.coin();
  Vector upper(is_uniform ? 1 : n_better * n_worse), here(n), towards(n), there(n);
  for (double& value : upper) value = random.real(0.5, 2);
  for (Vector* scores : {&here, &towards, &there})
    for (double& score : *scores) score = static_cast<double>(random.whole(-3, 3)) / 2;

  InteriorPairs pairs({first, n_better, n_worse}, upper.data(), is_uniform, kMargin, kShare,
                      kProduct);
  Vector balance(n), degree(n), of_products(n), of_aim(n), moved_balance(n), moved_degree(n);
  pairs.weigh(here.data(), balance.data(), degree.data());
  const auto way = pairs.bend(towards.data(), of_products.data(), of_aim.data());
  const InteriorPairs::Aim aim{towards.data(), there.data(), 0.1};
  const double fastest = pairs.fastest(aim), part = 0.9 / std::max(fastest, 0.9);
  const auto sums = pairs.move(aim, part, moved_balance.data(), moved_degree.data());

  Vector truth(4 * n);
  double expected_way = 0, expected_fastest = 0, change = 0, slopes = 0, products = 0;
  for (std::size_t p = 0; p < n_better * n_worse; ++p) {
    const std::size_t i = first + p / n_worse, j = p % n_worse;
    const auto lacking = [&](const Vector& s) { return kMargin - (s[i] - s[j]); };
    Pair pair(upper[is_uniform ? 0 : p]);
    const auto add = [&](std::size_t which, double value, double sign) {
      truth[which * n + i] += value;
      truth[which * n + j] += sign * value;
    };
    add(0, pair.weight * lacking(here), -1);
    add(1, pair.weight, 1);
    pair.aim(lacking(towards), 0, 0);
    expected_way = std::max(expected_way, pair.fastest());
    change += pair.to_slope * (pair.to_low - pair.to_high);
    const double bent_low = pair.to_slope * pair.to_low / pair.slope;
    const double bent_high = pair.to_slope * pair.to_high / pair.room;
    add(2, pair.weight * (bent_low + bent_high), -1);
    pair.aim(lacking(there), aim.product / pair.slope - bent_low,
             aim.product / pair.room + bent_high);
    expected_fastest = std::max(expected_fastest, pair.fastest());
    const double slope = pair.slope + part * pair.to_slope;
    slopes += slope;
    products += slope * (pair.low + part * pair.to_low);
    products += (pair.room - part * pair.to_slope) * (pair.high + part * pair.to_high);
    add(3, slope, -1);
  }
  CHECK(near(expected_way, way.fastest) && near(change, way.change));
  CHECK(near(expected_fastest, fastest));
  CHECK(near(slopes, sums.slopes) && near(products, sums.products));
  for (std::size_t k = 0; k < n; ++k) {
    CHECK(near(truth[k], balance[k]) && near(truth[n + k], degree[k]));
    CHECK(near(truth[2 * n + k], of_products[k]) && near(truth[3 * n + k], moved_balance[k]));
  }
}

}  // namespace

void test_interior_pairs(double seconds) { repeat(seconds, check_passes); }

}  // namespace ranksvm::tests
