#include "top_sweep.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compiler.hpp"
#include "long_sum.hpp"
#include "parallel.hpp"
#include "top_block.hpp"

namespace ranksvm {
namespace {

using Kind = MarginFunction::Kind;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Of a slope added up for a row: as many roundings as it has terms in a block, or partners at the
// top, or, since they hardly all point one way, as a dozen and the square root of these.
double rounding_of_sums(std::int64_t n_top) {
  const double n = static_cast<double>(std::max(n_top, kBlock / 4));
  return kEpsilon * std::min(n + 8, std::sqrt(n) + 16);
}

struct FourSums {
  Four value{}, offset{}, smoothing{}, magnitude{};
};

struct LongSums {
  LongSum value, offset, smoothing, magnitude;

  void operator+=(const FourSums& more) {
    value += sum_of(more.value);
    offset += sum_of(more.offset);
    smoothing += sum_of(more.smoothing);
    magnitude += sum_of(more.magnitude);
  }
};

// Returns the slopes of four pairs, times their weights, and adds up what a loss makes of them.
template <Kind kKind>
RANKSVM_INLINE Four add_pairs(const MarginFunction& phi, const FourPairs& pairs, FourSums& sums) {
  const Four zero{}, difference = phi.margin - pairs.ahead;
  const FourWords lacks = zero < difference;
  const Four lacking = where(lacks, difference);
  Four slope = lacking * 2.0;
  if constexpr (kKind == Kind::hinge) slope = where(lacks, 1.0 - zero);
  if constexpr (kKind == Kind::smoothed_hinge) {
    slope = lacking * (1 / phi.width);
    slope = where(slope < 1.0, slope, 1.0 - zero);
  }
  const Four of_pair = pairs.weight * slope;
  // What rounding hides of a pair that seems to keep its margin belongs to the bound, too.
  const Four size = where(zero < pairs.ahead, pairs.ahead, -pairs.ahead) + std::abs(phi.margin);
  const Four coarse = size * (4 * kEpsilon);
  const FourWords counts = zero < plus(difference, coarse);
  if constexpr (kKind == Kind::squared_hinge) {
    sums.magnitude += where(counts, pairs.weight * size * plus(lacking, coarse));
    sums.value += pairs.weight * lacking * lacking;
    sums.offset += pairs.weight * lacking * (2 * phi.margin - lacking);
  } else {
    sums.magnitude += where(counts, pairs.weight * size);
    sums.value += pairs.weight * lacking;
    sums.offset += of_pair * phi.margin;
  }
  if constexpr (kKind == Kind::smoothed_hinge)
    sums.smoothing += pairs.weight * lacking * (1.0 - slope);
  return of_pair;
}

// The slopes of the rows of a query: as they are, and without their signs.
struct Slopes {
  LongSum net, size;
};

// Adds up the pairs of a row with those of a block.
template <Kind kKind>
RANKSVM_CLONES void add_row(const MarginFunction& phi, const TopRow& top, const RankBlock& block,
                            std::int64_t begin, double* net, double* size, Slopes& own,
                            LongSums& totals) {
  FourSums sums;
  Four own_net{}, own_size{};
  for (auto k = begin; k < block.size(); k += 4) {
    const FourPairs pairs = four_pairs(top, block, k);
    const Four slope = add_pairs<kKind>(phi, pairs, sums);
    const Four of_other = where(pairs.is_better, slope, -slope);
    own_net += -of_other;
    own_size += slope;
    put(plus(four_at(net + k), of_other), net + k);
    put(plus(four_at(size + k), slope), size + k);
  }
  own.net += sum_of(own_net);
  own.size += sum_of(own_size);
  totals += sums;
}

// The weights of the pairs of a row that curve the loss, in units.
template <class Real>
RANKSVM_CLONES void curving(const MarginFunction& phi, double unit, const TopRow& top,
                            const RankBlock& block, Real* weights) {
  const double per_unit = 1 / unit;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double reach =  // the width, and all that is not above it
      phi.kind == Kind::smoothed_hinge ? std::nextafter(phi.width, kInfinity) : kInfinity;
  std::fill_n(weights, kBlock, Real{0});
  const Four zero{};
  for (auto k = block.begin(top.rank); k < block.size(); k += 4) {
    const FourPairs pairs = four_pairs(top, block, k);
    const Four difference = phi.margin - pairs.ahead;
    const Four near = where(difference < reach, pairs.weight * per_unit);
    const Four active = where(zero < difference, near);
    for (std::size_t lane = 0; lane < 4; ++lane)
      weights[k + static_cast<std::int64_t>(lane)] = static_cast<Real>(active[lane]);
  }
}

constexpr int kRows = 4, kWide = 16;  // of a tile of a product

// Takes the sums over a block of weights of kRows rows times rows of v from rows of the result.
template <int kColumns, class Real>
RANKSVM_INLINE void subtract_tile(const Real* weights, std::int64_t n, const Real* v,
                                  std::int64_t n_columns, std::int64_t n_rows, Real* result) {
  Real sums[kRows][kColumns] = {};
  for (std::int64_t k = 0; k < n; ++k) {
    const Real* RANKSVM_RESTRICT row = v + k * n_columns;
    for (int r = 0; r < kRows; ++r)
      for (int c = 0; c < kColumns; ++c) sums[r][c] += weights[r * kBlock + k] * row[c];
  }
  for (std::int64_t r = 0; r < n_rows; ++r)
    for (int c = 0; c < kColumns; ++c) result[r * n_columns + c] -= sums[r][c];
}

template <class Real>
RANKSVM_CLONES void subtract_products(const Real* weights, std::int64_t n, const Real* v,
                                      std::int64_t n_columns, std::int64_t n_rows, Real* result) {
  std::int64_t c = 0;
  for (; c + kWide <= n_columns; c += kWide)
    subtract_tile<kWide>(weights, n, v + c, n_columns, n_rows, result + c);
  for (; c < n_columns; ++c) subtract_tile<1>(weights, n, v + c, n_columns, n_rows, result + c);
}

}  // namespace

struct TopSweep::Part {
  LongSums sums;
  double square = 0, rounding_square = 0;
  std::vector<double> net, size;  // of the rows of a query
  std::vector<Slopes> of_top;
};

TopSweep::TopSweep(std::shared_ptr<const TopPairs> pairs, const double* scores,
                   const MarginFunction& phi, int n_threads)
    : pairs_(std::move(pairs)),
      phi_(phi),
      scores_(make_array<double>(pairs_->n_rows())),
      gradient_(make_array<double>(pairs_->n_rows())) {
  for (std::int64_t p = 0; p < pairs_->n_rows(); ++p) {
    scores_[p] = scores[pairs_->row()[p]];
    if (!std::isfinite(scores_[p])) throw std::domain_error("scores must be finite");
  }
  if (phi.kind == Kind::hinge)
    add_up<Kind::hinge>(n_threads);
  else if (phi.kind == Kind::squared_hinge)
    add_up<Kind::squared_hinge>(n_threads);
  else
    add_up<Kind::smoothed_hinge>(n_threads);
}

template <MarginFunction::Kind kKind>
void TopSweep::add_query(std::int64_t query, Part& part) {
  const auto start = pairs_->start(query), n = pairs_->start(query + 1) - start;
  const auto n_top = pairs_->n_top(query), padded = (n + 3) / 4 * 4;
  part.net.assign(static_cast<std::size_t>(padded), 0);
  part.size.assign(static_cast<std::size_t>(padded), 0);
  part.of_top.assign(static_cast<std::size_t>(n_top), {});
  for (std::int64_t first = 0; n_top > 0 && first < n; first += kBlock) {
    const RankBlock block(*pairs_, query, first, scores_.get());
    for (std::int64_t t = 0; t < std::min(n_top, block.last); ++t)
      add_row<kKind>(phi_, TopRow(*pairs_, query, t, scores_.get()), block, block.begin(t),
                     &part.net[first], &part.size[first], part.of_top[t], part.sums);
  }
  const double per_unit = 1 / pairs_->unit(), of_sums = rounding_of_sums(n_top) * per_unit;
  for (std::int64_t k = 0; k < n; ++k) {
    double net = part.net[k], size = part.size[k];
    if (k < n_top) {
      net += part.of_top[k].net.value();
      size += part.of_top[k].size.value();
    }
    gradient_[pairs_->row()[start + k]] = net;
    part.square += (per_unit * net) * (per_unit * net);
    part.rounding_square += (of_sums * size) * (of_sums * size);
  }
}

template <MarginFunction::Kind kKind>
void TopSweep::add_up(int n_threads) {
  std::vector<PairTotals> totals(static_cast<std::size_t>(pairs_->n_pieces()));
  std::vector<double> square(totals.size()), rounding_square(totals.size());
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    Part part;
    for (auto q = pairs_->first_query(piece); q < pairs_->first_query(piece + 1); ++q)
      add_query<kKind>(q, part);
    totals[piece] = {part.sums.value.value(), part.sums.offset.value(), part.sums.smoothing.value(),
                     part.sums.magnitude.value()};
    square[piece] = part.square;
    rounding_square[piece] = part.rounding_square;
  });
  LongSum value, offset, smoothing, magnitude;
  for (std::size_t piece = 0; piece < totals.size(); ++piece) {
    value += totals[piece].value;
    offset += totals[piece].offset;
    smoothing += totals[piece].smoothing;
    magnitude += totals[piece].magnitude;
    square_ += square[piece];
    rounding_square_ += rounding_square[piece];
  }
  totals_ = {value.value(), offset.value(), smoothing.value(), magnitude.value()};
}

