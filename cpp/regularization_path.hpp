// All solutions of the kernel RankSVM with hinge loss as lambda falls, event by event (Zapien et
// al. 2009):
//
//     minimise  sum over pairs p of  max(0, m_p - f_p)  +  lambda / 2 |f|^2,   f_p = f(u_p) -
//     f(l_p)
//
// f = K gamma / lambda, gamma = P' alpha, alpha in [0, 1] one multiplier for each pair; gamma is
// linear in lambda between events.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cholesky.hpp"

namespace ranksvm {

// Where the multiplier of a pair is: at 0, at 1, or free to lie between.
enum class PairSet : std::uint8_t { zero, one, free };

// The pairs that changed sets, in the order in which they did, and the state after each change.
struct PathEvents {
  std::vector<double> lambda;
  std::vector<double> gamma;  // n for each event
  std::vector<std::int64_t> pair;
  std::vector<PairSet> set;  // which the pair is in now
  std::vector<std::int64_t> n_free, n_one;

  std::int64_t size() const { return static_cast<std::int64_t>(pair.size()); }
};

class RegularizationPath {
 public:
  // K is n x n, symmetric and positive semidefinite (for vectors that sum to zero), and outlives
  // this object; pair p prefers upper[p] to lower[p].  The margin of each pair is near one; where
  // margins differ a little, events that would tie come one after the other.
  RegularizationPath(const double* K, std::int64_t n, std::vector<std::int32_t> upper,
                     std::vector<std::int32_t> lower, std::vector<double> margin);

  // Follows the path over at least so many events, or down to lambda_min.
  PathEvents advance(double lambda_min, std::int64_t n_events);

  // Begins at the first event; 0 if there is none.
  double lambda() const { return lambda_; }
  std::span<const double> gamma() const { return gamma_; }
  std::int64_t n() const { return static_cast<std::int64_t>(n_); }
  std::int64_t n_pairs() const { return static_cast<std::int64_t>(margin_.size()); }
  std::int64_t n_free() const { return static_cast<std::int64_t>(free_.size()); }
  std::int64_t n_one() const { return n_one_; }

  // The largest violation of the optimality conditions, in units of f, were all margins one.
  double violation() const;
  // Whether rounding makes pairs change sets without end, while lambda stays where it is.
  bool stuck() const { return events_at_lambda_ > 1000 + n_pairs(); }

 private:
  // Of K gamma: an element, and by how much it falls as lambda falls by 1.
  struct Score {
    double value, rate;
  };
  struct Step {
    double length;
    std::int64_t pair;  // -1 for none
    std::size_t place;  // of a free pair
  };
  // Of d_p = P_p K^1/2 on the span of those of the free pairs.
  struct Projection {
    std::vector<double> column;  // L^-1 P_F K P_p'
    double square, distance;     // |d_p|^2, and that of what is left
  };

  double difference(std::size_t pair) const;
  double gram(std::size_t p, std::size_t q) const;
  std::vector<double> kernel_product(const std::vector<double>& v) const;
  void sum_gamma();
  void compute_scores();
  void set_direction();
  void find_near_pairs();
  Step next_event(double limit);
  void move(double length);
  void handle(const Step& step, PathEvents& events);
  void enter(std::size_t pair, PathEvents& events);
  Projection project(std::size_t pair) const;
  void exchange(std::vector<double> weights, PathEvents& events);
  void leave(std::size_t place, PairSet set, PathEvents& events);
  void note(std::size_t pair, PairSet set, PathEvents& events);

  const double* K_;
  std::size_t n_;
  std::vector<std::int32_t> upper_, lower_;
  std::vector<double> margin_;

  double lambda_ = 0.0;
  std::vector<double> side_;  // 1 for a pair at one, -1 for one at zero, 0 for a free one
  std::int64_t n_one_;
  std::vector<double> gamma_, d_gamma_;
  std::vector<Score> scores_;
  std::vector<std::size_t> free_;    // in the order of the factor
  std::vector<double> alpha_, eta_;  // of the free pairs: alpha falls by eta as lambda falls by 1
  CholeskyFactor factor_;            // of P_F K P_F'
  std::int64_t events_at_lambda_ = 0;

  // Other pairs at bounds were further than the reach from their margins, and no pair has moved by
  // more than `moved` since.
  std::vector<std::size_t> near_;
  double reach_, moved_ = 0.0;
  std::size_t steps_ = 0;  // since then
  double largest_margin_;
  double speed_ = 0.0;  // none moves by more as lambda falls by 1
};

}  // namespace ranksvm
