// SPDX-License-Identifier: Apache-2.0
// The calls used of NVIDIA's libraries, as tables of functions with our own declarations: filled by dlopen on a real
// machine, by FakeCuda in tests. Nothing of CUDA is needed to build.
//
// Names are those of the libraries without prefix and version; every call returns 0 on success. A call that is null is
// absent from the library that was found (only the optional ones, see libraries.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace corridor::measure::cuda {

using Status = int;
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject*;
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;
using GraphHandle = struct GraphObject*;
using GraphExecHandle = struct GraphExecObject*;

/// Values of CUresult that lead to an advice of their own.
enum DriverStatus : Status {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_device = 101,
  no_binary_for_gpu = 209,
  invalid_ptx = 218,
  unsupported_ptx_version = 222,
  operating_system = 304,
  not_found = 500,
  illegal_address = 700,
  launch_timeout = 702,
  launch_failed = 719,
  not_permitted = 800,
  system_not_ready = 802,
  driver_mismatch = 803,
  unknown_error = 999
};

/// Numbers of CUdevice_attribute.
enum class Attribute : int {
  max_threads_per_block = 1,
  warp_size = 10,
  clock_khz = 13,
  sm_count = 16,
  kernel_timeout = 17,
  integrated = 18,
  ecc = 32,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  l2_bytes = 38,
  max_threads_per_sm = 39,
  major = 75,
  minor = 76,
  shared_per_sm = 81,
  registers_per_sm = 82,
  shared_per_block = 97,
  max_blocks_per_sm = 106
};

/// Number of CUfunction_attribute: the share of an SM's memory that is shared memory, in per cent; the rest is L1.
inline constexpr int carveout_attribute = 9;
/// The most shared memory that a launch of the function may ask for; more than 48 KiB is refused unless it is set.
inline constexpr int dynamic_shared_attribute = 8;

/// libcuda.so.1
struct DriverApi {
  Status (*init)(unsigned flags) = nullptr;
  Status (*driver_get_version)(int* version) = nullptr;
  Status (*device_get_count)(int* count) = nullptr;
  Status (*device_get)(DeviceHandle* device, int ordinal) = nullptr;
  Status (*device_get_name)(char* name, int length, DeviceHandle device) = nullptr;
  Status (*device_get_attribute)(int* value, int attribute, DeviceHandle device) = nullptr;
  Status (*device_total_mem)(std::size_t* bytes, DeviceHandle device) = nullptr;
  Status (*device_get_pci_bus_id)(char* id, int length, DeviceHandle device) = nullptr;
  Status (*primary_ctx_retain)(Context* context, DeviceHandle device) = nullptr;
  Status (*primary_ctx_release)(DeviceHandle device) = nullptr;
  Status (*ctx_set_current)(Context context) = nullptr;
  Status (*mem_get_info)(std::size_t* free_bytes, std::size_t* total_bytes) = nullptr;
  Status (*mem_alloc)(DevicePointer* place, std::size_t bytes) = nullptr;
  Status (*mem_free)(DevicePointer place) = nullptr;
  Status (*memcpy_htod)(DevicePointer to, const void* from, std::size_t bytes) = nullptr;
  Status (*memcpy_dtoh)(void* to, DevicePointer from, std::size_t bytes) = nullptr;
  Status (*memset_d8)(DevicePointer place, unsigned char value, std::size_t bytes) = nullptr;
  Status (*module_load_data)(ModuleHandle* module, const void* image, unsigned options, int* names,
                             void** values) = nullptr;
  Status (*module_unload)(ModuleHandle module) = nullptr;
  Status (*module_get_function)(FunctionHandle* function, ModuleHandle module, const char* name) = nullptr;
  Status (*func_set_attribute)(FunctionHandle function, int attribute, int value) = nullptr;
  Status (*launch_kernel)(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,
                          void** arguments, void** extra) = nullptr;
  Status (*stream_create)(StreamHandle* stream, unsigned flags) = nullptr;
  Status (*stream_destroy)(StreamHandle stream) = nullptr;
  Status (*stream_synchronize)(StreamHandle stream) = nullptr;
  Status (*stream_begin_capture)(StreamHandle stream, int mode) = nullptr;
  Status (*stream_end_capture)(StreamHandle stream, GraphHandle* graph) = nullptr;
  Status (*event_create)(EventHandle* event, unsigned flags) = nullptr;
  Status (*event_destroy)(EventHandle event) = nullptr;
  Status (*event_record)(EventHandle event, StreamHandle stream) = nullptr;
  Status (*event_synchronize)(EventHandle event) = nullptr;
  Status (*event_elapsed_time)(float* milliseconds, EventHandle from, EventHandle to) = nullptr;
  Status (*graph_instantiate)(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) = nullptr;
  Status (*graph_launch)(GraphExecHandle exec, StreamHandle stream) = nullptr;
  Status (*graph_destroy)(GraphHandle graph) = nullptr;
  Status (*graph_exec_destroy)(GraphExecHandle exec) = nullptr;
  Status (*device_can_access_peer)(int* can, DeviceHandle device, DeviceHandle peer) = nullptr;
  Status (*ctx_enable_peer_access)(Context peer, unsigned flags) = nullptr;
  Status (*get_error_name)(Status status, const char** text) = nullptr;
  Status (*get_error_string)(Status status, const char** text) = nullptr;
};

