// SPDX-License-Identifier: Apache-2.0
// The loops people write to measure memory, left to the compiler: a plain sum and the four of STREAM.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corridor::bench {

std::uint64_t native_sum(const std::uint64_t* data, std::size_t words);
void stream_copy(double* c, const double* a, std::size_t n);
void stream_scale(double* b, const double* c, double factor, std::size_t n);
void stream_add(double* c, const double* a, const double* b, std::size_t n);
void stream_triad(double* a, const double* b, const double* c, double factor, std::size_t n);

}  // namespace corridor::bench
