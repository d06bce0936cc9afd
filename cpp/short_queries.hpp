// Sweeps over short queries, pair by pair, without sorting.
//
// The members of a short query come in order of their levels, and each has a word with a bit for
// every other one: whether the two make a pair that curves the loss. Scores, weights and words of
// a query fit into the cache, and the partners of four documents are gone through at a time, so
// that some dozens of documents cost less by all their pairs than by order.
//
// Every number that a pair adds has an error of some units in its own last place, whatever the
// spread of the scores, since it comes from the difference of two scores alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "array.hpp"
#include "margin_function.hpp"
#include "preference_pairs.hpp"

namespace ranksvm {

class ShortQueries {
 public:
  ShortQueries(const PreferencePairs& pairs, const MarginFunction& phi)
      : pairs_(pairs), phi_(phi), partners_(make_array<std::uint64_t>(pairs.n_documents())) {}

  // Finds the active pairs at these scores, by row; fills the gradient, by row, and the degree, by
  // place.
  Totals sweep(const double* scores, double* gradient, double* degree, int n_threads);

  // result = M v, for row-major n x n_columns blocks; the rows of short queries only.
  void laplacian(const double* v, std::int64_t n_columns, const double* degree, double* result,
                 int n_threads) const;

  // A row of N: the places of the documents that it takes, of which the first is its own, and what
  // they count for.
  struct Terms {
    std::size_t n = 0;
    std::array<std::uint32_t, PreferencePairs::kShortQuery> place{};
    std::array<double, PreferencePairs::kShortQuery> factor{};
  };
  void terms(std::int64_t query, const double* degree, std::uint32_t place, Terms& terms) const;

  // result = N v for one query, for `width` numbers of rows that are `stride` apart and come by
  // place; see Sweep.
  template <class Real>
  void half_laplacian(std::int64_t query, const double* degree, const Real* v,
                      std::ptrdiff_t stride, std::size_t width, Real* result) const;

 private:
  template <MarginFunction::Kind kind, bool Gap, bool Roles>
  Totals sweep_all(const double* scores, double* gradient, double* degree, int n_threads);
  template <MarginFunction::Kind kind, bool Gap, bool Roles>
  Totals sweep_piece(const PreferencePairs::Piece& piece, const double* scores, double* gradient,
                     double* degree);
  template <bool Gap, bool Roles>
  void laplacian_of_piece(const PreferencePairs::Piece& piece, const double* v,
                          std::int64_t n_columns, const double* degree, double* result) const;

  const PreferencePairs& pairs_;
  MarginFunction phi_;
  Array<std::uint64_t> partners_;  // by place
};

}  // namespace ranksvm
