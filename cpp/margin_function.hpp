// The losses of a pair, and what a sweep adds up over the active ones.
#pragma once

#include <stdexcept>
#include <string>

namespace ranksvm {

// phi of the margin z = s_i - s_j of a pair, each with its slope alpha = -phi'(z):
//
//   hinge            max(0, margin - z)      alpha = 1 where z < margin
//   squared hinge    max(0, margin - z)^2    alpha = 2 (margin - z) where z < margin
//   smoothed hinge   the hinge with its kink rounded off over `width` below the margin:
//                    alpha = clip((margin - z) / width, 0, 1)
struct MarginFunction {
  enum class Kind { hinge, squared_hinge, smoothed_hinge };
  Kind kind;
  double margin;
  double width = 0;  // of the smoothed hinge only
};

inline MarginFunction::Kind loss_named(const std::string& name) {
  if (name == "hinge") return MarginFunction::Kind::hinge;
  if (name == "squared_hinge") return MarginFunction::Kind::squared_hinge;
  if (name == "smoothed_hinge") return MarginFunction::Kind::smoothed_hinge;
  throw std::invalid_argument("unknown loss '" + name + "'");
}

// What a loss adds up over pairs that are looked at one by one, each with its slope alpha.
struct PairTotals {
  double value = 0;      // of the loss; for the smoothed hinge, of the hinge itself
  double offset = 0;     // value - gradient' s, less the smoothing: the dual value of the slopes
  double smoothing = 0;  // smoothed hinge only: the sum of (margin - z) (1 - alpha)
  double magnitude = 0;  // what the rounding of these is relative to
};

// The same where active pairs are counted, with their total weight.
struct Totals : PairTotals {
  double n_active = 0;
  // Smoothed hinge only: what rounding is relative to in offset and smoothing.
  double band_magnitude = 0;
  // Scaled squares, added up over the rows: of the gradient, and of a bound of its rounding.
  double gradient_square = 0, gradient_rounding_square = 0;

  Totals& operator+=(const Totals& more) {
    value += more.value;
    offset += more.offset;
    smoothing += more.smoothing;
    magnitude += more.magnitude;
    n_active += more.n_active;
    band_magnitude += more.band_magnitude;
    gradient_square += more.gradient_square;
    gradient_rounding_square += more.gradient_rounding_square;
    return *this;
  }
};

}  // namespace ranksvm
