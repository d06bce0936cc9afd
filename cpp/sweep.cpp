#include "sweep.hpp"

#include <algorithm>
#include <cmath>

#include "pair_sums/row_sums.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

constexpr std::int64_t kChunk = 1 << 13;
constexpr std::int64_t kLeastPerThread = 1 << 10;  // documents

std::vector<double> window_margins(const PairLoss& loss) {
  if (loss.kind != PairLoss::Kind::smoothed_hinge) return {loss.margin};
  return {loss.margin, loss.margin - loss.width};
}

// What n numbers of this size are whole multiples of, if they shall add up exactly.
double exact_unit(double size, std::int64_t n) {
  return std::ldexp(1.0, std::ilogb(std::max(size, 1.0) * static_cast<double>(n)) - 51);
}

}  // namespace

Sweep::Sweep(std::shared_ptr<const PreferencePairs> pairs, const double* scores,
             const PairLoss& loss, Counting counting, int n_threads)
    : gradient(std::make_unique_for_overwrite<double[]>(pairs->n_documents())),
      pairs_(std::move(pairs)),
      counting_(counting),
      order_(*pairs_, scores, window_margins(loss),
             useful_threads(n_documents(), kLeastPerThread, n_threads)),
      degree_(std::make_unique_for_overwrite<double[]>(n_documents())) {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  // Sums of widely spread scores would lose the small differences that matter, and so would those
  // over a narrow band. Such scores are summed as multiples of a unit, exactly, and the rest.
  constexpr double kWideSpread = 1024, kNarrowBand = 1e-2;
  const bool smoothed = loss.kind == PairLoss::Kind::smoothed_hinge;
  if (loss.kind == PairLoss::Kind::hinge)
    finish<1>(loss, 0, n_threads);
  else if (order_.spread <= kWideSpread && !(smoothed && loss.width < kNarrowBand))
    finish<2>(loss, 0, n_threads);
  else
    finish<3>(loss, exact_unit(order_.spread * pairs_->largest_weight, n_documents()), n_threads);
}

void Sweep::degree(double* result) const {
  for (std::int64_t p = 0; p < n_documents(); ++p)
    result[pairs_->row_of(order_.slot[p])] = degree_[p];
}

// The two sides of the windows of a long query are separate tasks.
std::vector<Sweep::Task> Sweep::tasks() const {
  std::vector<Task> result;
  for (const bool is_long : {true, false})
    for (const auto& piece : pairs_->pieces)
      for (std::size_t w = 0; w < order_.window_ends.size() && piece.is_long == is_long; ++w) {
        if (is_long)
          for (const Side side : {upper, lower})
            result.push_back({piece.first_query, piece.last_query, w, side});
        else
          result.push_back({piece.first_query, piece.last_query, w, both});
      }
  return result;
}

// The sums of v (by position, K columns) over the partners of every position, for each window.
template <int K>
std::vector<Sweep::Sums> Sweep::sum_partners(const double* v, int n_threads) const {
  std::vector<Sums> sums(order_.window_ends.size());
  for (Sums& of_window : sums)
    for (Array<double>* side : {&of_window.upper, &of_window.lower})
      *side = std::make_unique_for_overwrite<double[]>(K * n_documents());
  const std::vector<Task> all = tasks();
  parallel_for(std::ssize(all), n_threads, [&](std::int64_t t) {
    if (pairs_->has_gaps())
      sum_partners<K, true>(all[t], v, sums[all[t].window]);
    else
      sum_partners<K, false>(all[t], v, sums[all[t].window]);
  });
  return sums;
}

template <int K, bool Gap>
void Sweep::sum_partners(const Task& task, const double* v, Sums& sums) const {
  Counter<K, Gap> counter(counting_);
  for (auto q = task.first_query; q < task.last_query; ++q) {
    const SortedQuery query = order_.query(q, task.window);
    const auto begin = K * pairs_->query_start[q], end = K * pairs_->query_start[q + 1];
    for (const Side side : {upper, lower}) {
      if (task.side != both && task.side != side) continue;
      double* result = (side == upper ? sums.upper : sums.lower).get() + begin;
      if (query.n_levels < 2)
        std::fill(result, result + (end - begin), 0.0);
      else if (side == upper)
        counter.upper(query, v + begin, result);
      else
        counter.lower(query, v + begin, result);
    }
  }
}

