#include "regularization_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler.hpp"

namespace ranksvm {
namespace {

// A pair counts as dependent on the free ones if so small a part of its squared length lies outside
// their span.
constexpr double dependent = 1e-11;
// What rounding puts between the scores of free pairs and their margins shrinks with this power of
// lambda; no step is longer than this part of lambda, lest it overshoot.
constexpr double feedback = 4.0;
// A weight smaller than this is but rounding.
constexpr double least_weight = 1e-9;
// How far rounding may put the squared length of eta' P_F K^1/2 off, in those of its parts.
constexpr double rounding_of_speed = 1e-13;

}  // namespace

// Four at a time, since it takes longer to load and store the sums than to add to them.
RANKSVM_CLONES void add_rows(const double* K, std::size_t n, const std::vector<std::int32_t>& rows,
                             const std::vector<double>& weights, double* sums) {
  for (std::size_t begin = 0; begin < rows.size(); begin += 4) {
    const double* row[4];
    double weight[4];
    for (std::size_t k = 0; k < 4; ++k) {
      const bool exists = begin + k < rows.size();
      row[k] = K + static_cast<std::size_t>(rows[exists ? begin + k : begin]) * n;
      weight[k] = exists ? weights[begin + k] : 0.0;
    }
    for (std::size_t j = 0; j < n; ++j)
      sums[j] += (weight[0] * row[0][j] + weight[1] * row[1][j]) +
                 (weight[2] * row[2][j] + weight[3] * row[3][j]);
  }
}

RANKSVM_CLONES void multiply_rows(const double* K, std::size_t n,
                                  const std::vector<std::int32_t>& rows, const double* vector,
                                  double* products) {
  constexpr std::size_t lanes = 16;
  for (const auto i : rows) {
    const double* row = K + static_cast<std::size_t>(i) * n;
    double sums[lanes] = {};
    std::size_t j = 0;
    for (; j + lanes <= n; j += lanes)
      for (std::size_t s = 0; s < lanes; ++s) sums[s] += row[j + s] * vector[j + s];
    for (; j < n; ++j) sums[j % lanes] += row[j] * vector[j];
    for (std::size_t step = lanes / 2; step > 0; step /= 2)
      for (std::size_t s = 0; s < step; ++s) sums[s] += sums[s + step];
    products[i] = sums[0];
  }
}

RegularizationPath::RegularizationPath(const double* K, std::int64_t n,
                                       std::vector<std::int32_t> upper,
                                       std::vector<std::int32_t> lower, std::vector<double> margin)
    : K_(K),
      n_(static_cast<std::size_t>(n)),
      upper_(std::move(upper)),
      lower_(std::move(lower)),
      margin_(std::move(margin)),
      largest_margin_(margin_.empty() ? 1.0 : *std::max_element(margin_.begin(), margin_.end())),
      side_(margin_.size(), at_one),
      n_one_(n_pairs()),
      gamma_one_(n_),
      forest_(n_),
      n_free_pairs_(n_),
      d_gamma_(n_),
      scores_(n_),
      is_moved_(n_),
      safe_until_(margin_.size()) {
  double square = 0.0;
  for (std::size_t p = 0; p < margin_.size(); ++p) {
    gamma_one_[this->upper(p)] += 1.0;
    gamma_one_[this->lower(p)] -= 1.0;
    square = std::max(square, gram(p, p));
  }
  largest_distance_ = std::sqrt(square);
  gamma_ = gamma_one_;
  compute_scores();
  for (std::size_t p = 0; p < margin_.size(); ++p)
    lambda_ = std::max(lambda_, pairs().difference(p) / margin_[p]);
  double diagonal = 0.0, size = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    diagonal = std::max(diagonal, std::abs(K_[i * n_ + i]));
    size += std::abs(gamma_[i]);
  }
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * diagonal * size;
  if (!(lambda_ > rounding)) lambda_ = 0.0;
  near_reach_ = moved_ = lambda_ / 64;
  hot_reach_ = near_reach_ / 8;
}

PathEvents RegularizationPath::advance(double lambda_min, std::int64_t n_events) {
  PathEvents events;
  events.gamma = gamma_;
  while (events.size() < n_events && lambda_ > lambda_min && !stuck()) {
    if (must_refresh_) set_target();
    join_rows();
    if (must_refresh_) refresh();
    set_direction();
    const double rest = lambda_ - lambda_min,
                 longest = lambda_ - (1.0 - 1.0 / feedback) * target_lambda_;
    const double safe = std::max(0.0, hot_until_ - moved_) / speed_;
    const double limit = std::min({rest, longest, safe});
    const Step step = next_event(limit);
    move(step.length);
    if (step.pair >= 0) {
      handle(step, events);
    } else if (limit == rest) {
      lambda_ = lambda_min;
    } else {
      if (limit == safe) widen_hot_reach();
      must_refresh_ = true;
    }
  }
  // Updates add up their rounding.
  sum_gamma();
  compute_scores();
  return events;
}

