// SPDX-License-Identifier: Apache-2.0
// Each table on its own: columns are asked for by name, and what a version of the tool does not have stays empty.
#include "corridor/profile/nsys/nsys_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"

namespace corridor::profile::nsys {
namespace {

constexpr std::uint64_t process_mask = ~std::uint64_t{0xFFFFFF};  // the low bits of a global id are the thread's
constexpr std::int64_t latest_ns = std::int64_t{1} << 62U;

class TableReader {
 public:
  TableReader(const Database& database, Trace& trace) : db_(database), trace_(trace) {}

  RawTables read() {
    read_strings();
    read_producer();
    read_devices();
    read_kernels();
    read_copies();
    read_whole_graphs();
    read_calls();
    read_ranges();
    read_diagnostics();
    return std::move(out_);
  }

 private:
  /// Reads a table when it is there; what a damage or a bound cut off is counted.
  template <class Take>
  void each(const std::string& table, const std::vector<std::string>& columns, Take take) {
    if (table.empty() || !db_.has(table)) return;
    const Result<int> read = db_.each(table, columns, take);
    if (!read) trace_.stats.drop("rows behind a damage of the database", Severity::loss, read.error().what);
  }

  void read_strings() {
    each("StringIds", {"id", "value"}, [&](const Row& row) {
      const auto id = row.integer(0);
      if (id) strings_.emplace(*id, clean(row.text(1)));
    });
  }

  /// Pool id of the text with this id; `none` when there is none.
  std::uint32_t name_of(std::optional<std::int64_t> id) {
    if (!id) return none;
    const auto known = strings_.find(*id);
    return known == strings_.end() || known->second.empty() ? none : trace_.names.intern(known->second);
  }

  void read_producer() {
    each(db_.first_of({"META_DATA_EXPORT", "EXPORT_META_DATA"}), {"name", "value"}, [&](const Row& row) {
      if (row.text(0) != "EXPORT_SCHEMA_VERSION") return;
      trace_.producer = "export schema " + clean(row.text(1)).substr(0, 20);
    });
  }

  void read_devices() {
    std::map<std::int64_t, TraceDevice> by_gpu;
    std::map<std::string, std::int64_t> by_uuid;
    each(db_.first_of({"TARGET_INFO_GPU", "TARGET_INFO_CUDA_GPU"}),
         {"id", "name", "uuid", "smCount", "totalMemory", "memoryBandwidth", "clockRate", "computeMajor",
          "computeMinor"},
         [&](const Row& row) {
           const std::int64_t id = row.integer(0).value_or(static_cast<std::int64_t>(by_gpu.size()));
           const std::string uuid(row.text(2));
           if (!uuid.empty() && !by_uuid.emplace(uuid, id).second) return;  // once more, from another source
           TraceDevice device;
           device.name = clean(row.text(1)).substr(0, 80);
           const auto above_zero = [&](std::size_t column) -> std::optional<double> {
             const auto value = row.integer(column);
             return value && *value > 0 ? std::optional(static_cast<double>(*value)) : std::nullopt;
           };
           device.sm_count = above_zero(3);
           device.memory_bytes = above_zero(4);
           device.memory_bytes_per_s = above_zero(5);
           device.clock_hz = above_zero(6);
           if (const auto major = row.integer(7); major && *major > 0 && *major < 1000) {
             device.compute_major = static_cast<int>(*major);
             device.compute_minor = static_cast<int>(std::clamp<std::int64_t>(row.integer(8).value_or(0), 0, 99));
           }
           by_gpu.emplace(id, std::move(device));
         });
    number_devices(by_gpu);
  }

