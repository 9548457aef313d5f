// SPDX-License-Identifier: Apache-2.0
// A driver, a compiler, NVML and cuBLASLt made of a timing model, for tests: time = launch + work ÷ rate of its level.
//
// One FakeCuda at a time: the tables hold plain functions, which find it through a static pointer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "corridor/measure/cuda/kernel_table.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/measure/cuda/peaks.h"

namespace corridor::measure::cuda {

/// The truth that a measurement should find.
struct FakeGpu {
  std::string name = "NVIDIA Testboard 9000";
  int major = 9, minor = 0, sm_count = 100;
  double l1_bytes = 192 * 1024.0, l2_bytes = 40 * 1048576.0, memory_bytes = 80e9, free_bytes = 70e9;
  double l1_bytes_per_s = 20e12, l2_bytes_per_s = 6e12, read_bytes_per_s = 3e12, write_bytes_per_s = 2.8e12;
  double shared_bytes_per_s = 25e12;
  double l1_s = 20e-9, l2_s = 150e-9, memory_s = 400e-9, shared_s = 15e-9;
  double eager_s = 3e-6, graph_s = 1.2e-6, all_reduce_s = 9e-6, blas_flop_per_s = 800e12;
  std::map<std::string, double> flop_per_s{
      {"multiply_add_f64", 30e12}, {"multiply_add_f32", 60e12}, {"mma_tf32", 300e12},    {"mma_f16", 600e12},
      {"mma_bf16", 600e12},        {"mma_s8", 1200e12},         {"mma_e4m3", 1200e12},   {"wgmma_f16", 900e12},
      {"wgmma_bf16", 900e12},      {"wgmma_tf32", 450e12},      {"wgmma_e4m3", 1800e12}, {"wgmma_s8", 1800e12}};
  unsigned clock_khz = 1500000, memory_khz = 2000000, bus_bits = 6144;
};

class FakeCuda {
 public:
  explicit FakeCuda(std::vector<FakeGpu> models) : gpus(models.size()) {
    for (std::size_t i = 0; i < models.size(); ++i) gpus[i].model = std::move(models[i]);
    current = this;
  }
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda() { current = nullptr; }

  /// Status of the calls that shall fail: "cuMemAlloc", "cuLaunchKernel", "cuLaunchKernel(chase)".
  std::map<std::string, Status> failing;
  int driver_version = 13000, nvrtc_major = 13;
  std::vector<int> archs{75, 80, 86, 89, 90, 100, 103, 120};
  std::string compile_log;  ///< not empty: nothing compiles
  bool peers = true;
  bool rank_is_late = false;
  bool frozen = false;                   ///< events do not move
  std::map<std::string, double> slower;  ///< kernels of the lab that take so many times as long as they should
  unsigned long long throttle = 0;
  unsigned busy_percent = 0;
  std::size_t live_allocations() const { return allocations_.size(); }
  int retained = 0, modules = 0, events = 0, streams = 0, graphs = 0, programs = 0, blas_objects = 0;

  [[nodiscard]] CudaLibraries libraries() const;
  [[nodiscard]] static DriverApi driver_api();
  [[nodiscard]] static NvrtcApi nvrtc_api();
  [[nodiscard]] static NvmlApi nvml_api();
  [[nodiscard]] static BlasApi blas_api();

  struct State {
    FakeGpu model;
    double now_s = 0, chain_bytes = 0;
  };
  std::vector<State> gpus;
  static inline FakeCuda* current = nullptr;

