// All solutions of the kernel RankSVM with hinge loss as lambda falls, event by event (Zapien et
// al. 2009):
//
//     minimise  sum over pairs p of  max(0, m_p - f_p)  +  lambda / 2 |f|^2,   f_p = f(u_p) -
//     f(l_p)
//
// f = K gamma / lambda, gamma = P' alpha, alpha in [0, 1] one multiplier for each pair; gamma is
// linear in lambda between events.
//
// What an event takes does not grow with the numbers of pairs and rows, but where all of them are
// looked through, now and then, and with many free pairs: see path_search.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "cholesky.hpp"
#include "row_forest.hpp"

namespace ranksvm {

// Where the multiplier of a pair is: at 0, at 1, or free to lie between.
enum class PairSet : std::uint8_t { zero, one, free };

// The pairs that changed sets, in the order in which they did, and the state after each change.
struct PathEvents {
  std::vector<double> lambda;
  std::vector<std::int64_t> pair;
  std::vector<PairSet> set;  // which the pair is in now
  std::vector<std::int64_t> n_free, n_one;
  // gamma before the first event; what changes of it up to each event, and where those of the next
  // begin.
  std::vector<double> gamma;
  std::vector<std::int32_t> changed_row;
  std::vector<double> changed_gamma;
  std::vector<std::int64_t> n_changed;

  std::int64_t size() const { return static_cast<std::int64_t>(pair.size()); }
};

// Adds weighted rows of K, each of n elements, to the sums.
void add_rows(const double* K, std::size_t n, const std::vector<std::int32_t>& rows,
              const std::vector<double>& weights, double* sums);
// Inner products of rows of K, each of n elements, with a vector; to the places of the rows.
void multiply_rows(const double* K, std::size_t n, const std::vector<std::int32_t>& rows,
                   const double* vector, double* products);

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
  // A pair at a bound, and the least `moved` at which it could be on its margin.
  struct Bound {
    double safe_until;
    std::size_t pair;
    bool operator<(const Bound& other) const {
      return std::tie(safe_until, pair) < std::tie(other.safe_until, other.pair);
    }
  };
  // All pairs at the scores that are known, where they are looked through: the compiler need not
  // fear that what is written meanwhile changes them.
  struct Pairs {
    const std::int32_t *upper, *lower;
    const double *margin, *side, *scores;
    double lambda;

    double difference(std::size_t p) const { return scores[upper[p]] - scores[lower[p]]; }
    double residual(std::size_t p) const { return lambda * margin[p] - difference(p); }
    double distance(std::size_t p) const { return side[p] * residual(p); }  // 0 for a free pair
  };
  struct Step {
    double length;
    std::int64_t pair = -1;  // -1 for none
    std::size_t place = 0;   // of a free or hot pair
  };
  // The first of the events considered: the one with the least distance / rate.
  struct First : Step {
    double distance = length, rate = 1.0;

    void consider(double d, double r, std::size_t p, std::size_t k) {
      if (!(d * rate < distance * r)) return;
      distance = std::max(0.0, d), rate = r;
      length = distance / rate, pair = static_cast<std::int64_t>(p), place = k;
    }
  };
  // Of d_p = P_p K^1/2 on the span of those of the free pairs.
  struct Projection {
    std::vector<double> column;  // L^-1 P_F K P_p'
    double square, distance;     // |d_p|^2, and that of what is left
  };

