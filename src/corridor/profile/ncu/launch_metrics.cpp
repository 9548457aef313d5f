// SPDX-License-Identifier: Apache-2.0
// Nsight Compute gives one quantity in several spellings: as a sum, as a rate by time or by cycle, by unit of the chip.
#include "corridor/profile/ncu/launch_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace corridor::profile::ncu {
namespace {

constexpr double bytes_of_sector = 32;

std::optional<double> first_of(const LaunchMetrics& metrics, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto value = metrics.get(name)) return value;
  }
  return std::nullopt;
}

std::optional<double> product(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a * *b) : std::nullopt;
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

/// Cycles of a kind of unit ("sm", "smsp", "lts") in the launch.
std::optional<double> cycles(const LaunchMetrics& m, const std::string& unit) {
  if (const auto found = first_of(m, {unit + "__cycles_elapsed.avg", unit + "__cycles_elapsed.max"})) return found;
  if (unit != "sm" && unit != "smsp") return std::nullopt;
  return first_of(m, {"smsp__cycles_elapsed.avg", "smsp__cycles_elapsed.max", "sm__cycles_elapsed.avg",
                      "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max", "Elapsed Cycles"});
}

std::optional<double> clock_hz(const LaunchMetrics& m, const std::string& unit) {
  if (const auto found = first_of(m, {unit + "__cycles_elapsed.avg.per_second"})) return found;
  if (unit == "dram") return first_of(m, {"DRAM Frequency"});
  if (unit != "sm" && unit != "smsp") return std::nullopt;
  return first_of(m, {"smsp__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second", "SM Frequency",
                      "gpc__cycles_elapsed.avg.per_second"});
}

std::optional<double> duration_s(const LaunchMetrics& m) {
  if (const auto found = first_of(m, {"gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_duration.max",
                                      "gpu__time_duration_measured_user.sum", "Duration"})) {
    return found;
  }
  const auto elapsed = cycles(m, "sm"), clock = clock_hz(m, "sm");
  if (elapsed && clock && *clock > 0) return *elapsed / *clock;
  return std::nullopt;
}

/// The sum of a counter over the launch, whatever rate it is given as. `name` without ".sum".
std::optional<double> total(const LaunchMetrics& m, const std::string& name) {
  if (const auto found = m.get(name + ".sum")) return found;
  if (const auto rate = product(m.get(name + ".sum.per_second"), duration_s(m))) return rate;
  const std::string unit = name.substr(0, name.find("__"));
  return product(m.get(name + ".sum.per_cycle_elapsed"), cycles(m, unit));
}

/// What the chip can do of it in a second at the clock of the launch.
std::optional<double> sustained(const LaunchMetrics& m, const std::string& name) {
  const std::string unit = name.substr(0, name.find("__"));
  return product(m.get(name + ".sum.peak_sustained"), clock_hz(m, unit));
}

std::optional<double> scaled(std::optional<double> x, double factor) {
  return x ? std::optional(*x * factor) : std::nullopt;
}

void fill_bytes(const LaunchMetrics& m, KernelCounters& c) {
  c.dram_bytes = total(m, "dram__bytes");
  if (!c.dram_bytes) c.dram_bytes = sum(total(m, "dram__bytes_read"), total(m, "dram__bytes_write"));
  if (!c.dram_bytes) c.dram_bytes = sum(total(m, "fbpa__dram_read_bytes"), total(m, "fbpa__dram_write_bytes"));
  if (!c.dram_bytes) {
    c.dram_bytes = scaled(sum(total(m, "dram__sectors_read"), total(m, "dram__sectors_write")), bytes_of_sector);
  }
  // "Memory Throughput" of the section on memory: bytes a second. That of the speed of light is a share.
  if (!c.dram_bytes) c.dram_bytes = product(m.get("Memory Throughput [byte/second]"), c.duration_s);
  c.l2_bytes = total(m, "lts__t_bytes");
  if (!c.l2_bytes) c.l2_bytes = scaled(total(m, "lts__t_sectors"), bytes_of_sector);
  c.l1_bytes = total(m, "l1tex__t_bytes");
  if (!c.l1_bytes) c.l1_bytes = scaled(total(m, "l1tex__t_sectors"), bytes_of_sector);
  c.peak_dram_bytes_per_s = sustained(m, "dram__bytes");
  c.peak_l2_bytes_per_s = sustained(m, "lts__t_bytes");
  c.peak_l1_bytes_per_s = sustained(m, "l1tex__t_bytes");
}

/// Instructions of the vector pipes by type: letter, and thread instructions a lane packs.
struct VectorType {
  const char* type;
  char letter;
  double packed;  ///< operations of a pair count twice in the sum, once in the peak
};
constexpr std::array<VectorType, 3> vector_types{{{"fp32", 'f', 1}, {"fp64", 'd', 1}, {"fp16", 'h', 2}}};

std::optional<double> vector_part(const LaunchMetrics& m, char letter, const char* operation) {
  const std::string tail = std::string("__sass_thread_inst_executed_op_") + letter + operation + "_pred_on";
  if (const auto found = total(m, "sm" + tail)) return found;
  return total(m, "smsp" + tail);
}