 private:
  static void fill_devices(DriverApi& api);
  static void fill_memory(DriverApi& api);
  static void fill_modules(DriverApi& api);
  static void fill_streams(DriverApi& api);
  static void fill_graphs(DriverApi& api);
  static void fill_events(DriverApi& api);
  static void fill_others(DriverApi& api);
  [[nodiscard]] Status status(const std::string& call) const {
    const auto found = failing.find(call);
    return found == failing.end() ? Status{success} : found->second;
  }
  State& active() { return gpus[active_]; }
  [[nodiscard]] double latency(const FakeGpu& gpu, double bytes) const {
    // A set a little too large already misses: between capacity and 1.1 times it the cache stops helping.
    const auto level = [&](double capacity, double inside, double outside) {
      return inside + (outside - inside) * std::clamp((bytes / capacity - 1) / 0.1, 0.0, 1.0);
    };
    return level(gpu.l1_bytes, gpu.l1_s, level(gpu.l2_bytes, gpu.l2_s, gpu.memory_s));
  }
  template <class T>
  static T argument(void** arguments, int index) {
    T value;
    std::memcpy(&value, arguments[index], sizeof(T));
    return value;
  }
  double traffic_s(const std::string& base, const std::string& kernel, unsigned blocks, unsigned threads, void** a);
  double duration_s(const std::string& kernel, unsigned blocks, unsigned threads, void** a);
  double lab_s(const std::string& kernel, unsigned blocks, unsigned threads, unsigned shared_bytes, void** a);
  double lab_stream_s(const std::string& kernel, double lanes, unsigned shared_bytes, void** a);
  double lab_warp_s(const std::string& kernel, unsigned blocks, unsigned threads, void** a);
  double lab_product_s(const std::string& kernel, unsigned blocks, void** a);
  double lab_weights_s(const std::string& kernel, void** a);
  Status launch(FunctionHandle function, unsigned blocks, unsigned threads, unsigned shared_bytes, void** arguments);
  Status allocate(DevicePointer* place, std::size_t bytes);

  std::size_t active_ = 0;
  std::map<DevicePointer, std::pair<std::size_t, std::size_t>> allocations_;  ///< place → bytes, GPU
  std::map<DevicePointer, std::vector<std::uint64_t>> results_;
  DevicePointer next_ = 1U << 20U;
  std::vector<std::string> files_, functions_;  ///< handles are indices + 1
  std::vector<double> event_s_;
  std::vector<std::uint64_t> layouts_;  ///< rows
  bool capturing_ = false;
  unsigned captured_ = 0;
  double captured_s_ = 0;  ///< of the captured kernels, without their starts
  std::string program_;

