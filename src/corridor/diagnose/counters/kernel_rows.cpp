// SPDX-License-Identifier: Apache-2.0
// Sums over launches first, rates and fractions last, so that a row of many launches is their mean by time.
#include "corridor/diagnose/counters/kernel_rows.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

namespace corridor::diagnose {
namespace {

using profile::KernelCounters;

// A rate this far above a roof is more than a rounded figure.
constexpr double beyond_roof = 1.02;
// Of the bytes that the L2 moved: below this share of them memory was hardly asked.
constexpr double stayed_in_cache = 0.1;

constexpr std::array<CounterLevel, 4> levels = {CounterLevel::dram, CounterLevel::l2, CounterLevel::l1,
                                                CounterLevel::shared};

const std::optional<double>& bytes_of(const KernelCounters& launch, CounterLevel level) {
  switch (level) {
    case CounterLevel::dram:
      return launch.dram_bytes;
    case CounterLevel::l2:
      return launch.l2_bytes;
    case CounterLevel::l1:
      return launch.l1_bytes;
    case CounterLevel::shared:
      break;
  }
  return launch.lds_bytes;
}

/// Work of one level or type, and what its roof would have allowed in the time of the same launches.
struct UseSum {
  double amount = 0, timed_amount = 0, time_s = 0, allowed = 0, allowed_time_s = 0;
  RoofSource source = RoofSource::data_sheet;
  bool seen = false;

  void add(double work, const std::optional<double>& duration_s, const std::optional<Roof>& roof) {
    seen = true;
    amount += work;
    if (!duration_s) return;
    timed_amount += work;
    time_s += *duration_s;
    if (!roof) return;
    allowed += roof->per_s * *duration_s;
    allowed_time_s += *duration_s;
    source = roof->source;
  }
  [[nodiscard]] std::optional<double> per_s() const {
    return time_s > 0 ? std::optional(timed_amount / time_s) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> roof_per_s() const {
    return allowed_time_s > 0 ? std::optional(allowed / allowed_time_s) : std::nullopt;
  }
  [[nodiscard]] std::optional<double> fraction() const {
    const auto rate = per_s(), roof = roof_per_s();
    return rate && roof && *roof > 0 ? std::optional(*rate / *roof) : std::nullopt;
  }
};

struct MeanSum {
  double sum = 0, weight = 0;
  void add(const std::optional<double>& x, double by) {
    if (!x) return;
    sum += *x * by;
    weight += by;
  }
  [[nodiscard]] std::optional<double> mean() const { return weight > 0 ? std::optional(sum / weight) : std::nullopt; }
};

std::string sizes(const std::array<std::uint32_t, 3>& xyz) {
  std::string text = fmt::format("{}", xyz[0]);
  if (xyz[1] > 1 || xyz[2] > 1) text += fmt::format("×{}", xyz[1]);
  if (xyz[2] > 1) text += fmt::format("×{}", xyz[2]);
  return text;
}

std::string shape_text(const profile::LaunchShape& shape) {
  std::string text;
  if (shape.grid[0] > 0) text = "grid " + sizes(shape.grid);
  if (shape.block[0] > 0) text += (text.empty() ? "block " : ", block ") + sizes(shape.block);
  return text;
}

/// "void at::native::<unnamed>::copy<float>(int)" → "copy"; "cutlass::Kernel2<cutlass_80_…>(…)" → "cutlass_80_…", since
/// the name of its template says nothing.
std::string kernel_label(const std::string& kernel) {
  constexpr std::size_t most_looked_at = 4096;
  std::string text = kernel.substr(0, most_looked_at);
  for (const std::string_view noise : {"void ", "(anonymous namespace)::", "<unnamed>::"}) {
    for (std::size_t at = text.find(noise); at != std::string::npos; at = text.find(noise))
      text.erase(at, noise.size());
  }
  const std::size_t open = text.find_first_of("<(");
  std::string head = text.substr(0, open);
  const std::size_t colons = head.rfind("::");
  if (colons != std::string::npos && colons + 2 < head.size()) head.erase(0, colons + 2);
  const bool says_nothing = head == "Kernel" || head == "Kernel2" || head == "device_kernel";
  if (says_nothing && open != std::string::npos && text[open] == '<') {
    const std::string inner = text.substr(open + 1, text.find_first_of(",<>(", open + 1) - open - 1);
    if (!inner.empty()) head = inner;
  }
  return head.empty() ? kernel : head;
}

/// What is added up of the launches of one row.
class RowSum {
 public:
  void add(const RoofInput& input, const KernelCounters& launch, const std::optional<double>& tensor_flops_each) {
    launches_ += launch.launches;
    if (launch.duration_s) time_s_ += *launch.duration_s;
    for (const CounterLevel level : levels) {
      if (const auto& bytes = bytes_of(launch, level)) {
        uses_[static_cast<std::size_t>(level)].add(*bytes, launch.duration_s, level_roof(input, launch, level));
      }
    }
    bool tensor = false;
    for (const auto& [type, flops] : launch.flops) {
      types_[type].add(flops, launch.duration_s, type_roof(input, launch, type));
      tensor = tensor || type.find("tensor") != std::string::npos;
    }
    add_instructions(input, launch, tensor, tensor_flops_each);
    add_halves(input, launch);
    occupancy_.add(launch.achieved_occupancy, launch.launches);
    theoretical_.add(launch.theoretical_occupancy, launch.launches);
    registers_.add(launch.registers, launch.launches);
    shared_.add(launch.shared_bytes, launch.launches);
    waves_.add(launch.waves, launch.launches);
    clock_.add(launch.sm_clock_hz, launch.duration_s.value_or(0));
  }

