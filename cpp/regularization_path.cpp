#include "regularization_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ranksvm {
namespace {

// A pair counts as dependent on the free ones if so small a part of its squared length lies outside
// their span.
constexpr double dependent = 1e-11;
// What rounding puts between the scores of free pairs and their margins shrinks with this power of
// lambda; no step is longer than this part of lambda, lest it overshoot.
constexpr double feedback = 4.0;
// Slower than this, in units of its margin, a pair at a bound does not move but for rounding.
constexpr double least_rate = 1e-12;

// A weight smaller than this is but rounding.
constexpr double least_weight = 1e-9;

constexpr double at_one = 1.0, at_zero = -1.0, between = 0.0;

}  // namespace

RegularizationPath::RegularizationPath(const double* K, std::int64_t n,
                                       std::vector<std::int32_t> upper,
                                       std::vector<std::int32_t> lower, std::vector<double> margin)
    : K_(K),
      n_(static_cast<std::size_t>(n)),
      upper_(std::move(upper)),
      lower_(std::move(lower)),
      margin_(std::move(margin)),
      side_(margin_.size(), at_one),
      n_one_(n_pairs()),
      gamma_(n_),
      d_gamma_(n_),
      scores_(n_) {
  sum_gamma();
  compute_scores();
  for (std::size_t p = 0; p < margin_.size(); ++p)
    lambda_ = std::max(lambda_, difference(p) / margin_[p]);
  double diagonal = 0.0, size = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    diagonal = std::max(diagonal, std::abs(K_[i * n_ + i]));
    size += std::abs(gamma_[i]);
  }
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * diagonal * size;
  if (!(lambda_ > rounding)) lambda_ = 0.0;
  largest_margin_ = margin_.empty() ? 1.0 : *std::max_element(margin_.begin(), margin_.end());
  reach_ = moved_ = lambda_ / 64;
}

PathEvents RegularizationPath::advance(double lambda_min, std::int64_t n_events) {
  PathEvents events;
  while (events.size() < n_events && lambda_ > lambda_min && !stuck()) {
    set_direction();
    const double rest = lambda_ - lambda_min, longest = lambda_ / feedback;
    const double safe = std::max(0.0, (reach_ - moved_) / speed_);
    const double limit = std::min({rest, longest, safe});
    const Step step = next_event(limit);
    move(step.length);
    if (step.pair >= 0) {
      handle(step, events);
    } else if (limit == rest) {
      lambda_ = lambda_min;
    } else if (limit == safe) {
      find_near_pairs();
    }
  }
  // Updates add up their rounding.
  sum_gamma();
  compute_scores();
  return events;
}

double RegularizationPath::violation() const {
  double largest = 0.0;
  for (std::size_t p = 0; p < margin_.size(); ++p) {
    const double residual = lambda_ - difference(p);
    largest = std::max(largest, side_[p] == between ? std::abs(residual) : -side_[p] * residual);
  }
  return largest / lambda_;
}

void RegularizationPath::sum_gamma() {
  std::fill(gamma_.begin(), gamma_.end(), 0.0);
  const auto add = [&](std::size_t p, double alpha) {
    gamma_[static_cast<std::size_t>(upper_[p])] += alpha;
    gamma_[static_cast<std::size_t>(lower_[p])] -= alpha;
  };
  for (std::size_t p = 0; p < margin_.size(); ++p)
    if (side_[p] == at_one) add(p, 1.0);
  for (std::size_t k = 0; k < free_.size(); ++k) add(free_[k], alpha_[k]);
}

void RegularizationPath::compute_scores() {
  const auto sums = kernel_product(gamma_);
  double largest_change = 0.0;
  for (std::size_t j = 0; j < n_; ++j) {
    largest_change = std::max(largest_change, std::abs(sums[j] - scores_[j].value));
    scores_[j].value = sums[j];
  }
  moved_ += 2 * largest_change;
}

