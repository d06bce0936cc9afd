#include "simplex_qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ranksvm {
namespace {

constexpr double kDependent = 1e-13;  // of the square of an element: what rounding may leave of it
constexpr double kEnough = 1e-14;     // of the objective: too little to go on for
constexpr int kPatience = 8;

double dot(const std::vector<double>& a, const std::vector<double>& b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void SimplexQp::add(const double* products, double linear) {
  const std::size_t n = size();
  if (n == stride_) {
    const std::size_t wider = std::max<std::size_t>(16, 2 * stride_);
    std::vector<double> larger(wider * wider);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(&G_[i * stride_], n, &larger[i * wider]);
    G_.swap(larger);
    stride_ = wider;
  }
  for (std::size_t i = 0; i <= n; ++i) G_[n * stride_ + i] = G_[i * stride_ + n] = products[i];
  b_.push_back(linear);
  weights_.push_back(n == 0 ? 1 : 0);
}

void SimplexQp::keep(const std::vector<std::size_t>& elements) {
  const std::size_t n = elements.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      G_[i * stride_ + j] = G_[elements[i] * stride_ + elements[j]];
    b_[i] = b_[elements[i]];
    weights_[i] = weights_[elements[i]];
  }
  b_.resize(n);
  weights_.resize(n);
}

void SimplexQp::scale(double factor) {
  for (double& g : G_) g *= factor * factor;
  for (double& b : b_) b *= factor;
}

// Finds G a - b, and with it the objective.
void SimplexQp::update_gradient() {
  const std::size_t n = size();
  gradient_.resize(n);
  for (std::size_t i = 0; i < n; ++i) gradient_[i] = -b_[i];
  for (std::size_t j = 0; j < n; ++j) {
    if (weights_[j] == 0) continue;
    const double* row = &G_[j * stride_];
    for (std::size_t i = 0; i < n; ++i) gradient_[i] += weights_[j] * row[i];
  }
  objective_ = 0;
  for (std::size_t i = 0; i < n; ++i) objective_ += 0.5 * weights_[i] * (gradient_[i] - b_[i]);
}

// The product of the differences of two elements from the reference.
double SimplexQp::difference_product(std::size_t i, std::size_t j) const {
  const std::size_t r = reference_;
  return (product(i, j) - product(r, i)) - (product(r, j) - product(r, r));
}

// Takes an element into the support; refuses one that depends on it affinely.
bool SimplexQp::append(std::size_t element) {
  const std::size_t n = support_.size();
  std::vector<double> row(n);
  for (std::size_t i = 0; i < n; ++i) row[i] = difference_product(element, support_[i]);
  factor_.solve_lower(row);
  const double whole = difference_product(element, element), rest = whole - dot(row, row, n);
  const double size = product(element, element) + product(reference_, reference_);
  if (!(rest > kDependent * size)) return false;
  factor_.append(std::move(row), rest);
  support_.push_back(element);
  return true;
}

void SimplexQp::erase(std::size_t place) {
  weights_[support_[place]] = 0;
  support_.erase(support_.begin() + static_cast<std::ptrdiff_t>(place));
  factor_.remove(place);
}

// Starts from the weights: the shortest element that has any is the reference.
void SimplexQp::factorize() {
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < size(); ++i)
    if (weights_[i] > 0) wanted.push_back(i);
  if (wanted.empty()) wanted.push_back(0);  // what overflows leaves no weights
  reference_ = *std::min_element(wanted.begin(), wanted.end(), [&](std::size_t i, std::size_t j) {
    return product(i, i) < product(j, j);
  });
  support_.clear();
  factor_ = {};
  double others = 0;
  for (const std::size_t i : wanted) {
    if (i != reference_ && !append(i)) weights_[i] = 0;
    others += i == reference_ ? 0 : weights_[i];
  }
  weights_[reference_] = std::max(0.0, 1 - others);
}

// Where the objective is least on the affine hull of the support: weights but the reference's.
std::vector<double> SimplexQp::affine_minimum() const {
  const std::size_t n = support_.size(), r = reference_;
  std::vector<double> target(n), linear(n), to_reference(n);
  for (std::size_t i = 0; i < n; ++i) {
    to_reference[i] = product(r, support_[i]);
    linear[i] = (b_[support_[i]] - b_[r]) - (to_reference[i] - product(r, r));
  }
  target = linear;
  factor_.solve(target);
  // One round of refinement makes up for much of the rounding in the factor.
  std::vector<double> products(n);
  double total = 0;
  for (std::size_t j = 0; j < n; ++j) {
    const double* row = &G_[support_[j] * stride_];
    for (std::size_t i = 0; i < n; ++i)
      products[i] += target[j] * ((row[support_[i]] - row[r]) - to_reference[i]);
    total += target[j];
  }
  for (std::size_t i = 0; i < n; ++i) linear[i] -= products[i] + total * product(r, r);
  factor_.solve(linear);
  for (std::size_t i = 0; i < n; ++i) target[i] += linear[i];
  return target;
}

