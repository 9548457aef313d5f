// SPDX-License-Identifier: Apache-2.0
// Finds the table in the text, then row by row: each line that begins a row is read alone, so that a quote in a
// program's own output cannot swallow what follows it.
#include "corridor/profile/ncu/read_ncu.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "corridor/profile/ncu/launch_metrics.h"
#include "corridor/profile/ncu/launch_sizes.h"
#include "corridor/profile/ncu/metric_unit.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/csv.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_text_bytes = std::size_t{1} << 30U;
constexpr std::size_t most_launches = 2'000'000;
constexpr std::size_t most_columns = 8192;    // a raw page with every metric of a chip has some thousands
constexpr std::size_t most_lines_a_row = 64;  // a quoted text may hold line ends
constexpr std::string_view display_name = "device__attribute_display_name";

enum class NcuLayout { details, raw, bare };

/// A line without its end; `at` moves to the next one.
std::string_view take_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::string_view without_mark(std::string_view line) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return line.substr(0, mark.size()) == mark ? line.substr(mark.size()) : line;
}

bool begins(std::string_view line, std::string_view head) {
  return line.substr(0, head.size()) == head;
}

bool is_utf16(std::string_view text) {
  return begins(text, "\xFF\xFE") || begins(text, "\xFE\xFF");
}

/// The header of a page of the tool, or of a table whose columns are counters.
bool is_header(std::string_view line) {
  line = without_mark(line);
  if (begins(line, "\"ID\",") || begins(line, "ID,")) {
    return contains(line, "Metric Name") || contains(line, "__") || contains(line, "Kernel Name");
  }
  const bool counters =
      contains(line, "__time_duration.sum") || contains(line, "__cycles_elapsed.avg") || contains(line, "dram__bytes");
  // Lines of the tool's log and of JSON name metrics too: a header has several columns, no braces and no colons.
  return counters && std::count(line.begin(), line.end(), ',') >= 2 && !begins(line, "==") &&
         line.find_first_of("{}:") == std::string_view::npos;
}

/// Words of sections that tell something; their numbers stand for counters.
bool is_section_word(std::string_view metric) {
  static const std::set<std::string_view> words{"Duration",
                                                "SM Frequency",
                                                "DRAM Frequency",
                                                "Elapsed Cycles",
                                                "Achieved Occupancy",
                                                "Theoretical Occupancy",
                                                "Registers Per Thread",
                                                "Waves Per SM",
                                                "Static Shared Memory Per Block",
                                                "Dynamic Shared Memory Per Block",
                                                "Memory Throughput"};
  return words.count(metric) > 0;
}

struct NcuLaunch {
  std::string kernel;
  std::optional<std::array<std::uint32_t, 3>> grid, block;
  ncu::LaunchMetrics metrics;
};

class NcuTable {
 public:
  explicit NcuTable(Trace& trace) : trace_(trace) {}

  [[nodiscard]] bool take_header(const CsvRow& row) {
    Columns columns(row.fields);
    width_ = row.fields.size();
    id_ = columns.use({"id"});
    process_ = columns.use({"process_id"});
    kernel_ = columns.use({"kernel_name"});
    grid_ = columns.use({"grid_size"});
    block_ = columns.use({"block_size"});
    device_ = columns.use({"device"});
    capability_ = columns.use({"cc"});
    metric_ = columns.use({"metric_name"});
    unit_ = columns.use({"metric_unit"});
    value_ = columns.use({"metric_value"});
    layout_ = metric_.exists() && value_.exists() ? NcuLayout::details
              : id_.exists()                      ? NcuLayout::raw
                                                  : NcuLayout::bare;
    if (layout_ == NcuLayout::details) return true;
    for (std::size_t i = 0; i < row.fields.size(); ++i) {
      const std::string name(trim(row.fields[i]));
      if (name == display_name) name_column_ = {i};
      if (ncu::is_metric_name(name) || name == "sm__warps_active.avg.pct_of_peak_sustained_active" ||
          name == "sm__maximum_warps_per_active_cycle_pct") {
        wide_.emplace_back(name, i);
      }
    }
    return !wide_.empty();
  }

  void take_row(const CsvRow& row) {
    if (layout_ == NcuLayout::details) {
      take_metric(row);
    } else if (layout_ == NcuLayout::raw && !units_seen_ && cell(row, id_).empty()) {
      take_units(row);
    } else {
      take_wide(row);
    }
  }

  [[nodiscard]] NcuLayout layout() const { return layout_; }

  void finish() {
    for (const NcuLaunch& launch : launches_) {
      KernelCounters counters;
      ncu::fill_counters(launch.metrics, counters);
      counters.name = trace_.names.intern(launch.kernel);
      if (launch.grid || launch.block) counters.shape = shape_index(launch);
      if (launch.metrics.empty()) {
        trace_.stats.drop("launches without a metric that is known", Severity::loss, launch.kernel);
        continue;
      }
      if (!counters.duration_s) {
        trace_.stats.drop("times of launches (no gpu__time_duration, Duration or cycles)", Severity::loss,
                          launch.kernel);
      }
      trace_.counters.push_back(std::move(counters));
    }
  }

