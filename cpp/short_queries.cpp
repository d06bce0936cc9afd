#include "short_queries.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "compiler.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

using Kind = MarginFunction::Kind;

constexpr std::uint32_t kMost = PreferencePairs::kShortQuery;
constexpr double kRoundOff = 0.5 * std::numeric_limits<double>::epsilon();

// Numbers by place; those beyond the members are read, but do not matter.
struct alignas(64) Numbers {
  double at[kMost] = {};

  RANKSVM_INLINE double& operator[](std::size_t place) { return at[place]; }
  RANKSVM_INLINE double operator[](std::size_t place) const { return at[place]; }
  RANKSVM_INLINE Four four(std::size_t first) const {
    Four values;
    std::memcpy(&values, at + first, sizeof values);
    return values;
  }
  RANKSVM_INLINE void set_four(std::size_t first, const Four& values) {
    std::memcpy(at + first, &values, sizeof values);
  }
};

RANKSVM_INLINE Four size_of(const Four& a) { return where(Four{} < a, a, -a); }

// The members of a query by place, and what they weigh as partners.
struct Members {
  std::uint32_t n = 0;
  Numbers score, level, weight;
};

// What the active partners of each document add up to, each times its weight. The loss of a pair
// falls by alpha as its margin z grows, twice that for the squared hinge.
struct Sums {
  Numbers weight;              // 1
  Numbers margin, size;        // z, and its absolute value; its square for the squared hinge
  Numbers gradient, slope;     // alpha with the sign of the gradient, and without
  Numbers curving, smoothing;  // 1 and (margin - z) (1 - alpha), in the band
};

// Four documents, and their partners one after the other.
template <Kind kind, bool Gap>
class FourSums {
 public:
  RANKSVM_INLINE FourSums(const Members& members, std::uint32_t first, const MarginFunction& phi)
      : score_(members.score.four(first)), level_(members.level.four(first)), phi_(phi) {}

  RANKSVM_INLINE void add(const Members& members, std::uint32_t j) {
    const Four way = level_ - members.level[j], difference = score_ - members.score[j];
    const FourWords is_better = Four{} < way;
    const Four margin = where(is_better, difference, -difference);
    const FourWords active = (margin < phi_.margin) & (way != Four{});
    Four weight = Four{} + members.weight[j];
    if constexpr (Gap) weight = weight * size_of(way);
    const auto bit = static_cast<std::int64_t>(std::uint64_t{1} << j);
    add(active, is_better, where(active, margin), where(active, weight), bit);
  }
  RANKSVM_INLINE void store(std::uint32_t first, Sums& sums, std::uint64_t* partners) const {
    sums.weight.set_four(first, weight_);
    sums.margin.set_four(first, margin_);
    sums.size.set_four(first, size_);
    sums.gradient.set_four(first, gradient_);
    sums.slope.set_four(first, slope_);
    sums.curving.set_four(first, curving_);
    sums.smoothing.set_four(first, smoothing_);
    std::memcpy(partners + first, &partners_, sizeof partners_);
  }

 private:
  // margin and weight are zero where the pair is not active.
  RANKSVM_INLINE void add(const FourWords& active, const FourWords& is_better, const Four& margin,
                          const Four& weight, std::int64_t bit) {
    const Four slack = phi_.margin - margin, weighted = weight * margin;
    Four slope = weight;
    FourWords curving = active;
    if constexpr (kind == Kind::squared_hinge) slope = weight * slack;
    if constexpr (kind == Kind::smoothed_hinge) {
      const Four one = Four{} + 1.0, part = slack * (1 / phi_.width);
      curving = active & ~(margin < phi_.margin - phi_.width);
      const Four alpha = where(curving & (part < one), part, one);
      slope = weight * alpha;
      curving_ += where(curving, weight);
      smoothing_ += weight * where(curving, slack * (1.0 - alpha));
    }
    weight_ += weight;
    margin_ += weighted;
    size_ += kind == Kind::squared_hinge ? weighted * margin : size_of(weighted);
    slope_ += slope;
    gradient_ += where(is_better, -slope, slope);
    partners_ |= curving & bit;
  }

  Four score_, level_;
  MarginFunction phi_;
  Four weight_{}, margin_{}, size_{}, gradient_{}, slope_{}, curving_{}, smoothing_{};
  FourWords partners_{};
};

