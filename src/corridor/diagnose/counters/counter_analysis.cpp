// SPDX-License-Identifier: Apache-2.0
// Rows → totals, findings, the verdict and what weakens it.
#include "corridor/diagnose/counters/counter_analysis.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "corridor/diagnose/counters/counter_findings.h"
#include "corridor/diagnose/counters/kernel_rows.h"
#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

std::string duration_text(double s) {
  return units::print(units::Seconds{s});
}

std::string whole_count(double x) {
  return x < 1e6 ? fmt::format("{:.0f}", x) : units::print_count(x);
}

void add_totals(CounterAnalysis& a) {
  std::map<CounterBound, BoundTotal> by_bound;
  for (const KernelRow& row : a.rows) {
    a.launches += row.launches;
    a.time_s += row.time_s;
    a.has_counters = a.has_counters || !row.levels.empty() || row.flops.has_value();
    BoundTotal& total = by_bound[row.bound];
    total.bound = row.bound;
    total.time_s += row.time_s;
    total.kernels += 1;
    total.launches += row.launches;
  }
  a.kernels = static_cast<double>(a.rows.size());
  for (const auto& entry : by_bound) a.bounds.push_back(entry.second);
  std::stable_sort(a.bounds.begin(), a.bounds.end(),
                   [](const BoundTotal& x, const BoundTotal& y) { return x.time_s > y.time_s; });
  a.wall = a.bounds.front().bound;
  a.wall_share = a.time_s > 0 ? a.bounds.front().time_s / a.time_s : 0;
}

/// The class with the most time, and its share.
std::pair<KernelClass, double> largest_class(const CounterAnalysis& a) {
  std::map<KernelClass, double> time_s;
  for (const KernelRow& row : a.rows) time_s[row.kernel_class] += row.time_s;
  const auto most =
      std::max_element(time_s.begin(), time_s.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  return {most->first, a.time_s > 0 ? most->second / a.time_s : 0};
}

std::string verdict_of(const CounterAnalysis& a) {
  const std::string what = fmt::format("{} launch{} of {} kernel{} take{} {}", whole_count(a.launches),
                                       a.launches == 1 ? "" : "es", whole_count(a.kernels), a.kernels == 1 ? "" : "s",
                                       a.launches == 1 ? "s" : "", duration_text(a.time_s));
  if (a.time_s <= 0) return fmt::format("{} kernels, whose times the file does not tell", whole_count(a.kernels));
  if (!a.has_counters) {
    const auto [kernel_class, share] = largest_class(a);
    return fmt::format("{}, {:.0f} % of it {}; times alone do not tell which roof binds", what, share * 100,
                       name(kernel_class));
  }
  switch (a.wall) {
    case CounterBound::latency:
      return fmt::format("{}: {:.0f} % of the time no roof is near (latency)", what, a.wall_share * 100);
    case CounterBound::unknown:
      return fmt::format("{}: for {:.0f} % of the time the roof that binds is not known", what, a.wall_share * 100);
    case CounterBound::dram:
    case CounterBound::l2:
    case CounterBound::l1:
    case CounterBound::shared:
    case CounterBound::compute:
      break;
  }
  return fmt::format("{}: {} binds {:.0f} % of the time", what, name(a.wall), a.wall_share * 100);
}

/// How the profiler changes what it measures.
void add_profiler_caveats(const profile::Trace& trace, CounterAnalysis& a) {
  const auto is = [&](std::string_view word) { return trace.format.find(word) != std::string::npos; };
  if (is("Nsight Compute")) {
    a.caveats.emplace_back(
        "Nsight Compute empties the caches before each pass and holds the clocks at their base, unless told otherwise "
        "(--cache-control none, --clock-control none): use these bytes and FLOPs, take times from a time-line");
  }
  if (is("rocprof-compute")) {
    a.caveats.emplace_back(
        "rocprof-compute gathers its counters in several runs of each kernel, one after the other: times are those of "
        "a "
        "profiled run");
  }
  if (is("nsys stats")) {
    a.caveats.emplace_back(
        "a summary has no time-line: idle time and overlap are not in it (nsys export --type sqlite has them)");
  }
}

void add_roof_caveats(const hardware::Device* device, CounterAnalysis& a) {
  if (!a.has_counters) return;
  bool roofs = false;
  double clock_time = 0, time = 0;
  for (const KernelRow& row : a.rows) {
    roofs = roofs || row.fraction_of_roof.has_value();
    if (!row.sm_clock_hz) continue;
    clock_time += *row.sm_clock_hz * row.time_s;
    time += row.time_s;
  }
  if (!roofs) {
    a.caveats.emplace_back(device == nullptr ? "no roof is known: give --device"
                                             : "nothing in the file can be compared with a roof of this device");
  }
  if (device == nullptr || !device->clock_boost || time <= 0) return;
  const double clock = clock_time / time, boost = device->clock_boost->value.value();
  constexpr double lower = 0.97;
  if (clock < lower * boost) {
    a.caveats.push_back(fmt::format(
        "the clock was {} on average, the data sheet's peaks are for {}: roofs of arithmetic and L1 are lowered by it",
        units::print(units::Hertz{clock}), units::print(units::Hertz{boost})));
  }
}

}  // namespace

std::string_view name(CounterLevel level) {
  switch (level) {
    case CounterLevel::dram:
      return "DRAM";
    case CounterLevel::l2:
      return "L2";
    case CounterLevel::l1:
      return "L1";
    case CounterLevel::shared:
      return "shared memory";
  }
  return "";
}

std::string_view name(CounterBound bound) {
  switch (bound) {
    case CounterBound::dram:
      return "DRAM";
    case CounterBound::l2:
      return "L2";
    case CounterBound::l1:
      return "L1";
    case CounterBound::shared:
      return "shared memory";
    case CounterBound::compute:
      return "compute";
    case CounterBound::latency:
      return "latency";
    case CounterBound::unknown:
      return "unknown";
  }
  return "";
}

std::string_view name(RoofSource source) {
  switch (source) {
    case RoofSource::profile:
      return "profiled clock";
    case RoofSource::measured_roofs:
      return "profiler's own test";
    case RoofSource::data_sheet:
      return "data sheet";
  }
  return "";
}

Result<CounterAnalysis> analyse_counters(const profile::Trace& trace, const hardware::Device* device) {
  if (trace.counters.empty()) {
    return fail("holds no counters of kernels", trace.format,
                "give a CSV file of Nsight Compute, pmc_perf.csv of rocprof-compute or a summary of nsys stats");
  }
  CounterAnalysis a;
  a.rows = kernel_rows({trace, device});
  add_totals(a);
  a.findings = counter_findings(a);
  a.sentence = verdict_of(a);
  add_profiler_caveats(trace, a);
  add_roof_caveats(device, a);
  return a;
}

}  // namespace corridor::diagnose