  void fill(KernelRow& row) const {
    row.launches = launches_;
    row.time_s = time_s_;
    row.occupancy = occupancy_.mean();
    row.theoretical_occupancy = theoretical_.mean();
    row.registers = registers_.mean();
    row.shared_bytes = shared_.mean();
    row.waves = waves_.mean();
    row.sm_clock_hz = clock_.mean();
    fill_arithmetic(row);
    fill_levels(row);
    place(row);
  }

 private:
  /// Where only instructions are counted, and their size is known.
  void add_instructions(const RoofInput& input, const KernelCounters& launch, bool tensor_counted,
                        const std::optional<double>& flops_each) {
    if (tensor_counted || !launch.tensor_instructions || *launch.tensor_instructions <= 0) return;
    instructions_ += *launch.tensor_instructions;
    if (!flops_each) {
      flops_missing_ = true;
      return;
    }
    constexpr const char* type = "fp16 tensor";
    types_[type].add(*launch.tensor_instructions * *flops_each, launch.duration_s, type_roof(input, launch, type));
    flops_estimated_ = true;
  }

  /// Half-precision vector rates are in no data sheet here, but not below those of fp32: far from the roof of fp32 is
  /// far from its own.
  void add_halves(const RoofInput& input, const KernelCounters& launch) {
    for (const auto& [type, flops] : launch.flops) {
      if (type == "fp16") halves_.add(flops, launch.duration_s, type_roof(input, launch, "fp32"));
    }
  }

  void fill_arithmetic(KernelRow& row) const {
    for (const auto& [type, sum] : types_) {
      row.flops = row.flops.value_or(0) + sum.amount;
      if (sum.amount <= 0) continue;
      TypeUse use;
      use.type = type;
      use.flops = sum.amount;
      use.flop_per_s = sum.per_s();
      use.roof_flop_per_s = sum.roof_per_s();
      use.fraction = sum.fraction();
      use.roof_source = sum.source;
      row.arithmetic.push_back(std::move(use));
    }
    std::stable_sort(row.arithmetic.begin(), row.arithmetic.end(),
                     [](const TypeUse& a, const TypeUse& b) { return a.flops > b.flops; });
    if (flops_estimated_) {
      row.remarks.emplace_back(
          "tensor FLOPs are estimated: instructions × the FLOPs of a 16-bit one (wrong for 8-bit and 64-bit types)");
    }
    if (flops_missing_) {
      row.flops.reset();
      row.remarks.push_back(fmt::format(
          "{:.0f} tensor instructions, whose FLOPs the file does not tell: add the metrics sm__ops_path_tensor_…",
          instructions_));
    }
  }

  void fill_levels(KernelRow& row) const {
    for (const CounterLevel level : levels) {
      const UseSum& sum = uses_[static_cast<std::size_t>(level)];
      if (!sum.seen || (level == CounterLevel::shared && sum.amount <= 0)) continue;
      LevelUse use;
      use.level = level;
      use.bytes = sum.amount;
      use.bytes_per_s = sum.per_s();
      use.roof_bytes_per_s = sum.roof_per_s();
      use.roof_source = sum.source;
      use.fraction = sum.fraction();
      if (row.flops && sum.amount > 0) use.flop_per_byte = *row.flops / sum.amount;
      row.levels.push_back(use);
    }
  }

