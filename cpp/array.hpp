// Arrays that are not initialised when made: every entry is written once, by the thread that has it
// at hand.
#pragma once

#include <cstdint>
#include <memory>

namespace ranksvm {

template <class T>
using Array = std::unique_ptr<T[]>;

template <class T>
[[nodiscard]] Array<T> make_array(std::int64_t n) {
  return Array<T>(new T[static_cast<std::size_t>(n)]);
}

}  // namespace ranksvm
