#include "given_sweep.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "compiler.hpp"
#include "long_sum.hpp"
#include "parallel.hpp"

namespace ranksvm {
namespace {

using Kind = MarginFunction::Kind;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kOfSums = 8 * kEpsilon;  // of short sums of rounded terms, and of weights
constexpr std::int64_t kRun = 128;        // numbers that are added one after the other
constexpr int kTile = 8;                  // columns

template <class Number>
struct Sums {
  Number slope{}, value{}, offset{}, smoothing{}, magnitude{};

  template <class Other>
  RANKSVM_INLINE void operator+=(const Sums<Other>& more) {
    slope += more.slope;
    value += more.value;
    offset += more.offset;
    smoothing += more.smoothing;
    magnitude += more.magnitude;
  }
};

// One of the pairs of a row: its partner, its weight, and the margin that it shall keep.
template <bool kWeights, bool kMargins>
struct Reader {
  const PairsOfRole& role;
  const double* scores;
  double margin;

  RANKSVM_INLINE double partner_score(std::int64_t p) const {
    constexpr std::int64_t kAhead = 32;  // scores of partners lie anywhere
    if (p + kAhead < role.start.back()) prefetch(scores + role.partner[p + kAhead]);
    return scores[role.partner[p]];
  }
  RANKSVM_INLINE double weight(std::int64_t p) const { return kWeights ? role.weight[p] : 1; }
  RANKSVM_INLINE double wanted(std::int64_t p) const {
    return kMargins ? margin + role.margin[p] : margin;
  }
};

// In place of a branch, which nobody could foresee.
RANKSVM_INLINE double one_if(bool condition) { return static_cast<double>(condition); }

// Adds a pair with the margin z; all but the slope are for one of its rows only.
template <Kind kKind, bool kTotals>
RANKSVM_INLINE void add_pair(const MarginFunction& phi, double z, double wanted, double weight,
                             Sums<double>& sums) {
  const double difference = wanted - z, lacking = difference > 0 ? difference : 0;
  double slope = 2 * lacking;
  if constexpr (kKind == Kind::hinge) slope = one_if(difference > 0);
  if constexpr (kKind == Kind::smoothed_hinge) slope = std::min(lacking / phi.width, 1.0);
  sums.slope += weight * slope;
  if constexpr (!kTotals) return;
  // What rounding hides of a pair that seems to keep its margin belongs to the bound, too.
  const double size = std::abs(wanted) + std::abs(z), coarse = 4 * kEpsilon * size;
  const double of_pair = kKind == Kind::squared_hinge ? size * (lacking + coarse) : size;
  sums.magnitude += one_if(difference + coarse > 0) * weight * of_pair;
  sums.value += weight * (kKind == Kind::squared_hinge ? lacking * lacking : lacking);
  sums.offset +=
      weight * (kKind == Kind::squared_hinge ? lacking * (2 * wanted - lacking) : slope * wanted);
  if constexpr (kKind == Kind::smoothed_hinge) sums.smoothing += weight * lacking * (1 - slope);
}

// Adds up the pairs of a row in a role: a winner is to be ahead of its partners, by sign 1.
template <Kind kKind, bool kTotals, class Reader>
RANKSVM_INLINE void add_row(const MarginFunction& phi, const Reader& reader, std::int64_t row,
                            double sign, Sums<LongSum>& sums) {
  const double score = reader.scores[row];
  const std::int64_t end = reader.role.start[row + 1];
  for (auto begin = reader.role.start[row]; begin < end; begin += kRun) {
    Sums<double> run;
    for (auto p = begin; p < std::min(end, begin + kRun); ++p)
      add_pair<kKind, kTotals>(phi, sign * (score - reader.partner_score(p)), reader.wanted(p),
                               reader.weight(p), run);
    if constexpr (kTotals)
      sums += run;
    else
      sums.slope += run.slope;
  }
}

void require_finite(const double* scores, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!std::isfinite(scores[i])) throw std::domain_error("scores must be finite");
}

}  // namespace

GivenSweep::GivenSweep(std::shared_ptr<const GivenPairs> pairs, const double* scores,
                       const MarginFunction& phi, int n_threads)
    : pairs_(std::move(pairs)),
      phi_(phi),
      scores_(make_array<double>(pairs_->n_rows())),
      gradient_(make_array<double>(pairs_->n_rows())) {
  require_finite(scores, pairs_->n_rows());
  std::copy(scores, scores + pairs_->n_rows(), scores_.get());
  const auto of_kind = [&]<bool kWeights, bool kMargins>() {
    if (phi.kind == Kind::hinge) return add_up<Kind::hinge, kWeights, kMargins>(n_threads);
    if (phi.kind == Kind::squared_hinge)
      return add_up<Kind::squared_hinge, kWeights, kMargins>(n_threads);
    add_up<Kind::smoothed_hinge, kWeights, kMargins>(n_threads);
  };
  const bool weights = !pairs_->wins().weight.empty(), margins = !pairs_->wins().margin.empty();
  if (weights)
    margins ? of_kind.template operator()<true, true>()
            : of_kind.template operator()<true, false>();
  else
    margins ? of_kind.template operator()<false, true>()
            : of_kind.template operator()<false, false>();
}

