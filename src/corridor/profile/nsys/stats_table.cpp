// SPDX-License-Identifier: Apache-2.0
// The kernel summaries in the output of `nsys stats`: reports of several names and ages, with log lines around them.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "corridor/profile/ncu/launch_sizes.h"
#include "corridor/profile/nsys/read_nsys.h"
#include "corridor/profile/nsys/stats_lines.h"
#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"
#include "corridor/profile/points/csv.h"

namespace corridor::profile {
namespace {

using nsys::stats_line;
using nsys::StatsLine;

bool is_stats_header(std::string_view line) {
  return contains(line, "Instances") && contains(line, "Total Time") && contains(line, "Name") && contains(line, ",");
}

bool is_skipped(std::string_view line) {
  return contains(line, "SKIPPED:") && contains(line, "does not contain CUDA kernel data");
}

/// Header of another report: its rows are no kernels.
bool is_other_header(std::string_view line) {
  return contains(line, "Total Time") && (contains(line, "Num Calls") || contains(line, "Operation"));
}

class StatsReader {
 public:
  explicit StatsReader(Trace& trace) : trace_(trace) {}

  /// Reads the table whose header begins at `at`; returns where it ends.
  std::size_t read(std::string_view text, std::size_t at) {
    const std::size_t end = nsys::table_end(text, at);
    CsvReader reader(text.substr(at, end - at));
    CsvRow row;
    if (!reader.next(row)) return end;
    Columns columns(row.fields);
    find_columns(columns, row);
    while (reader.next(row)) take(row);
    if (reader.open_quote_line() != 0) {
      trace_.stats.drop("rows of the summary that are cut off", Severity::loss);
    }
    return end;
  }

 private:
  void find_columns(Columns& columns, const CsvRow& header) {
    name_ = columns.use({"name"});
    instances_ = columns.use({"instances"});
    grid_ = columns.use({"gridxyz", "grid_xyz"});
    block_ = columns.use({"blockxyz", "block_xyz"});
    total_ = {};
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
      const std::string word = lower(header.fields[i]);
      if (!contains(word, "total time")) continue;
      total_ = {i};
      unit_s_ = nsys::column_unit_s(word);
      // Some versions write a second column in another unit; the first is the one of --timeunit.
      break;
    }
  }

  void take(const CsvRow& row) {
    const auto total = number(cell(row, total_)), instances = number(cell(row, instances_));
    const std::string name = clean(cell(row, name_));
    if (!total || *total < 0 || !instances || *instances < 1 || name.empty()) {
      trace_.stats.drop("rows without a name, a time or a number of instances", Severity::loss, name);
      return;
    }
    KernelCounters counters;
    counters.name = trace_.names.intern(name);
    counters.duration_s = *total * unit_s_;
    counters.launches = *instances;
    const auto grid = parse_sizes(cell(row, grid_)), block = parse_sizes(cell(row, block_));
    if (grid || block) {
      constexpr std::array<std::uint32_t, 3> unknown{0, 0, 0};
      const LaunchShape shape{grid.value_or(unknown), block.value_or(unknown)};
      const auto key = std::pair(shape.grid, shape.block);
      const auto [known, added] = shapes_.emplace(key, static_cast<std::uint32_t>(trace_.shapes.size()));
      if (added) trace_.shapes.push_back(shape);
      counters.shape = known->second;
    }
    trace_.counters.push_back(std::move(counters));
  }

  Trace& trace_;
  Column name_, instances_, total_, grid_, block_;
  double unit_s_ = 1e-9;
  std::map<std::pair<std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>, std::uint32_t> shapes_;
};

}  // namespace

bool looks_like_nsys_stats(std::string_view head) {
  for (std::size_t at = 0; at < head.size();) {
    const StatsLine line = stats_line(head, at);
    if (is_stats_header(line.text) || is_skipped(line.text)) return true;
    at = line.end;
  }
  return false;
}

Result<Trace> read_nsys_stats(ByteSource& source, const std::string& file) {
  Trace trace;
  trace.format = "nsys stats kernel summary";
  const Result<std::string> text = collect_bytes(source, file, nsys::most_stats_bytes, trace.stats);
  if (!text) return tl::unexpected(text.error());
  StatsReader reader(trace);
  bool skipped = false;
  std::size_t tables = 0;
  for (std::size_t at = 0; at < text->size();) {
    const StatsLine line = stats_line(*text, at);
    skipped = skipped || is_skipped(line.text);
    if (is_other_header(line.text)) trace.stats.drop("reports that are no kernel summary", Severity::note, line.text);
    if (!is_stats_header(line.text)) {
      at = line.end;
      continue;
    }
    // The same kernels once more, cut another way: only the first table counts.
    if (tables++ > 0) {
      trace.stats.drop("further kernel summaries: they count the same kernels", Severity::note);
      at = line.end;
    } else {
      at = reader.read(*text, at);
    }
  }
  if (!trace.counters.empty()) return trace;
  if (skipped) {
    return fail("nsys stats found no CUDA kernels in its report", file,
                "most often the driver is newer than this nsys: record again with a newer nsys and --trace=cuda");
  }
  return fail("holds no row of a kernel summary", file,
              "make one with: nsys stats --report cuda_gpu_kern_sum --format csv report.nsys-rep");
}

}  // namespace corridor::profile
