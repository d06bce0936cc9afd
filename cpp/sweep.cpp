#include "sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "parallel.hpp"
#include "partner_sums.hpp"
#include "score_columns.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kLeastPerThread = 1 << 10;  // documents
constexpr std::int64_t kTogether = 64;             // documents: longer sums lose more
constexpr double kRoundOff = 0.5 * std::numeric_limits<double>::epsilon();

std::vector<double> window_margins(const MarginFunction& phi) {
  if (phi.kind != MarginFunction::Kind::smoothed_hinge) return {phi.margin};
  return {phi.margin, phi.margin - phi.width};
}

}  // namespace

Sweep::Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores,
             const MarginFunction& phi, Counting counting, int n_threads)
    : pairs_(std::move(pairs)),
      phi_(phi),
      counting_(counting),
      order_(*pairs_, scores, window_margins(phi), counting != Counting::automatic,
             useful_threads(n_documents(), kLeastPerThread, n_threads)),
      per_unit_(1 / half_laplacian_unit()),
      degree_(make_array<double>(n_documents())),
      gradient_(make_array<double>(n_documents())) {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  // Sums of widely spread scores would lose the small differences that matter, and so would those
  // over a narrow band. Such scores are summed as multiples of a unit, exactly, and the rest.
  // Where queries are short that costs nothing, and leaves next to no rounding.
  constexpr double kWideSpread = 1024, kNarrowBand = 1e-2, kMany = 1 << 24;
  constexpr std::int64_t kShort = 1 << 12;
  const bool is_free = pairs_->longest_query() <= kShort && pairs_->whole_weights();
  const bool wide = order_.spread() > kWideSpread || is_free;
  const double unit =
      exact_unit(std::max(order_.spread(), std::abs(phi.margin)) * pairs_->largest_weight(),
                 pairs_->longest_query());
  // Nor must rounding be seen where pairs lack next to nothing.
  const auto is_coarse = [&](double magnitude) {
    return pairs_->whole_weights() && magnitude > kMany * totals_.value;
  };
  if (phi.kind == MarginFunction::Kind::hinge) {
    finish_hinge(n_threads);
  } else if (phi.kind == MarginFunction::Kind::squared_hinge) {
    if (!wide) finish_squared_hinge<2>(unit, n_threads);
    if (wide || is_coarse(totals_.magnitude)) finish_squared_hinge<3>(unit, n_threads);
  } else {
    const bool narrow = wide || phi.width < kNarrowBand;
    if (!narrow) finish_smoothed_hinge<2>(unit, n_threads);
    if (narrow || is_coarse(totals_.band_magnitude)) finish_smoothed_hinge<3>(unit, n_threads);
  }
  order_.drop_scores();
  if (counting != Counting::automatic || !pairs_->has_short_queries()) return;
  short_queries_.emplace(*pairs_, phi);
  totals_ += short_queries_->sweep(scores, gradient_.get(), degree_.get(), n_threads);
}

// Sums column(score, k), k < K, over the partners; fills the gradient and the totals from these:
// derivative(position, sums, totals) returns the one and adds to the other.
template <int K, class Column, class Derivative>
void Sweep::finish(int n_threads, Column&& column, Derivative&& derivative) {
  totals_ = {};
  const auto of_parts = visit_partners<K, Totals>(
      *pairs_, order_, counting_, n_threads,
      [&](std::int64_t p, double* values) {
        for (int k = 0; k < K; ++k) values[k] = inner(p) * column(order_.score(p), k);
      },
      [&](Totals& totals, std::int64_t begin, std::int64_t end, const PartnerSums<K>& sums) {
        for (auto first = begin; first < end; first += kTogether) {
          Totals some;
          for (auto p = first; p < std::min(first + kTogether, end); ++p) {
            const double slope = derivative(p, sums, some);
            gradient_[row_at(p)] = slope;
            some.gradient_square += scaled_square(slope);
          }
          totals += some;
        }
      });
  for (const Totals& totals : of_parts) totals_ += totals;
}

// Adds what every loss is made of; returns the balance.
double Sweep::add_active(std::int64_t p, double n_better, double n_worse, Totals& totals) {
  totals.n_active += outer(p) * n_better;
  degree_[p] = outer(p) * (n_better + n_worse);
  return outer(p) * (n_better - n_worse);
}

// Adds the hinge: the sum of margin - z over the active pairs is margin N + b's.
void Sweep::add_hinge(std::int64_t p, double n_better, double balance, Totals& totals) const {
  const double active = phi_.margin * outer(p) * n_better, of_score = balance * order_.score(p);
  totals.value += active + of_score;
  totals.magnitude += active + std::abs(of_score);
}