  /// Kernels name devices as the process numbers them, which CUDA_VISIBLE_DEVICES may shift.
  void number_devices(const std::map<std::int64_t, TraceDevice>& by_gpu) {
    std::map<std::int64_t, std::int64_t> gpu_of;
    each("TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId"}, [&](const Row& row) {
      const auto gpu = row.integer(0), cuda = row.integer(1);
      if (gpu && cuda) gpu_of.emplace(*cuda, *gpu);
    });
    if (gpu_of.empty()) {
      for (const auto& entry : by_gpu) gpu_of.emplace(entry.first, entry.first);
    }
    constexpr std::int64_t most_devices = 1024;
    for (const auto& [cuda, gpu] : gpu_of) {
      const auto found = by_gpu.find(gpu);
      if (found == by_gpu.end() || cuda < 0 || cuda >= most_devices) continue;
      trace_.devices.push_back(found->second);
      trace_.devices.back().id = static_cast<std::uint16_t>(cuda);
      out_.cuda_of_gpu.emplace(gpu, trace_.devices.back().id);
    }
  }

  /// Takes times when they are sound; counts the row otherwise.
  bool take_times(const Row& row, std::int64_t& start, std::int64_t& end, const char* what) {
    const auto from = row.integer(0), to = row.integer(1);
    if (from && to && *from >= 0 && *from <= *to && *to <= latest_ns) {
      start = *from;
      end = *to;
      return true;
    }
    trace_.stats.drop(std::string(what) + " without a start or an end", Severity::loss);
    return false;
  }

  static std::uint32_t small(std::optional<std::int64_t> value) {
    return value && *value >= 0 && *value < 0xFFFFFFFF ? static_cast<std::uint32_t>(*value) : 0;
  }

  void take_place(const Row& row, RawSpan& span) {
    span.device = static_cast<std::uint16_t>(small(row.integer(2)));
    span.stream = small(row.integer(3));
    span.correlation = static_cast<std::uint64_t>(row.integer(4).value_or(0));
    span.process = static_cast<std::uint64_t>(row.integer(5).value_or(0)) & process_mask;
    span.from_graph = !row.is_null(6) && row.integer(6).value_or(0) != 0;
  }

  void read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    out_.kernel_table = db_.has(table);
    each(table,
         {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId", "demangledName",
          "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"},
         [&](const Row& row) {
           RawSpan span;
           if (!take_times(row, span.start, span.end, "kernels")) return;
           take_place(row, span);
           for (std::size_t column = 7; column <= 9 && span.name == none; ++column) {
             span.name = name_of(row.integer(column));
           }
           if (span.name == none) span.name = trace_.names.intern("kernel without a name");
           LaunchShape shape;
           for (std::size_t i = 0; i < 3; ++i) {
             shape.grid[i] = small(row.integer(10 + i));
             shape.block[i] = small(row.integer(13 + i));
           }
           span.shape = shape_index(shape);
           out_.spans.push_back(span);
         });
  }

  std::uint32_t shape_index(const LaunchShape& shape) {
    if (shape.grid[0] == 0) return none;
    const auto [known, added] =
        shapes_.emplace(std::pair(shape.grid, shape.block), static_cast<std::uint32_t>(trace_.shapes.size()));
    if (added) trace_.shapes.push_back(shape);
    return known->second;
  }

  static const char* copy_name(std::int64_t kind) {
    // CUPTI's numbers of the kinds of copies (CUpti_ActivityMemcpyKind).
    constexpr std::array<const char*, 11> names = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                                   "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                                   "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
    return kind >= 0 && kind < static_cast<std::int64_t>(names.size()) ? names[static_cast<std::size_t>(kind)]
                                                                       : names.front();
  }

  void read_copies() {
    const auto take = [&](const Row& row, GpuWork work) {
      RawSpan span;
      if (!take_times(row, span.start, span.end, "copies")) return;
      take_place(row, span);
      span.work = work;
      span.bytes = static_cast<double>(std::max<std::int64_t>(0, row.integer(7).value_or(0)));
      span.name = trace_.names.intern(work == GpuWork::set ? "Memset (Device)" : copy_name(row.integer(8).value_or(0)));
      out_.spans.push_back(span);
    };
    const std::vector<std::string> columns = {"start",     "end",         "deviceId", "streamId", "correlationId",
                                              "globalPid", "graphNodeId", "bytes",    "copyKind"};
    each("CUPTI_ACTIVITY_KIND_MEMCPY", columns, [&](const Row& row) { take(row, GpuWork::copy); });
    each("CUPTI_ACTIVITY_KIND_MEMSET", columns, [&](const Row& row) { take(row, GpuWork::set); });
  }

