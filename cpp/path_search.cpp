// Which pair of a regularization path has the next event.
//
// As lambda falls by a step, K gamma moves by at most |step| |eta' P_F K^1/2| in the direction of
// any unit vector, so that a pair that was so far from its margin when it was last measured need
// not be measured again for some time.  Of all pairs, those near their margins are listed, and of
// these again those that are hot; what is hot is measured when it could have an event.
#include <algorithm>
#include <utility>

#include "compiler.hpp"
#include "regularization_path.hpp"

namespace ranksvm {
namespace {

// Slower than this, in units of its margin, a pair at a bound does not move but for rounding.
constexpr double least_rate = 1e-12;
// By how much the reach of a list changes at a time.
constexpr double reach_factor = 1.5;
// Fewer events than these do not make a reach shrink, lest the path come to a halt.
constexpr std::size_t least_events = 3;
// With more hot pairs than such a part of the rows, rates are computed for all rows, which goes
// through memory in order.
constexpr std::size_t hot_share = 16;
// With more free rows than such a part of all, too: then they also bound the speed much better.
constexpr std::size_t free_share = 4;

// Two weighted sums of the elements of u - l in these places; each in four, which do not wait for
// one another.
RANKSVM_CLONES std::pair<double, double> weighted_differences(
    const double* u, const double* l, const std::vector<std::int32_t>& places,
    const std::vector<double>& first_weights, const std::vector<double>& second_weights) {
  const std::size_t n = places.size();
  const std::int32_t* place = places.data();
  const double *v = first_weights.data(), *w = second_weights.data();
  double first[4] = {}, second[4] = {};
  const auto add = [&](std::size_t k, std::size_t s) {
    const double difference = u[place[k]] - l[place[k]];
    first[s] += v[k] * difference;
    second[s] += w[k] * difference;
  };
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (std::size_t s = 0; s < 4; ++s) add(k + s, s);
  for (; k < n; ++k) add(k, 0);
  return {(first[0] + first[1]) + (first[2] + first[3]),
          (second[0] + second[1]) + (second[2] + second[3])};
}

}  // namespace

void RegularizationPath::widen_hot_reach() { hot_reach_ *= reach_factor; }

bool RegularizationPath::has_many_free_rows() const { return free_rows_.size() > n_ / free_share; }

// By Cauchy and Schwarz, from |eta' P_F K^1/2|; or from the rates of all rows, where these are
// computed anyway.
void RegularizationPath::bound_speed(double norm) {
  speed_ = largest_margin_ + norm * largest_distance_;
  by_row_ = hot_.size() > n_ / hot_share || has_many_free_rows();
  if (!by_row_) return;
  compute_rates();
  follow_scores();
  const auto [least, largest] = std::minmax_element(rates_.begin(), rates_.end());
  speed_ = std::min(speed_, largest_margin_ + (*largest - *least));
}

// K d_gamma.  Where there are fewer trees of rows than free pairs, of their roots only: the other
// rows differ from these by what the target says.
void RegularizationPath::compute_rates() {
  rates_.assign(n_, 0.0);
  if (2 * free_.size() < n_) {
    moves_by_.clear();
    for (const auto i : free_rows_) moves_by_.push_back(d_gamma_[i]);
    add_rows(K_, n_, free_rows_, moves_by_, rates_.data());
    return;
  }
  std::vector<std::int32_t> roots;
  for (std::size_t i = 0; i < n_; ++i)
    if (forest_.root(i) == i) roots.push_back(static_cast<std::int32_t>(i));
  multiply_rows(K_, n_, roots, d_gamma_.data(), rates_.data());
  for (const auto row : free_rows_) {
    const auto i = static_cast<std::size_t>(row);
    rates_[i] = rates_[forest_.root(i)] + forest_.offset(i);
  }
}

void RegularizationPath::follow_scores() {
  if (is_followed_) return;
  update_scores();
  followed_ = scores_;
  is_followed_ = true;
}

// Finds the hot pairs among the near ones, and these, where they may not be all, among all pairs.
// To look through the near ones should cost about as much as to measure hot ones in between.
void RegularizationPath::refresh() {
  const auto step_work = n_ * moved_rows_.size() / 8 + free_.size() * free_.size();
  const auto refresh_work = step_work + near_.size();
  if (hot_work_ > refresh_work && hot_events_ >= least_events)
    hot_reach_ /= reach_factor * reach_factor;
  if (near_reach_ - moved_ < hot_reach_) find_near_pairs();
  near_work_ += near_.size();
  find_work_ = margin_.size() + 4 * step_work;
  hot_.clear(), held_.clear();
  hot_until_ = moved_ + hot_reach_;
  const Pairs pairs = this->pairs();
  const double until = hot_until_, moved = moved_;
  for (auto& [safe_until, p] : near_) {
    if (safe_until >= until || pairs.side[p] == between) continue;
    if (is_held(p)) {
      held_.push_back({safe_until, p});
      continue;
    }
    safe_until = moved + pairs.distance(p);
    if (safe_until < until) hot_.push_back({safe_until, p});
  }
  std::sort(hot_.begin(), hot_.end());  // the likely first events first
  must_refresh_ = was_parted_ = is_followed_ = false;
  hot_work_ = hot_events_ = 0;
}

void RegularizationPath::find_near_pairs() {
  if (near_work_ <= find_work_)
    near_reach_ *= reach_factor;
  else if (near_events_ >= least_events)
    near_reach_ /= reach_factor;
  hot_reach_ = std::min(hot_reach_, near_reach_ / 4);
  near_.clear();
  const Pairs pairs = this->pairs();
  const double reach = near_reach_, moved = moved_;
  double* const safe_until = safe_until_.data();
  for (std::size_t p = 0, n = margin_.size(); p < n; ++p) {
    const double before = safe_until[p] - moved;
    const double distance = before < reach ? pairs.distance(p) : before;
    safe_until[p] = distance;
    if (distance < reach) near_.push_back({distance, p});
  }
  moved_ = 0.0;
  near_work_ = near_events_ = 0;
}

// Makes pairs hot that free pairs do not hold any more.
void RegularizationPath::release_pairs() {
  std::size_t n_held = 0;
  for (const Bound bound : held_) {
    if (is_held(bound.pair))
      held_[n_held++] = bound;
    else
      hot_.push_back(bound);
  }
  hot_work_ += held_.size();
  held_.resize(n_held);
  was_parted_ = false;
}

// The first pair to reach its bound or its margin, if one does within the limit.
RegularizationPath::Step RegularizationPath::next_event(double limit) {
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
  if (was_parted_) release_pairs();
  moved_by_.clear(), moves_by_.clear();
  for (const auto i : moved_rows_) {
    moved_by_.push_back(gamma_[i] - scored_gamma_[i]);
    moves_by_.push_back(d_gamma_[i]);
  }
  Pairs pairs = this->pairs();
  if (by_row_) pairs.scores = followed_.data();
  std::size_t n_measured = 0, k = 0;
  for (const Bound bound : hot_) {
    if (is_held(bound.pair)) {
      held_.push_back(bound);
      continue;
    }
    hot_[k] = bound;
    auto& [safe_until, p] = hot_[k++];
    if (safe_until > moved_ + step.length * speed_) continue;
    double risen = 0.0, rising = 0.0;
    if (by_row_)
      rising = rates_[upper(p)] - rates_[lower(p)];
    else
      std::tie(risen, rising) = weighted_differences(K_ + upper(p) * n_, K_ + lower(p) * n_,
                                                     moved_rows_, moved_by_, moves_by_);
    const double d = side_[p] * (pairs.residual(p) - risen), r = side_[p] * (margin_[p] - rising);
    if (r > least_rate) consider(d, r, p, k - 1);
    safe_until = moved_ + d;
    ++n_measured;
  }
  hot_.resize(k);
  hot_work_ += hot_.size();
  if (!has_many_free_rows())
    hot_work_ += by_row_ ? n_ * moved_rows_.size() / 4 : 2 * (8 + moved_rows_.size()) * n_measured;
  return step;
}

}  // namespace ranksvm
