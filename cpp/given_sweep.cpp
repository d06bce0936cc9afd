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
constexpr double kHuge = 1e300;           // makes all or nothing, without a branch to foresee

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

// Adds a pair with the margin z; all but the slope are for one of its rows only.
template <Kind kKind, bool kTotals>
RANKSVM_INLINE void add_pair(double per_width, double z, double wanted, double weight,
                             Sums<double>& sums) {
  const double difference = wanted - z, lacking = std::max(difference, 0.0);
  double slope = 2 * lacking;
  if constexpr (kKind == Kind::hinge) slope = std::min(lacking * kHuge, 1.0);
  if constexpr (kKind == Kind::smoothed_hinge) slope = std::min(lacking * per_width, 1.0);
  sums.slope += weight * slope;
  if constexpr (!kTotals) return;
  const double size = std::abs(wanted) + std::abs(z), coarse = 4 * kEpsilon * size;
  double of_value = lacking, of_offset = slope * wanted, magnitude = size;
  if constexpr (kKind == Kind::squared_hinge) {
    of_value = lacking * lacking;
    of_offset = lacking * (2 * wanted - lacking);
    magnitude = size * (lacking + coarse);
  }
  sums.value += weight * of_value;
  sums.offset += weight * of_offset;
  // What rounding hides of a pair that seems to keep its margin belongs to the bound, too.
  sums.magnitude += weight * std::min(magnitude, std::max((difference + coarse) * kHuge, 0.0));
  if constexpr (kKind == Kind::smoothed_hinge) sums.smoothing += weight * lacking * (1 - slope);
}

// What the pairs of a piece add up to: short sums, of long ones.
class PieceSums {
 public:
  void add(const Sums<double>& run, std::int64_t n_pairs) {
    run_ += run;
    n_ += n_pairs;
    if (n_ >= kRun) flush();
  }
  const Sums<LongSum>& total() {
    flush();
    return total_;
  }

 private:
  void flush() {
    total_ += run_;
    run_ = {};
    n_ = 0;
  }

  Sums<LongSum> total_;
  Sums<double> run_;
  std::int64_t n_ = 0;
};

// Returns the slopes of the pairs of a row in a role: a winner is to be ahead of its partners, by
// sign 1.
template <Kind kKind, bool kTotals, class Reader>
RANKSVM_INLINE double add_row(double per_width, const Reader& reader, std::int64_t row, double sign,
                              PieceSums& sums) {
  const double score = reader.scores[row];
  const std::int64_t first = reader.role.start[row], last = reader.role.start[row + 1];
  const auto of_run = [&](std::int64_t begin, std::int64_t end) {
    Sums<double> run;
    for (auto p = begin; p < end; ++p)
      add_pair<kKind, kTotals>(per_width, sign * (score - reader.partner_score(p)),
                               reader.wanted(p), reader.weight(p), run);
    if constexpr (kTotals) sums.add(run, end - begin);
    return run.slope;
  };
  if (last - first <= kRun) return of_run(first, last);
  LongSum slopes;
  for (auto begin = first; begin < last; begin += kRun)
    slopes += of_run(begin, std::min(last, begin + kRun));
  return slopes.value();
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
    PieceSums sums;
    double square = 0, rounding_square = 0;
  };
  const Reader<kWeights, kMargins> wins{pairs_->wins(), scores_.get(), phi_.margin},
      losses{pairs_->losses(), scores_.get(), phi_.margin};
  const double per_unit = 1 / pairs_->unit();
  const double per_width = phi_.width > 0 ? 1 / phi_.width : 0;
  std::vector<Part> parts(static_cast<std::size_t>(pairs_->n_pieces()));
  parallel_for(pairs_->n_pieces(), n_threads, [&](std::int64_t piece) {
    Part part;
    for (auto i = pairs_->first_row(piece); i < pairs_->first_row(piece + 1); ++i) {
      const double won = add_row<kKind, true>(per_width, wins, i, 1, part.sums);
      const double lost = add_row<kKind, false>(per_width, losses, i, -1, part.sums);
      gradient_[i] = lost - won;
      const double in_units = per_unit * gradient_[i], rounding = kOfSums * per_unit * (lost + won);
      part.square += in_units * in_units;
      part.rounding_square += rounding * rounding;
    }
    parts[piece] = part;
  });
  Sums<LongSum> all;
  for (Part& part : parts) {
    const auto& of_part = part.sums.total();
    all.value += of_part.value.value();
    all.offset += of_part.offset.value();
    all.smoothing += of_part.smoothing.value();
    all.magnitude += of_part.magnitude.value();
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