 private:
  std::uint32_t shape_index(const NcuLaunch& launch) {
    constexpr std::array<std::uint32_t, 3> unknown{0, 0, 0};
    const auto key = std::pair(launch.grid.value_or(unknown), launch.block.value_or(unknown));
    const auto [known, added] = shapes_.emplace(key, static_cast<std::uint32_t>(trace_.shapes.size()));
    if (added) trace_.shapes.push_back({key.first, key.second});
    return known->second;
  }

  /// The launch that a row belongs to; null beyond the most that are kept.
  NcuLaunch* launch_of(const CsvRow& row) {
    const std::string key = std::string(cell(row, process_)) + '/' + std::string(cell(row, id_));
    const auto known = by_id_.find(key);
    if (known != by_id_.end()) return &launches_[known->second];
    if (launches_.size() >= most_launches) {
      trace_.stats.drop("launches beyond two millions", Severity::loss);
      return nullptr;
    }
    by_id_.emplace(key, launches_.size());
    NcuLaunch& launch = launches_.emplace_back();
    launch.kernel = clean(cell(row, kernel_));
    launch.grid = parse_sizes(cell(row, grid_));
    launch.block = parse_sizes(cell(row, block_));
    take_device(row);
    return &launch;
  }

  void take_device(const CsvRow& row) {
    const auto index = count(cell(row, device_));
    const auto id = static_cast<std::uint16_t>(index && *index < 0xFFFF ? *index : 0);
    for (const TraceDevice& known : trace_.devices) {
      if (known.id == id) return;
    }
    TraceDevice device;
    device.id = id;
    device.name = clean(cell(row, name_column_)).substr(0, 80);
    const std::string_view capability = cell(row, capability_);
    const std::size_t point = capability.find('.');
    if (point != std::string_view::npos) {
      const auto major = count(capability.substr(0, point)), minor = count(capability.substr(point + 1));
      if (major && minor && *major < 1000 && *minor < 1000) {
        device.compute_major = static_cast<int>(*major);
        device.compute_minor = static_cast<int>(*minor);
      }
    }
    if (!device.name.empty() || device.compute_major) trace_.devices.push_back(std::move(device));
  }

  void take_metric(const CsvRow& row) {
    const std::string_view metric = trim(cell(row, metric_));
    NcuLaunch* const launch = launch_of(row);
    if (launch == nullptr || metric.empty()) return;  // a rule of the tool: advice, no number
    const std::string_view text = cell(row, value_), unit = cell(row, unit_);
    if (metric == "Grid Size" && !launch->grid) launch->grid = parse_sizes(text);
    if (metric == "Block Size" && !launch->block) launch->block = parse_sizes(text);
    const bool word = is_section_word(metric);
    if (!word && !ncu::is_metric_name(metric)) return;
    set_value(*launch, metric, text, unit);
  }

  void set_value(NcuLaunch& launch, std::string_view metric, std::string_view text, std::string_view unit) {
    const auto value = number(text);
    if (!value) {
      if (!trim(text).empty()) trace_.stats.drop("metrics without a number (n/a on this chip)", Severity::note, metric);
      return;
    }
    // One name, two meanings: a share of the peak in one section, bytes a second in another.
    if (metric == "Memory Throughput") {
      if (!contains(lower(unit), "byte")) return;
      metric = "Memory Throughput [byte/second]";
    }
    launch.metrics.set(metric, *value * ncu::unit_factor(unit));
  }

  void take_units(const CsvRow& row) {
    units_seen_ = true;
    for (const auto& [name, column] : wide_) {
      units_.emplace(column, std::string(cell(row, Column{column})));
    }
  }

  void take_wide(const CsvRow& row) {
    if (layout_ == NcuLayout::bare) {
      const bool numeric = std::any_of(wide_.begin(), wide_.end(),
                                       [&](const auto& c) { return number(cell(row, Column{c.second})).has_value(); });
      if (!numeric) {
        take_units(row);
        return;
      }
    }
    NcuLaunch* launch = nullptr;
    if (layout_ == NcuLayout::raw) {
      launch = launch_of(row);
    } else if (launches_.size() < most_launches) {
      // Every row is a launch of its own; the first column tells it apart where no name does.
      launch = &launches_.emplace_back();
      launch->kernel = clean(kernel_.exists() ? cell(row, kernel_) : row.fields.front());
      if (!kernel_.exists()) launch->kernel = "row " + launch->kernel;
      take_device(row);
    }
    if (launch == nullptr) return;
    for (const auto& [name, column] : wide_) {
      const auto unit = units_.find(column);
      set_value(*launch, name, cell(row, Column{column}), unit != units_.end() ? unit->second : base_unit(name));
    }
    const auto size_of = [&](const char* axis) {
      const auto value = launch->metrics.get(std::string("launch__") + axis);
      return value && *value >= 1 && *value <= 0xFFFFFFFF ? std::optional(static_cast<std::uint32_t>(*value))
                                                          : std::nullopt;
    };
    if (const auto x = size_of("grid_size"); x && !launch->grid) launch->grid = {{*x, 1, 1}};
    if (const auto x = size_of("block_size"); x && !launch->block) launch->block = {{*x, 1, 1}};
  }

