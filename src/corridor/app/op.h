// SPDX-License-Identifier: Apache-2.0
// One operation against one device: its work, its bytes, how often each value is used, and which roof bounds it.
//
//   matmul 1024 × 1024 × 1024, bf16, on H100: 2.15 GFLOP, 6.29 MB, 341 FLOP/B, each input value used 1024 times,
//   2.17 µs of arithmetic against 1.88 µs of memory: compute.
//
// Only main memory is counted, each array once a trip; kernel launches and caches are left out (see `predict`).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/hardware/device.h"
#include "corridor/units/units.h"

namespace corridor::app {

/// C[m,n] = A[m,k] · B[k,n].
struct MatmulOp {
  double m = 0, n = 0, k = 0;
  bool fused = false;  ///< asked for; changes nothing
};

/// Softmax attention of one layer: q queries a sequence over kv keys.
struct AttentionOp {
  double batch = 1, heads = 0, kv_heads = 0, head_dim = 0, q = 0, kv = 0;
  bool causal = false;  ///< the queries are the last q of the kv positions
  bool flash_attention = true;
};

/// `chain` element-wise operations, one after another, on an array of n elements.
struct ElementwiseOp {
  double n = 0;
  double chain = 3;
  bool fused = false;
};

/// Work and traffic as given.
struct RawOp {
  units::Flops flops;
  units::Bytes bytes;
};

using Op = std::variant<MatmulOp, AttentionOp, ElementwiseOp, RawOp>;

/// How often one value of an input takes part in a multiplication or an element-wise operation, once it was read.
struct ValueUse {
  std::string key;   ///< "a", "b", "query", "key_and_value", "input"
  std::string name;  ///< for people
  double uses = 0;
};

enum class OpWall { memory, compute };
[[nodiscard]] std::string_view name(OpWall wall);

struct OpResult {
  std::string title;
  std::string kind;   ///< "matmul", "attention", "elementwise", "given"
  std::string dtype;  ///< storage type, as asked
  units::Flops flops;
  units::Bytes bytes;
  units::FlopsPerByte intensity;
  std::optional<double> trips;           ///< arrays read or written in main memory; empty when not known
  std::optional<double> uses_per_value;  ///< mean over the values read; empty when not known
  std::vector<ValueUse> uses;
  std::optional<double> traffic_saved;  ///< by fusion, against the same chain apart (fraction)
  units::Seconds memory_time, compute_time, limit;
  OpWall wall = OpWall::memory;
  hardware::ComputeType executed = hardware::ComputeType::bf16;
  units::BytesPerSecond bandwidth;
  units::FlopsPerSecond peak;
  units::FlopsPerByte ridge;
  std::string device_id, device_name;
  std::vector<std::string> notes;     ///< what had no effect, what the device lacks, what was assumed
  std::vector<std::string> formulas;  ///< with this case's numbers put in
};

/// Costs `op` with elements of `dtype` ("bf16", "fp8" …) on `device`. Fails on a size that is not a whole number of
/// at least 1 or is beyond 1e15, an unknown dtype, and a device without the bandwidth or the peak that are needed.
[[nodiscard]] Result<OpResult> cost_op(const Op& op, std::string_view dtype, const hardware::Device& device);

/// Reads a size given as `flag`: a whole number, also "4k" or "1M" (decimal).
[[nodiscard]] Result<double> parse_size(std::string_view text, const std::string& flag);
/// Work and traffic "140 GFLOP", "140 GB", or plain numbers ("140e9").
[[nodiscard]] Result<units::Flops> parse_work(std::string_view text, const std::string& flag);
[[nodiscard]] Result<units::Bytes> parse_traffic(std::string_view text, const std::string& flag);

}  // namespace corridor::app