double RegularizationPath::violation() const {
  const Pairs pairs = this->pairs();
  double largest = 0.0;
  for (std::size_t p = 0; p < margin_.size(); ++p) {
    const double off = lambda_ - pairs.difference(p);
    largest = std::max(largest, side_[p] == between ? std::abs(off) : -side_[p] * off);
  }
  return largest / lambda_;
}

double RegularizationPath::gram(std::size_t p, std::size_t q) const {
  const double *u = K_ + upper(p) * n_, *l = K_ + lower(p) * n_;
  return (u[upper_[q]] - u[lower_[q]]) - (l[upper_[q]] - l[lower_[q]]);
}

void RegularizationPath::sum_gamma() {
  for (const auto i : free_rows_) gamma_[i] = gamma_one_[i];
  for (std::size_t k = 0; k < free_.size(); ++k) {
    gamma_[upper(free_[k])] += alpha_[k];
    gamma_[lower(free_[k])] -= alpha_[k];
  }
}

void RegularizationPath::compute_scores() {
  std::vector<std::int32_t> rows;
  std::vector<double> weights, sums(n_);
  for (std::size_t i = 0; i < n_; ++i) {
    if (gamma_[i] == 0.0) continue;
    rows.push_back(static_cast<std::int32_t>(i));
    weights.push_back(gamma_[i]);
  }
  add_rows(K_, n_, rows, weights, sums.data());
  double largest_change = 0.0;
  for (std::size_t j = 0; j < n_; ++j)
    largest_change = std::max(largest_change, std::abs(sums[j] - scores_[j]));
  scores_ = std::move(sums);
  scored_gamma_ = gamma_;
  moved_ += 2 * largest_change;
  must_refresh_ = true;
}

void RegularizationPath::update_scores() {
  std::vector<std::int32_t> rows;
  std::vector<double> weights;
  for (const auto row : moved_rows_) {
    const auto i = static_cast<std::size_t>(row);
    if (gamma_[i] == scored_gamma_[i]) continue;
    rows.push_back(row);
    weights.push_back(gamma_[i] - scored_gamma_[i]);
    scored_gamma_[i] = gamma_[i];
  }
  add_rows(K_, n_, rows, weights, scores_.data());
  for (const auto row : moved_rows_) is_moved_[static_cast<std::size_t>(row)] = 0;
  moved_rows_ = free_rows_;
  for (const auto row : moved_rows_) is_moved_[static_cast<std::size_t>(row)] = 1;
}

// What rounding leaves falls to zero with a quarter of lambda.
void RegularizationPath::set_target() {
  update_scores();
  const Pairs pairs = this->pairs();
  for (std::size_t k = 0; k < free_.size(); ++k)
    target_[k] = margin_[free_[k]] - feedback * pairs.residual(free_[k]) / lambda_;
  half_solved_ = target_;
  factor_.solve_lower(half_solved_);
  target_lambda_ = lambda_;
}

void RegularizationPath::join_rows() {
  for (const auto row : free_rows_) forest_.isolate(row);
  for (std::size_t k = 0; k < free_.size(); ++k)
    forest_.join(upper_[free_[k]], lower_[free_[k]], target_[k]);
  forest_.flatten(free_rows_);
}

// eta = (P_F K P_F')^-1 target, so that lambda m_F - P_F K gamma stays zero, or falls to it.
void RegularizationPath::set_direction() {
  eta_ = half_solved_;
  double square = 0.0, sum = 0.0;
  for (const double z : eta_) square += z * z;
  factor_.solve_upper(eta_);
  for (const auto i : free_rows_) d_gamma_[i] = 0.0;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    d_gamma_[upper(free_[k])] += eta_[k];
    d_gamma_[lower(free_[k])] -= eta_[k];
    sum += std::abs(eta_[k]);
  }
  bound_speed(std::sqrt(square) + std::sqrt(rounding_of_speed) * sum * largest_distance_);
}