  /// What a table without units means: the tool's own base units.
  static std::string_view base_unit(std::string_view metric) {
    if (contains(metric, "time_duration")) return "nsecond";
    if (contains(metric, "pct")) return "%";
    return "";
  }

  Trace& trace_;
  NcuLayout layout_ = NcuLayout::details;
  Column id_, process_, kernel_, grid_, block_, device_, capability_, metric_, unit_, value_, name_column_;
  std::size_t width_ = 0;
  bool units_seen_ = false;
  std::vector<std::pair<std::string, std::size_t>> wide_;  ///< metric columns of a wide table
  std::map<std::size_t, std::string> units_;
  std::vector<NcuLaunch> launches_;
  std::map<std::string, std::size_t> by_id_;
  std::map<std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>, std::uint32_t> shapes_;
};

/// Whether a line may begin a row: an id or, on the line of units, an empty cell.
bool may_begin_row(std::string_view line, NcuLayout layout) {
  if (line.empty()) return false;
  if (layout == NcuLayout::bare) return !begins(line, "==");
  const std::string_view rest = line.front() == '"' ? line.substr(1) : line;
  if (!rest.empty() && is_digit(rest.front())) return true;
  return layout == NcuLayout::raw && (begins(line, "\"\",") || begins(line, ","));
}

/// Reads one row that begins at `at`; false when it is none. A quote left open takes following lines in.
bool read_row(std::string_view text, std::size_t& at, CsvRow& row, std::string& joined) {
  const std::size_t begin = at;
  take_line(text, at);
  for (std::size_t lines = 1; lines <= most_lines_a_row; ++lines) {
    joined.assign(text.substr(begin, at - begin));
    CsvReader reader(joined, most_columns);
    if (reader.next(row)) return true;
    if (reader.open_quote_line() == 0 || at >= text.size()) return false;
    std::size_t ahead = at;
    const std::string_view next = take_line(text, ahead);
    if (next.size() > 1 && next.front() == '"' && is_digit(next[1])) return false;  // the next row: this one is cut
    at = ahead;
  }
  return false;
}

Result<int> read_table(std::string_view text, Trace& trace, const std::string& file) {
  std::size_t at = 0;
  std::size_t header_at = std::string_view::npos;
  while (at < text.size() && header_at == std::string_view::npos) {
    const std::size_t begin = at;
    if (is_header(take_line(text, at))) header_at = begin;
  }
  const auto none_there = [&] {
    return fail("holds no table of Nsight Compute metrics", file,
                "make one with: ncu --csv --page raw --import report.ncu-rep");
  };
  if (header_at == std::string_view::npos) return none_there();
  NcuTable table(trace);
  CsvRow row;
  std::string joined;
  at = header_at;
  if (!read_row(text, at, row, joined) || !table.take_header(row)) return none_there();
  const NcuLayout layout = table.layout();
  trace.format = layout == NcuLayout::details ? "Nsight Compute CSV (details)"
                 : layout == NcuLayout::raw   ? "Nsight Compute CSV (raw)"
                                              : "table of Nsight Compute metrics";
  while (at < text.size()) {
    std::size_t ahead = at;
    const std::string_view line = take_line(text, ahead);
    if (!may_begin_row(line, layout)) {
      if (!trim(line).empty() && !is_header(line)) {
        trace.stats.drop("lines between the rows that are none", Severity::note, clean(line));
      }
      at = ahead;
    } else if (read_row(text, at, row, joined)) {
      table.take_row(row);
    } else {
      trace.stats.drop("rows that are cut off", Severity::loss, clean(line));
    }
  }
  table.finish();
  return 0;
}

}  // namespace

bool looks_like_ncu_csv(std::string_view head) {
  std::string narrow;
  if (is_utf16(head)) {  // read_ncu says what to do about it
    std::copy_if(head.begin() + 2, head.end(), std::back_inserter(narrow), [](char c) { return c != 0; });
    head = narrow;
  }
  std::size_t at = 0;
  while (at < head.size()) {
    if (is_header(take_line(head, at))) return true;
  }
  return false;
}

Result<Trace> read_ncu(ByteSource& source, const std::string& file) {
  Trace trace;
  const Result<std::string> text = collect_bytes(source, file, most_text_bytes, trace.stats);
  if (!text) return tl::unexpected(text.error());
  if (is_utf16(*text)) {
    return fail("is UTF-16 text, as PowerShell writes it", file, "save it as UTF-8");
  }
  if (Result<int> ok = read_table(*text, trace, file); !ok) return tl::unexpected(ok.error());
  if (trace.counters.empty()) {
    return fail("holds no metric that tells time, bytes or arithmetic", file,
                "profile with: ncu --set roofline, or --metrics with gpu__time_duration.sum and dram__bytes.sum");
  }
  return trace;
}

}  // namespace corridor::profile
