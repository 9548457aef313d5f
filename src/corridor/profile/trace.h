// SPDX-License-Identifier: Apache-2.0
// A time-line of one run, whatever tool recorded it: what ran on the GPUs, which calls started it, which framework
// operation asked for it, and the annotations around it.
//
//   Trace trace = *read_kineto(source, "trace.json.gz");
//   trace.gpu.size()                            // kernels, copies and sets
//   trace.names.text(trace.gpu[0].name)         // "void cutlass::Kernel2<…>"
//   trace.ops[trace.gpu[0].op]                  // aten::addmm with its shapes
//
// Times are seconds from the trace's first event. Names and shapes are stored once each, so that a trace of millions of
// events stays small.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corridor/profile/import_stats.h"

namespace corridor::profile {

inline constexpr std::uint32_t none = 0xFFFFFFFF;  ///< no such index

/// Texts stored once each.
class NamePool {
 public:
  NamePool() = default;
  NamePool(NamePool&&) = default;
  NamePool& operator=(NamePool&&) = default;
  NamePool(const NamePool&) = delete;  // the index points into the texts
  NamePool& operator=(const NamePool&) = delete;
  ~NamePool() = default;
  [[nodiscard]] std::uint32_t intern(std::string_view text);
  [[nodiscard]] std::string_view text(std::uint32_t id) const;  ///< empty for `none`
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  ///< a deque: the views in the index stay valid
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

enum class GpuWork : std::uint8_t { kernel, copy, set };

/// One thing that ran on a GPU.
struct GpuSpan {
  double start_s = 0, duration_s = 0;
  std::uint32_t name = none;
  std::uint32_t launch = none;      ///< index of the call that started it
  std::uint32_t op = none;          ///< index of the framework operation that asked for it
  std::uint32_t annotation = none;  ///< index of the innermost GPU annotation around it
  std::uint32_t shape = none;       ///< index of its launch shape
  std::uint32_t stream = 0;
  std::uint16_t device = 0;
  GpuWork work = GpuWork::kernel;
  bool from_graph = false;  ///< replayed: many spans of one launch
  double bytes = 0;         ///< of copies and sets, where the tool tells
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{}, block{};
};

/// A call of the runtime or driver on the host: launches, waits, copies.
struct HostCall {
  double start_s = 0, duration_s = 0;
  std::uint32_t name = none;  ///< "cudaLaunchKernel"
  std::uint32_t thread = 0;   ///< index into threads seen
  [[nodiscard]] double end_s() const { return start_s + duration_s; }
};

/// Shapes and types of the inputs of a framework operation, as the tool wrote them.
struct OpInputs {
  std::vector<std::vector<std::int64_t>> dims;  ///< one list a tensor; empty for scalars
  std::vector<std::string> types;               ///< "c10::BFloat16"
  std::vector<std::string> concrete;            ///< values of scalars; empty texts for tensors
};

/// A framework operation on the host ("aten::addmm").
struct HostOp {
  double start_s = 0, duration_s = 0;
  std::uint32_t name = none;
  std::uint32_t inputs = none;  ///< index of its OpInputs
  std::uint32_t thread = 0;
  std::uint32_t parent = none;  ///< index of the operation around it on the same thread
};

/// A named stretch of time: a step of an engine, a profiler step, a user's own range.
struct Annotation {
  double start_s = 0, duration_s = 0;
  std::uint32_t name = none;
  bool on_gpu = false;
};

struct TraceDevice {
  std::uint16_t id = 0;
  std::string name;  ///< as the driver prints it; may be empty (ROCm)
  std::optional<double> memory_bytes, sm_count, memory_bytes_per_s, clock_hz;
  std::optional<int> compute_major, compute_minor;
};

/// Counters of one kernel launch (Nsight Compute, rocprof-compute); what a tool does not give stays empty.
struct KernelCounters {
  std::uint32_t name = none;
  std::uint32_t shape = none;
  std::optional<double> duration_s, sm_clock_hz, dram_clock_hz;
  std::optional<double> dram_bytes, l2_bytes, l1_bytes;
  std::optional<double> peak_dram_bytes_per_s, peak_l2_bytes_per_s, peak_l1_bytes_per_s;  ///< at the profiled clock
  std::vector<std::pair<std::string, double>> flops;            ///< by type and unit: "fp32", "fp16 tensor"
  std::vector<std::pair<std::string, double>> peak_flop_per_s;  ///< the same names, at the profiled clock
  std::optional<double> achieved_occupancy, registers, shared_bytes;
  std::optional<double> theoretical_occupancy;  ///< what registers, shared memory and block size allow
  std::optional<double> waves;                  ///< grid ÷ blocks that run at once
  std::optional<double> lds_bytes;              ///< through the shared memory of a compute unit (AMD)
  std::optional<double> tensor_instructions;    ///< where the tool counts instructions and not their arithmetic
  double launches = 1;                          ///< when the tool gives sums
};

/// Meters that a tool samples over time, of the whole chip, as shares of what it can do.
enum class Meter : std::uint8_t { sm_active, sm_issue, tensor, dram_read, dram_write };
inline constexpr std::size_t meter_count = 5;

struct MeterSample {
  double at_s = 0;                         ///< the sample is of the time since the one before it
  std::array<float, meter_count> share{};  ///< 0..1; below 0: not sampled
};

struct DeviceMeters {
  std::uint16_t device = 0;
  std::vector<MeterSample> samples;  ///< in order of time
};

/// Roofs that a profiler measured with kernels of its own on the machine of the run (rocprof-compute).
struct MeasuredRoofs {
  std::uint16_t device = 0;
  std::optional<double> dram_bytes_per_s, l2_bytes_per_s, l1_bytes_per_s, lds_bytes_per_s;
  std::vector<std::pair<std::string, double>> flop_per_s;  ///< by the names of KernelCounters::flops
};

struct Trace {
  std::string format;    ///< "Kineto", "Nsight Systems SQLite", "Nsight Compute CSV (details)" …
  std::string producer;  ///< versions, as far as told
  NamePool names;
  std::vector<TraceDevice> devices;
  std::vector<GpuSpan> gpu;  ///< by device, then start
  std::vector<HostCall> calls;
  std::vector<HostOp> ops;
  std::vector<Annotation> annotations;
  std::vector<OpInputs> inputs;
  std::vector<LaunchShape> shapes;
  std::vector<KernelCounters> counters;
  std::vector<MeasuredRoofs> roofs;
  std::vector<DeviceMeters> meters;
  bool with_stack = false, record_shapes = false;
  std::optional<int> rank, world_size;
  double host_span_s = 0;  ///< first to last event of any kind
  ImportStats stats;
};

}  // namespace corridor::profile
