// SPDX-License-Identifier: Apache-2.0
// Starts from the facts of the machine and puts every measured figure in its place.
#include "corridor/measure/measured_cpu_device.h"

#include <fmt/format.h>

#include <utility>

#include "corridor/measure/cpu_device.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using hardware::Basis;
using hardware::Fact;
using hardware::MemoryLevel;

class Facts {
 public:
  Facts(std::string source, std::string date) : source_(std::move(source)), date_(std::move(date)) {}
  template <class T>
  [[nodiscard]] Fact<T> operator()(T value, std::string note) const {
    return {value, Basis::measured, source_, date_, std::move(note)};
  }
  template <class T>
  [[nodiscard]] Fact<T> operator()(const Figure& figure) const {
    return (*this)(T{figure.value}, note_of(figure));
  }

 private:
  std::string source_, date_;
};

std::string capacity_note(const MeasuredLevel& level) {
  std::string note = level.level == "main memory" ? "told by the system" : "from the latency curve";
  if (level.instances > 1)
    note += fmt::format("; {:.0f} × {}", level.instances, units::print(level.capacity / level.instances));
  if (level.reported && level.level != "main memory") note += "; the system reports " + units::print(*level.reported);
  return note;
}

MemoryLevel level_of(const MeasuredLevel& measured, const Facts& fact) {
  MemoryLevel level;
  level.name = measured.level;
  level.reach = measured.level == "L1" || measured.level == "L2" ? "core" : "device";
  if (measured.capacity.value() >= 1) {
    level.capacity = fact(units::Bytes{static_cast<double>(static_cast<long long>(measured.capacity.value()))},
                          capacity_note(measured));
  }
  if (measured.bandwidth) level.bandwidth = fact.operator()<units::BytesPerSecond>(*measured.bandwidth);
  if (measured.latency) level.latency = fact.operator()<units::Seconds>(*measured.latency);
  return level;
}

}  // namespace

std::string note_of(const Figure& figure) {
  return fmt::format("{}; median of {} passes, spread {:.1f} %", figure.how, figure.passes, 100 * figure.spread);
}

hardware::Device measured_cpu_device(const MachineFacts& facts, const Measurement& m, const std::string& date) {
  Measured base;
  base.date = date;
  base.source = "corridor measure on " + facts.cpu_name;
  const Facts fact(base.source, date);
  hardware::Device device = cpu_from_facts(facts, base);
  device.id = "measured-cpu";
  if (m.main_memory.read) device.memory_bandwidth = fact.operator()<units::BytesPerSecond>(*m.main_memory.read);
  for (const MeasuredPeak& peak : m.peaks) {
    device.peaks[static_cast<std::size_t>(peak.type)] = fact.operator()<units::FlopsPerSecond>(peak.flop_per_s);
  }
  if (m.launch) device.launch_floor = fact.operator()<units::Seconds>(*m.launch);
  device.ladder.clear();
  for (const MeasuredLevel& level : m.ladder) device.ladder.push_back(level_of(level, fact));
  return device;
}

}  // namespace corridor::measure
