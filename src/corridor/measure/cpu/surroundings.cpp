// SPDX-License-Identifier: Apache-2.0
// Reads /proc and the container's counters twice; the differences become sentences.
#include "corridor/measure/cpu/surroundings.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "corridor/measure/text_scan.h"

namespace corridor::measure {
namespace {

constexpr double noticeable = 0.02;  // of the processor time of the measurement
constexpr double busy_load = 0.5;    // processes a processor before the measurement

/// The word "hypervisor" among the flags of /proc/cpuinfo (x86), or a machine name that only virtual ones have.
bool is_virtual(const MachineReader& reader) {
  const std::string info = reader.read_file("/proc/cpuinfo").value_or(std::string());
  std::string_view rest = info;
  while (const auto row = take_line(rest)) {
    const auto pair = key_value(*row);
    if (!pair || pair->first != "flags") continue;
    std::string_view words = pair->second;
    while (const auto word = take_word(words)) {
      if (*word == "hypervisor") return true;
    }
    break;
  }
  return reader.read_file("/sys/hypervisor/type").has_value();
}

/// A counter "nr_throttled 12" of the container's processor statistics.
std::optional<double> throttled_periods(const MachineReader& reader) {
  for (const char* path : {"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"}) {
    const std::string text = reader.read_file(path).value_or(std::string());
    std::string_view rest = text;
    while (const auto row = take_line(rest)) {
      std::string_view words = *row;
      const auto key = take_word(words);
      const auto value = take_word(words);
      if (key && value && *key == "nr_throttled") return whole_number(*value);
    }
  }
  return std::nullopt;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::optional<double> grown(const std::optional<double>& before, const std::optional<double>& after) {
  if (!before || !after) return std::nullopt;
  return std::max(0.0, *after - *before);
}

}  // namespace

std::optional<StatTimes> parse_stat(std::string_view text, double ticks_per_s) {
  const auto row = take_line(text);
  if (!row || !(ticks_per_s > 0)) return std::nullopt;
  std::string_view words = *row;
  const auto head = take_word(words);
  if (!head || *head != "cpu") return std::nullopt;
  double ticks[8] = {};  // user, nice, system, idle, iowait, irq, softirq, steal
  for (double& tick : ticks) {
    const auto word = take_word(words);
    const auto number = word ? whole_number(*word) : std::nullopt;
    if (!number) return std::nullopt;
    tick = *number;
  }
  return StatTimes{(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / ticks_per_s, ticks[7] / ticks_per_s};
}

Surroundings look_around(const MachineReader& reader) {
  Surroundings s;
  s.virtual_machine = is_virtual(reader);
  const auto times =
      parse_stat(reader.read_file("/proc/stat").value_or(std::string()), static_cast<double>(sysconf(_SC_CLK_TCK)));
  if (times) {
    s.busy_s = times->busy_s;
    s.stolen_s = times->stolen_s;
  }
  s.throttled = throttled_periods(reader);
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    s.own_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    s.pushed_aside = static_cast<double>(usage.ru_nivcsw);
  }
  const std::string governor =
      reader.read_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or(std::string());
  s.governor = clean_name(trim(governor));
  return s;
}

std::vector<std::string> surroundings_warnings(const MachineFacts& facts, const Surroundings& before,
                                               const Surroundings& after, double seconds, int threads) {
  std::vector<std::string> out;
  if (before.virtual_machine) {
    out.emplace_back(
        "This is a virtual machine: its neighbours share caches, memory and clock, and address translation has two "
        "stages.");
  }
  if (facts.logical_cpus > 0 && facts.usable_cpus < facts.logical_cpus) {
    out.push_back(fmt::format("This process may use {} of {} processors (affinity or container limit).",
                              facts.usable_cpus, facts.logical_cpus));
  }
  const double available = seconds * threads;
  if (const auto periods = grown(before.throttled, after.throttled); periods && *periods > 0) {
    out.push_back(fmt::format("The container's processor quota stopped the measurement {:.0f} times.", *periods));
  }
  if (const auto stolen = grown(before.stolen_s, after.stolen_s); stolen && *stolen > noticeable * available) {
    out.push_back(
        fmt::format("The hypervisor gave {:.1f} s of processor time to others during the measurement.", *stolen));
  }
  const auto busy = grown(before.busy_s, after.busy_s);
  const auto own = grown(before.own_s, after.own_s);
  if (busy && own && *busy - *own > noticeable * available) {
    out.push_back(
        fmt::format("Other programs used {:.1f} s of processor time during the {:.0f} s of measurement: "
                    "figures are lower than this machine can reach.",
                    *busy - *own, seconds));
  } else if (facts.load && *facts.load > busy_load * facts.usable_cpus) {
    out.push_back(fmt::format("The machine was busy before the measurement (load {:.1f}).", *facts.load));
  }
  const auto pushed = grown(before.pushed_aside, after.pushed_aside);
  if (pushed && seconds > 0 && *pushed > 20 * available) {
    out.push_back(fmt::format("Other programs took a processor away {:.0f} times.", *pushed));
  }
  return out;
}

}  // namespace corridor::measure
