// Which pair of a regularization path has the next event.
//
// As lambda falls by a step, K gamma moves by at most |step| |eta' P_F K^1/2| in the direction of
// any unit vector, so that a pair that was so far from its margin when it was last measured need
// not be measured again for some time.  Of all pairs, those near their margins are listed, and of
// these again those that are hot; what is hot is measured when it could have an event.
//
// Free pairs, on their margins, that lead from one row of a pair p to the other hold it: its
// distance from its margin is lambda times a constant, which is 0 at lambda = 0 alone.  So nothing
// happens to it until one of them leaves and parts the rows, and it is not measured.
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

// The last one that is not held takes its place.
void RegularizationPath::drop_hot(std::size_t place) {
  hot_[place] = hot_[--n_hot_];
  hot_[n_hot_] = hot_.back();
  hot_.pop_back();
}

void RegularizationPath::widen_hot_reach() { hot_reach_ *= reach_factor; }

bool RegularizationPath::has_many_free_rows() const { return free_rows_.size() > n_ / free_share; }

// By Cauchy and Schwarz, from |eta' P_F K^1/2|; or from the rates of all rows, where these are
// computed anyway.
void RegularizationPath::bound_speed(double norm) {
  speed_ = largest_margin_ + norm * largest_distance_;
  by_row_ = n_hot_ > n_ / hot_share || has_many_free_rows();
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
  hot_.clear();
  hot_until_ = moved_ + hot_reach_;
  const Pairs pairs = this->pairs();
  const double until = hot_until_, moved = moved_;
  for (auto& [safe_until, p] : near_) {
    if (safe_until >= until || pairs.side[p] == between) continue;
    if (!is_held(p)) safe_until = moved + pairs.distance(p);
    if (safe_until < until) hot_.push_back({safe_until, p});
  }
  n_hot_ = part_held(0, hot_.size());
  // The likely first events first.
  std::sort(hot_.begin(), hot_.begin() + static_cast<std::ptrdiff_t>(n_hot_));
  must_refresh_ = was_joined_ = was_parted_ = is_followed_ = false;
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

// Moves hot pairs of the range that are not held to its front; returns how many they are.  Without
// branches, which would be foreseen half the time.
std::size_t RegularizationPath::part_held(std::size_t begin, std::size_t end) {
  Bound *const first = hot_.data() + begin, *held = first;
  for (Bound* bound = first; bound != hot_.data() + end; ++bound) {
    const Bound here = *bound, there = *held;
    const bool stays = is_held(here.pair);
    *bound = stays ? here : there;
    *held = stays ? there : here;
    held += !stays;
  }
  hot_work_ += (end - begin) / 4;
  return static_cast<std::size_t>(held - first);
}

// The first pair to reach its bound or its margin, if one does within the limit.
RegularizationPath::Step RegularizationPath::next_event(double limit) {
  First first{{limit}};
  for (std::size_t k = 0; k < free_.size(); ++k) {
    if (eta_[k] > 0.0) first.consider(alpha_[k], eta_[k], free_[k], k);
    if (eta_[k] < 0.0) first.consider(1.0 - alpha_[k], -eta_[k], free_[k], k);
  }
  if (was_joined_) n_hot_ = part_held(0, n_hot_);
  if (was_parted_) n_hot_ += part_held(n_hot_, hot_.size());
  was_joined_ = was_parted_ = false;
  return by_row_ ? next_by_row(first) : next_by_pair(first);
}

RegularizationPath::Step RegularizationPath::next_by_row(First first) {
  Pairs pairs = this->pairs();
  pairs.scores = followed_.data();
  const double *rates = rates_.data(), moved = moved_, speed = speed_;
  for (std::size_t k = 0; k < n_hot_; ++k) {
    auto& [safe_until, p] = hot_[k];
    if (safe_until > moved + first.length * speed) continue;
    const double rising = rates[pairs.upper[p]] - rates[pairs.lower[p]];
    const double distance = pairs.distance(p), rate = pairs.side[p] * (pairs.margin[p] - rising);
    if (rate > least_rate) first.consider(distance, rate, p, k);
    safe_until = moved + distance;
  }
  hot_work_ += n_hot_;
  if (!has_many_free_rows()) hot_work_ += n_ * moved_rows_.size() / 8;
  return first;
}

RegularizationPath::Step RegularizationPath::next_by_pair(First first) {
  moved_by_.clear(), moves_by_.clear();
  for (const auto i : moved_rows_) {
    moved_by_.push_back(gamma_[i] - scored_gamma_[i]);
    moves_by_.push_back(d_gamma_[i]);
  }
  const Pairs pairs = this->pairs();
  std::size_t n_measured = 0;
  for (std::size_t k = 0; k < n_hot_; ++k) {
    auto& [safe_until, p] = hot_[k];
    if (safe_until > moved_ + first.length * speed_) continue;
    const auto [risen, rising] = weighted_differences(K_ + upper(p) * n_, K_ + lower(p) * n_,
                                                      moved_rows_, moved_by_, moves_by_);
    const double distance = side_[p] * (pairs.residual(p) - risen),
                 rate = side_[p] * (margin_[p] - rising);
    if (rate > least_rate) first.consider(distance, rate, p, k);
    safe_until = moved_ + distance;
    ++n_measured;
  }
  hot_work_ += n_hot_ + 2 * (8 + moved_rows_.size()) * n_measured;
  return first;
}

}  // namespace ranksvm