template <MarginFunction::Kind kKind, bool kWeights, bool kMargins>
void GivenSweep::add_up(int n_threads) {
  struct Part {
    Sums<LongSum> sums;
    double square = 0, rounding_square = 0;
  };
  const Reader<kWeights, kMargins> wins{pairs_->wins(), scores_.get(), phi_.margin},
      losses{pairs_->losses(), scores_.get(), phi_.margin};
  const double per_unit = 1 / pairs_->unit();
  const double of_sums = kKind == Kind::hinge && !kWeights ? 0 : kOfSums;  // of whole numbers
  std::vector<Part> parts(static_cast<std::size_t>(pairs_->n_pieces()));
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    Part part;
    for (auto i = pairs_->first_row(piece); i < pairs_->first_row(piece + 1); ++i) {
      Sums<LongSum> won, lost;
      add_row<kKind, true>(phi_, wins, i, 1, won);
      add_row<kKind, false>(phi_, losses, i, -1, lost);
      gradient_[i] = lost.slope.value() - won.slope.value();
      const double in_units = per_unit * gradient_[i];
      const double rounding = of_sums * per_unit * (lost.slope.value() + won.slope.value());
      part.square += in_units * in_units;
      part.rounding_square += rounding * rounding;
      part.sums.value += won.value.value();
      part.sums.offset += won.offset.value();
      part.sums.smoothing += won.smoothing.value();
      part.sums.magnitude += won.magnitude.value();
    }
    parts[piece] = part;
  });
  Sums<LongSum> all;
  for (const Part& part : parts) {
    all.value += part.sums.value.value();
    all.offset += part.sums.offset.value();
    all.smoothing += part.sums.smoothing.value();
    all.magnitude += part.sums.magnitude.value();
    square_ += part.square;
    rounding_square_ += part.rounding_square;
  }
  totals_ = {all.value.value(), all.offset.value(), all.smoothing.value(), all.magnitude.value()};
}

GivenSweep::Graph GivenSweep::graph_of(std::int64_t piece) const {
  const auto first = pairs_->first_row(piece), last = pairs_->first_row(piece + 1);
  const auto n_most =
      static_cast<std::size_t>(pairs_->wins().start[last] - pairs_->wins().start[first] +
                               pairs_->losses().start[last] - pairs_->losses().start[first]);
  const bool weights = !pairs_->wins().weight.empty();
  const double widest =
      phi_.kind == Kind::smoothed_hinge ? phi_.width : std::numeric_limits<double>::infinity();
  Graph graph{
      {0}, std::vector<std::uint32_t>(n_most + 1), std::vector<double>(weights ? n_most + 1 : 0)};
  std::size_t n = 0;
  const auto add = [&](const PairsOfRole& role, std::int64_t row, double sign) {
    const Reader<false, false> reader{role, scores_.get(), phi_.margin};
    for (auto p = role.start[row]; p < role.start[row + 1]; ++p) {
      const double z = sign * (scores_[row] - reader.partner_score(p));
      const double wanted = role.margin.empty() ? phi_.margin : phi_.margin + role.margin[p];
      graph.partner[n] = role.partner[p];
      if (weights) graph.weight[n] = role.weight[p];
      n +=
          static_cast<std::size_t>(wanted - z > 0) & static_cast<std::size_t>(wanted - z <= widest);
    }
  };
  for (auto i = first; i < last; ++i) {
    add(pairs_->wins(), i, 1);
    add(pairs_->losses(), i, -1);
    graph.start.push_back(static_cast<std::int64_t>(n));
  }
  graph.partner.resize(n);
  graph.partner.shrink_to_fit();
  graph.weight.resize(weights ? n : 0);
  graph.weight.shrink_to_fit();
  return graph;
}

const std::vector<GivenSweep::Graph>& GivenSweep::graphs(int n_threads) const {
  std::call_once(graphs_made_, [&] {
    graphs_.resize(static_cast<std::size_t>(pairs_->n_pieces()));
    parallel_for(pairs_->n_pieces(), n_threads,
                 [&](std::int64_t piece) { graphs_[piece] = graph_of(piece); });
  });
  return graphs_;
}

void GivenSweep::degree(double* result, int n_threads) const {
  const auto& all = graphs(n_threads);
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    const Graph& graph = all[piece];
    double* of_row = result + pairs_->first_row(piece);
    for (std::size_t i = 0; i + 1 < graph.start.size(); ++i) {
      LongSum sum;
      for (auto e = graph.start[i]; e < graph.start[i + 1]; ++e)
        sum += graph.weight.empty() ? 1 : graph.weight[e];
      of_row[i] = sum.value();
    }
  });
}

namespace {

// The sum over the edges of weight * (v_i - v_j), of K columns.
template <int K, class Graph>
RANKSVM_INLINE void differences(const Graph& graph, std::size_t i, const double* own,
                                const double* v, std::int64_t stride, double* result) {
  double sums[K] = {};
  constexpr std::int64_t kAhead = 16;
  for (auto e = graph.start[i]; e < graph.start[i + 1]; ++e) {
    if (e + kAhead < graph.start.back()) prefetch(v + stride * graph.partner[e + kAhead]);
    const double* other = v + stride * graph.partner[e];
    const double weight = graph.weight.empty() ? 1 : graph.weight[e];
    for (int k = 0; k < K; ++k) sums[k] += weight * (own[k] - other[k]);
  }
  for (int k = 0; k < K; ++k) result[k] = sums[k];
}

}  // namespace

void GivenSweep::laplacian(const double* v, std::int64_t n_columns, double* result,
                           int n_threads) const {
  const auto& all = graphs(n_threads);
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    const Graph& graph = all[piece];
    const auto first = pairs_->first_row(piece);
    for (std::size_t i = 0; i + 1 < graph.start.size(); ++i) {
      const auto at = (first + static_cast<std::int64_t>(i)) * n_columns;
      std::int64_t k = 0;
      for (; k + kTile <= n_columns; k += kTile)
        differences<kTile>(graph, i, v + at + k, v + k, n_columns, result + at + k);
      for (; k < n_columns; ++k)
        differences<1>(graph, i, v + at + k, v + k, n_columns, result + at + k);
    }
  });
}

}  // namespace ranksvm
