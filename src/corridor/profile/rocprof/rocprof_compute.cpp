// SPDX-License-Identifier: Apache-2.0
// The three CSV files of a rocprof-compute workload: raw counters become FLOPs and bytes by the tool's own formulas.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "corridor/profile/ncu/launch_sizes.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/csv.h"
#include "corridor/profile/rocprof/read_rocprof.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_csv_bytes = std::size_t{512} << 20U;
constexpr std::size_t most_csv_columns = 16384;  // a counter for each of up to 128 channels, some fifty of them
constexpr std::size_t most_dispatches = 2'000'000;

enum class ComputeFile { other, counters, roofs, system };

ComputeFile kind_of(std::string_view header) {
  if (contains(header, "HBMBw") && contains(header, "L2Bw")) return ComputeFile::roofs;
  if (contains(header, "workload_name") && contains(header, "gpu_arch")) return ComputeFile::system;
  const bool kernel = contains(header, "Kernel_Name") || contains(header, "KernelName");
  const bool counters = contains(header, "SQ_") || contains(header, "TCC_") || contains(header, "GRBM_");
  return kernel && counters && contains(header, ",") ? ComputeFile::counters : ComputeFile::other;
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

/// Nanoseconds as written; wider than what a double holds exactly.
std::optional<std::uint64_t> nanoseconds(std::string_view text) {
  constexpr std::size_t most_digits = 19;  // as many as 64 bits always hold, and as a time since 1970 has
  std::uint64_t value = 0;
  const std::string_view whole = text.substr(0, text.find('.'));
  if (whole.empty() || whole.size() > most_digits) return std::nullopt;
  for (const char c : whole) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

class CounterFile {
 public:
  CounterFile(Trace& trace, const CsvRow& header) : trace_(trace), columns_(header.fields) {
    name_ = columns_.use({"kernel_name", "kernelname"});
    grid_ = columns_.use({"grid_size", "grd"});
    group_ = columns_.use({"workgroup_size", "wgr"});
    start_ = columns_.use({"start_timestamp", "beginns"});
    end_ = columns_.use({"end_timestamp", "endns"});
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      places_.emplace(std::string(header.fields[i]), Column{i});
    }
  }

  void take(const CsvRow& row) {
    row_ = &row;
    KernelCounters c;
    const std::string name = clean(cell(row, name_));
    if (name.empty()) {
      trace_.stats.drop("dispatches without a kernel's name", Severity::loss);
      return;
    }
    c.name = trace_.names.intern(name);
    const auto start = nanoseconds(cell(row, start_)), end = nanoseconds(cell(row, end_));
    constexpr double seconds_of_a_ns = 1e-9;
    if (start && end && *end > *start) {
      c.duration_s = static_cast<double>(*end - *start) * seconds_of_a_ns;
    } else {
      trace_.stats.drop("times of dispatches", Severity::loss, name);
    }
    take_shape(c);
    take_bytes(c);
    take_flops(c);
    take_registers(c);
    trace_.counters.push_back(std::move(c));
  }

 private:
  [[nodiscard]] std::optional<double> value(const std::string& counter) const {
    const auto place = places_.find(counter);
    if (place == places_.end()) return std::nullopt;
    const auto found = number(cell(*row_, place->second));
    return found && *found >= 0 ? found : std::nullopt;
  }

  void take_shape(KernelCounters& c) {
    const auto items = count(cell(*row_, grid_)), group = count(cell(*row_, group_));
    constexpr std::int64_t most_items = std::int64_t{1} << 40U;
    if (!items || !group || *group < 1 || *group > 0xFFFFFFFF || *items > most_items) return;
    // The tool counts work-items; a grid is of groups.
    const std::int64_t groups = (*items + *group - 1) / *group;
    const auto key = std::pair(groups, *group);
    const auto [known, added] = shapes_.emplace(key, static_cast<std::uint32_t>(trace_.shapes.size()));
    if (added) {
      LaunchShape shape;
      shape.grid = {static_cast<std::uint32_t>(std::min<std::int64_t>(groups, 0xFFFFFFFF)), 1, 1};
      shape.block = {static_cast<std::uint32_t>(*group), 1, 1};
      trace_.shapes.push_back(shape);
    }
    c.shape = known->second;
  }

  /// Requests of the second-level cache to memory: reads of 32, 64 and, where it counts them, 128 bytes; writes of 32
  /// and 64. MI300 and later number the interface.
  void take_bytes(KernelCounters& c) {
    for (const char* interface : {"TCC_EA0_", "TCC_EA_"}) {
      const std::string head = interface;
      const auto reads = value(head + "RDREQ_sum"), short_reads = value(head + "RDREQ_32B_sum");
      const auto writes = value(head + "WRREQ_sum"), long_writes = value(head + "WRREQ_64B_sum");
      if (!reads || !short_reads || !writes || !long_writes) continue;
      const double wide = value("TCC_BUBBLE_sum").value_or(0);
      const double read = 32 * *short_reads + 128 * wide + 64 * std::max(0.0, *reads - *short_reads - wide);
      c.dram_bytes = read + 64 * *long_writes + 32 * std::max(0.0, *writes - *long_writes);
      break;
    }
    const auto reads = value("TCP_TCC_READ_REQ_sum"), writes = value("TCP_TCC_WRITE_REQ_sum");
    if (reads && writes) {
      const double atomics = value("TCP_TCC_ATOMIC_WITH_RET_REQ_sum").value_or(0) +
                             value("TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum").value_or(0);
      c.l2_bytes = 64 * (*reads + *writes + atomics);
    }
    if (const auto accesses = value("TCP_TOTAL_CACHE_ACCESSES_sum")) c.l1_bytes = 64 * *accesses;
    const auto active = value("SQ_LDS_IDX_ACTIVE"), conflicts = value("SQ_LDS_BANK_CONFLICT");
    constexpr double banks = 32, bytes_of_bank = 4;
    if (active && conflicts) c.lds_bytes = std::max(0.0, *active - *conflicts) * bytes_of_bank * banks;
  }

  void take_flops(KernelCounters& c) {
    const double lanes = value("wave_size").value_or(64);
    for (const auto& [type, tail] : {std::pair("fp32", "F32"), std::pair("fp64", "F64"), std::pair("fp16", "F16")}) {
      const std::string head = "SQ_INSTS_VALU_";
      const auto add = value(head + "ADD_" + tail), mul = value(head + "MUL_" + tail);
      const auto fma = value(head + "FMA_" + tail), trans = value(head + "TRANS_" + tail);
      if (!add && !mul && !fma) continue;
      c.flops.emplace_back(type, lanes * (add.value_or(0) + mul.value_or(0) + trans.value_or(0) + 2 * fma.value_or(0)));
    }
    constexpr double operations_of_a_count = 512;
    for (const auto& [type, tail] :
         {std::pair("bf16 tensor", "BF16"), std::pair("fp16 tensor", "F16"), std::pair("fp8 tensor", "F8"),
          std::pair("fp32 tensor", "F32"), std::pair("fp64 tensor", "F64"), std::pair("int8 tensor", "I8"),
          std::pair("fp6, fp4 tensor", "F6F4")}) {
      const auto counted = value(std::string("SQ_INSTS_VALU_MFMA_MOPS_") + tail);
      if (counted) c.flops.emplace_back(type, operations_of_a_count * *counted);
    }
  }

  void take_registers(KernelCounters& c) {
    const auto vector = value("Arch_VGPR");
    if (vector) c.registers = *vector + value("Accum_VGPR").value_or(0);
    c.shared_bytes = value("LDS_Per_Workgroup");
    // One count for the whole chip on chips of one die; later ones add their dies up, and tell no clock.
    const bool one_die = places_.count("TCC_EA_RDREQ_sum") > 0;
    const auto cycles = value("GRBM_GUI_ACTIVE");
    if (one_die && cycles && c.duration_s) c.sm_clock_hz = *cycles / *c.duration_s;
  }

  Trace& trace_;
  Columns columns_;
  Column name_, grid_, group_, start_, end_;
  std::map<std::string, Column> places_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> shapes_;
  const CsvRow* row_ = nullptr;
};

void take_roofs(Trace& trace, Columns& columns, const CsvRow& row) {
  MeasuredRoofs roofs;
  constexpr double giga = 1e9;  // the file is in GB/s and GFLOP/s
  const auto read = [&](const char* name) -> std::optional<double> {
    const auto value = number(cell(row, columns.use({name})));
    return value && *value > 0 ? std::optional(*value * giga) : std::nullopt;
  };
  const auto device = count(cell(row, columns.use({"device"})));
  roofs.device = static_cast<std::uint16_t>(device && *device < 0xFFFF ? *device : 0);
  roofs.dram_bytes_per_s = read("hbmbw");
  roofs.l2_bytes_per_s = read("l2bw");
  roofs.l1_bytes_per_s = read("l1bw");
  roofs.lds_bytes_per_s = read("ldsbw");
  for (const auto& [type, name] :
       {std::pair("fp32", "fp32flops"), std::pair("fp64", "fp64flops"), std::pair("fp16", "fp16flops"),
        std::pair("bf16 tensor", "mfmabf16flops"), std::pair("fp16 tensor", "mfmaf16flops"),
        std::pair("fp8 tensor", "mfmaf8flops"), std::pair("fp32 tensor", "mfmaf32flops"),
        std::pair("fp64 tensor", "mfmaf64flops"), std::pair("int8 tensor", "mfmai8ops")}) {
    if (const auto peak = read(name)) roofs.flop_per_s.emplace_back(type, *peak);
  }
  trace.roofs.push_back(std::move(roofs));
}

void take_system(Trace& trace, Columns& columns, const CsvRow& row) {
  TraceDevice device;
  const std::string model = clean(cell(row, columns.use({"gpu_model"}))).substr(0, 80);
  device.name = model.empty() ? clean(cell(row, columns.use({"gpu_arch"}))).substr(0, 80) : model;
  const auto above_zero = [&](std::initializer_list<std::string_view> names, double factor) -> std::optional<double> {
    const auto value = number(cell(row, columns.use(names)));
    return value && *value > 0 ? std::optional(*value * factor) : std::nullopt;
  };
  device.sm_count = above_zero({"cu_per_gpu", "numcu"}, 1);
  device.clock_hz = above_zero({"max_sclk", "maxsclk"}, 1e6);
  device.memory_bytes_per_s = above_zero({"hbm_bw", "hbmbw"}, 1e9);
  trace.devices.push_back(std::move(device));
}

}  // namespace

