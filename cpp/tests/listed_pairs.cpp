// Passes over listed pairs in interior-point steps against one pair after the other.
#include "listed_pairs.hpp"

#include <algorithm>
#include <vector>

#include "check.hpp"

namespace ranksvm::tests {
namespace {

using Vector = std::vector<double>;

constexpr double kLeast = 1e-3, kFactor = 4;

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); }

// What is true of a pair: where it is, and where a step leads.
struct Pair {
  std::size_t i, j;
  double margin, upper, slope, low, high;
  bool is_bounded;
  double more_low = 0, more_high = 0, to_slope = 0, to_low = 0, to_high = 0;

  double room() const { return upper - slope; }
  double curvature() const { return is_bounded ? 0 : 0.5 / upper; }
  double weight() const {
    return 1 / std::max(low / slope + (is_bounded ? high / room() : curvature()), kLeast);
  }
  double lacking(const Vector& s) const { return margin - (s[i] - s[j]) - curvature() * slope; }
  void step(const Vector& here, const Vector& move, double of_low, double of_high) {
    to_slope = weight() * (lacking(here) - (move[i] - move[j]) + of_low - of_high);
    to_low = of_low - low * (1 + to_slope / slope);
    to_high = is_bounded ? of_high - high * (1 - to_slope / room()) : 0;
  }
  double bent_low = 0, bent_high = 0;
  void bend(const Vector& here, const Vector& towards) {
    step(here, towards, 0, 0);
    bent_low = to_slope * to_low / slope;
    bent_high = is_bounded ? to_slope * to_high / room() : 0;
  }
  void aim(const Vector& here, const Vector& move, double product) {
    step(here, move, (product + more_low) / slope - bent_low,
         is_bounded ? (product + more_high) / room() + bent_high : 0);
  }
  double fastest() const {
    const double of_low = std::max({0.0, -to_slope / slope, -to_low / low});
    return is_bounded ? std::max({of_low, to_slope / room(), -to_high / high}) : of_low;
  }
  static double off(double product, double aim) {
    return std::max(std::clamp(product, aim / kFactor, kFactor * aim) - product, -kFactor * aim);
  }
  // Returns what the balance gets.
  double correct(double product, double part) {
    const double by_low = off((slope + part * to_slope) * (low + part * to_low), product);
    const double by_high =
        is_bounded ? off((room() - part * to_slope) * (high + part * to_high), product) : 0;
    more_low += by_low;
    more_high += by_high;
    return weight() * (by_low / slope - (is_bounded ? by_high / room() : 0));
  }
};

class Truth {
 public:
  Truth(Random& random, std::size_t n_rows, std::size_t n_pairs) : n_rows_(n_rows) {
    const auto row = [&] {
      return static_cast<std::size_t>(random.whole(0, static_cast<std::int64_t>(n_rows) - 1));
    };
    is_bounded = random.coin();
    const bool is_uniform = random.coin();
    for (std::size_t p = 0; p < n_pairs; ++p) {
      // The better row is often that of the pair before.
      const std::size_t i = p > 0 && random.coin() ? pairs.back().i : row();
      const std::size_t j = (i + 1 + row() % (n_rows - 1)) % n_rows;
      const double margin = is_uniform ? 1.5 : random.real(0, 2), upper = random.real(0.5, 2);
      pairs.push_back({i, j, margin, upper, random.real(0.1, 0.9) * upper, random.real(0.1, 2),
                       random.real(0.1, 2), is_bounded});
    }
    margins = is_uniform ? 1 : n_pairs;
  }

  ListedPairs listed() const {
    std::vector<std::int64_t> better, worse;
    Vector margin, upper, slopes, low, high;
    for (const Pair& pair : pairs) {
      better.push_back(static_cast<std::int64_t>(pair.i));
      worse.push_back(static_cast<std::int64_t>(pair.j));
      margin.push_back(pair.margin);
      upper.push_back(pair.upper);
      slopes.push_back(pair.slope);
      low.push_back(pair.low);
      high.push_back(pair.high);
    }
    return ListedPairs(
        {better.data(), worse.data(), pairs.size(), n_rows_, margin.data(), margins == 1},
        upper.data(), slopes.data(), low.data(), is_bounded ? high.data() : nullptr);
  }

  template <class Number>
  Vector balance(Number&& number, double of_worse = -1) const {
    Vector sums(n_rows_);
    for (const Pair& pair : pairs) {
      sums[pair.i] += number(pair);
      sums[pair.j] += of_worse * number(pair);
    }
    return sums;
  }
  template <class Number>
  double sum(Number&& number) const {
    double total = 0;
    for (const Pair& pair : pairs) total += number(pair);
    return total;
  }
  double fastest() const {
    double most = 0;
    for (const Pair& pair : pairs) most = std::max(most, pair.fastest());
    return most;
  }