void fill_vector(const LaunchMetrics& m, KernelCounters& c) {
  for (const VectorType& t : vector_types) {
    const auto add = vector_part(m, t.letter, "add"), mul = vector_part(m, t.letter, "mul");
    const auto fma = vector_part(m, t.letter, "fma");
    if (add || mul || fma) {
      c.flops.emplace_back(t.type, add.value_or(0) + mul.value_or(0) + 2 * fma.value_or(0));
    }
    const std::string fused = std::string("__sass_thread_inst_executed_op_") + t.letter + "fma_pred_on";
    auto peak = sustained(m, "sm" + fused);
    if (!peak) peak = sustained(m, "smsp" + fused);
    if (peak) c.peak_flop_per_s.emplace_back(t.type, *peak * 2 * t.packed);
  }
}

/// Type of "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum": "fp16 tensor". Empty for other names.
std::string tensor_type(std::string_view name) {
  constexpr std::string_view head = "sm__ops_path_tensor_src_";
  if (name.substr(0, head.size()) != head) return {};
  const std::string_view rest = name.substr(head.size());
  // "fp4_dst_…", "fp8.sum", "mxfp4_…": the source's type ends at the first underscore or point.
  return std::string(rest.substr(0, rest.find_first_of("_."))) + " tensor";
}

bool ends_with(std::string_view text, std::string_view tail) {
  return text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail;
}

/// Adds `value` to the entry of `type`.
void add_to(std::vector<std::pair<std::string, double>>& list, const std::string& type, double value) {
  for (auto& [known, amount] : list) {
    if (known != type) continue;
    amount += value;
    return;
  }
  list.emplace_back(type, value);
}

/// A metric without "_sparsity_…" is the sum of those with it: they are used only where it is absent.
void fill_tensor(const LaunchMetrics& m, KernelCounters& c) {
  constexpr std::string_view sum_tail = ".sum", peak_tail = ".sum.peak_sustained";
  std::vector<std::string> names;  // sorted: an answer must not depend on the order of a hash table
  for (const auto& entry : m.all()) {
    if (!tensor_type(entry.first).empty()) names.push_back(entry.first);
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const std::string type = tensor_type(name);
    const std::string base = name.substr(0, name.find('.'));
    const std::size_t sparsity = base.find("_sparsity_");
    const bool part = sparsity != std::string::npos;
    if (ends_with(name, sum_tail)) {
      if (part && m.get(base.substr(0, sparsity) + ".sum")) continue;
      add_to(c.flops, type, *m.get(name));
    } else if (ends_with(name, peak_tail)) {
      if (part && ends_with(base, "_on")) continue;  // sparse peaks are twice the dense ones
      const auto clock = clock_hz(m, "sm");
      if (!clock) continue;
      const double peak = *m.get(name) * *clock;
      const auto known = std::find_if(c.peak_flop_per_s.begin(), c.peak_flop_per_s.end(),
                                      [&](const auto& entry) { return entry.first == type; });
      // fp16 into fp32 runs at half rate on some boards: the higher peak bounds both.
      if (known == c.peak_flop_per_s.end()) {
        c.peak_flop_per_s.emplace_back(type, peak);
      } else {
        known->second = std::max(known->second, peak);
      }
    }
  }
  c.tensor_instructions = total(m, "sm__inst_executed_pipe_tensor");
}

void fill_launch(const LaunchMetrics& m, KernelCounters& c) {
  c.achieved_occupancy = first_of(m, {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"});
  c.theoretical_occupancy = first_of(m, {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"});
  c.registers = first_of(m, {"launch__registers_per_thread", "Registers Per Thread"});
  c.waves = first_of(m, {"launch__waves_per_multiprocessor", "Waves Per SM"});
  c.shared_bytes = first_of(m, {"launch__shared_mem_per_block", "launch__shared_mem_per_block_allocated"});
  if (!c.shared_bytes) {
    const auto fixed = first_of(m, {"launch__shared_mem_per_block_static", "Static Shared Memory Per Block"});
    const auto asked = first_of(m, {"launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block"});
    if (fixed || asked) c.shared_bytes = fixed.value_or(0) + asked.value_or(0);
  }
}

}  // namespace

void LaunchMetrics::set(std::string_view name, double value) {
  if (!std::isfinite(value) || value < 0) return;
  values_[std::string(name)] = value;
}

std::optional<double> LaunchMetrics::get(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

bool is_metric_name(std::string_view name) {
  constexpr std::array<std::string_view, 14> heads{"dram__",
                                                   "fbpa__dram",
                                                   "lts__t_",
                                                   "lts__cycles",
                                                   "l1tex__t_",
                                                   "l1tex__cycles",
                                                   "gpu__time",
                                                   "sm__cycles",
                                                   "smsp__cycles",
                                                   "sm__sass_thread",
                                                   "smsp__sass_thread",
                                                   "sm__ops_path_tensor",
                                                   "sm__inst_executed_pipe_tensor",
                                                   "launch__"};
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return name.substr(0, head.size()) == head; });
}

void fill_counters(const LaunchMetrics& m, KernelCounters& c) {
  c.duration_s = duration_s(m);
  if (c.duration_s && *c.duration_s <= 0) c.duration_s.reset();
  c.sm_clock_hz = clock_hz(m, "sm");
  c.dram_clock_hz = clock_hz(m, "dram");
  fill_bytes(m, c);
  fill_vector(m, c);
  fill_tensor(m, c);
  fill_launch(m, c);
}

}  // namespace corridor::profile::ncu