  std::size_t upper(std::size_t pair) const { return static_cast<std::size_t>(upper_[pair]); }
  std::size_t lower(std::size_t pair) const { return static_cast<std::size_t>(lower_[pair]); }
  Pairs pairs() const {
    return {upper_.data(), lower_.data(), margin_.data(), side_.data(), scores_.data(), lambda_};
  }
  bool is_held(std::size_t pair) const { return forest_.is_joined(upper(pair), lower(pair)); }
  double gram(std::size_t p, std::size_t q) const;
  void compute_scores();
  void update_scores();
  void set_target();
  void join_rows();
  void refresh();
  void find_near_pairs();
  void drop_hot(std::size_t place);
  void widen_hot_reach();
  std::size_t part_held(std::size_t begin, std::size_t end);
  bool has_many_free_rows() const;
  void set_direction();
  void bound_speed(double norm);
  void compute_rates();
  void follow_scores();
  Step next_event(double limit);
  Step next_by_row(First first);
  Step next_by_pair(First first);
  void move(double length);
  void handle(const Step& step, PathEvents& events);
  void enter(std::size_t pair, PathEvents& events);
  void leave(std::size_t place, PairSet set, PathEvents& events);
  void exchange(std::vector<double> weights, PathEvents& events);
  Projection project(std::size_t pair) const;
  void count_one(std::size_t pair, int change);
  void add_free_row(std::int32_t row);
  void drop_free_row(std::int32_t row);
  void sum_gamma();
  void note(std::size_t pair, PairSet set, PathEvents& events);

  static constexpr double at_one = 1.0, at_zero = -1.0, between = 0.0;

  const double* K_;
  std::size_t n_;
  std::vector<std::int32_t> upper_, lower_;
  std::vector<double> margin_;
  double largest_margin_, largest_distance_ = 0.0;  // |d_p|

  double lambda_ = 0.0;
  std::vector<double> side_;  // `at_one`, `at_zero`, or for a free pair `between`
  std::int64_t n_one_;
  std::vector<double> gamma_;
  std::vector<double> gamma_one_;  // of the pairs at one: whole numbers
  std::int64_t events_at_lambda_ = 0;

  std::vector<std::size_t> free_;    // in the order of the factor
  std::vector<double> alpha_, eta_;  // of the free pairs: alpha falls by eta as lambda falls by 1
  // At what rate lambda m_F falls, and what rounding leaves between it and P_F K gamma, as measured
  // at that lambda; and L^-1 of it.
  std::vector<double> target_, half_solved_;
  double target_lambda_ = 0.0;
  CholeskyFactor factor_;  // L of P_F K P_F'
  RowForest forest_;       // of the rows that free pairs join: differences are those of the target
  std::vector<std::int32_t> free_rows_, n_free_pairs_;  // rows of free pairs; and for each row
  std::vector<double> d_gamma_;                         // by how much gamma falls

  // K times `scored_gamma`; gamma is that but in `moved_rows`, by `moved_by`.  With `is_followed`,
  // `followed` are the scores where gamma has come to, by the rates since.
  std::vector<double> scores_, scored_gamma_, followed_;
  bool is_followed_ = false;
  std::vector<std::int32_t> moved_rows_;
  std::vector<std::uint8_t> is_moved_;
  std::vector<double> moved_by_, moves_by_, rates_;

  // No pair at a bound has come closer to its margin than by `moved` since the near pairs were
  // found.  Those that are not near were at least `near_reach` from it then; those that are not hot
  // will not be there before `moved` is `hot_until`.  Free pairs are near.  A pair is held while
  // free pairs join its rows: of the hot pairs, the first `n_hot` are not.
  std::vector<Bound> hot_, near_;
  std::size_t n_hot_ = 0;
  bool was_joined_ = false, was_parted_ = false;  // rows, since held pairs were told apart
  std::vector<double> safe_until_;
  double moved_ = 0.0, hot_reach_ = 0.0, hot_until_ = 0.0, near_reach_ = 0.0;
  bool must_refresh_ = true, by_row_ = false;  // `by_row`: `rates` holds those of all rows
  double speed_ = 0.0;                         // no pair moves by more as lambda falls by 1
  std::size_t hot_work_ = 0, hot_events_ = 0, near_work_ = 0, near_events_ = 0,
              find_work_ = 0;  // with these lists
};

}  // namespace ranksvm