template <Kind kind, bool Gap>
RANKSVM_CLONES void add_up_partners(const Members& members, const MarginFunction& phi, Sums& sums,
                                    std::uint64_t* partners) {
  for (std::uint32_t first = 0; first < members.n; first += 4) {
    FourSums<kind, Gap> four(members, first, phi);
    for (std::uint32_t j = 0; j < members.n; ++j) four.add(members, j);
    four.store(first, sums, partners);
  }
}

// result[p] = sum of value[j] over the partners j of p, times the gap between the two.
template <bool Gap>
RANKSVM_CLONES void add_up_values(std::uint32_t n, const std::uint64_t* partners,
                                  const Numbers& value, const Numbers& level, Numbers& result) {
  for (std::uint32_t first = 0; first < n; first += 4) {
    FourWords words;
    std::memcpy(&words, partners + first, sizeof words);
    const Four levels = level.four(first);
    Four sum{};
    for (std::uint32_t j = 0; j < n; ++j) {
      const auto bit = static_cast<std::int64_t>(std::uint64_t{1} << j);
      Four term = Four{} + value[j];
      if constexpr (Gap) term = term * size_of(levels - level[j]);
      sum += where(nonzero(words & bit), term);
    }
    result.set_four(first, sum);
  }
}

// One short query of all.
class Query {
 public:
  RANKSVM_INLINE Query(const PreferencePairs& pairs, std::int64_t query)
      : pairs_(pairs),
        begin_(pairs.query_start(query)),
        end_(pairs.query_start(query + 1)),
        n_(pairs.n_levels()[query] < 2 ? 0 : static_cast<std::uint32_t>(pairs.n_members(query))),
        values_(pairs.has_gaps() ? pairs.level_values(query) : nullptr) {}

  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(end_ - begin_); }
  // Those that may have partners; they come first.
  [[nodiscard]] std::uint32_t n() const { return n_; }
  [[nodiscard]] std::int64_t row(std::uint32_t p) const { return pairs_.row_of(slot(p)); }
  [[nodiscard]] double inner(std::uint32_t p) const { return pairs_.inner(slot(p)); }
  [[nodiscard]] double outer(std::uint32_t p) const { return pairs_.outer(slot(p)); }
  [[nodiscard]] double level(std::uint32_t p) const {
    const auto rank = pairs_.labels()[slot(p)];
    return values_ ? values_[rank] : rank;
  }

 private:
  [[nodiscard]] std::int64_t slot(std::uint32_t p) const { return pairs_.arranged(begin_ + p); }

  const PreferencePairs& pairs_;
  std::int64_t begin_, end_;
  std::uint32_t n_;
  const double* values_;
};

// Makes totals of the sums of rows.
template <Kind kind>
class Finish {
 public:
  Finish(const PreferencePairs& pairs, const MarginFunction& phi)
      : margin_(phi.margin),
        per_unit_(pairs.scale().inner * pairs.scale().outer * pairs.scale().gap),
        of_weights_(pairs.has_weights() ? 2 * kRoundOff : 0),
        counts_are_exact_(kind == Kind::hinge && pairs.whole_weights()) {}

  // What sums over the partners of a document in a query of n may lose, relative to their terms.
  RANKSVM_INLINE void begin(std::uint32_t n) {
    const double terms = n, of_sums = std::min(terms + 4, std::sqrt(terms) + 8);
    of_sums_ = of_weights_ + (counts_are_exact_ ? 0 : kRoundOff * (of_sums + 4));
  }
  // Returns the gradient.
  RANKSVM_INLINE double add(const Sums& sums, std::uint32_t p, double outer) {
    totals_.n_active += outer * sums.weight[p];
    totals_.balance_scores -= outer * sums.margin[p];
    double gradient = outer * sums.gradient[p], rounding = of_sums_ * sums.slope[p];
    if constexpr (kind == Kind::squared_hinge) {
      totals_.scores_laplacian_scores += outer * sums.size[p];
      gradient *= 2;
      // The terms margin - z are as inexact as z is, which is below 2 margin - z.
      rounding = 2 * (rounding + kRoundOff * (2 * sums.slope[p] + margin_ * sums.weight[p]));
    } else {
      totals_.magnitude += outer * sums.size[p];
    }
    if constexpr (kind == Kind::smoothed_hinge) {
      totals_.slope_sum += outer * sums.slope[p];
      totals_.smoothing += outer * sums.smoothing[p];
    }
    totals_.gradient_square += scaled_square(gradient);
    totals_.gradient_rounding_square += scaled_square(outer * rounding);
    return gradient;
  }
  // All rows have been added, and with them each pair twice.
  [[nodiscard]] Totals totals() const {
    Totals once = totals_;
    for (double* total : {&once.n_active, &once.balance_scores, &once.scores_laplacian_scores,
                          &once.magnitude, &once.slope_sum, &once.smoothing})
      *total /= 2;
    // The sum of |z| is at most the root of that of 1 times that of z^2.
    const double root =
        margin_ * std::sqrt(once.n_active) + std::sqrt(once.scores_laplacian_scores);
    once.magnitude =
        kind == Kind::squared_hinge ? root * root : once.magnitude + margin_ * once.n_active;
    return once;
  }

