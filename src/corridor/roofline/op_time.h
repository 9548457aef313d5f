// SPDX-License-Identifier: Apache-2.0
// Time of one operation on one device: its limit from datasheet peaks, its expected time from reachable ones.
#pragma once

#include <optional>
#include <string>

#include "corridor/graph/op_graph.h"
#include "corridor/hardware/device.h"
#include "corridor/roofline/kernel_constants.h"
#include "corridor/units/units.h"

namespace corridor::roofline {

/// Arithmetic type in which an operation runs on a device, and its dense peak.
struct Arithmetic {
  hardware::ComputeType type = hardware::ComputeType::bf16;
  units::FlopsPerSecond peak;
  bool unpacks = false;  ///< weights are unpacked to 16 bit first
};

/// What an op of `format` computes in on `device`: the format's own type where the device has it, else 16 bit after
/// unpacking (fp8 on A100; fp4 on Hopper), else fp32. `math` overrides. Fails when the device states no usable peak.
[[nodiscard]] Result<Arithmetic> arithmetic_of(const hardware::Device& device, const model::WeightFormat& format,
                                               std::optional<hardware::ComputeType> math);

enum class Bound { memory, compute, launch, interconnect };
[[nodiscard]] std::string_view name(Bound);

/// One execution of one operation.
struct OpTime {
  units::Seconds limit_memory, limit_compute, limit_link;
  units::Seconds floor;     ///< launches: t0 × kernels
  units::Seconds memory;    ///< bytes at the reachable rate
  units::Seconds compute;   ///< FLOPs at the reachable rate
  units::Seconds transfer;  ///< collectives
  units::Seconds expected;  ///< floor + memory ⊕ compute, or transfer
  Bound bound = Bound::memory;
  Arithmetic arithmetic;
  bool skipped = false;  ///< does not exist on this device (quantising activations without the type)
  /// Observed ÷ expected of single operations of this kind and size, low and high end of four in five.
  IntervalRatios interval;
};

/// What the timing of an operation needs to know beyond the operation.
struct TimingContext {
  const hardware::Device& device;
  const KernelConstants& constants;
  std::optional<hardware::ComputeType> math;
  bool graphs = true;
  /// What an engine's own kernels change (EngineProfile).
  bool fused_quantise = false;
  bool fused_all_reduce = false;
  double attention_decode_t0_s = 0;
  bool keep_rows = true;  ///< whether time_step keeps its operations
  /// A benchmark that runs one operation again and again, over so many copies of its weights in turn: what fits in the
  /// last cache stays there. 0: a real step, every read comes from main memory.
  double repeated_copies = 0;
  bool library_all_reduce = false;  ///< NCCL or RCCL at every size, not the engine's own kernel
};

/// Whether the operation exists on this device (OpTime::skipped says no).
[[nodiscard]] Result<bool> op_exists(const graph::Op& op, const TimingContext& context);
[[nodiscard]] Result<OpTime> time_op(const graph::Op& op, const TimingContext& context);

}  // namespace corridor::roofline