// Fills gradient, degree and the totals.  Columns: 1; the scores, or their multiples of the unit
// and the rest.
template <int K>
void Sweep::finish(const PairLoss& loss, double unit, int n_threads) {
  const auto n = n_documents();
  const auto column = [&](double s, int k) {
    if (k == 0) return 1.0;
    if (K == 2) return s;
    const double whole = std::rint(s / unit) * unit;
    return k == 1 ? whole : s - whole;
  };
  const auto v = std::make_unique_for_overwrite<double[]>(K * n);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p)
      for (int k = 0; k < K; ++k) v[K * p + k] = inner(order_.slot[p]) * column(order_.score[p], k);
  });
  const auto sums = sum_partners<K>(v.get(), n_threads);
  const double *upper0 = sums[0].upper.get(), *lower0 = sums[0].lower.get();
  const bool smoothed = sums.size() > 1;
  const double* upper1 = smoothed ? sums[1].upper.get() : nullptr;
  const double* lower1 = smoothed ? sums[1].lower.get() : nullptr;

  const bool squared = loss.kind == PairLoss::Kind::squared_hinge;
  const double factor = squared ? 2 * loss.margin : 1;
  // Differences of inexact sums over two windows, in widths: their rounding goes with the sums.
  const bool inexact = smoothed && (K == 2 || !pairs_->whole_weights);
  const double coarseness = inexact ? std::sqrt(static_cast<double>(n)) / loss.width : 0;
  std::vector<Totals> totals((n + kChunk - 1) / kChunk);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    Totals total;
    for (auto p = begin; p < end; ++p) {
      const double weight = outer(order_.slot[p]), s = order_.score[p];
      const double* up = upper0 + K * p;
      const double* low = lower0 + K * p;
      const double balance = weight * (up[0] - low[0]);
      total.active += weight * up[0];
      total.balance += balance * s;
      total.magnitude += factor * std::abs(balance * s);
      degree_[p] = weight * (up[0] + low[0]);
      double derivative = balance;
      if (K > 1 && !smoothed) {
        double product = 0;
        for (int k = 1; k < K; ++k) product += (up[0] + low[0]) * column(s, k) - (up[k] + low[k]);
        product *= weight;
        total.laplacian += product * s;
        total.magnitude += std::abs(product * s);
        // Differences of inexact sums are as inexact as these.
        if (!pairs_->whole_weights) total.magnitude += 0.25 * degree_[p] * s * s;
        derivative = 2 * (product + loss.margin * balance);
      } else if (K > 1) {
        const double* up1 = upper1 + K * p;
        const double* low1 = lower1 + K * p;
        const double n_up = up[0] - up1[0], n_low = low[0] - low1[0];
        double band_up = n_up * loss.margin, band_low = n_low * loss.margin;
        for (int k = 1; k < K; ++k) {
          band_up += n_up * column(s, k) - (up[k] - up1[k]);
          band_low -= n_low * column(s, k) - (low[k] - low1[k]);
        }
        double sum_of_terms = (up[0] + low[0]) * (loss.margin + std::abs(s));
        for (int k = 1; k < K; ++k) sum_of_terms += std::abs(up[k]) + std::abs(low[k]);
        total.band_magnitude += coarseness * weight * sum_of_terms * (1 + std::abs(s));
        band_up /= loss.width;
        band_low /= loss.width;
        degree_[p] = weight * (n_up + n_low);
        derivative = weight * ((up1[0] - low1[0]) + (band_up - band_low));
        total.slopes += weight * (up1[0] + band_up);
        total.band += weight * band_up;
        total.band_scores += weight * (band_up - band_low) * s;
      }
      gradient[pairs_->row_of(order_.slot[p])] = derivative;
    }
    totals[begin / kChunk] = total;
  });
  double band = 0, band_scores = 0;
  for (const Totals& total : totals) {
    n_active += total.active;
    balance_scores += total.balance;
    scores_laplacian_scores += total.laplacian;
    magnitude += total.magnitude;
    slope_sum += total.slopes;
    band_magnitude += total.band_magnitude;
    band += total.band;
    band_scores += total.band_scores;
  }
  magnitude += (squared ? loss.margin * loss.margin : loss.margin) * n_active;
  smoothing = (loss.width - loss.margin) * band - band_scores;
}

