// Arrays as they come from and go to NumPy; never converted, since a temporary copy would swallow
// results and hide costs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "array.hpp"

namespace ranksvm {

namespace nb = nanobind;

template <class T, int N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig>;

inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

inline void require_length(const In<double, 1>& v, std::int64_t n) {
  require(static_cast<std::int64_t>(v.shape(0)) == n, "the vector does not fit the matrix");
}

// Hands an array over to Python.
template <class T>
nb::capsule owner_of(Array<T> values) {
  return nb::capsule(new Array<T>(std::move(values)),
                     [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
}

template <class T>
Out<T, 1> new_vector(std::int64_t n) {
  auto data = make_array<T>(n);
  T* raw = data.get();
  return Out<T, 1>(raw, {static_cast<std::size_t>(n)}, owner_of(std::move(data)));
}

template <class T>
Out<T, 2> new_matrix(std::int64_t n, std::int64_t d) {
  auto data = make_array<T>(n * d);
  T* raw = data.get();
  return Out<T, 2>(raw, {static_cast<std::size_t>(n), static_cast<std::size_t>(d)},
                   owner_of(std::move(data)));
}

// A view that keeps the numbers alive, and nothing else.
inline auto shared_vector(std::shared_ptr<const double[]> values, std::int64_t n) {
  using Values = std::shared_ptr<const double[]>;
  const double* data = values.get();
  const auto drop = [](void* p) noexcept { delete static_cast<Values*>(p); };
  const nb::capsule owner(new Values(std::move(values)), drop);
  return nb::ndarray<nb::numpy, const double, nb::ndim<1>>(data, {static_cast<std::size_t>(n)},
                                                           owner);
}

}  // namespace ranksvm