// K v; zeros of v cost nothing.
std::vector<double> RegularizationPath::kernel_product(const std::vector<double>& v) const {
  std::vector<double> product(n_);
  // Four rows at a time, since it takes longer to load and store the sums than to add to them.
  std::size_t rows[4], n_rows = 0;
  const auto add_rows = [&] {
    for (std::size_t k = n_rows; k < 4; ++k) rows[k] = rows[0];
    const double* K[4];
    double weight[4];
    for (std::size_t k = 0; k < 4; ++k) {
      K[k] = K_ + rows[k] * n_;
      weight[k] = k < n_rows ? v[rows[k]] : 0.0;
    }
    for (std::size_t j = 0; j < n_; ++j)
      product[j] +=
          (weight[0] * K[0][j] + weight[1] * K[1][j]) + (weight[2] * K[2][j] + weight[3] * K[3][j]);
    n_rows = 0;
  };
  for (std::size_t i = 0; i < n_; ++i) {
    if (v[i] != 0.0) rows[n_rows++] = i;
    if (n_rows == 4) add_rows();
  }
  if (n_rows > 0) add_rows();
  return product;
}

double RegularizationPath::difference(std::size_t pair) const {
  return scores_[static_cast<std::size_t>(upper_[pair])].value -
         scores_[static_cast<std::size_t>(lower_[pair])].value;
}

double RegularizationPath::gram(std::size_t p, std::size_t q) const {
  const double* u = K_ + static_cast<std::size_t>(upper_[p]) * n_;
  const double* l = K_ + static_cast<std::size_t>(lower_[p]) * n_;
  return (u[upper_[q]] - u[lower_[q]]) - (l[upper_[q]] - l[lower_[q]]);
}

// eta = (P_F K P_F')^-1 m_F, so that lambda m_F - P_F K gamma stays zero, or falls to it.
void RegularizationPath::set_direction() {
  eta_.resize(free_.size());
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const double m = margin_[free_[k]];
    eta_[k] = m - feedback * (m - difference(free_[k]) / lambda_);
  }
  factor_.solve_lower(eta_);
  factor_.solve_upper(eta_);
  std::fill(d_gamma_.begin(), d_gamma_.end(), 0.0);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    d_gamma_[static_cast<std::size_t>(upper_[free_[k]])] += eta_[k];
    d_gamma_[static_cast<std::size_t>(lower_[free_[k]])] -= eta_[k];
  }
  const auto rates = kernel_product(d_gamma_);
  for (std::size_t j = 0; j < n_; ++j) scores_[j].rate = rates[j];
  const auto [least, largest] = std::minmax_element(rates.begin(), rates.end());
  speed_ = largest_margin_ + (*largest - *least);
}

// Finds the pairs at bounds that are within reach of their margins. To look through all pairs every
// so many steps costs about as much as to look through these, of which most have their events
// before the next time, at every step.
void RegularizationPath::find_near_pairs() {
  const double most_steps = 1 + std::sqrt(static_cast<double>(margin_.size())) / 4;
  reach_ *= static_cast<double>(steps_) <= most_steps ? 2.0 : 0.5;
  near_.clear();
  moved_ = 0.0;
  steps_ = 0;
  for (std::size_t p = 0; p < margin_.size(); ++p)
    if (side_[p] * (lambda_ * margin_[p] - difference(p)) < reach_ && side_[p] != between)
      near_.push_back(p);
}

// The first pair to reach its bound or its margin, if one does within the limit.
RegularizationPath::Step RegularizationPath::next_event(double limit) {
  ++steps_;
  double distance = limit, rate = 1.0;
  Step step{limit, -1, 0};
  const auto consider = [&](double d, double r, std::size_t pair, std::size_t place) {
    if (!(d * rate < distance * r)) return;
    distance = std::max(0.0, d), rate = r;
    step = {distance / rate, static_cast<std::int64_t>(pair), place};
  };
  for (std::size_t k = 0; k < free_.size(); ++k) {
    if (eta_[k] > 0.0) consider(alpha_[k], eta_[k], free_[k], k);
    if (eta_[k] < 0.0) consider(1.0 - alpha_[k], -eta_[k], free_[k], k);
  }
  for (const auto p : near_) {
    const Score u = scores_[static_cast<std::size_t>(upper_[p])];
    const Score l = scores_[static_cast<std::size_t>(lower_[p])];
    const double d = side_[p] * (lambda_ * margin_[p] - (u.value - l.value));
    const double r = side_[p] * (margin_[p] - (u.rate - l.rate));
    if (r > least_rate) consider(d, r, p, 0);
  }
  return step;
}

