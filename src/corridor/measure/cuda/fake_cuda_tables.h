// SPDX-License-Identifier: Apache-2.0
// The tables of FakeCuda: each call as a plain function that asks the current FakeCuda. Included by fake_cuda.h alone.
#pragma once

#include "corridor/measure/cuda/fake_cuda.h"

namespace corridor::measure::cuda {

inline void FakeCuda::fill_devices(DriverApi& api) {
  api.init = [](unsigned) { return current->status("cuInit"); };
  api.driver_get_version = [](int* version) {
    *version = current->driver_version;
    return Status{success};
  };
  api.device_get_count = [](int* count) {
    *count = static_cast<int>(current->gpus.size());
    return current->status("cuDeviceGetCount");
  };
  api.device_get = [](DeviceHandle* device, int ordinal) {
    *device = ordinal;
    return Status{success};
  };
  api.device_get_name = [](char* name, int length, DeviceHandle device) {
    std::strncpy(name, current->gpus[static_cast<std::size_t>(device)].model.name.c_str(),
                 static_cast<std::size_t>(length));
    return Status{success};
  };
  api.device_get_attribute = [](int* value, int attribute, DeviceHandle device) {
    const FakeGpu& gpu = current->gpus[static_cast<std::size_t>(device)].model;
    const std::map<Attribute, double> values{{Attribute::max_threads_per_block, 1024},
                                             {Attribute::warp_size, 32},
                                             {Attribute::clock_khz, gpu.clock_khz},
                                             {Attribute::sm_count, gpu.sm_count},
                                             {Attribute::memory_clock_khz, gpu.memory_khz},
                                             {Attribute::memory_bus_bits, gpu.bus_bits},
                                             {Attribute::l2_bytes, gpu.l2_bytes},
                                             {Attribute::max_threads_per_sm, 2048},
                                             {Attribute::major, gpu.major},
                                             {Attribute::minor, gpu.minor},
                                             {Attribute::shared_per_sm, 200 * 1024},
                                             {Attribute::registers_per_sm, 65536},
                                             {Attribute::shared_per_block, 199 * 1024},
                                             {Attribute::max_blocks_per_sm, 32}};
    const auto found = values.find(static_cast<Attribute>(attribute));
    if (found == values.end()) return Status{invalid_value};
    *value = static_cast<int>(found->second);
    return Status{success};
  };
  api.device_total_mem = [](std::size_t* bytes, DeviceHandle device) {
    *bytes = static_cast<std::size_t>(current->gpus[static_cast<std::size_t>(device)].model.memory_bytes);
    return Status{success};
  };
  api.device_get_pci_bus_id = [](char* id, int length, DeviceHandle) {
    std::strncpy(id, "0000:17:00.0", static_cast<std::size_t>(length));
    return Status{success};
  };
}

inline void FakeCuda::fill_memory(DriverApi& api) {
  api.primary_ctx_retain = [](Context* context, DeviceHandle device) {
    const Status wanted = current->status("cuDevicePrimaryCtxRetain");
    if (wanted != success) return wanted;
    *context = handle<Context>(static_cast<std::size_t>(device));
    ++current->retained;
    return wanted;
  };
  api.primary_ctx_release = [](DeviceHandle) {
    --current->retained;
    return Status{success};
  };
  api.ctx_set_current = [](Context context) {
    current->active_ = index(context);
    return Status{success};
  };
  api.mem_get_info = [](std::size_t* free_bytes, std::size_t* total_bytes) {
    *free_bytes = static_cast<std::size_t>(current->active().model.free_bytes);
    *total_bytes = static_cast<std::size_t>(current->active().model.memory_bytes);
    return Status{success};
  };
  api.mem_alloc = [](DevicePointer* place, std::size_t bytes) { return current->allocate(place, bytes); };
  api.mem_free = [](DevicePointer place) {
    return current->allocations_.erase(place) == 1 ? Status{success} : Status{invalid_value};
  };
  api.memcpy_htod = [](DevicePointer, const void*, std::size_t) { return current->status("cuMemcpyHtoD"); };
  api.memcpy_dtoh = [](void* to, DevicePointer from, std::size_t bytes) {
    const Status wanted = current->status("cuMemcpyDtoH");
    const auto found = current->results_.find(from);
    if (found == current->results_.end()) {
      std::memset(to, 0, bytes);
    } else {
      std::memcpy(to, found->second.data(), std::min(bytes, found->second.size() * 8));
    }
    return wanted;
  };
  api.memset_d8 = [](DevicePointer place, unsigned char, std::size_t) {
    current->results_.erase(place);
    return Status{success};
  };
}

inline void FakeCuda::fill_modules(DriverApi& api) {
  api.module_load_data = [](ModuleHandle* module, const void* image, unsigned, int*, void**) {
    const Status wanted = current->status("cuModuleLoadDataEx");
    if (wanted != success) return wanted;
    current->files_.emplace_back(static_cast<const char*>(image));
    *module = handle<ModuleHandle>(current->files_.size() - 1);
    ++current->modules;
    return wanted;
  };
  api.module_unload = [](ModuleHandle) {
    --current->modules;
    return Status{success};
  };
  api.module_get_function = [](FunctionHandle* function, ModuleHandle module, const char* name) {
    const auto facts = find_kernel(name);
    if (!facts || facts->file != current->files_.at(index(module))) return Status{not_found};
    current->functions_.emplace_back(name);
    *function = handle<FunctionHandle>(current->functions_.size() - 1);
    return Status{success};
  };
  api.func_set_attribute = [](FunctionHandle, int, int) { return current->status("cuFuncSetAttribute"); };
  api.launch_kernel = [](FunctionHandle function, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                         unsigned shared_bytes, StreamHandle, void** arguments,
                         void**) { return current->launch(function, grid, block, shared_bytes, arguments); };
}

inline void FakeCuda::fill_streams(DriverApi& api) {
  api.stream_create = [](StreamHandle* stream, unsigned) {
    *stream = handle<StreamHandle>(current->active_);
    ++current->streams;
    return Status{success};
  };
  api.stream_destroy = [](StreamHandle) {
    --current->streams;
    return Status{success};
  };
  api.stream_synchronize = [](StreamHandle) { return current->status("cuStreamSynchronize"); };
}

inline void FakeCuda::fill_graphs(DriverApi& api) {
  api.stream_begin_capture = [](StreamHandle, int) {
    current->capturing_ = true;
    current->captured_ = 0;
    current->captured_s_ = 0;
    return current->status("cuStreamBeginCapture");
  };
  api.stream_end_capture = [](StreamHandle, GraphHandle* graph) {
    current->capturing_ = false;
    *graph = handle<GraphHandle>(0);
    ++current->graphs;
    return Status{success};
  };
  api.graph_instantiate = [](GraphExecHandle* exec, GraphHandle, unsigned long long) {
    *exec = handle<GraphExecHandle>(0);
    ++current->graphs;
    return current->status("cuGraphInstantiate");
  };
  api.graph_launch = [](GraphExecHandle, StreamHandle) {
    current->active().now_s += current->captured_ * current->active().model.graph_s + current->captured_s_;
    return Status{success};
  };
  api.graph_destroy = [](GraphHandle) {
    --current->graphs;
    return Status{success};
  };
  api.graph_exec_destroy = [](GraphExecHandle) {
    --current->graphs;
    return Status{success};
  };
}

inline void FakeCuda::fill_events(DriverApi& api) {
  api.event_create = [](EventHandle* event, unsigned) {
    current->event_s_.push_back(0);
    *event = handle<EventHandle>(current->event_s_.size() - 1);
    ++current->events;
    return Status{success};
  };
  api.event_destroy = [](EventHandle) {
    --current->events;
    return Status{success};
  };
  api.event_record = [](EventHandle event, StreamHandle stream) {
    current->event_s_.at(index(event)) = current->gpus.at(index(stream)).now_s;
    return Status{success};
  };
  api.event_synchronize = [](EventHandle) { return current->status("cuEventSynchronize"); };
  api.event_elapsed_time = [](float* milliseconds, EventHandle from, EventHandle to) {
    *milliseconds = static_cast<float>(1e3 * (current->event_s_.at(index(to)) - current->event_s_.at(index(from))));
    if (current->frozen) *milliseconds = 0;
    return Status{success};
  };
}

inline void FakeCuda::fill_others(DriverApi& api) {
  api.device_can_access_peer = [](int* can, DeviceHandle, DeviceHandle) {
    *can = current->peers ? 1 : 0;
    return Status{success};
  };
  api.ctx_enable_peer_access = [](Context, unsigned) { return current->status("cuCtxEnablePeerAccess"); };
  api.get_error_name = [](Status status, const char** text) {
    *text = status == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_FAKE";
    return Status{success};
  };
  api.get_error_string = [](Status, const char** text) {
    *text = "as the test wanted";
    return Status{success};
  };
}

inline DriverApi FakeCuda::driver_api() {
  DriverApi api;
  fill_devices(api);
  fill_memory(api);
  fill_modules(api);
  fill_streams(api);
  fill_graphs(api);
  fill_events(api);
  fill_others(api);
  return api;
}

inline NvrtcApi FakeCuda::nvrtc_api() {
  NvrtcApi api;
  api.version = [](int* major, int* minor) {
    *major = current->nvrtc_major;
    *minor = 0;
    return Status{success};
  };
  api.get_num_supported_archs = [](int* count) {
    *count = static_cast<int>(current->archs.size());
    return Status{success};
  };
  api.get_supported_archs = [](int* list) {
    std::copy(current->archs.begin(), current->archs.end(), list);
    return Status{success};
  };
  api.create_program = [](Program* program, const char* source, const char* name, int, const char* const*,
                          const char* const*) {
    if (std::strstr(source, "__global__") == nullptr) return Status{invalid_value};
    current->program_ = name;
    *program = handle<Program>(0);
    ++current->programs;
    return Status{success};
  };
  api.destroy_program = [](Program* program) {
    *program = nullptr;
    --current->programs;
    return Status{success};
  };
  api.compile_program = [](Program, int, const char* const*) {
    return current->compile_log.empty() ? Status{success} : Status{6};
  };
  // The code of the fake is the name of the file.
  api.get_ptx_size = [](Program, std::size_t* size) {
    *size = current->program_.size() + 1;
    return Status{success};
  };
  api.get_ptx = [](Program, char* code) {
    std::memcpy(code, current->program_.c_str(), current->program_.size() + 1);
    return Status{success};
  };
  api.get_cubin_size = api.get_ptx_size;
  api.get_cubin = api.get_ptx;
  api.get_log_size = [](Program, std::size_t* size) {
    *size = current->compile_log.size() + 1;
    return Status{success};
  };
  api.get_log = [](Program, char* log) {
    std::memcpy(log, current->compile_log.c_str(), current->compile_log.size() + 1);
    return Status{success};
  };
  api.get_error_string = [](Status) { return "NVRTC_ERROR_COMPILATION"; };
  return api;
}

inline NvmlApi FakeCuda::nvml_api() {
  NvmlApi api;
  api.init = [] { return current->status("nvmlInit"); };
  api.shutdown = [] { return Status{success}; };
  api.system_get_driver_version = [](char* version, unsigned length) {
    std::strncpy(version, "580.65.06", length);
    return Status{success};
  };
  api.device_by_pci_bus_id = [](const char*, NvmlDevice* device) {
    *device = handle<NvmlDevice>(0);
    return current->status("nvmlDeviceGetHandleByPciBusId");
  };
  api.clock_mhz = [](NvmlDevice, int clock, unsigned* mhz) {
    *mhz = clock == 1 ? 1410 : 2619;
    return Status{success};
  };
  api.max_clock_mhz = [](NvmlDevice, int, unsigned* mhz) {
    *mhz = 1980;
    return Status{success};
  };
  api.power_limit_mw = [](NvmlDevice, unsigned* milliwatts) {
    *milliwatts = 350000;
    return current->status("nvmlDeviceGetEnforcedPowerLimit");
  };
  api.throttle_reasons = [](NvmlDevice, unsigned long long* mask) {
    *mask = current->throttle;
    return Status{success};
  };
  api.utilization = [](NvmlDevice, NvmlUtilization* rates) {
    rates->gpu_percent = current->busy_percent;
    return Status{success};
  };
  return api;
}

inline BlasApi FakeCuda::blas_api() {
  BlasApi api;
  const auto make = [](BlasObjectHandle* object) {
    *object = handle<BlasObjectHandle>(0);
    ++current->blas_objects;
    return Status{success};
  };
  const auto drop = [](BlasObjectHandle) {
    --current->blas_objects;
    return Status{success};
  };
  api.create = [](BlasHandle* blas) {
    *blas = handle<BlasHandle>(0);
    return current->status("cublasLtCreate");
  };
  api.destroy = [](BlasHandle) { return Status{success}; };
  api.desc_create = [](BlasObjectHandle* object, int, int) {
    *object = handle<BlasObjectHandle>(0);
    ++current->blas_objects;
    return Status{success};
  };
  api.desc_set = [](BlasObjectHandle, int, const void*, std::size_t) { return Status{success}; };
  api.desc_destroy = drop;
  api.layout_create = [](BlasObjectHandle* object, int, std::uint64_t rows, std::uint64_t, std::int64_t) {
    current->layouts_.push_back(rows);
    *object = handle<BlasObjectHandle>(current->layouts_.size() - 1);
    ++current->blas_objects;
    return Status{success};
  };
  api.layout_destroy = drop;
  api.preference_create = make;
  api.preference_set = [](BlasObjectHandle, int, const void*, std::size_t) { return Status{success}; };
  api.preference_destroy = drop;
  api.heuristic = [](BlasHandle, BlasObjectHandle, BlasObjectHandle, BlasObjectHandle, BlasObjectHandle,
                     BlasObjectHandle, BlasObjectHandle, int, BlasHeuristic*, int* found) {
    *found = 1;
    return current->status("cublasLtMatmulAlgoGetHeuristic");
  };
  api.matmul = [](BlasHandle, BlasObjectHandle, const void*, DevicePointer, BlasObjectHandle layout, DevicePointer,
                  BlasObjectHandle, const void*, DevicePointer, BlasObjectHandle, DevicePointer, BlasObjectHandle,
                  const void*, DevicePointer, std::size_t, StreamHandle) {
    const double n = static_cast<double>(current->layouts_.at(index(layout)));
    current->active().now_s += 2 * n * n * n / current->active().model.blas_flop_per_s;
    return Status{success};
  };
  return api;
}

inline CudaLibraries FakeCuda::libraries() const {
  CudaLibraries libraries;
  libraries.driver = driver_api();
  libraries.driver_path = "libcuda.so.1";
  libraries.nvrtc = {nvrtc_api(), "/fake/libnvrtc.so.13", {}, false};
  libraries.nvml = {nvml_api(), "libnvidia-ml.so.1", {}, false};
  libraries.blas = {blas_api(), "libcublasLt.so.13", {}, false};
  return libraries;
}

}  // namespace corridor::measure::cuda
