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
#include "pair_sums/fours.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

using namespace fours;
using Kind = MarginFunction::Kind;

static_assert(kMost == PreferencePairs::kShortQuery);

constexpr double kRoundOff = 0.5 * std::numeric_limits<double>::epsilon();

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
  [[nodiscard]] double better(std::uint32_t p) const { return pairs_.better(slot(p)); }
  [[nodiscard]] double worse(std::uint32_t p) const { return pairs_.worse(slot(p)); }
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

template <bool Roles>
RANKSVM_INLINE void set_places(const Query& query, Members& members) {
  for (std::uint32_t p = 0; p < members.n; ++p) {
    members.level[p] = query.level(p);
    if constexpr (Roles) {
      members.better[p] = query.better(p);
      members.worse[p] = query.worse(p);
    }
  }
}

// Returns use<Gap, Roles>(), for what the pairs have of these.
template <class Use>
auto by_weights(const PreferencePairs& pairs, Use&& use) {
  if (pairs.has_roles())
    return pairs.has_gaps() ? use.template operator()<true, true>()
                            : use.template operator()<false, true>();
  return pairs.has_gaps() ? use.template operator()<true, false>()
                          : use.template operator()<false, false>();
}

// Makes totals of the sums of rows.
template <Kind kind>
class Finish {
 public:
  Finish(const PreferencePairs& pairs, const MarginFunction& phi)
      : margin_(phi.margin),
        per_unit_(pairs.scale().inner * pairs.scale().outer * pairs.scale().gap),
        of_weights_(kRoundOff * ((pairs.has_weights() ? 2 : 0) + (pairs.has_roles() ? 2 : 0))),
        counts_are_exact_(kind == Kind::hinge && pairs.whole_weights()) {}

  // What sums over the partners of a document in a query of n may lose, relative to their terms.
  RANKSVM_INLINE void begin(std::uint32_t n) {
    flush();
    const double terms = n, of_sums = std::min(terms + 4, std::sqrt(terms) + 8);
    of_sums_ = of_weights_ + (counts_are_exact_ ? 0 : kRoundOff * (of_sums + 4));
  }
  // Returns the gradient.
  RANKSVM_INLINE double add(const Sums& sums, std::uint32_t p, double outer) {
    of_query_.n_active += outer * sums.weight[p];
    of_query_.value += outer * sums.value[p];
    of_query_.magnitude += outer * sums.size[p];
    double gradient = outer * sums.gradient[p], rounding = of_sums_ * sums.slope[p];
    if constexpr (kind == Kind::squared_hinge) {
      of_query_.offset += outer * (2 * margin_ * sums.slope[p] - sums.value[p]);
      gradient *= 2;
      // The terms margin - z are as inexact as z is, which is below 2 margin - z.
      rounding = 2 * (rounding + kRoundOff * (2 * sums.slope[p] + margin_ * sums.weight[p]));
    } else {
      of_query_.offset += outer * margin_ * sums.slope[p];
    }
    if constexpr (kind == Kind::smoothed_hinge) of_query_.smoothing += outer * sums.smoothing[p];
    of_query_.gradient_square += scaled_square(gradient);
    of_query_.gradient_rounding_square += scaled_square(outer * rounding);
    return gradient;
  }
  // All rows have been added, and with them each pair twice.
  [[nodiscard]] Totals totals() {
    flush();
    Totals once = totals_;
    for (double* total :
         {&once.value, &once.offset, &once.smoothing, &once.magnitude, &once.n_active})
      *total /= 2;
    if (kind != Kind::squared_hinge) {
      once.magnitude += margin_ * once.n_active;
      return once;
    }
    // Slack is as inexact as z is: the sum of slack (margin + |z|), at most by Cauchy and Schwarz.
    const double root = margin_ * std::sqrt(once.n_active) + std::sqrt(once.magnitude);
    once.magnitude = root * (std::sqrt(once.value) + 8 * kRoundOff * root);
    return once;
  }