void TopSweep::degree_of_query(std::int64_t query, double* by_place) const {
  const auto start = pairs_->start(query), n = pairs_->start(query + 1) - start;
  const auto n_top = pairs_->n_top(query);
  std::fill_n(by_place + start, n, 0.0);
  double weights[kBlock];
  for (std::int64_t first = 0; n_top > 0 && first < n; first += kBlock) {
    const RankBlock block(*pairs_, query, first, scores_.get());
    for (std::int64_t t = 0; t < std::min(n_top, block.last); ++t) {
      curving(phi_, 1.0, TopRow(*pairs_, query, t, scores_.get()), block, weights);
      double sum = 0;
      for (std::int64_t k = 0; k < block.size(); ++k) {
        sum += weights[k];
        by_place[start + first + k] += weights[k];
      }
      by_place[start + t] += sum;
    }
  }
}

const double* TopSweep::degree_by_place(int n_threads) const {
  std::call_once(degree_made_, [&] {
    degree_ = make_array<double>(pairs_->n_rows());
    parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
      for (auto q = pairs_->first_query(piece); q < pairs_->first_query(piece + 1); ++q)
        degree_of_query(q, degree_.get());
    });
  });
  return degree_.get();
}

void TopSweep::degree(double* result, int n_threads) const {
  const double* by_place = degree_by_place(n_threads);
  for (std::int64_t p = 0; p < pairs_->n_rows(); ++p) result[pairs_->row()[p]] = by_place[p];
}