using Program = struct ProgramObject*;

/// libnvrtc.so
struct NvrtcApi {
  Status (*version)(int* major, int* minor) = nullptr;
  Status (*get_num_supported_archs)(int* count) = nullptr;
  Status (*get_supported_archs)(int* archs) = nullptr;
  Status (*create_program)(Program* program, const char* source, const char* name, int headers,
                           const char* const* header_texts, const char* const* header_names) = nullptr;
  Status (*destroy_program)(Program* program) = nullptr;
  Status (*compile_program)(Program program, int options, const char* const* texts) = nullptr;
  Status (*get_ptx_size)(Program program, std::size_t* size) = nullptr;
  Status (*get_ptx)(Program program, char* ptx) = nullptr;
  Status (*get_cubin_size)(Program program, std::size_t* size) = nullptr;
  Status (*get_cubin)(Program program, char* cubin) = nullptr;
  Status (*get_log_size)(Program program, std::size_t* size) = nullptr;
  Status (*get_log)(Program program, char* log) = nullptr;
  const char* (*get_error_string)(Status status) = nullptr;
};

using NvmlDevice = struct NvmlDeviceObject*;
struct NvmlUtilization {
  unsigned gpu_percent = 0, memory_percent = 0;
};

/// libnvidia-ml.so.1
struct NvmlApi {
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*system_get_driver_version)(char* version, unsigned length) = nullptr;
  Status (*device_by_pci_bus_id)(const char* id, NvmlDevice* device) = nullptr;
  Status (*clock_mhz)(NvmlDevice device, int clock, unsigned* mhz) = nullptr;      ///< clock: 1 SM, 2 memory
  Status (*max_clock_mhz)(NvmlDevice device, int clock, unsigned* mhz) = nullptr;  ///< as above
  Status (*power_limit_mw)(NvmlDevice device, unsigned* milliwatts) = nullptr;
  Status (*temperature_c)(NvmlDevice device, int sensor, unsigned* celsius) = nullptr;
  Status (*throttle_reasons)(NvmlDevice device, unsigned long long* mask) = nullptr;
  Status (*utilization)(NvmlDevice device, NvmlUtilization* rates) = nullptr;
};

using BlasHandle = struct BlasObject*;
using BlasObjectHandle = struct BlasPartObject*;
struct BlasHeuristic {
  std::array<std::uint64_t, 8> algorithm{};
  std::size_t workspace_bytes = 0;
  Status state = 0;
  float waves = 0;
  std::array<int, 4> reserved{};
};

/// libcublasLt.so
struct BlasApi {
  Status (*create)(BlasHandle* handle) = nullptr;
  Status (*destroy)(BlasHandle handle) = nullptr;
  Status (*desc_create)(BlasObjectHandle* desc, int compute_type, int scale_type) = nullptr;
  Status (*desc_set)(BlasObjectHandle desc, int attribute, const void* value, std::size_t bytes) = nullptr;
  Status (*desc_destroy)(BlasObjectHandle desc) = nullptr;
  Status (*layout_create)(BlasObjectHandle* layout, int type, std::uint64_t rows, std::uint64_t columns,
                          std::int64_t leading) = nullptr;
  Status (*layout_destroy)(BlasObjectHandle layout) = nullptr;
  Status (*preference_create)(BlasObjectHandle* preference) = nullptr;
  Status (*preference_set)(BlasObjectHandle preference, int attribute, const void* value, std::size_t bytes) = nullptr;
  Status (*preference_destroy)(BlasObjectHandle preference) = nullptr;
  Status (*heuristic)(BlasHandle handle, BlasObjectHandle desc, BlasObjectHandle a, BlasObjectHandle b,
                      BlasObjectHandle c, BlasObjectHandle d, BlasObjectHandle preference, int wanted,
                      BlasHeuristic* results, int* found) = nullptr;
  Status (*matmul)(BlasHandle handle, BlasObjectHandle desc, const void* alpha, DevicePointer a,
                   BlasObjectHandle a_layout, DevicePointer b, BlasObjectHandle b_layout, const void* beta,
                   DevicePointer c, BlasObjectHandle c_layout, DevicePointer d, BlasObjectHandle d_layout,
                   const void* algorithm, DevicePointer workspace, std::size_t workspace_bytes,
                   StreamHandle stream) = nullptr;
};

}  // namespace corridor::measure::cuda
