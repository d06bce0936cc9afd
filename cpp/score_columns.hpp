// Scores as columns whose sums over partners are exact, and what pairs lack by these sums.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace ranksvm {

// What n numbers of this size are whole multiples of, if they shall add up exactly.
inline double exact_unit(double size, std::int64_t n) {
  return std::ldexp(1.0, std::ilogb(std::max(size, 1.0) * static_cast<double>(n)) - 51);
}

// K columns that add up to 1 and a score: 1; the score, or its multiples of a unit and the rest.
template <int K>
struct ScoreColumns {
  double unit;
  double operator()(double score, int k) const {
    if (k == 0) return 1.0;
    if (K == 2) return score;
    const double whole = std::rint(score / unit) * unit;
    return k == 1 ? whole : score - whole;
  }
};

// What the pairs of a document lack, margin - z, added up over its better and its worse partners,
// by the sums of columns over these.
template <int K>
class Lacking {
 public:
  Lacking(const ScoreColumns<K>& column, double margin) : column_(column) {
    for (int k = 0; k < K; ++k) margin_[k] = column(margin, k);
  }
  struct Sums {
    double better = 0, worse = 0;
  };
  Sums operator()(double score, const double* better, const double* worse) const {
    Sums sums;
    for (int k = 1; k < K; ++k) {
      const double own = column_(score, k);
      sums.better += better[0] * (margin_[k] + own) - better[k];
      sums.worse += worse[0] * (margin_[k] - own) + worse[k];
    }
    return sums;
  }

 private:
  ScoreColumns<K> column_;
  std::array<double, K> margin_;
};

}  // namespace ranksvm
