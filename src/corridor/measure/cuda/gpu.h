// SPDX-License-Identifier: Apache-2.0
// One GPU in use: its facts, its memory, its kernels and its clock of events. Every call of the driver is checked.
//
//   auto gpu = Gpu::open(libraries, 0);
//   auto buffer = (*gpu)->allocate(1 << 20);
//   (*gpu)->launch("fill", {132, 256}, buffer->place(), words, seed, mask, exponent);
//   (*gpu)->time([&] { return (*gpu)->launch("empty", {1, 32}); });   // seconds between two events
//
// A kernel that never ends cannot be stopped from inside the process: all work here is small and bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/compiler.h"
#include "corridor/measure/cuda/libraries.h"
#include "corridor/units/units.h"

namespace corridor::measure::cuda {

struct GpuFacts {
  std::string name, pci_bus_id;  ///< the second is empty when the driver does not tell
  int ordinal = 0;
  int major = 0, minor = 0;  ///< compute capability
  int sm_count = 0, warp_size = 32;
  int max_threads_per_block = 0, max_threads_per_sm = 0, max_blocks_per_sm = 0;
  units::Hertz clock, memory_clock;  ///< zero when the driver does not tell
  int memory_bus_bits = 0;
  units::Bytes l2, memory_total, memory_free;
  units::Bytes shared_per_sm, shared_per_block, registers_per_sm;
  bool integrated = false, ecc = false;
  int driver_version = 0;  ///< 12040: the driver supports CUDA 12.4
  [[nodiscard]] int capability() const { return major * 10 + minor; }
};

/// Device memory that frees itself. Must not outlive its Gpu.
class Buffer {
 public:
  Buffer(const DriverApi& api, DevicePointer place, std::size_t bytes) : api_(&api), place_(place), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept : api_(other.api_), place_(other.place_), bytes_(other.bytes_) { other.place_ = 0; }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (place_ != 0) api_->mem_free(place_);
  }
  [[nodiscard]] DevicePointer place() const { return place_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const DriverApi* api_;
  DevicePointer place_;
  std::size_t bytes_;
};

/// Blocks of a launch and threads of a block, in one dimension; shared memory a block asks for beside its own.
struct Shape {
  unsigned blocks = 1, threads = 32;
  unsigned shared_bytes = 0;
};

class Gpu {
 public:
  /// Takes the primary context of GPU `ordinal` and makes it current on this thread.
  [[nodiscard]] static Result<std::unique_ptr<Gpu>> open(const CudaLibraries& libraries, int ordinal);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  [[nodiscard]] const GpuFacts& facts() const { return facts_; }
  [[nodiscard]] const DriverApi& api() const { return libraries_.driver; }
  [[nodiscard]] const CudaLibraries& libraries() const { return libraries_; }
  [[nodiscard]] StreamHandle stream() const { return stream_; }
  [[nodiscard]] Context context() const { return context_; }
  [[nodiscard]] DeviceHandle device() const { return device_; }
  /// What kernels are compiled for: "sm_90a".
  [[nodiscard]] const Target& target() const { return target_; }
  /// Makes this GPU's context current on this thread again (several GPUs in one thread).
  [[nodiscard]] Result<void> use() const;

  [[nodiscard]] Result<Buffer> allocate(std::size_t bytes) const;
  /// Bytes that another allocation could have now; zero when the driver does not tell.
  [[nodiscard]] units::Bytes memory_free() const;
  [[nodiscard]] Result<void> clear(const Buffer& buffer) const;
  [[nodiscard]] Result<void> read_back(void* to, DevicePointer from, std::size_t bytes) const;
  [[nodiscard]] Result<void> write(DevicePointer to, const void* from, std::size_t bytes) const;

  /// Compiles the file of a kernel at its first use. Fails for a kernel this architecture does not have.
  [[nodiscard]] Result<FunctionHandle> kernel(std::string_view name);
  /// Starts a kernel of the table; the sizes of the arguments must be those of the table.
  template <class... Arguments>
  [[nodiscard]] Result<void> launch(std::string_view name, Shape shape, Arguments... arguments) {
    static_assert(((sizeof(Arguments) == 8 || sizeof(Arguments) == 4) && ...), "arguments are of 4 or 8 bytes");
    void* places[] = {static_cast<void*>(&arguments)..., nullptr};
    const char sizes[] = {(sizeof(Arguments) == 8 ? 'q' : 'd')..., '\0'};
    return launch_checked(name, shape, sizes, places);
  }
  [[nodiscard]] Result<void> synchronize() const;
  /// Time between an event before `work` and one after it; waits for the second.
  [[nodiscard]] Result<units::Seconds> time(const std::function<Result<void>()>& work) const;

 private:
  Gpu(const CudaLibraries& libraries, GpuFacts facts, Target target, DeviceHandle device)
      : libraries_(libraries), facts_(std::move(facts)), target_(std::move(target)), device_(device) {}
  [[nodiscard]] Result<void> start();
  [[nodiscard]] Result<ModuleHandle> module(std::string_view file);
  [[nodiscard]] Result<void> launch_checked(std::string_view name, Shape shape, std::string_view sizes, void** places);
  [[nodiscard]] Result<void> checked(Status status, std::string_view call) const;

  const CudaLibraries& libraries_;
  GpuFacts facts_;
  Target target_;
  DeviceHandle device_ = 0;
  Context context_ = nullptr;
  StreamHandle stream_ = nullptr;
  EventHandle before_ = nullptr, after_ = nullptr;
  std::map<std::string, ModuleHandle, std::less<>> modules_;
  std::map<std::string, FunctionHandle, std::less<>> functions_;
};

/// Starts the driver and counts the GPUs this process can use.
[[nodiscard]] Result<int> start_driver(const DriverApi& api);

}  // namespace corridor::measure::cuda