template <int K>
void Sweep::laplacian_columns(const double* v, std::int64_t stride, double* result,
                              int n_threads) const {
  const auto n = n_documents();
  const auto by_position = std::make_unique_for_overwrite<double[]>(K * n);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p)
      for (int k = 0; k < K; ++k)
        by_position[K * p + k] =
            inner(order_.slot[p]) * v[stride * pairs_->row_of(order_.slot[p]) + k];
  });
  const auto sums = sum_partners<K>(by_position.get(), n_threads);
  parallel_chunks(n, kChunk, n_threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) {
      const auto row = pairs_->row_of(order_.slot[p]);
      for (int k = 0; k < K; ++k) {
        double partners = sums[0].upper[K * p + k] + sums[0].lower[K * p + k];
        if (sums.size() > 1) partners -= sums[1].upper[K * p + k] + sums[1].lower[K * p + k];
        result[stride * row + k] =
            degree_[p] * v[stride * row + k] - outer(order_.slot[p]) * partners;
      }
    }
  });
}

void Sweep::laplacian(const double* v, std::int64_t n_columns, double* result,
                      int n_threads) const {
  n_threads = useful_threads(n_documents(), kLeastPerThread, n_threads);
  std::int64_t k = 0;
  for (; k + 4 <= n_columns; k += 4) laplacian_columns<4>(v + k, n_columns, result + k, n_threads);
  for (; k < n_columns; ++k) laplacian_columns<1>(v + k, n_columns, result + k, n_threads);
}

void Sweep::rows(std::int64_t* result) const {
  for (std::int64_t p = 0; p < n_documents(); ++p) result[p] = pairs_->row_of(order_.slot[p]);
}

template <class Real>
void Sweep::half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                           std::int64_t n_columns, std::int64_t first_column,
                           std::int64_t last_column, Real* result) const {
  RowSums<Real> sums;
  const auto width = last_column - first_column;
  const bool weighted = !pairs_->inner.empty();
  std::vector<Real> inner_weight, outer_weight;
  for (auto q = first_query; q < last_query; ++q) {
    const auto begin = pairs_->query_start[q];
    const SortedQuery query = order_.query(q, 0);
    const auto offset = (begin - pairs_->query_start[first_query]) * n_columns + first_column;
    inner_weight.clear();
    outer_weight.clear();
    for (std::uint32_t p = 0; p < query.n_documents; ++p) {
      const Real* row = v + offset + p * n_columns;
      const auto half_degree = static_cast<Real>(degree_[begin + p] / 2);
      for (std::int64_t k = 0; k < width; ++k)
        result[offset + p * n_columns + k] = half_degree * row[k];
      if (!weighted) continue;
      inner_weight.push_back(static_cast<Real>(inner(order_.slot[begin + p])));
      outer_weight.push_back(static_cast<Real>(outer(order_.slot[begin + p])));
    }
    if (query.n_levels < 2) continue;
    const auto subtract = [&]<bool Gap>() {
      sums.template subtract_partners<Gap>(
          query, order_.window_ends.size() > 1 ? &order_.window_ends[1][begin] : nullptr,
          weighted ? inner_weight.data() : nullptr, weighted ? outer_weight.data() : nullptr,
          v + offset, static_cast<std::size_t>(width), static_cast<std::size_t>(n_columns),
          result + offset);
    };
    if (pairs_->has_gaps())
      subtract.template operator()<true>();
    else
      subtract.template operator()<false>();
  }
}

template void Sweep::half_laplacian<float>(std::int64_t, std::int64_t, const float*, std::int64_t,
                                           std::int64_t, std::int64_t, float*) const;
template void Sweep::half_laplacian<double>(std::int64_t, std::int64_t, const double*, std::int64_t,
                                            std::int64_t, std::int64_t, double*) const;

}  // namespace ranksvm