// Moves the weights of the support, and with them the reference's, along a direction: by `most` or
// up to the boundary. There an element leaves; returns whether one did.
bool SimplexQp::move(const std::vector<double>& direction, double most) {
  const std::size_t n = support_.size();
  double step = most, of_reference = 0;
  std::size_t first = n + 1;  // n stands for the reference
  const auto limit = [&](double weight, double change, std::size_t place) {
    if (change < 0 && weight <= -change * step) {
      step = weight / -change;
      first = place;
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    limit(weights_[support_[i]], direction[i], i);
    of_reference -= direction[i];
  }
  // An element that comes in takes its weight from all.
  if (n < direction.size()) of_reference -= direction[n];
  limit(weights_[reference_], of_reference, n);
  for (std::size_t i = 0; i < n; ++i)
    weights_[support_[i]] = std::max(0.0, weights_[support_[i]] + step * direction[i]);
  weights_[reference_] = std::max(0.0, weights_[reference_] + step * of_reference);
  step_ = step;
  if (first == n + 1) return false;
  if (first < n) {
    erase(first);
  } else {
    weights_[reference_] = 0;
    if (n > 0) factorize();
  }
  return true;
}

// Minimises on the support, dropping elements at whose boundary a step ends.
void SimplexQp::minimize_on_support() {
  for (;;) {
    const std::vector<double> target = affine_minimum();
    std::vector<double> direction = target;
    for (std::size_t i = 0; i < support_.size(); ++i) direction[i] -= weights_[support_[i]];
    if (move(direction, 1)) continue;
    // A weight that has shrunk by far is not to be what is left of a difference.
    for (std::size_t i = 0; i < support_.size(); ++i)
      weights_[support_[i]] = std::max(0.0, target[i]);
    return;
  }
}

// Brings in an element that depends on the support affinely, at the cost of one that it replaces.
bool SimplexQp::exchange(std::size_t element) {
  const std::size_t n = support_.size();
  std::vector<double> direction(n);
  for (std::size_t i = 0; i < n; ++i) direction[i] = difference_product(element, support_[i]);
  factor_.solve(direction);
  for (double& change : direction) change = -change;
  direction.push_back(1);
  if (!move(direction, std::numeric_limits<double>::infinity())) return false;
  weights_[element] = step_;
  factorize();
  return true;
}

void SimplexQp::solve() {
  if (size() == 0) return;
  factorize();
  std::vector<double> best = weights_;
  double least = std::numeric_limits<double>::infinity();
  int idle = 0;
  std::size_t previous = size();
  for (std::size_t step = 0; step < 10 * size() + 100; ++step) {
    minimize_on_support();
    update_gradient();
    // Rounding has the last word: what leads down no more, several times, is the end.
    idle = objective_ < least ? 0 : idle + 1;
    // Many elements together may gain what each by itself only gains within rounding.
    if (objective_ <= least || objective_ <= least + kEnough * std::abs(least)) {
      least = std::min(least, objective_);
      best = weights_;
    }
    if (idle > kPatience) break;
    const double mean = dot(weights_, gradient_, size());
    const auto lowest = static_cast<std::size_t>(
        std::min_element(gradient_.begin(), gradient_.end()) - gradient_.begin());
    if (gradient_[lowest] >= mean - kEnough * std::abs(mean) || weights_[lowest] > 0) break;
    // An element that left again at once depends on the others more than rounding shows.
    const bool independent = lowest != previous && append(lowest);
    if (!independent && !exchange(lowest)) break;
    previous = lowest;
    if (product(lowest, lowest) < 0.1 * product(reference_, reference_)) {
      weights_[lowest] = std::numeric_limits<double>::min();
      factorize();
    }
  }
  double total = 0;
  for (const double weight : best) total += weight;
  for (std::size_t i = 0; i < size(); ++i) weights_[i] = best[i] / total;
  update_gradient();
}

}  // namespace ranksvm
