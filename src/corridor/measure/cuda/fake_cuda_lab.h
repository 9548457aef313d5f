// SPDX-License-Identifier: Apache-2.0
// How long FakeCuda takes for the kernels of the lab: each from the bytes, sectors or operations its text says it
// moves, written apart from the predictions. Included by fake_cuda.h alone.
#pragma once

#include "corridor/measure/cuda/fake_cuda.h"

namespace corridor::measure::cuda {

inline double FakeCuda::lab_stream_s(const std::string& kernel, double lanes, unsigned shared_bytes, void** a) {
  const FakeGpu& gpu = active().model;
  const double count = static_cast<double>(argument<std::uint64_t>(a, 1));
  if (kernel == "lab_intensity") {
    const double flop = (2.0 * argument<std::uint32_t>(a, 2) + 1) * 4 * count;
    return std::max(16 * count / gpu.read_bytes_per_s, flop / gpu.flop_per_s.at("multiply_add_f32"));
  }
  if (kernel == "lab_strided") {
    return count * std::min(32.0, 4.0 * argument<std::uint32_t>(a, 2)) / gpu.read_bytes_per_s;
  }
  if (kernel == "lab_scattered") return count * 32 / gpu.read_bytes_per_s;
  if (kernel == "lab_lanes") {
    const double loads = lanes / 32 * argument<std::uint32_t>(a, 2);
    const std::uint32_t mode = argument<std::uint32_t>(a, 4);
    const double sectors = mode == 2 ? 32 : std::min(32.0, 4.0 * argument<std::uint32_t>(a, 3));
    return loads * sectors * 32 / gpu.l2_bytes_per_s;
  }
  if (kernel == "lab_resident") {
    const double resident = std::min(16.0, std::floor(200.0 * 1024 / (shared_bytes + 1024.0)));
    const double in_flight = resident * 128 * 16 * gpu.sm_count;
    return 16 * count / std::min(gpu.read_bytes_per_s, in_flight / gpu.memory_s);
  }
  return 16 * count * (1 / gpu.read_bytes_per_s + 1 / gpu.write_bytes_per_s);  // the element-wise passes
}

inline double FakeCuda::lab_warp_s(const std::string& kernel, unsigned blocks, unsigned threads, void** a) {
  const FakeGpu& gpu = active().model;
  if (kernel == "lab_chases") {
    const double chases = static_cast<double>(blocks) * argument<std::uint32_t>(a, 3);
    return argument<std::uint32_t>(a, 4) * std::max(gpu.memory_s, chases * 32 / gpu.read_bytes_per_s);
  }
  if (kernel == "lab_switch") {
    const double hertz = 1e3 * gpu.clock_khz;
    const double cycles = argument<std::uint32_t>(a, 0) * std::max(gpu.shared_s * hertz, threads / 32.0);
    const double slow = slower.contains(kernel) ? slower.at(kernel) * threads / 32 : 1;
    results_[argument<DevicePointer>(a, 1)] = {static_cast<std::uint64_t>(std::llround(cycles * slow))};
    return cycles / hertz;
  }
  const double paths = argument<std::uint32_t>(a, 2) == 0 ? argument<std::uint32_t>(a, 1) : 1;
  return paths * 32.0 * argument<std::uint32_t>(a, 0) * blocks * threads / gpu.flop_per_s.at("multiply_add_f32");
}

inline double FakeCuda::lab_product_s(const std::string& kernel, unsigned blocks, void** a) {
  const FakeGpu& gpu = active().model;
  const double fp32 = gpu.flop_per_s.at("multiply_add_f32");
  if (kernel == "lab_difference") return 1e-6;
  if (kernel == "lab_softmax") return 2.0 * 4 * blocks * argument<std::uint32_t>(a, 1) / gpu.read_bytes_per_s;
  const double n = argument<std::uint32_t>(a, kernel == "lab_attention" ? 4 : 3);
  if (kernel == "lab_product_naive") return n * n * n * 8 / gpu.l1_bytes_per_s;
  if (kernel == "lab_product_tiled") return 1.2 * 2 * n * n * n / fp32;
  // Attention: scores = blocks · 64 queries · n keys, 64 multiply-adds each for the score and for the weighted sum.
  const double scores = 64.0 * blocks * n;
  const double turn = 128 / gpu.shared_bytes_per_s;
  const double score_s = std::max(scores * 128 / fp32, scores * 64 / 32 * 0.75 * turn);
  const double weigh_s = std::max(scores * 128 / fp32, scores * 64 / 32 * 0.375 * turn);
  const double trip = 4 * scores / gpu.read_bytes_per_s;
  if (kernel == "lab_scores") return std::max(score_s, trip);
  if (kernel == "lab_weigh") return std::max(weigh_s, trip);
  return score_s + weigh_s;
}

inline double FakeCuda::lab_weights_s(const std::string& kernel, void** a) {
  const FakeGpu& gpu = active().model;
  if (kernel == "lab_join") return 1e-6;
  if (kernel == "lab_cache") return 2.0 * 8 * 128 * 2 * argument<std::uint32_t>(a, 4) / gpu.read_bytes_per_s;
  const double weights = static_cast<double>(argument<std::uint32_t>(a, 4)) * argument<std::uint32_t>(a, 5);
  const double bits = kernel == "lab_pass_int8" ? 8.5 : kernel == "lab_pass_int4" ? 4.5 : 16;
  const double bytes = weights * bits / 8;
  const double memory = bytes / (bytes > gpu.l2_bytes ? gpu.read_bytes_per_s : gpu.l2_bytes_per_s);
  const double batch = kernel.starts_with("lab_pass_b") ? std::stod(kernel.substr(10)) : 1;
  // Each load of a vector from the L1 serves as many rows as a warp makes at a time.
  const double rows = batch == 32 ? 2 : batch == 16 || batch == 1 ? 4 : 8;
  const double turns = argument<std::uint32_t>(a, 6);
  return turns * std::max({memory, 2 * batch * weights / gpu.flop_per_s.at("multiply_add_f32"),
                           4 * batch * weights / rows / gpu.l1_bytes_per_s});
}

inline double FakeCuda::lab_s(const std::string& kernel, unsigned blocks, unsigned threads, unsigned shared_bytes,
                              void** a) {
  const std::string file(find_kernel(kernel)->file);
  const double seconds = file == "cuda/lab_stream.cu"
                             ? lab_stream_s(kernel, static_cast<double>(blocks) * threads, shared_bytes, a)
                         : file == "cuda/lab_warp.cu"    ? lab_warp_s(kernel, blocks, threads, a)
                         : file == "cuda/lab_weights.cu" ? lab_weights_s(kernel, a)
                                                         : lab_product_s(kernel, blocks, a);
  return seconds * (slower.contains(kernel) ? slower.at(kernel) : 1);
}

}  // namespace corridor::measure::cuda
