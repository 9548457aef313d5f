// SPDX-License-Identifier: Apache-2.0
// The life of one GPU in use: context, stream, events, modules; all released in the destructor.
#include "corridor/measure/cuda/gpu.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "corridor/measure/cuda/driver_error.h"
#include "corridor/measure/cuda/gpu_facts.h"
#include "corridor/measure/cuda/kernel_table.h"

namespace corridor::measure::cuda {
namespace {

constexpr int oldest_driver = 11000;    // CUDA 11: captured streams and compressed names as used here
constexpr unsigned ordered_stream = 0;  // waits for copies and fills, which run on the default stream

Result<Target> choose_target(const CudaLibraries& libraries, const GpuFacts& facts) {
  if (!libraries.nvrtc.api) {
    return fail(libraries.nvrtc.missing, "NVRTC, NVIDIA's run-time compiler",
                "install it (the package nvidia-cuda-nvrtc of PyPI holds it) or set CORRIDOR_NVRTC to its folder");
  }
  return target_for(*libraries.nvrtc.api, facts.major, facts.minor);
}

}  // namespace

Result<int> start_driver(const DriverApi& api) {
  if (auto done = check(api, api.init(0), "cuInit"); !done) return tl::unexpected(done.error());
  int count = 0;
  if (auto done = check(api, api.device_get_count(&count), "cuDeviceGetCount"); !done) {
    return tl::unexpected(done.error());
  }
  return count;
}

Result<std::unique_ptr<Gpu>> Gpu::open(const CudaLibraries& libraries, int ordinal) {
  const DriverApi& api = libraries.driver;
  const Result<int> count = start_driver(api);
  if (!count) return tl::unexpected(count.error());
  if (ordinal < 0 || ordinal >= *count) {
    return fail(fmt::format("there are {} GPUs, numbered from 0", *count), fmt::format("cuda:{}", ordinal),
                "nvidia-smi lists them; CUDA_VISIBLE_DEVICES hides some");
  }
  DeviceHandle device = 0;
  if (auto done = check(api, api.device_get(&device, ordinal), "cuDeviceGet"); !done) {
    return tl::unexpected(done.error());
  }
  Result<GpuFacts> facts = read_gpu_facts(api, ordinal, device);
  if (!facts) return tl::unexpected(facts.error());
  if (facts->driver_version < oldest_driver) {
    return fail(fmt::format("this driver supports CUDA {}.{}; 11.0 or newer is needed", facts->driver_version / 1000,
                            facts->driver_version % 1000 / 10),
                "NVIDIA driver", "update the driver");
  }
  Result<Target> target = choose_target(libraries, *facts);
  if (!target) return tl::unexpected(target.error());
  std::unique_ptr<Gpu> gpu(new Gpu(libraries, std::move(*facts), std::move(*target), device));
  if (auto started = gpu->start(); !started) return tl::unexpected(started.error());
  return gpu;
}

Result<void> Gpu::start() {
  const DriverApi& driver = api();
  if (auto done = checked(driver.primary_ctx_retain(&context_, device_), "cuDevicePrimaryCtxRetain"); !done)
    return done;
  if (auto done = use(); !done) return done;
  if (auto done = checked(driver.stream_create(&stream_, ordered_stream), "cuStreamCreate"); !done) return done;
  if (auto done = checked(driver.event_create(&before_, 0), "cuEventCreate"); !done) return done;
  if (auto done = checked(driver.event_create(&after_, 0), "cuEventCreate"); !done) return done;
  facts_.memory_free = memory_free();
  return {};
}

Gpu::~Gpu() {
  if (context_ == nullptr) return;
  const DriverApi& driver = api();
  driver.ctx_set_current(context_);
  for (const auto& [file, module] : modules_) driver.module_unload(module);
  for (EventHandle event : {before_, after_}) {
    if (event != nullptr) driver.event_destroy(event);
  }
  if (stream_ != nullptr) driver.stream_destroy(stream_);
  driver.primary_ctx_release(device_);
}

Result<void> Gpu::checked(Status status, std::string_view call) const {
  return check(api(), status, call, fmt::format("cuda:{}", facts_.ordinal));
}

Result<void> Gpu::use() const {
  return checked(api().ctx_set_current(context_), "cuCtxSetCurrent");
}

Result<Buffer> Gpu::allocate(std::size_t bytes) const {
  DevicePointer place = 0;
  if (auto done = checked(api().mem_alloc(&place, bytes), "cuMemAlloc_v2"); !done) return tl::unexpected(done.error());
  return Buffer(api(), place, bytes);
}

units::Bytes Gpu::memory_free() const {
  std::size_t free_bytes = 0, total_bytes = 0;
  if (api().mem_get_info(&free_bytes, &total_bytes) != success) return {};
  return units::Bytes{static_cast<double>(free_bytes)};
}

Result<void> Gpu::clear(const Buffer& buffer) const {
  return checked(api().memset_d8(buffer.place(), 0, buffer.bytes()), "cuMemsetD8_v2");
}

Result<void> Gpu::read_back(void* to, DevicePointer from, std::size_t bytes) const {
  return checked(api().memcpy_dtoh(to, from, bytes), "cuMemcpyDtoH_v2");
}

Result<void> Gpu::write(DevicePointer to, const void* from, std::size_t bytes) const {
  return checked(api().memcpy_htod(to, from, bytes), "cuMemcpyHtoD_v2");
}

Result<ModuleHandle> Gpu::module(std::string_view file) {
  if (const auto found = modules_.find(file); found != modules_.end()) return found->second;
  const Result<std::string> source = kernel_source(file);
  if (!source) return tl::unexpected(source.error());
  const auto code = compile(*libraries_.nvrtc.api, *source, std::string(file), target_);
  if (!code) return tl::unexpected(code.error());
  ModuleHandle module = nullptr;
  const Status status = api().module_load_data(&module, code->data(), 0, nullptr, nullptr);
  if (auto done = checked(status, "cuModuleLoadDataEx"); !done) return tl::unexpected(done.error());
  modules_.emplace(file, module);
  return module;
}

Result<FunctionHandle> Gpu::kernel(std::string_view name) {
  if (const auto found = functions_.find(name); found != functions_.end()) return found->second;
  const auto facts = find_kernel(name);
  if (!facts) return fail(fmt::format("no kernel of the name {}", name), "kernel table");
  const Result<ModuleHandle> loaded = module(facts->file);
  if (!loaded) return tl::unexpected(loaded.error());
  FunctionHandle function = nullptr;
  const Status status = api().module_get_function(&function, *loaded, std::string(name).c_str());
  if (auto done = checked(status, fmt::format("cuModuleGetFunction({})", name)); !done) {
    return tl::unexpected(done.error());
  }
  // All of an SM's memory as L1 where the L1 is looked at; the driver may choose otherwise, the curve shows it.
  const bool wants_l1 = name == "chase" || name.starts_with("read_l1");
  if (wants_l1 && api().func_set_attribute != nullptr) api().func_set_attribute(function, carveout_attribute, 0);
  // And all of it as shared memory where that decides how many blocks are resident.
  constexpr int whole = 100;
  if (name == "lab_resident" && api().func_set_attribute != nullptr) {
    api().func_set_attribute(function, carveout_attribute, whole);
  }
  functions_.emplace(name, function);
  return function;
}

Result<void> Gpu::launch_checked(std::string_view name, Shape shape, std::string_view sizes, void** places) {
  const auto facts = find_kernel(name);
  if (facts && facts->arguments != sizes) {
    return fail(fmt::format("kernel {} takes arguments of sizes {}, not {}", name, facts->arguments, sizes),
                "kernel table");
  }
  const Result<FunctionHandle> function = kernel(name);
  if (!function) return tl::unexpected(function.error());
  constexpr unsigned freely = 48U * 1024U;
  if (shape.shared_bytes > freely && api().func_set_attribute != nullptr) {
    const Status allowed =
        api().func_set_attribute(*function, dynamic_shared_attribute, static_cast<int>(shape.shared_bytes));
    if (auto done = checked(allowed, fmt::format("cuFuncSetAttribute({})", name)); !done) return done;
  }
  const Status status = api().launch_kernel(*function, shape.blocks, 1, 1, shape.threads, 1, 1, shape.shared_bytes,
                                            stream_, places, nullptr);
  if (status == success) return {};
  return checked(status, fmt::format("cuLaunchKernel({}, {} x {})", name, shape.blocks, shape.threads));
}

Result<void> Gpu::synchronize() const {
  return checked(api().stream_synchronize(stream_), "cuStreamSynchronize");
}

Result<units::Seconds> Gpu::time(const std::function<Result<void>()>& work) const {
  if (auto done = checked(api().event_record(before_, stream_), "cuEventRecord"); !done) {
    return tl::unexpected(done.error());
  }
  if (auto done = work(); !done) return tl::unexpected(done.error());
  if (auto done = checked(api().event_record(after_, stream_), "cuEventRecord"); !done) {
    return tl::unexpected(done.error());
  }
  if (auto done = checked(api().event_synchronize(after_), "cuEventSynchronize"); !done) {
    return tl::unexpected(done.error());
  }
  float milliseconds = 0;
  if (auto done = checked(api().event_elapsed_time(&milliseconds, before_, after_), "cuEventElapsedTime"); !done) {
    return tl::unexpected(done.error());
  }
  if (!std::isfinite(milliseconds) || milliseconds < 0) {
    return fail(fmt::format("cuEventElapsedTime gave {} ms", milliseconds), fmt::format("cuda:{}", facts_.ordinal));
  }
  return units::Seconds{1e-3 * static_cast<double>(milliseconds)};
}

}  // namespace corridor::measure::cuda