  template <class Handle>
  static Handle handle(std::size_t index) {
    return reinterpret_cast<Handle>(index + 1);
  }
  template <class Handle>
  static std::size_t index(Handle handle) {
    return reinterpret_cast<std::size_t>(handle) - 1;
  }
};

inline double FakeCuda::traffic_s(const std::string& base, const std::string& kernel, unsigned blocks, unsigned threads,
                                  void** a) {
  const FakeGpu& gpu = active().model;
  const int arrays = base == "triad" ? 3 : base == "copy" ? 2 : 1;
  const double part = static_cast<double>(argument<std::uint64_t>(a, arrays));
  const double repeats = argument<std::uint32_t>(a, arrays + 1);
  const double set = part * arrays;
  // Wide vectors with several loads in flight are needed to reach the rate.
  const double vector_bytes = std::stod(kernel.substr(kernel.rfind("_v") + 2));
  const double unroll = std::stod(kernel.substr(kernel.rfind("_u") + 2));
  const double in_flight = vector_bytes * unroll * threads * blocks / gpu.sm_count;
  const double reached = std::min(1.0, in_flight / 32768) * (vector_bytes >= 8 ? 1.0 : 0.7);
  if (base == "read_l1") {
    const double rate = set <= gpu.l1_bytes ? gpu.l1_bytes_per_s : gpu.l2_bytes_per_s;
    const double filled = std::min(1.0, vector_bytes * unroll * threads / 32768) * (vector_bytes >= 8 ? 1.0 : 0.7);
    return set * blocks * repeats / (rate * filled);
  }
  double rate = gpu.l2_bytes_per_s;
  if (set > gpu.l2_bytes) {
    const double read_share = base == "read" ? 1.0 : base == "write" ? 0.0 : base == "copy" ? 0.5 : 2.0 / 3;
    rate = 1 / (read_share / gpu.read_bytes_per_s + (1 - read_share) / gpu.write_bytes_per_s);
  }
  return set * repeats / (rate * reached);
}

inline double FakeCuda::duration_s(const std::string& kernel, unsigned blocks, unsigned threads, void** a) {
  State& gpu = active();
  const FakeGpu& model = gpu.model;
  const auto facts = find_kernel(kernel);
  if (facts && facts->versions) return traffic_s(std::string(facts->name), kernel, blocks, threads, a);
  const double slots = kernel == "build_chain" ? static_cast<double>(argument<std::uint64_t>(a, 1)) : 0;
  if (kernel == "build_chain") gpu.chain_bytes = slots * 128;
  if (kernel == "chase" || kernel == "chase_shared") {
    const int first = kernel == "chase" ? 1 : 0;
    const double load_s = kernel == "chase" ? latency(model, gpu.chain_bytes) : model.shared_s;
    const double steps = argument<std::uint32_t>(a, first + 1);
    const auto out = argument<DevicePointer>(a, first + 2);
    results_[out] = {static_cast<std::uint64_t>(std::llround(steps * load_s * 1e3 * model.clock_khz)),
                     static_cast<std::uint64_t>(std::llround(steps * load_s * 1e9)), 1};
    return (steps + argument<std::uint32_t>(a, first)) * load_s;
  }
  if (kernel == "read_shared") {
    return 128.0 * threads * blocks * argument<std::uint32_t>(a, 0) / model.shared_bytes_per_s;
  }
  if (kernel == "all_reduce") {
    if (rank_is_late) results_[argument<DevicePointer>(a, 9)] = {1};
    return argument<std::uint32_t>(a, 6) * model.all_reduce_s;
  }
  for (const PeakKernel& peak : peak_kernels()) {
    if (kernel != peak.kernel || model.major * 10 + model.minor < peak.from ||
        model.major * 10 + model.minor > peak.to) {
      continue;
    }
    // One block of eight warps cannot hide the latency of its own products.
    const double filled = blocks >= 2U * static_cast<unsigned>(model.sm_count) ? 1.0 : 0.6;
    return peak.flop_per_round * blocks * argument<std::uint32_t>(a, 0) / (filled * model.flop_per_s.at(kernel));
  }
  return 0;
}

inline Status FakeCuda::launch(FunctionHandle function, unsigned blocks, unsigned threads, unsigned shared_bytes,
                               void** arguments) {
  const std::string& kernel = functions_.at(index(function));
  if (const Status wanted = status("cuLaunchKernel(" + kernel + ")"); wanted != success) return wanted;
  if (const Status wanted = status("cuLaunchKernel"); wanted != success) return wanted;
  if (blocks == 0 || threads == 0 || threads > 1024) return invalid_value;
  const double took = kernel.starts_with("lab_") ? lab_s(kernel, blocks, threads, shared_bytes, arguments)
                                                 : duration_s(kernel, blocks, threads, arguments);
  if (capturing_) {
    ++captured_;
    captured_s_ += took;
    return success;
  }
  active().now_s += active().model.eager_s + took;
  return success;
}

inline Status FakeCuda::allocate(DevicePointer* place, std::size_t bytes) {
  if (const Status wanted = status("cuMemAlloc"); wanted != success) return wanted;
  double used = static_cast<double>(bytes);
  for (const auto& [at, entry] : allocations_) used += entry.second == active_ ? static_cast<double>(entry.first) : 0.0;
  if (used > active().model.free_bytes) return out_of_memory;
  *place = next_;
  allocations_[next_] = {bytes, active_};
  next_ += (bytes + 4095) / 4096 * 4096;
  return success;
}

}  // namespace corridor::measure::cuda

#include "corridor/measure/cuda/fake_cuda_lab.h"
#include "corridor/measure/cuda/fake_cuda_tables.h"