bool looks_like_rocprof_compute(std::string_view head) {
  return kind_of(first_line(head)) != ComputeFile::other;
}

Result<Trace> read_rocprof_compute(ByteSource& source, const std::string& file) {
  Trace trace;
  const Result<std::string> text = collect_bytes(source, file, most_csv_bytes, trace.stats);
  if (!text) return tl::unexpected(text.error());
  const ComputeFile kind = kind_of(first_line(*text));
  CsvReader reader(*text, most_csv_columns);
  CsvRow row;
  if (kind == ComputeFile::other || !reader.next(row)) {
    return fail("is none of pmc_perf.csv, roofline.csv and sysinfo.csv", file,
                "name files of a rocprof-compute workload");
  }
  std::size_t rows = 0;
  if (kind == ComputeFile::counters) {
    trace.format = "rocprof-compute counters";
    CounterFile counters(trace, row);
    for (; rows < most_dispatches && reader.next(row); ++rows) counters.take(row);
    if (rows == most_dispatches) trace.stats.drop("dispatches beyond two millions", Severity::loss);
  } else {
    trace.format = kind == ComputeFile::roofs ? "rocprof-compute roofs" : "rocprof-compute system information";
    Columns columns(row.fields);
    constexpr std::size_t most_machines = 1024;
    for (; rows < most_machines && reader.next(row); ++rows) {
      (kind == ComputeFile::roofs ? take_roofs : take_system)(trace, columns, row);
    }
  }
  if (reader.open_quote_line() != 0) trace.stats.drop("rows that are cut off", Severity::loss);
  if (rows == 0) return fail("has a header and no rows", file, "collect the workload again");
  return trace;
}

void join_counters(Trace& whole, Trace&& part) {
  if (whole.counters.empty() && !part.counters.empty()) whole.format = part.format;
  const auto offset = static_cast<std::uint32_t>(whole.shapes.size());
  whole.shapes.insert(whole.shapes.end(), part.shapes.begin(), part.shapes.end());
  for (KernelCounters& c : part.counters) {
    c.name = whole.names.intern(part.names.text(c.name));
    if (c.shape != none) c.shape += offset;
    whole.counters.push_back(std::move(c));
  }
  if (whole.roofs.empty()) whole.roofs = std::move(part.roofs);
  if (whole.devices.empty()) whole.devices = std::move(part.devices);
  whole.stats.merge(part.stats);
}

}  // namespace corridor::profile
