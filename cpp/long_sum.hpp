// Sums of many numbers.
#pragma once

#include <cmath>

#include "compiler.hpp"

namespace ranksvm {

// A sum whose additions lose next to nothing: what each of them does is added up, too.
class LongSum {
 public:
  RANKSVM_INLINE void operator+=(double term) {
    const double sum = sum_ + term, added = sum - sum_;
    lost_ += (sum_ - (sum - added)) + (term - added);
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return std::isfinite(lost_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace ranksvm
