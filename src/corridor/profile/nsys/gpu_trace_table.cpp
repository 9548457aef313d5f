// SPDX-License-Identifier: Apache-2.0
// The report `cuda_gpu_trace` of `nsys stats`: each kernel, copy and set with its start, in whatever units it was
// asked.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/nsys/stats_lines.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/csv.h"

namespace corridor::profile {
namespace {

constexpr double latest_s = 1e9;

bool is_gpu_trace_header(std::string_view line) {
  return line.starts_with("Start") && contains(line, "Duration") && contains(line, "GrdX") && contains(line, "Name");
}

/// Bytes that one unit of a column is, from its head in lower case: "bytes (mb)" is 1e6.
double column_unit_bytes(std::string_view head) {
  return contains(head, "(kb)") ? 1e3 : contains(head, "(mb)") ? 1e6 : contains(head, "(gb)") ? 1e9 : 1;
}

/// "[CUDA memcpy Host-to-Device]" → "Memcpy HtoD", as the other tools call it; kernels keep their names.
std::string name_of_work(std::string_view written, GpuWork& work) {
  if (!written.starts_with("[CUDA mem")) return std::string(written);
  work = contains(written, "memset") ? GpuWork::set : GpuWork::copy;
  if (work == GpuWork::set) return "Memset (Device)";
  constexpr std::array<std::array<std::string_view, 3>, 5> ways = {{{"Host-to-Device", "HtoD", "Memcpy HtoD"},
                                                                    {"Device-to-Host", "DtoH", "Memcpy DtoH"},
                                                                    {"Device-to-Device", "DtoD", "Memcpy DtoD"},
                                                                    {"Host-to-Host", "HtoH", "Memcpy HtoH"},
                                                                    {"Peer-to-Peer", "PtoP", "Memcpy PtoP"}}};
  for (const auto& [longer, shorter, name] : ways) {
    if (contains(written, longer) || contains(written, shorter)) return std::string(name);
  }
  return "Memcpy";
}

class GpuTraceReader {
 public:
  explicit GpuTraceReader(Trace& trace) : trace_(trace) {}

  /// Reads one table; its header is the first line.
  void read(std::string_view table) {
    CsvReader reader(table);
    CsvRow row;
    if (!reader.next(row)) return;
    find_columns(row);
    while (reader.next(row)) take(row);
    if (reader.open_quote_line() != 0) trace_.stats.drop("rows of the table that are cut off", Severity::loss);
  }

  /// Times from the first start on, in the order that a trace promises.
  void finish() {
    auto& gpu = trace_.gpu;
    std::sort(gpu.begin(), gpu.end(), [](const GpuSpan& a, const GpuSpan& b) {
      return std::tuple(a.device, a.start_s, a.duration_s, a.stream, a.name) <
             std::tuple(b.device, b.start_s, b.duration_s, b.stream, b.name);
    });
    double first = latest_s, last = 0;
    for (const GpuSpan& span : gpu) {
      first = std::min(first, span.start_s);
      last = std::max(last, span.start_s + span.duration_s);
    }
    for (GpuSpan& span : gpu) span.start_s -= first;
    trace_.host_span_s = std::max(0.0, last - first);
    for (const auto& [id, name] : devices_) {
      trace_.devices.emplace_back();
      trace_.devices.back().id = id;
      trace_.devices.back().name = name;
    }
  }

 private:
  void find_columns(const CsvRow& header) {
    Columns columns(header.fields);
    name_ = columns.use({"name"});
    device_ = columns.use({"device"});
    stream_ = columns.use({"strm", "stream"});
    grid_ = {columns.use({"grdx"}), columns.use({"grdy"}), columns.use({"grdz"})};
    block_ = {columns.use({"blkx"}), columns.use({"blky"}), columns.use({"blkz"})};
    start_ = duration_ = bytes_ = {};
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      const std::string head = lower(header.fields[i]);
      if (head.starts_with("start")) {
        start_ = {i};
        start_unit_s_ = nsys::column_unit_s(head);
      } else if (head.starts_with("duration")) {
        duration_ = {i};
        duration_unit_s_ = nsys::column_unit_s(head);
      } else if (head.starts_with("bytes")) {
        bytes_ = {i};
        bytes_unit_ = column_unit_bytes(head);
      }
    }
  }