// What a sum over partners may lose, relative to the absolute values of its terms: as many
// roundings as there are terms in the worst case, and hardly ever more than the square root.
double Sweep::rounding_of_sums() const {
  const auto n = static_cast<double>(pairs_->longest_query());
  return kRoundOff * (std::min(n + 4, std::sqrt(n) + 8) + (pairs_->has_roles() ? 2 : 0));
}

// The largest sum of squared scores of a query, each as often as it weighs as a partner, at most.
double Sweep::largest_square_sum(int n_threads) const {
  if (pairs_->has_gaps()) return std::numeric_limits<double>::infinity();  // weights differ by pair
  const auto pieces = pairs_->pieces();
  std::vector<double> largest(pieces.size(), 0.0);
  parallel_for(std::ssize(pieces), n_threads, [&](std::int64_t t) {
    for (auto q = pieces[t].first_query; q < pieces[t].last_query; ++q) {
      if (!order_.holds(q)) continue;
      double sum = 0;
      for (auto p = pairs_->query_start(q); p < pairs_->query_start(q + 1); ++p)
        sum += inner(p) * order_.score(p) * order_.score(p);
      largest[t] = std::max(largest[t], sum);
    }
  });
  double most = 0;
  for (const double sum : largest) most = std::max(most, sum);
  return pairs_->largest_roles() * most;
}

// What the products of weights lose.
double Sweep::rounding_of_weights() const {
  return kRoundOff * ((pairs_->has_weights() ? 2 : 0) + (pairs_->has_roles() ? 2 : 0));
}

void Sweep::finish_hinge(int n_threads) {
  const double of_sums = pairs_->whole_weights() ? rounding_of_weights() : rounding_of_sums();
  const auto column = [](double, int) { return 1.0; };
  finish<1>(n_threads, column, [&](std::int64_t p, const PartnerSums<1>& sums, Totals& totals) {
    const double n_better = *sums.better(0, p);
    const double balance = add_active(p, n_better, *sums.worse(0, p), totals);
    add_hinge(p, n_better, balance, totals);
    totals.offset += phi_.margin * outer(p) * n_better;
    totals.gradient_rounding_square += scaled_square(of_sums * degree_[p]);
    return balance;
  });
}

// The sum of (margin - z)^2 is margin times that of margin - z, and half the gradient times s.
template <int K>
void Sweep::finish_squared_hinge(double unit, int n_threads) {
  const ScoreColumns<K> column{unit};
  const Lacking<K> lacking_at(column, phi_.margin);
  // With three columns of whole weights, all sums but those of small rests are exact.
  const bool exact = K == 3 && pairs_->whole_weights();
  const double margin = phi_.margin, of_sums = rounding_of_sums(), spread = order_.spread();
  const double squares = exact ? 0 : largest_square_sum(n_threads);
  const double of_weights = exact ? 0 : rounding_of_weights() * (margin + 2 * spread);
  finish<K>(n_threads, column, [&](std::int64_t p, const PartnerSums<K>& sums, Totals& totals) {
    const double *better = sums.better(0, p), *worse = sums.worse(0, p);
    const double s = order_.score(p), balance = add_active(p, better[0], worse[0], totals);
    const auto lacking = lacking_at(s, better, worse);
    const double slope = outer(p) * (lacking.better - lacking.worse);
    const double size = outer(p) * (std::abs(lacking.better) + std::abs(lacking.worse));
    // By the balance, which is known better than the sums are where these are inexact.
    const double of_better =
        exact ? outer(p) * lacking.better : margin * outer(p) * better[0] + balance * s;
    totals.value += margin * of_better + slope * s;
    totals.offset += margin * of_better - slope * s;
    double of_differences = size, of_partners = degree_[p] * unit;
    if (exact) {
      totals.magnitude += size * (margin + std::abs(s)) + of_partners * (margin + std::abs(s));
    } else {
      totals.magnitude += margin * margin * outer(p) * better[0] +
                          2 * margin * std::abs(balance * s) +
                          std::abs((slope - margin * balance) * s);
      // Differences of inexact sums are as inexact as these.
      if (!pairs_->whole_weights()) totals.magnitude += 0.25 * degree_[p] * s * s;
      of_differences += degree_[p] * (margin + std::abs(s));
      // The sum of the absolute values of the partners' scores, times the weight of the document.
      of_partners = std::min(degree_[p] * spread, std::sqrt(degree_[p] * outer(p) * squares));
    }
    totals.gradient_rounding_square += scaled_square(
        2 * of_sums * of_partners + 2 * of_weights * degree_[p] + 8 * kRoundOff * of_differences);
    return 2 * slope;
  });
}

