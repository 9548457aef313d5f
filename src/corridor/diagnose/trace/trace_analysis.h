// SPDX-License-Identifier: Apache-2.0
// A recorded run in roofline terms: where its time went, how close each kernel came to the roofs, and what to change.
//
//   busy 99.8 % of 10.7 ms; memory: 78 % of the GPU time is bound by bytes
//   MoE products      7.0 ms   66 %   1.5 TB/s   29 % of the roof   (by annotation)
//   finding: 3.4 ms lost in MoE products below their roof …
//
// Bytes and FLOPs come from the shapes of the framework's operations; in replayed graphs, which hide them, from the
// step's annotation and the model; by name alone a kernel has a class but no bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/diagnose/finding.h"
#include "corridor/hardware/device.h"
#include "corridor/model/model_spec.h"
#include "corridor/profile/trace.h"
#include "corridor/units/units.h"

namespace corridor::diagnose {

enum class KernelClass { product, attention, moe, normalisation, elementwise, copy, collective, sampling, other };
inline constexpr std::size_t kernel_class_count = 9;
[[nodiscard]] std::string_view name(KernelClass kernel_class);

/// What tells the class, the FLOPs and the bytes of a span.
enum class Explained { by_operator, by_annotation, by_name, none };
[[nodiscard]] std::string_view name(Explained explained);

enum class KernelBound { memory, compute, interconnect, overhead, unknown };
[[nodiscard]] std::string_view name(KernelBound bound);

/// All spans of one operation and shape together.
struct ShapeRow {
  std::string operation;  ///< "aten::mm", "MoE products of a step", or the kernel's name
  std::string shape;      ///< "8944×2816×1024 bf16"; empty when not known
  std::string kernel;     ///< the kernel that took most of its time
  KernelClass kernel_class = KernelClass::other;
  Explained explained = Explained::none;
  double count = 0;  ///< executions of the operation
  double total_s = 0;
  std::optional<double> flops, bytes;      ///< of all executions
  std::string type;                        ///< arithmetic type: "bf16"
  std::optional<double> fraction_of_roof;  ///< time at the binding roof ÷ time taken
  KernelBound bound = KernelBound::unknown;
  std::string remark;  ///< why a rate above the roof is possible, or why the numbers are not trusted
  [[nodiscard]] std::optional<double> flop_per_s() const {
    return flops && total_s > 0 ? std::optional(*flops / total_s) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> bytes_per_s() const {
    return bytes && total_s > 0 ? std::optional(*bytes / total_s) : std::nullopt;
  }
};

/// Time in which no GPU work ran, between the first and the last.
struct IdleSplit {
  double host_wait_s = 0;        ///< the next kernel had not been launched: the host was busy
  double launch_gap_s = 0;       ///< it had been launched, and had not begun
  double synchronisation_s = 0;  ///< the host waited for the GPU, then had to launch anew
  double data_wait_s = 0;        ///< behind a copy between host and device
  double largest_gap_s = 0;      ///< the longest single stretch of it, and where it began
  double largest_gap_at_s = 0;   ///< from the first GPU start
  [[nodiscard]] double total_s() const { return host_wait_s + launch_gap_s + synchronisation_s + data_wait_s; }
  /// Whether one gap alone, not the steps, makes the idle time: more than a quarter of the span.
  [[nodiscard]] bool has_pause(double span_s) const { return largest_gap_s > span_s / 4; }
};

/// One step of an engine, or of a profiler's schedule.
struct StepRow {
  std::string name;
  double start_s = 0, span_s = 0, busy_s = 0;  ///< of its GPU work
  double host_s = 0;                           ///< of the annotation on the host
  double kernels = 0, launches = 0;
  std::optional<double> prefill_tokens, decode_sequences, kv_tokens;  ///< from the annotation
};

struct ClassTotal {
  KernelClass kernel_class = KernelClass::other;
  double count = 0, total_s = 0;
  std::optional<double> bytes, flops;         ///< of those whose shapes are known
  double bytes_time_s = 0, flops_time_s = 0;  ///< time of those
};

struct Coverage {
  double by_operator = 0, by_annotation = 0, by_name = 0, none = 0;  ///< shares of GPU time; they add up to 1
};

/// One meter of the chip, as a share of what it can do.
struct MeterReading {
  std::string name;                 ///< "main memory, read and written"
  std::optional<double> busy_mean;  ///< over the samples in which the GPU worked half of the time or more
  double span_mean = 0, highest = 0;
};

struct MeterSummary {
  std::vector<MeterReading> readings;
  double samples = 0;                             ///< inside the span
  double coverage = 0;                            ///< share of the busy time that the busy samples cover
  std::optional<double> dram, tensor, sm_active;  ///< means while busy
};

struct TraceAnalysis {
  std::uint16_t device = 0;  ///< the busiest one: everything below is of it
  std::size_t devices = 0;   ///< with GPU work in the trace
  double span_s = 0;         ///< first GPU start to last GPU end
  double gpu_busy_s = 0;     ///< union of the GPU intervals
  double kernel_time_s = 0;  ///< their sum, overlaps counted twice
  double kernels = 0, launches = 0;
  IdleSplit idle;
  Coverage coverage;
  std::vector<ClassTotal> classes;          ///< by time
  std::vector<ShapeRow> shapes;             ///< by time
  std::vector<std::uint32_t> spans;         ///< of the device, by start: indices into Trace::gpu
  std::vector<std::uint32_t> row_of_span;   ///< for each of `spans` its index in `shapes`
  std::vector<StepRow> steps;               ///< in order
  std::vector<Finding> findings;            ///< by time lost
  std::optional<MeterSummary> meters;       ///< where the tool sampled the chip's own
  KernelBound wall = KernelBound::unknown;  ///< overhead: idle; memory, compute, interconnect: the busy time
  double wall_share = 0;                    ///< of the span
  std::string sentence;                     ///< the verdict in one line
  std::vector<std::string> caveats;  ///< what weakens it: recorded stacks, missing shapes, launches before the window
  [[nodiscard]] double busy_fraction() const { return span_s > 0 ? gpu_busy_s / span_s : 0; }
};

struct TraceInput {
  const profile::Trace& trace;
  const hardware::Device* device = nullptr;  ///< roofs; empty = none
  const model::ModelSpec* model = nullptr;   ///< explains replayed graphs; empty = none
  double tp = 1;
  std::string kv{};  ///< storage of the KV cache: "" = the model's own, else bf16
};

/// Fails when the trace has no GPU work and no counters: there is nothing to place.
[[nodiscard]] Result<TraceAnalysis> analyse(const TraceInput& input);

}  // namespace corridor::diagnose