  std::vector<Pair> pairs;
  std::size_t margins;
  bool is_bounded;

 private:
  std::size_t n_rows_;
};

void check_same(const Vector& expected, const Vector& found) {
  for (std::size_t k = 0; k < found.size(); ++k) CHECK(near(expected[k], found[k]));
}

void check_listed(Random& random) {
  const auto whole = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(random.whole(low, high));
  };
  const std::size_t n = whole(2, 30), n_pairs = random.coin() ? whole(1, 20) : whole(500, 1100);
  Truth truth(random, n, n_pairs);
  ListedPairs pairs = truth.listed();
  Vector here(n), towards(n), move(n), again(n);
  for (Vector* scores : {&here, &towards, &move, &again})
    for (double& score : *scores) score = random.real(-1.5, 1.5);

  for (int round = 0; round < 2; ++round) {
    for (Pair& pair : truth.pairs) pair.more_low = pair.more_high = 0;
    Vector balance(n), of_products(n), of_aim(n), of_step(n);
    pairs.weigh(here.data(), kLeast, balance.data());
    check_same(truth.balance([&](const Pair& p) { return p.weight() * p.lacking(here); }), balance);
    for (std::size_t p = 0; p < n_pairs; ++p)
      CHECK(near(truth.pairs[p].weight(), pairs.weights()[p]));
    Vector product(n);
    pairs.laplacian(move.data(), product.data());
    check_same(truth.balance([&](const Pair& p) { return p.weight() * (move[p.i] - move[p.j]); }),
               product);
    Vector matrix(n * n), by_matrix(n);
    pairs.add_laplacian(matrix.data());
    for (std::size_t i = 0; i < n; ++i) {
      by_matrix[i] += matrix[i * n + i] * move[i];
      for (std::size_t j = 0; j < i; ++j) {
        by_matrix[i] += matrix[i * n + j] * move[j];
        by_matrix[j] += matrix[i * n + j] * move[i];
        CHECK(matrix[j * n + i] == 0);
      }
    }
    check_same(product, by_matrix);

    const auto way = pairs.bend(towards.data(), of_products.data(), of_aim.data(), of_step.data());
    for (Pair& pair : truth.pairs) pair.bend(here, towards);
    const auto to_slope = [](const Pair& p) { return p.to_slope; };
    CHECK(near(truth.fastest(), way.fastest));
    CHECK(near(truth.sum([](const Pair& p) { return p.to_slope * (p.to_low - p.to_high); }),
               way.change));
    check_same(truth.balance([](const Pair& p) { return p.weight() * (p.bent_low + p.bent_high); }),
               of_products);
    check_same(truth.balance([&](const Pair& p) {
      return p.weight() * (1 / p.slope - (truth.is_bounded ? 1 / p.room() : 0));
    }),
               of_aim);
    check_same(truth.balance(to_slope), of_step);

    ListedPairs::Aim aim{towards.data(), move.data(), 0.1};
    for (int correction = 0; correction < 4; ++correction) {
      for (Pair& pair : truth.pairs) pair.aim(here, move, aim.product);
      Vector moved(n), corrected(n);
      CHECK(near(truth.fastest(), pairs.fastest(aim, moved.data())));
      check_same(truth.balance(to_slope), moved);
      if (correction == 3) break;
      const std::vector<Pair> before = truth.pairs;
      Vector sums(n);
      for (Pair& pair : truth.pairs) {
        const double change = pair.correct(aim.product, 0.3);
        sums[pair.i] += change;
        sums[pair.j] -= change;
      }
      pairs.correct(aim, 0.3, kFactor, corrected.data());
      check_same(sums, corrected);
      if (random.coin()) {
        pairs.undo();
        truth.pairs = before;
      }
    }

    const double part = 0.9 / std::max(truth.fastest(), 0.9);
    pairs.move(aim, part);
    for (Pair& pair : truth.pairs) {
      pair.slope += part * pair.to_slope;
      pair.low += part * pair.to_low;
      pair.high += part * pair.to_high;
    }
    Vector slopes(n), degree(n);
    const auto sums = pairs.sums(slopes.data(), degree.data());
    const auto slope = [](const Pair& p) { return p.slope; };
    check_same(truth.balance(slope), slopes);
    check_same(truth.balance(slope, 1), degree);
    CHECK(near(truth.sum([](const Pair& p) { return p.margin * p.slope; }), sums.offset));
    CHECK(near(truth.sum([](const Pair& p) { return 0.5 * p.curvature() * p.slope * p.slope; }),
               sums.quadratic));
    CHECK(near(truth.sum([&](const Pair& p) {
      return p.slope * p.low + (truth.is_bounded ? p.room() * p.high : 0);
    }),
               sums.products));
    here = again;
  }
}

}  // namespace

void test_listed_pairs(double seconds) { repeat(seconds, check_listed); }

}  // namespace ranksvm::tests