template <int K>
void Sweep::finish_smoothed_hinge(double unit, int n_threads) {
  const ScoreColumns<K> column{unit};
  const Lacking<K> lacking_at(column, phi_.margin);
  const double margin = phi_.margin, width = phi_.width;
  // Differences of inexact sums over two windows, in widths: their rounding goes with the sums.
  const bool inexact = K == 2 || !pairs_->whole_weights();
  const double coarseness = inexact ? std::sqrt(static_cast<double>(n_documents())) / width : 0;
  const double of_sums = inexact ? rounding_of_sums() : 0, spread = order_.spread();
  finish<K>(n_threads, column, [&](std::int64_t p, const PartnerSums<K>& sums, Totals& totals) {
    const double *better = sums.better(0, p), *worse = sums.worse(0, p);
    const double *better_below = sums.better(1, p), *worse_below = sums.worse(1, p);
    const double s = order_.score(p), weight = outer(p);
    add_hinge(p, better[0], add_active(p, better[0], worse[0], totals), totals);

    double in_better[K], in_worse[K];  // the band
    double sum_of_terms = (better[0] + worse[0]) * (margin + std::abs(s));
    for (int k = 0; k < K; ++k) {
      in_better[k] = better[k] - better_below[k];
      in_worse[k] = worse[k] - worse_below[k];
      if (k > 0) sum_of_terms += std::abs(better[k]) + std::abs(worse[k]);
    }
    const auto lacking = lacking_at(s, in_better, in_worse);
    const double slope_better = lacking.better / width, slope_worse = lacking.worse / width;
    degree_[p] = weight * (in_better[0] + in_worse[0]);
    totals.offset += margin * weight * (better_below[0] + slope_better);
    totals.smoothing +=
        weight * ((width - margin) * slope_better - (slope_better - slope_worse) * s);
    totals.band_magnitude += coarseness * weight * sum_of_terms * (1 + std::abs(s));
    const double of_slopes =
        4 * kRoundOff *
        (better_below[0] + worse_below[0] + std::abs(slope_better) + std::abs(slope_worse));
    const double of_terms = (better[0] + worse[0]) * (margin + 2 * spread) / width;
    totals.gradient_rounding_square += scaled_square(weight * (of_slopes + 2 * of_sums * of_terms));
    return weight * ((better_below[0] - worse_below[0]) + (slope_better - slope_worse));
  });
}

void Sweep::degree(double* result) const {
  for (std::int64_t p = 0; p < n_documents(); ++p) result[row_at(p)] = degree_[p];
}

void Sweep::rows(std::int64_t first, std::int64_t last, std::int64_t* result) const {
  for (auto p = first; p < last; ++p) result[p - first] = row_at(p);
}

template <int K>
void Sweep::laplacian_columns(const double* v, std::int64_t stride, double* result,
                              int n_threads) const {
  struct Nothing {};
  visit_partners<K, Nothing>(
      *pairs_, order_, counting_, n_threads,
      [&](std::int64_t p, double* values) {
        for (int k = 0; k < K; ++k) values[k] = inner(p) * v[stride * row_at(p) + k];
      },
      [&](Nothing, std::int64_t begin, std::int64_t end, const PartnerSums<K>& sums) {
        for (auto p = begin; p < end; ++p) {
          const auto row = row_at(p);
          for (int k = 0; k < K; ++k) {
            double partners = sums.better(0, p)[k] + sums.worse(0, p)[k];
            if (sums.n_windows() > 1) partners -= sums.better(1, p)[k] + sums.worse(1, p)[k];
            result[stride * row + k] = degree_[p] * v[stride * row + k] - outer(p) * partners;
          }
        }
      });
}

void Sweep::laplacian(const double* v, std::int64_t n_columns, double* result,
                      int n_threads) const {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  if (short_queries_) short_queries_->laplacian(v, n_columns, degree_.get(), result, n_threads);
  if (short_queries_ && pairs_->longest_query() <= PreferencePairs::kShortQuery) return;
  std::int64_t k = 0;
  for (; k + 4 <= n_columns; k += 4) laplacian_columns<4>(v + k, n_columns, result + k, n_threads);
  for (; k < n_columns; ++k) laplacian_columns<1>(v + k, n_columns, result + k, n_threads);
}

double Sweep::half_laplacian_unit() const {
  const auto& scale = pairs_->scale();
  return 1 / (scale.inner * scale.outer * scale.gap);
}