 private:
  RANKSVM_INLINE double scaled_square(double size) const {
    return (per_unit_ * size) * (per_unit_ * size);
  }
  double margin_, per_unit_, of_weights_, of_sums_ = 0;
  bool counts_are_exact_;
  Totals totals_;
};

}  // namespace

Totals ShortQueries::sweep(const double* scores, double* gradient, double* degree, int n_threads) {
  const bool gap = pairs_.has_gaps();
  switch (phi_.kind) {
    case Kind::hinge:
      return gap ? sweep_all<Kind::hinge, true>(scores, gradient, degree, n_threads)
                 : sweep_all<Kind::hinge, false>(scores, gradient, degree, n_threads);
    case Kind::squared_hinge:
      return gap ? sweep_all<Kind::squared_hinge, true>(scores, gradient, degree, n_threads)
                 : sweep_all<Kind::squared_hinge, false>(scores, gradient, degree, n_threads);
    default:
      return gap ? sweep_all<Kind::smoothed_hinge, true>(scores, gradient, degree, n_threads)
                 : sweep_all<Kind::smoothed_hinge, false>(scores, gradient, degree, n_threads);
  }
}

template <Kind kind, bool Gap>
Totals ShortQueries::sweep_all(const double* scores, double* gradient, double* degree,
                               int n_threads) {
  const auto pieces = pairs_.pieces();
  std::vector<Totals> of_pieces(pieces.size());
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    if (!pieces[t].is_long)
      of_pieces[t] = sweep_piece<kind, Gap>(pieces[t], scores, gradient, degree);
  });
  Totals totals;
  for (const Totals& more : of_pieces) totals += more;
  return totals;
}

template <Kind kind, bool Gap>
Totals ShortQueries::sweep_piece(const PreferencePairs::Piece& piece, const double* scores,
                                 double* gradient, double* degree) {
  Finish<kind> finish(pairs_, phi_);
  Members members;
  Sums sums;
  std::array<std::uint64_t, kMost> partners{};
  for (auto q = piece.first_query; q < piece.last_query; ++q) {
    if (!pairs_.is_short(q)) continue;
    const Query query(pairs_, q);
    const auto begin = query.begin();
    members.n = query.n();
    for (std::uint32_t p = 0; p < query.size(); ++p) {
      members.score[p] = scores[query.row(p)];
      if (!std::isfinite(members.score[p])) throw std::domain_error("scores must be finite");
    }
    for (std::uint32_t p = 0; p < members.n; ++p) {
      members.level[p] = query.level(p);
      members.weight[p] = query.inner(p);
    }
    add_up_partners<kind, Gap>(members, phi_, sums, partners.data());
    std::copy_n(partners.begin(), members.n, &partners_[begin]);
    finish.begin(members.n);
    for (std::uint32_t p = 0; p < members.n; ++p) {
      const double outer = query.outer(p);
      gradient[query.row(p)] = finish.add(sums, p, outer);
      const Numbers& curving = kind == Kind::smoothed_hinge ? sums.curving : sums.weight;
      degree[begin + p] = outer * curving[p];
    }
    for (auto p = members.n; p < query.size(); ++p) {
      gradient[query.row(p)] = degree[begin + p] = 0;
      partners_[begin + p] = 0;
    }
  }
  return finish.totals();
}

void ShortQueries::laplacian(const double* v, std::int64_t n_columns, const double* degree,
                             double* result, int n_threads) const {
  const auto pieces = pairs_.pieces();
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    if (pieces[t].is_long) return;
    pairs_.has_gaps() ? laplacian_of_piece<true>(pieces[t], v, n_columns, degree, result)
                      : laplacian_of_piece<false>(pieces[t], v, n_columns, degree, result);
  });
}