  static CounterBound bound_of(CounterLevel level) {
    switch (level) {
      case CounterLevel::dram:
        return CounterBound::dram;
      case CounterLevel::l2:
        return CounterBound::l2;
      case CounterLevel::l1:
        return CounterBound::l1;
      case CounterLevel::shared:
        break;
    }
    return CounterBound::shared;
  }

  /// The roof that is nearest, and whether it is near enough to bind.
  void place(KernelRow& row) const {
    bool dram_placed = false;
    for (const LevelUse& use : row.levels) {
      if (!use.fraction) continue;
      dram_placed = dram_placed || use.level == CounterLevel::dram;
      if (row.fraction_of_roof && *use.fraction <= *row.fraction_of_roof) continue;
      row.fraction_of_roof = use.fraction;
      row.bound = bound_of(use.level);
    }
    bool arithmetic_placed = row.flops.has_value();
    for (const TypeUse& use : row.arithmetic) {
      const bool far_from_it = use.type == "fp16" && halves_.fraction().value_or(1) < near_a_roof;
      arithmetic_placed = arithmetic_placed && (use.fraction || far_from_it);
      if (!use.fraction || (row.fraction_of_roof && *use.fraction <= *row.fraction_of_roof)) continue;
      row.fraction_of_roof = use.fraction;
      row.bound = CounterBound::compute;
      row.bound_type = use.type;
    }
    explain_impossible(row);
    if (!row.fraction_of_roof || *row.fraction_of_roof >= near_a_roof) return;
    // "No roof is near" can be said only where the main ones were looked at.
    row.bound = dram_placed && arithmetic_placed ? CounterBound::latency : CounterBound::unknown;
    row.bound_type.clear();
  }

  static void explain_impossible(KernelRow& row) {
    const LevelUse *dram = nullptr, *l2 = nullptr;
    for (const LevelUse& use : row.levels) {
      if (use.level == CounterLevel::dram) dram = &use;
      if (use.level == CounterLevel::l2) l2 = &use;
      if (!use.fraction || *use.fraction <= beyond_roof) continue;
      row.remarks.push_back(fmt::format("{:.0f} % of the {} roof: the roof ({}) is lower than what this board reaches",
                                        *use.fraction * 100, name(use.level), name(use.roof_source)));
    }
    for (const TypeUse& use : row.arithmetic) {
      if (!use.fraction || *use.fraction <= beyond_roof) continue;
      row.remarks.push_back(
          fmt::format("{:.0f} % of the {} roof ({}): another board, a higher clock, or FLOPs that sparsity skipped",
                      *use.fraction * 100, use.type, name(use.roof_source)));
    }
    if (dram != nullptr && l2 != nullptr && l2->bytes > 0 && dram->bytes < stayed_in_cache * l2->bytes) {
      row.remarks.push_back(fmt::format("{:.2g} % of the bytes of the L2 reached memory: its data stayed in the L2",
                                        dram->bytes / l2->bytes * 100));
    }
  }

  double launches_ = 0, time_s_ = 0, instructions_ = 0;
  bool flops_missing_ = false, flops_estimated_ = false;
  std::array<UseSum, levels.size()> uses_;
  std::map<std::string, UseSum> types_;
  UseSum halves_;
  MeanSum occupancy_, theoretical_, registers_, shared_, waves_, clock_;
};

}  // namespace

std::vector<KernelRow> kernel_rows(const RoofInput& input) {
  const profile::Trace& trace = input.trace;
  const std::optional<double> flops_each = flops_of_tensor_instruction(trace, input.device);
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> index;
  std::vector<KernelRow> rows;
  std::vector<RowSum> sums;
  double time_s = 0;
  for (const KernelCounters& launch : trace.counters) {
    const std::string shape = launch.shape < trace.shapes.size() ? shape_text(trace.shapes[launch.shape]) : "";
    const auto [known, added] = index.emplace(std::pair(launch.name, shape), rows.size());
    if (added) {
      KernelRow row;
      row.kernel = trace.names.text(launch.name);
      row.shape = shape;
      row.label = kernel_label(row.kernel);
      row.kernel_class = class_of_kernel(row.kernel);
      rows.push_back(std::move(row));
      sums.emplace_back();
    }
    sums[known->second].add(input, launch, flops_each);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    sums[i].fill(rows[i]);
    time_s += rows[i].time_s;
  }
  for (KernelRow& row : rows) row.share = time_s > 0 ? row.time_s / time_s : 0;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.time_s > b.time_s; });
  return rows;
}

}  // namespace corridor::diagnose