  void take(const CsvRow& row) {
    const double start = number_or_nan(cell(row, start_)) * start_unit_s_;
    const double duration = number_or_nan(cell(row, duration_)) * duration_unit_s_;
    const std::string name = clean(cell(row, name_));
    const bool sound = start >= 0 && start <= latest_s && duration >= 0 && duration <= latest_s && !name.empty();
    if (!sound) {
      trace_.stats.drop("rows without a name, a start or a duration", Severity::loss, name);
      return;
    }
    GpuSpan span;
    span.start_s = start;
    span.duration_s = duration;
    span.name = trace_.names.intern(name_of_work(name, span.work));
    span.stream = small(cell(row, stream_));
    span.device = device_of(cell(row, device_));
    span.shape = shape_of(row);
    const double bytes = number_or_nan(cell(row, bytes_)) * bytes_unit_;
    if (span.work != GpuWork::kernel && bytes > 0) span.bytes = bytes;
    trace_.gpu.push_back(span);
  }

  static std::uint32_t small(std::string_view cell) {
    const auto value = count(cell);
    return value && *value < 0xFFFFFFFF ? static_cast<std::uint32_t>(*value) : 0;
  }

  /// "NVIDIA A100-SXM4-40GB (1)" is device 1.
  std::uint16_t device_of(std::string_view cell) {
    const std::size_t open = cell.rfind(" (");
    if (open == std::string_view::npos || cell.back() != ')') return 0;
    const auto index = count(cell.substr(open + 2, cell.size() - open - 3));
    constexpr std::int64_t most_devices = 1024;
    if (!index || *index >= most_devices) return 0;
    const auto id = static_cast<std::uint16_t>(*index);
    devices_.try_emplace(id, clean(cell.substr(0, open)).substr(0, 80));
    return id;
  }

  std::uint32_t shape_of(const CsvRow& row) {
    LaunchShape shape;
    for (std::size_t i = 0; i < 3; ++i) {
      shape.grid[i] = small(cell(row, grid_[i]));
      shape.block[i] = small(cell(row, block_[i]));
    }
    if (shape.grid[0] == 0) return none;
    const auto [known, added] =
        shapes_.emplace(std::pair(shape.grid, shape.block), static_cast<std::uint32_t>(trace_.shapes.size()));
    if (added) trace_.shapes.push_back(shape);
    return known->second;
  }

  Trace& trace_;
  Column name_, device_, stream_, start_, duration_, bytes_;
  std::array<Column, 3> grid_, block_;
  double start_unit_s_ = 1e-9, duration_unit_s_ = 1e-9, bytes_unit_ = 1;
  std::map<std::uint16_t, std::string> devices_;
  std::map<std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>, std::uint32_t> shapes_;
};

}  // namespace

bool looks_like_nsys_gpu_trace(std::string_view head) {
  for (std::size_t at = 0; at < head.size();) {
    const nsys::StatsLine line = nsys::stats_line(head, at);
    if (is_gpu_trace_header(line.text)) return true;
    at = line.end;
  }
  return false;
}

Result<Trace> read_nsys_gpu_trace(ByteSource& source, const std::string& file) {
  Trace trace;
  trace.format = "nsys stats GPU trace";
  const Result<std::string> text = collect_bytes(source, file, nsys::most_stats_bytes, trace.stats);
  if (!text) return tl::unexpected(text.error());
  GpuTraceReader reader(trace);
  std::size_t tables = 0;
  for (std::size_t at = 0; at < text->size();) {
    const nsys::StatsLine line = nsys::stats_line(*text, at);
    const std::size_t end = is_gpu_trace_header(line.text) ? nsys::table_end(*text, at) : line.end;
    if (end != line.end && tables++ == 0) {
      reader.read(std::string_view(*text).substr(at, end - at));
    } else if (end != line.end) {
      trace.stats.drop("further GPU traces: they hold the same kernels", Severity::note);
    }
    at = end;
  }
  reader.finish();
  if (!trace.gpu.empty()) return trace;
  return fail("holds no row of a GPU trace", file,
              "make one with: nsys stats --report cuda_gpu_trace --format csv report.nsys-rep");
}

}  // namespace corridor::profile
