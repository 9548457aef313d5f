// SPDX-License-Identifier: Apache-2.0
// A sample counts as busy when GPU work ran in half of its time or more.
#include "corridor/diagnose/trace/meters.h"

#include <algorithm>
#include <array>
#include <vector>

namespace corridor::diagnose {
namespace {

using profile::Meter;
using profile::meter_count;
using profile::MeterSample;

// From this share on a meter is taken as the wall. Basis assumed: memory meters read about 0.8 at their best.
constexpr double near_roof = 0.6;

/// Sums of one quantity over the samples.
struct Sums {
  double busy = 0, all = 0, busy_s = 0, all_s = 0, highest = 0;
  void add(double share, double length_s, bool is_busy) {
    all += share * length_s;
    all_s += length_s;
    highest = std::max(highest, share);
    if (!is_busy) return;
    busy += share * length_s;
    busy_s += length_s;
  }
};

/// How long GPU work ran inside intervals that are asked for in order of time.
class BusyTime {
 public:
  BusyTime(const profile::Trace& trace, const DeviceTimeline& timeline) {
    for (const std::uint32_t i : timeline.spans) {
      busy_.emplace_back(trace.gpu[i].start_s, trace.gpu[i].start_s + trace.gpu[i].duration_s);
    }
    busy_ = merged(std::move(busy_));
  }
  [[nodiscard]] double inside(double from, double to) {
    while (next_ < busy_.size() && busy_[next_].second <= from) ++next_;
    double sum = 0;
    for (std::size_t i = next_; i < busy_.size() && busy_[i].first < to; ++i) {
      sum += std::min(to, busy_[i].second) - std::max(from, busy_[i].first);
    }
    return sum;
  }

 private:
  Intervals busy_;
  std::size_t next_ = 0;
};

/// The usual time between two samples: where the tool lost some, a sample stands for no more than this.
double usual_interval(const std::vector<MeterSample>& samples) {
  std::vector<double> lengths;
  for (std::size_t i = 1; i < samples.size(); ++i) lengths.push_back(samples[i].at_s - samples[i - 1].at_s);
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

std::optional<double> share_of(const MeterSample& sample, Meter meter) {
  const float share = sample.share[static_cast<std::size_t>(meter)];
  return share >= 0 ? std::optional(static_cast<double>(share)) : std::nullopt;
}

/// Reads and writes share one interface; one alone is what there is.
std::optional<double> dram_share(const MeterSample& sample) {
  const auto read = share_of(sample, Meter::dram_read), write = share_of(sample, Meter::dram_write);
  if (!read && !write) return std::nullopt;
  return read.value_or(0) + write.value_or(0);
}

}  // namespace

std::optional<MeterSummary> summarise_meters(const profile::Trace& trace, const DeviceTimeline& timeline) {
  const auto metered = std::find_if(trace.meters.begin(), trace.meters.end(),
                                    [&](const profile::DeviceMeters& m) { return m.device == timeline.device; });
  if (metered == trace.meters.end()) return std::nullopt;
  // The first is the sum of the two behind it.
  constexpr std::array<const char*, meter_count + 1> names = {
      "main memory, read and written", "main memory, read", "main memory, written",
      "tensor units active",           "SMs with work",     "SMs that issue"};
  constexpr std::array<Meter, meter_count> order = {Meter::dram_read, Meter::dram_write, Meter::tensor,
                                                    Meter::sm_active, Meter::sm_issue};
  std::array<Sums, meter_count + 1> sums;
  const double usual_s = usual_interval(metered->samples);
  BusyTime busy(trace, timeline);
  MeterSummary out;
  double busy_s = 0;
  for (const MeterSample& sample : metered->samples) {
    const double from = std::max(sample.at_s - usual_s, timeline.first_s), to = std::min(sample.at_s, timeline.last_s);
    if (to <= from) continue;
    const double worked_s = busy.inside(from, to), length_s = to - from;
    const bool is_busy = worked_s * 2 >= length_s;
    out.samples += 1;
    if (is_busy) busy_s += worked_s;
    if (const auto dram = dram_share(sample)) sums[0].add(*dram, length_s, is_busy);
    for (std::size_t m = 0; m < order.size(); ++m) {
      if (const auto share = share_of(sample, order[m])) sums[m + 1].add(*share, length_s, is_busy);
    }
  }
  if (out.samples == 0) return std::nullopt;
  out.coverage = timeline.busy_s > 0 ? std::min(1.0, busy_s / timeline.busy_s) : 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Sums& s = sums[i];
    if (s.all_s <= 0) continue;
    const std::optional<double> while_busy = s.busy_s > 0 ? std::optional(s.busy / s.busy_s) : std::nullopt;
    out.readings.push_back({names[i], while_busy, s.all / s.all_s, s.highest});
    if (i == 0) out.dram = while_busy;
    if (i == 3) out.tensor = while_busy;
    if (i == 4) out.sm_active = while_busy;
  }
  return out;
}

KernelBound bound_by_meters(const MeterSummary& meters) {
  const double dram = meters.dram.value_or(0), tensor = meters.tensor.value_or(0);
  if (std::max(dram, tensor) < near_roof) return KernelBound::unknown;
  return dram >= tensor ? KernelBound::memory : KernelBound::compute;
}

}  // namespace corridor::diagnose