void RegularizationPath::move(double length) {
  for (std::size_t k = 0; k < free_.size(); ++k)
    alpha_[k] = std::clamp(alpha_[k] - length * eta_[k], 0.0, 1.0);
  for (std::size_t i = 0; i < n_; ++i) {
    gamma_[i] -= length * d_gamma_[i];
    scores_[i].value -= length * scores_[i].rate;
  }
  moved_ += length * speed_;
  const double before = lambda_;
  lambda_ -= length;
  if (lambda_ < before) events_at_lambda_ = 0;
}

void RegularizationPath::handle(const Step& step, PathEvents& events) {
  const auto pair = static_cast<std::size_t>(step.pair);
  if (side_[pair] != between) {
    enter(pair, events);
  } else {
    leave(step.place, eta_[step.place] > 0.0 ? PairSet::zero : PairSet::one, events);
  }
}

void RegularizationPath::enter(std::size_t pair, PathEvents& events) {
  auto projection = project(pair);
  alpha_.push_back(side_[pair] == at_one ? 1.0 : 0.0);
  free_.push_back(pair);
  if (side_[pair] == at_one) --n_one_;
  side_[pair] = between;
  note(pair, PairSet::free, events);
  if (projection.distance > dependent * projection.square) {
    factor_.append(std::move(projection.column), projection.distance);
  } else {
    factor_.solve_upper(projection.column);
    exchange(std::move(projection.column), events);
  }
}

RegularizationPath::Projection RegularizationPath::project(std::size_t pair) const {
  Projection projection;
  projection.column.reserve(factor_.size() + 1);
  for (std::size_t k = 0; k < factor_.size(); ++k)
    projection.column.push_back(gram(pair, free_[k]));
  factor_.solve_lower(projection.column);
  projection.square = gram(pair, pair);
  projection.distance = projection.square;
  for (const double element : projection.column) projection.distance -= element * element;
  return projection;
}

// The last of the free pairs is a weighted sum of the others: moves its multiplier and theirs so
// that no score changes, until one of them is at a bound.
void RegularizationPath::exchange(std::vector<double> weights, PathEvents& events) {
  const std::size_t last = free_.size() - 1;
  const auto pair = free_[last];
  weights.push_back(-1.0);
  const double direction = alpha_[last] > 0.5 ? 1.0 : -1.0;  // alpha moves by it times the weights
  double length = 1.0;
  std::size_t blocking = last;
  for (std::size_t k = 0; k < last; ++k) {
    const double rate = direction * weights[k];
    const double room = rate > 0.0 ? 1.0 - alpha_[k] : alpha_[k];
    if (std::abs(rate) > least_weight && room < length * std::abs(rate))
      length = room / std::abs(rate), blocking = k;
  }
  for (std::size_t k = 0; k <= last; ++k) {
    const double change = direction * length * weights[k];
    alpha_[k] = std::clamp(alpha_[k] + change, 0.0, 1.0);
    gamma_[static_cast<std::size_t>(upper_[free_[k]])] += change;
    gamma_[static_cast<std::size_t>(lower_[free_[k]])] -= change;
  }
  leave(blocking, direction * weights[blocking] > 0.0 ? PairSet::one : PairSet::zero, events);
  if (blocking != last) {
    auto projection = project(pair);
    factor_.append(std::move(projection.column),
                   std::max(projection.distance, 1e-15 * projection.square));
  }
  compute_scores();
}

void RegularizationPath::leave(std::size_t place, PairSet set, PathEvents& events) {
  const auto pair = free_[place];
  const auto offset = static_cast<std::ptrdiff_t>(place);
  if (place < factor_.size()) factor_.remove(place);
  free_.erase(free_.begin() + offset);
  alpha_.erase(alpha_.begin() + offset);
  side_[pair] = set == PairSet::one ? at_one : at_zero;
  if (set == PairSet::one) ++n_one_;
  near_.push_back(pair);
  note(pair, set, events);
}

void RegularizationPath::note(std::size_t pair, PairSet set, PathEvents& events) {
  events.lambda.push_back(lambda_);
  events.gamma.insert(events.gamma.end(), gamma_.begin(), gamma_.end());
  events.pair.push_back(static_cast<std::int64_t>(pair));
  events.set.push_back(set);
  events.n_free.push_back(n_free());
  events.n_one.push_back(n_one_);
  ++events_at_lambda_;
}

}  // namespace ranksvm