  /// Graphs that the tool recorded as one piece: their kernels are not in the file.
  void read_whole_graphs() {
    each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
         {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphNodeId", "graphId"},
         [&](const Row& row) {
           RawSpan span;
           if (!take_times(row, span.start, span.end, "graphs")) return;
           take_place(row, span);
           span.from_graph = true;
           span.name = trace_.names.intern("CUDA graph " + std::to_string(row.integer(7).value_or(0)) + " as a whole");
           out_.spans.push_back(span);
           trace_.stats.drop("kernels of graphs recorded as a whole (record with --cuda-graph-trace=node)",
                             Severity::loss);
         });
  }

  /// "cudaLaunchKernel_v7000" → "cudaLaunchKernel".
  std::uint32_t call_name(std::optional<std::int64_t> id) {
    if (!id) return none;
    const auto known = call_names_.find(*id);
    if (known != call_names_.end()) return known->second;
    const auto text = strings_.find(*id);
    std::uint32_t name = none;
    if (text != strings_.end()) {
      std::string_view word = text->second;
      const std::size_t version = word.rfind("_v");
      const bool digits = version != std::string_view::npos && version + 2 < word.size() &&
                          word.substr(version + 2).find_first_not_of("0123456789") == std::string_view::npos;
      if (digits) word = word.substr(0, version);
      name = trace_.names.intern(word);
    }
    call_names_.emplace(*id, name);
    return name;
  }

  void read_calls() {
    each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId"}, [&](const Row& row) {
      RawCall call;
      if (!take_times(row, call.start, call.end, "CUDA calls")) return;
      call.thread = static_cast<std::uint64_t>(row.integer(2).value_or(0));
      call.process = call.thread & process_mask;
      call.correlation = static_cast<std::uint64_t>(row.integer(3).value_or(0));
      call.name = call_name(row.integer(4));
      out_.calls.push_back(call);
    });
  }

  void read_ranges() {
    constexpr std::int64_t push_pop = 59, start_end = 60;  // kinds of NVTX events that last
    each("NVTX_EVENTS", {"start", "end", "globalTid", "eventType", "text", "textId"}, [&](const Row& row) {
      const std::int64_t type = row.integer(3).value_or(0);
      const bool lasts = type == push_pop || type == start_end;
      if (!lasts) return;
      RawRange range;
      if (row.is_null(1)) {
        trace_.stats.drop("NVTX ranges that were never closed", Severity::note);
        return;
      }
      if (!take_times(row, range.start, range.end, "NVTX ranges")) return;
      range.thread = static_cast<std::uint64_t>(row.integer(2).value_or(0));
      const std::string text = clean(row.text(4));
      range.name = text.empty() ? name_of(row.integer(5)) : trace_.names.intern(text);
      if (range.name != none) out_.ranges.push_back(range);
    });
  }

  /// The tool's own messages of loss. Others may tell paths and hosts: they are only counted.
  void read_diagnostics() {
    static constexpr std::array<std::string_view, 4> words{"not all", "might not have been", "dropped", "lost"};
    each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const Row& row) {
      const std::string text = lower(row.text(1).substr(0, 400));
      const bool loss =
          std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
      if (loss) trace_.stats.drop("events that the profiler says it lost", Severity::warning, clean(row.text(1)));
    });
  }

  const Database& db_;
  Trace& trace_;
  RawTables out_;
  std::unordered_map<std::int64_t, std::string> strings_;
  std::unordered_map<std::int64_t, std::uint32_t> call_names_;
  std::map<std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>, std::uint32_t> shapes_;
};

}  // namespace

RawTables read_tables(const Database& database, Trace& trace) {
  return TableReader(database, trace).read();
}

}  // namespace corridor::profile::nsys