template <bool Gap>
void ShortQueries::laplacian_of_piece(const PreferencePairs::Piece& piece, const double* v,
                                      std::int64_t n_columns, const double* degree,
                                      double* result) const {
  Numbers value, level, sum;
  std::array<std::uint64_t, kMost> partners{};
  for (auto q = piece.first_query; q < piece.last_query; ++q) {
    if (!pairs_.is_short(q)) continue;
    const Query query(pairs_, q);
    std::copy_n(&partners_[query.begin()], query.n(), partners.begin());
    for (std::uint32_t p = 0; Gap && p < query.n(); ++p) level[p] = query.level(p);
    for (std::int64_t k = 0; k < n_columns; ++k) {
      for (std::uint32_t p = 0; p < query.n(); ++p)
        value[p] = query.inner(p) * v[n_columns * query.row(p) + k];
      add_up_values<Gap>(query.n(), partners.data(), value, level, sum);
      for (std::uint32_t p = 0; p < query.n(); ++p) {
        const auto place = n_columns * query.row(p) + k;
        result[place] = degree[query.begin() + p] * v[place] - query.outer(p) * sum[p];
      }
      for (auto p = query.n(); p < query.size(); ++p) result[n_columns * query.row(p) + k] = 0;
    }
  }
}

namespace {

// result += the sum of four rows, each times its factor.
template <class Real>
RANKSVM_INLINE void add_four(const Real* const* rows, const Real* factors, std::size_t width,
                             Real* RANKSVM_RESTRICT result) {
  const Real *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const Real of_a = factors[0], of_b = factors[1], of_c = factors[2], of_d = factors[3];
  for (std::size_t k = 0; k < width; ++k)
    result[k] += (of_a * a[k] + of_b * b[k]) + (of_c * c[k] + of_d * d[k]);
}

// result = the sum of n rows, each times its factor; there is room for three more.
template <class Real>
RANKSVM_CLONES void combine_rows(const Real** rows, Real* factors, std::size_t n, std::size_t width,
                                 Real* RANKSVM_RESTRICT result) {
  for (std::size_t m = n; m < n + 3; ++m) {
    rows[m] = rows[0];
    factors[m] = 0;
  }
  std::fill_n(result, width, Real{0});
  for (std::size_t m = 0; m < n; m += 4) add_four(rows + m, factors + m, width, result);
}

}  // namespace

void ShortQueries::terms(std::int64_t q, const double* degree, std::uint32_t p,
                         Terms& terms) const {
  const Query query(pairs_, q);
  const auto& scale = pairs_.scale();
  terms.place[0] = p;
  terms.factor[0] = degree[query.begin() + p] / 2 * scale.inner * scale.outer * scale.gap;
  terms.n = 1;
  // Better partners have higher places.
  for (auto better = partners_[query.begin() + p] >> p; better != 0; better &= better - 1) {
    const auto j = p + static_cast<std::uint32_t>(std::countr_zero(better));
    double factor = scale.inner * query.inner(j);
    if (pairs_.has_gaps()) factor *= scale.gap * (query.level(j) - query.level(p));
    terms.place[terms.n] = j;
    terms.factor[terms.n++] = -factor * (scale.outer * query.outer(p));
  }
}

template <class Real>
void ShortQueries::half_laplacian(std::int64_t q, const double* degree, const Real* v,
                                  std::ptrdiff_t stride, std::size_t width, Real* result) const {
  Terms of_row;
  std::array<const Real*, kMost + 4> rows;
  std::array<Real, kMost + 4> factors;
  for (std::uint32_t p = 0; p < pairs_.size(q); ++p) {
    terms(q, degree, p, of_row);
    for (std::size_t m = 0; m < of_row.n; ++m) {
      rows[m] = v + stride * of_row.place[m];
      factors[m] = static_cast<Real>(of_row.factor[m]);
    }
    combine_rows(rows.data(), factors.data(), of_row.n, width, result + stride * p);
  }
}

template void ShortQueries::half_laplacian(std::int64_t, const double*, const float*,
                                           std::ptrdiff_t, std::size_t, float*) const;
template void ShortQueries::half_laplacian(std::int64_t, const double*, const double*,
                                           std::ptrdiff_t, std::size_t, double*) const;

}  // namespace ranksvm