 private:
  RANKSVM_INLINE void flush() {
    totals_ += of_query_;
    of_query_ = {};
  }
  RANKSVM_INLINE double scaled_square(double size) const {
    return (per_unit_ * size) * (per_unit_ * size);
  }
  double margin_, per_unit_, of_weights_, of_sums_ = 0;
  bool counts_are_exact_;
  Totals totals_, of_query_;
};

}  // namespace

Totals ShortQueries::sweep(const double* scores, double* gradient, double* degree, int n_threads) {
  return by_weights(pairs_, [&]<bool Gap, bool Roles>() {
    switch (phi_.kind) {
      case Kind::hinge:
        return sweep_all<Kind::hinge, Gap, Roles>(scores, gradient, degree, n_threads);
      case Kind::squared_hinge:
        return sweep_all<Kind::squared_hinge, Gap, Roles>(scores, gradient, degree, n_threads);
      default:
        return sweep_all<Kind::smoothed_hinge, Gap, Roles>(scores, gradient, degree, n_threads);
    }
  });
}

template <Kind kind, bool Gap, bool Roles>
Totals ShortQueries::sweep_all(const double* scores, double* gradient, double* degree,
                               int n_threads) {
  const auto pieces = pairs_.pieces();
  std::vector<Totals> of_pieces(pieces.size());
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    if (!pieces[t].is_long)
      of_pieces[t] = sweep_piece<kind, Gap, Roles>(pieces[t], scores, gradient, degree);
  });
  Totals totals;
  for (const Totals& more : of_pieces) totals += more;
  return totals;
}

template <Kind kind, bool Gap, bool Roles>
Totals ShortQueries::sweep_piece(const PreferencePairs::Piece& piece, const double* scores,
                                 double* gradient, double* degree) {
  Finish<kind> finish(pairs_, phi_);
  Members members;
  Sums sums;
  Words partners{};
  for (auto q = piece.first_query; q < piece.last_query; ++q) {
    if (!pairs_.is_short(q)) continue;
    const Query query(pairs_, q);
    const auto begin = query.begin();
    members.n = query.n();
    for (std::uint32_t p = 0; p < query.size(); ++p) {
      members.score[p] = scores[query.row(p)];
      if (!std::isfinite(members.score[p])) throw std::domain_error("scores must be finite");
    }
    set_places<Roles>(query, members);
    for (std::uint32_t p = 0; p < members.n; ++p) members.weight[p] = query.inner(p);
    add_up_partners<kind, Gap, Roles>(members, phi_, sums, partners.data());
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
    by_weights(pairs_, [&]<bool Gap, bool Roles>() {
      laplacian_of_piece<Gap, Roles>(pieces[t], v, n_columns, degree, result);
    });
  });
}

template <bool Gap, bool Roles>
void ShortQueries::laplacian_of_piece(const PreferencePairs::Piece& piece, const double* v,
                                      std::int64_t n_columns, const double* degree,
                                      double* result) const {
  Members members;
  Numbers value, sum;
  Words partners{};
  for (auto q = piece.first_query; q < piece.last_query; ++q) {
    if (!pairs_.is_short(q)) continue;
    const Query query(pairs_, q);
    std::copy_n(&partners_[query.begin()], query.n(), partners.begin());
    members.n = query.n();
    if constexpr (Gap || Roles) set_places<Roles>(query, members);
    for (std::int64_t k = 0; k < n_columns; ++k) {
      for (std::uint32_t p = 0; p < query.n(); ++p)
        value[p] = query.inner(p) * v[n_columns * query.row(p) + k];
      add_up_values<Gap, Roles>(members, partners.data(), value, sum);
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
  if (query.worse(p) == 0) return;
  // Better partners have higher places.
  for (auto better = partners_[query.begin() + p] >> p; better != 0; better &= better - 1) {
    const auto j = p + static_cast<std::uint32_t>(std::countr_zero(better));
    double factor = scale.inner * (query.inner(j) * query.better(j));
    if (pairs_.has_gaps()) factor *= scale.gap * (query.level(j) - query.level(p));
    terms.place[terms.n] = j;
    terms.factor[terms.n++] = -factor * (scale.outer * (query.outer(p) * query.worse(p)));
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
