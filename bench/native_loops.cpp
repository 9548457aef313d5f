// SPDX-License-Identifier: Apache-2.0
// Compiled with -O3 -march=native and nothing else, as a user would.
#include "native_loops.h"

namespace corridor::bench {

std::uint64_t native_sum(const std::uint64_t* data, std::size_t words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += data[i];
  return sum;
}

void stream_copy(double* __restrict c, const double* __restrict a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i];
}

void stream_scale(double* __restrict b, const double* __restrict c, double factor, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) b[i] = factor * c[i];
}

void stream_add(double* __restrict c, const double* __restrict a, const double* __restrict b, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void stream_triad(double* __restrict a, const double* __restrict b, const double* __restrict c, double factor,
                  std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + factor * c[i];
}

}  // namespace corridor::bench