void TopSweep::laplacian_of_query(std::int64_t query, const double* v, std::int64_t n_columns,
                                  double* result) const {
  const auto start = pairs_->start(query), n = pairs_->start(query + 1) - start;
  const auto n_top = pairs_->n_top(query);
  const std::uint32_t* row = pairs_->row().data() + start;
  for (std::int64_t k = 0; k < n; ++k) std::fill_n(result + row[k] * n_columns, n_columns, 0.0);
  double weights[kBlock];
  for (std::int64_t first = 0; n_top > 0 && first < n; first += kBlock) {
    const RankBlock block(*pairs_, query, first, scores_.get());
    for (std::int64_t t = 0; t < std::min(n_top, block.last); ++t) {
      curving(phi_, 1.0, TopRow(*pairs_, query, t, scores_.get()), block, weights);
      const double* own = v + row[t] * n_columns;
      double* of_own = result + row[t] * n_columns;
      for (std::int64_t k = 0; k < block.size(); ++k) {
        if (weights[k] == 0) continue;
        const double* other = v + row[first + k] * n_columns;
        double* of_other = result + row[first + k] * n_columns;
        for (std::int64_t c = 0; c < n_columns; ++c) {
          const double moved = weights[k] * (own[c] - other[c]);
          of_own[c] += moved;
          of_other[c] -= moved;
        }
      }
    }
  }
}

void TopSweep::laplacian(const double* v, std::int64_t n_columns, double* result,
                         int n_threads) const {
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    for (auto q = pairs_->first_query(piece); q < pairs_->first_query(piece + 1); ++q)
      laplacian_of_query(q, v, n_columns, result);
  });
}

template <class Real>
void TopSweep::half_laplacian(std::int64_t first_query, std::int64_t last_query, const Real* v,
                              std::int64_t n_columns, Real* result) const {
  const double* degree = degree_by_place(1);
  const auto begin = pairs_->start(first_query);
  std::vector<Real> weights(kRows * kBlock);
  for (auto q = first_query; q < last_query; ++q) {
    const auto start = pairs_->start(q), n = pairs_->start(q + 1) - start, at = start - begin;
    const auto n_top = pairs_->n_top(q);
    for (std::int64_t k = 0; k < n; ++k) {
      const Real own = static_cast<Real>(0.5 / pairs_->unit() * degree[start + k]);
      for (std::int64_t c = 0; c < n_columns; ++c)
        result[(at + k) * n_columns + c] = own * v[(at + k) * n_columns + c];
    }
    for (std::int64_t first = 0; n_top > 0 && first < n; first += kBlock) {
      const RankBlock block(*pairs_, q, first, scores_.get());
      const auto n_here = std::min(n_top, block.last);
      for (std::int64_t t = 0; t < n_here; t += kRows) {
        const auto n_rows = std::min<std::int64_t>(kRows, n_here - t);
        for (std::int64_t r = 0; r < n_rows; ++r)
          curving(phi_, pairs_->unit(), TopRow(*pairs_, q, t + r, scores_.get()), block,
                  weights.data() + r * kBlock);
        subtract_products(weights.data(), block.size(), v + (at + first) * n_columns, n_columns,
                          n_rows, result + (at + t) * n_columns);
      }
    }
  }
}

template void TopSweep::half_laplacian(std::int64_t, std::int64_t, const float*, std::int64_t,
                                       float*) const;
template void TopSweep::half_laplacian(std::int64_t, std::int64_t, const double*, std::int64_t,
                                       double*) const;

}  // namespace ranksvm
