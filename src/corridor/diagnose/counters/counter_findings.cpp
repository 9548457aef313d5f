// SPDX-License-Identifier: Apache-2.0
// The cause of a loss from launch size, occupancy and the levels' fractions.
#include "corridor/diagnose/counters/counter_findings.h"

#include <algorithm>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

constexpr std::size_t most_findings = 20;
constexpr double at_the_roof = 0.9;       // nearer than this a kernel has nothing worth naming to lose
constexpr double smallest_share = 0.01;   // of all time: smaller losses are not worth a line
constexpr double short_launch_s = 10e-6;  // a launch and its gap cost some microseconds on every machine
constexpr double few_waves = 1.0;         // fewer blocks than run at once
constexpr double low_occupancy = 0.35;    // of warps: too few to cover the latency of memory
constexpr std::size_t longest_kernel_name = 60;

std::string short_label(const std::string& label) {
  if (label.size() <= longest_kernel_name) return label;
  std::size_t cut = longest_kernel_name;
  while (cut > 0 && (static_cast<unsigned char>(label[cut]) & 0xC0U) == 0x80U) --cut;
  return label.substr(0, cut) + "…";
}

std::string nearest_roof(const KernelRow& row) {
  std::string best;
  double most = -1;
  for (const LevelUse& use : row.levels) {
    if (!use.fraction || *use.fraction <= most) continue;
    most = *use.fraction;
    best = fmt::format("{} of {} {}", units::print(units::BytesPerSecond{*use.bytes_per_s}),
                       units::print(units::BytesPerSecond{*use.roof_bytes_per_s}), name(use.level));
  }
  for (const TypeUse& use : row.arithmetic) {
    if (!use.fraction || *use.fraction <= most) continue;
    most = *use.fraction;
    best = fmt::format("{} of {} {}", units::print(units::FlopsPerSecond{*use.flop_per_s}),
                       units::print(units::FlopsPerSecond{*use.roof_flop_per_s}), use.type);
  }
  return best;
}

std::string evidence_of(const KernelRow& row) {
  std::string text =
      fmt::format("{:.0f} launch{} take{} {}; nearest roof: {}", row.launches, row.launches == 1 ? "" : "es",
                  row.launches == 1 ? "s" : "", units::print(units::Seconds{row.time_s}), nearest_roof(row));
  if (row.waves) text += fmt::format("; {:.2g} waves", *row.waves);
  if (row.occupancy) text += fmt::format("; occupancy {:.0f} %", *row.occupancy * 100);
  return text;
}

void explain_latency(const KernelRow& row, Finding& f) {
  const bool few_blocks = row.waves && *row.waves < few_waves;
  const bool limited = row.theoretical_occupancy && *row.theoretical_occupancy < low_occupancy;
  const auto each = row.time_per_launch_s();
  if (few_blocks) {
    f.cause = "the grid is smaller than what the chip runs at once: units stand idle";
    f.lever = "more blocks: smaller tiles, split the reduction (split-K), larger batches";
  } else if (limited) {
    f.cause = row.registers
                  ? fmt::format("{:.0f} registers a thread and shared memory leave room for few warps", *row.registers)
                  : "registers or shared memory leave room for few warps";
    f.lever = "fewer registers or less shared memory a block, or more work in flight in each thread";
  } else if (each && *each < short_launch_s) {
    f.cause = "the work of one launch is small against its start and its end";
    f.lever = "fuse it with its neighbours";
  } else {
    f.cause = "waits on memory or on barriers that the warps in flight do not cover";
    f.lever = "more independent loads in flight, fewer barriers, wider loads";
  }
}

void explain_roof(const KernelRow& row, Finding& f) {
  switch (row.bound) {
    case CounterBound::dram:
      f.cause = "it moves bytes of main memory, below the rate of the chip";
      f.lever = "fewer bytes (fuse, narrower types), reads that fill whole lines";
      break;
    case CounterBound::l2:
      f.cause = "it asks the L2 for more than it gives";
      f.lever = "larger tiles, so that each byte from the L2 is used more often";
      break;
    case CounterBound::l1:
    case CounterBound::shared:
      f.cause = "it asks the L1 and shared memory for more than they give";
      f.lever = "keep operands in registers, fewer bank conflicts, wider loads";
      break;
    case CounterBound::compute:
      f.cause = "its arithmetic is near the peak of " + row.bound_type;
      f.lever = "a narrower type, or tensor units where the vector units compute";
      break;
    case CounterBound::latency:
    case CounterBound::unknown:
      explain_latency(row, f);
      break;
  }
}

/// Of kernels without a roof: what fusing the short ones could gain at most.
std::optional<Finding> short_launches(const CounterAnalysis& a) {
  double time_s = 0, launches = 0;
  for (const KernelRow& row : a.rows) {
    const auto each = row.time_per_launch_s();
    if (row.fraction_of_roof || !each || *each >= short_launch_s || row.kernel_class == KernelClass::collective)
      continue;
    time_s += row.time_s;
    launches += row.launches;
  }
  if (launches < 2 || time_s < smallest_share * a.time_s) return std::nullopt;
  Finding f;
  f.title = "launches shorter than 10 µs";
  f.lost_s = time_s;
  f.gain_s = time_s;
  f.evidence = fmt::format("{:.0f} launches take {}, {:.2g} µs each", launches, units::print(units::Seconds{time_s}),
                           time_s / launches * 1e6);
  f.cause = "each launch has a start and an end that no work fills, and a gap behind it that is not in this table";
  f.lever = "fuse them; replay them as a graph";
  return f;
}

}  // namespace

std::vector<Finding> counter_findings(const CounterAnalysis& a) {
  std::vector<Finding> findings;
  for (const KernelRow& row : a.rows) {
    if (!row.fraction_of_roof || row.time_s <= 0) continue;
    const double fraction = std::min(1.0, *row.fraction_of_roof);
    const double lost_s = row.time_s * (1 - fraction);
    if (fraction >= at_the_roof || lost_s < smallest_share * a.time_s) continue;
    Finding f;
    f.title = fmt::format("{}{} at {:.2g} % of its nearest roof", short_label(row.label),
                          row.shape.empty() ? "" : " (" + row.shape + ")", fraction * 100);
    f.lost_s = lost_s;
    f.gain_s = lost_s;
    f.evidence = evidence_of(row);
    explain_roof(row, f);
    findings.push_back(std::move(f));
  }
  if (auto f = short_launches(a)) findings.push_back(std::move(*f));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& x, const Finding& y) { return x.lost_s > y.lost_s; });
  if (findings.size() > most_findings) findings.resize(most_findings);
  return findings;
}

}  // namespace corridor::diagnose