void RegularizationPath::move(double length) {
  for (std::size_t k = 0; k < free_.size(); ++k)
    alpha_[k] = std::clamp(alpha_[k] - length * eta_[k], 0.0, 1.0);
  for (const auto i : free_rows_) gamma_[i] -= length * d_gamma_[i];
  is_followed_ = by_row_;
  if (by_row_)
    for (std::size_t i = 0; i < n_; ++i) followed_[i] -= length * rates_[i];
  moved_ += length * speed_;
  const double before = lambda_;
  lambda_ -= length;
  if (lambda_ < before) events_at_lambda_ = 0;
}

void RegularizationPath::handle(const Step& step, PathEvents& events) {
  if (side_[static_cast<std::size_t>(step.pair)] != between) {
    drop_hot(step.place);
    enter(static_cast<std::size_t>(step.pair), events);
  } else {
    leave(step.place, eta_[step.place] > 0.0 ? PairSet::zero : PairSet::one, events);
  }
}

void RegularizationPath::enter(std::size_t pair, PathEvents& events) {
  auto projection = project(pair);
  const bool was_one = side_[pair] == at_one;
  alpha_.push_back(was_one ? 1.0 : 0.0);
  target_.push_back(margin_[pair]);
  free_.push_back(pair);
  side_[pair] = between;
  if (was_one) count_one(pair, -1);
  add_free_row(upper_[pair]);
  add_free_row(lower_[pair]);
  was_joined_ = true;
  note(pair, PairSet::free, events);
  if (projection.distance > dependent * projection.square) {
    factor_.append(std::move(projection.column), projection.distance);
    factor_.extend(half_solved_, target_.back());
  } else {
    factor_.solve_upper(projection.column);
    exchange(std::move(projection.column), events);
    moved_ += std::sqrt(dependent * projection.square) * largest_distance_;
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
// that no score changes, up to rounding, until one of them is at a bound.
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
    gamma_[upper(free_[k])] += change;
    gamma_[lower(free_[k])] -= change;
  }
  leave(blocking, direction * weights[blocking] > 0.0 ? PairSet::one : PairSet::zero, events);
  if (blocking != last) {
    auto projection = project(pair);
    factor_.append(std::move(projection.column),
                   std::max(projection.distance, 1e-15 * projection.square));
    factor_.extend(half_solved_, target_.back());
  }
  must_refresh_ = true;
}

void RegularizationPath::leave(std::size_t place, PairSet set, PathEvents& events) {
  const auto pair = free_[place];
  const auto offset = static_cast<std::ptrdiff_t>(place);
  if (place < factor_.size()) factor_.remove(place, half_solved_);
  free_.erase(free_.begin() + offset);
  alpha_.erase(alpha_.begin() + offset);
  target_.erase(target_.begin() + offset);
  side_[pair] = set == PairSet::one ? at_one : at_zero;
  hot_.push_back({moved_, pair});
  was_parted_ = true;
  if (set == PairSet::one) count_one(pair, 1);
  drop_free_row(upper_[pair]);
  drop_free_row(lower_[pair]);
  note(pair, set, events);
}

void RegularizationPath::count_one(std::size_t pair, int change) {
  n_one_ += change;
  gamma_one_[upper(pair)] += change;
  gamma_one_[lower(pair)] -= change;
}

void RegularizationPath::add_free_row(std::int32_t row) {
  if (n_free_pairs_[static_cast<std::size_t>(row)]++ > 0) return;
  free_rows_.push_back(row);
  if (!std::exchange(is_moved_[static_cast<std::size_t>(row)], 1)) moved_rows_.push_back(row);
}

void RegularizationPath::drop_free_row(std::int32_t row) {
  const auto i = static_cast<std::size_t>(row);
  if (--n_free_pairs_[i] > 0) return;
  free_rows_.erase(std::find(free_rows_.begin(), free_rows_.end(), row));
  forest_.isolate(row);
  gamma_[i] = gamma_one_[i];
  d_gamma_[i] = 0.0;
}

void RegularizationPath::note(std::size_t pair, PairSet set, PathEvents& events) {
  events.lambda.push_back(lambda_);
  events.pair.push_back(static_cast<std::int64_t>(pair));
  events.set.push_back(set);
  events.n_free.push_back(n_free());
  events.n_one.push_back(n_one_);
  const auto note_row = [&](std::int32_t row) {
    events.changed_row.push_back(row);
    events.changed_gamma.push_back(gamma_[static_cast<std::size_t>(row)]);
  };
  for (const auto row : free_rows_) note_row(row);
  note_row(upper_[pair]);
  note_row(lower_[pair]);
  events.n_changed.push_back(static_cast<std::int64_t>(events.changed_row.size()));
  ++events_at_lambda_, ++hot_events_, ++near_events_;
}

}  // namespace ranksvm