template <class Real>
void Sweep::half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                           std::int64_t n_columns, std::int64_t first_column,
                           std::int64_t last_column, Real* result) const {
  RowSums<Real> sums(pairs_->scale().gap, static_cast<std::size_t>(last_column - first_column));
  for (auto q = first_query; q < last_query; ++q) {
    const auto n = static_cast<std::uint32_t>(pairs_->size(q));
    const auto n_members = static_cast<std::uint32_t>(pairs_->n_members(q));
    const auto begin = pairs_->query_start(q) - pairs_->query_start(first_query);
    const auto offset = begin * n_columns + first_column;
    if (!order_.holds(q)) {
      short_queries_->half_laplacian(q, degree_.get(), v + offset, n_columns, sums.width(),
                                     result + offset);
      continue;
    }
    sums.reset(order_.query(q, 0), pairs_->has_gaps());
    const Rows<const Real> rows{v + offset, n_columns, 0, n};
    const Rows<const Real> entering{rows.data, n_columns, 0, n_members};
    const Rows<const Real> leaving{rows.data, n_columns, 0, 0};
    move<Real>(sums, q, rows, entering, leaving, {result + offset, n_columns, 0, n});
  }
}

template <class Real>
RowSums<Real> Sweep::row_sums(std::int64_t query, std::int64_t width) const {
  RowSums<Real> sums(pairs_->scale().gap, static_cast<std::size_t>(width));
  sums.reset(order_.query(query, 0), pairs_->has_gaps());
  return sums;
}

namespace {

// The weights of the rows of a query, brought close to 1: of the partners, the better ones, and of
// the worse one whose partners they are.
template <class Real>
struct ScaledWeights {
  const PreferencePairs& pairs;
  const ScoreOrder& order;
  std::int64_t begin;
  bool weighted = pairs.is_weighted();

  [[nodiscard]] Real inner(std::uint32_t p) const {
    if (!weighted) return 1;
    const auto slot = order.slot(begin + p);
    return static_cast<Real>(pairs.scale().inner * (pairs.inner(slot) * pairs.better(slot)));
  }
  [[nodiscard]] Real outer(std::uint32_t p) const {
    if (!weighted) return 1;
    const auto slot = order.slot(begin + p);
    return static_cast<Real>(pairs.scale().outer * (pairs.outer(slot) * pairs.worse(slot)));
  }
};

}  // namespace

template <class Real>
void Sweep::move(RowSums<Real>& sums, std::int64_t query, const Rows<const Real>& rows,
                 const Rows<const Real>& entering, const Rows<const Real>& leaving,
                 const Rows<Real>& result) const {
  const auto begin = pairs_->query_start(query);
  for (auto p = result.first; p < result.last; ++p) {
    const Real* row = rows.at(p);
    Real* product = result.at(p);
    const auto of_row = static_cast<Real>(half_degree(begin + p));
    for (std::size_t k = 0; k < sums.width(); ++k) product[k] = of_row * row[k];
  }
  subtract_partners(sums, query, entering, leaving, result);
}

template <class Real, class Moving>
void Sweep::subtract_partners(RowSums<Real>& sums, std::int64_t query, const Moving& entering,
                              const Moving& leaving, const Rows<Real>& result) const {
  const SortedQuery sorted = order_.query(query, 0);
  if (sorted.n_levels < 2) return;
  // Those that weigh nothing come last, and have no partners.
  const Rows<Real> of_members{result.data, result.stride, result.first,
                              std::min(result.last, sorted.n_documents)};
  const auto* inner_end = order_.n_windows() > 1 ? order_.query(query, 1).window_end : nullptr;
  const ScaledWeights<Real> weights{*pairs_, order_, pairs_->query_start(query)};
  if (pairs_->has_gaps())
    sums.template subtract_partners<true>(sorted, inner_end, weights, entering, leaving,
                                          of_members);
  else
    sums.template subtract_partners<false>(sorted, inner_end, weights, entering, leaving,
                                           of_members);
}

#define RANKSVM_INSTANTIATE(Real)                                                                \
  template void Sweep::half_laplacian(std::int64_t, std::int64_t, const Real*, std::int64_t,     \
                                      std::int64_t, std::int64_t, Real*) const;                  \
  template RowSums<Real> Sweep::row_sums(std::int64_t, std::int64_t) const;                      \
  template void Sweep::move(RowSums<Real>&, std::int64_t, const Rows<const Real>&,               \
                            const Rows<const Real>&, const Rows<const Real>&, const Rows<Real>&) \
      const
RANKSVM_INSTANTIATE(float);
RANKSVM_INSTANTIATE(double);
#undef RANKSVM_INSTANTIATE
template void Sweep::subtract_partners(RowSums<double>&, std::int64_t, const SparseRows&,
                                       const SparseRows&, const Rows<double>&) const;

}  // namespace ranksvm
