// SPDX-License-Identifier: Apache-2.0
// The answer of `corridor` alone as a Document.
#include "corridor/views/welcome_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/units/text.h"
#include "corridor/views/fields.h"

namespace corridor::views {
namespace {

using hardware::ComputeType;
using report::Document;
using report::FieldGroup;
using report::Paragraph;
using report::Table;
using report::Unit;
using report::Value;

constexpr std::size_t most_ridges = 4;  ///< on a terminal; JSON has them all
constexpr std::size_t screen_lines = 24;
constexpr std::size_t fixed_lines = 14;  ///< title, table, blank lines
constexpr std::size_t lines_of_note = 2;
constexpr std::size_t longest_note = 150;

/// "measured now", "vendor", "derived, 2026-11-29".
template <class T>
std::string how_known(const hardware::Fact<T>& fact) {
  return fact.basis == hardware::Basis::measured ? "measured" : std::string(hardware::name(fact.basis));
}

std::string title(const app::WelcomeAnswer& a) {
  const measure::MachineFacts& facts = a.machine.facts;
  std::string text = "This machine: " + a.machine.device.name;
  if (a.machine.device.kind == hardware::DeviceKind::cpu) {
    text = "This machine: " + facts.cpu_name;
    if (facts.sockets > 1) text += fmt::format(", {} sockets", facts.sockets);
    text += fmt::format(", {} {}", facts.usable_cores(), facts.usable_cores() == 1 ? "core" : "cores");
  }
  if (a.machine.device.memory_capacity) text += ", " + units::print(a.machine.device.memory_capacity->value);
  return text;
}

void add_peaks(const hardware::Device& device, FieldGroup& group) {
  std::size_t shown = 0;
  for (std::size_t i = 0; i < hardware::compute_type_count; ++i) {
    const auto type = static_cast<ComputeType>(i);
    const auto& peak = device.peak(type);
    if (!peak) continue;
    const std::string name(hardware::name(type));
    const bool on_terminal = type != ComputeType::fp64 && type != ComputeType::tf32 && shown < most_ridges;
    if (on_terminal) ++shown;
    const auto ridge = hardware::ridge_point(device, type);
    const std::string note = how_known(*peak) + (ridge ? ", ridge point " + units::print(*ridge) : std::string());
    group.fields.push_back({"device.peaks." + name + "_flop_per_s", on_terminal ? name + " peak, dense" : "",
                            value(peak->value), on_terminal ? note : how_known(*peak)});
    if (ridge) group.fields.push_back({"device.ridge_flop_per_byte." + name, "", value(*ridge), ""});
  }
}

FieldGroup machine_group(const app::WelcomeAnswer& a) {
  const measure::LocalMachine& m = a.machine;
  const hardware::Device& device = m.device;
  FieldGroup group{"", {}};
  auto& f = group.fields;
  f.push_back({"cpu.name", device.kind == hardware::DeviceKind::cpu ? "" : "host", text(m.facts.cpu_name), ""});
  f.push_back({"cpu.cores", "", count(m.facts.usable_cores()), ""});
  f.push_back({"cpu.logical_cpus", "", count(m.facts.logical_cpus), ""});
  f.push_back({"cpu.sockets", "", m.facts.sockets > 0 ? count(m.facts.sockets) : null_value(), ""});
  f.push_back({"cpu.memory_bytes", "", m.facts.memory ? value(*m.facts.memory) : null_value(), ""});
  std::string sets;
  for (const std::string& set : m.facts.instruction_sets) sets += (sets.empty() ? "" : " ") + set;
  f.push_back({"cpu.instruction_sets", "", text(sets), ""});
  f.push_back({"device.id", "", text(device.id), ""});
  f.push_back({"device.name", "", text(device.name), ""});
  f.push_back({"device.kind", "", text(std::string(hardware::name(device.kind))), ""});
  if (device.memory_capacity) {
    f.push_back({"device.memory_capacity_bytes", "", value(device.memory_capacity->value), ""});
  }
  if (device.memory_bandwidth) {
    const auto& bandwidth = *device.memory_bandwidth;
    std::string how = how_known(bandwidth);
    if (m.bandwidth)
      how += fmt::format(" now: {} threads read {}", m.bandwidth->threads, units::print(m.bandwidth->buffer));
    f.push_back({"device.memory_bandwidth_bytes_per_s", "memory bandwidth", value(bandwidth.value), how});
  }
  add_peaks(device, group);
  return group;
}

Value per_second(units::Seconds step) {
  return step.value() > 0 ? tokens_per_second(1 / step.value()) : null_value();
}

Table cases_table(const app::WelcomeAnswer& a) {
  Table table;
  table.key = "models";
  table.title = fmt::format("Plain dense models, one user, weights only, {}", a.engine);
  table.columns = {{"parameters", "model", Unit::none, true},
                   {"weights", "weights", Unit::none, true},
                   {"limit_tok_per_s", "limit", Unit::tokens_per_second},
                   {"expected_tok_per_s", "expected", Unit::tokens_per_second},
                   {"expected_low_tok_per_s", "", Unit::tokens_per_second},
                   {"expected_high_tok_per_s", "", Unit::tokens_per_second},
                   {"fits", ""},
                   {"needed_bytes", "", Unit::bytes},
                   {"memory", "memory", Unit::none, true}};
  for (const app::WelcomeCase& one : a.cases) {
    const roofline::DecodePrediction& d = one.prediction.decode;
    const roofline::MemoryFit& memory = one.prediction.memory;
    const std::string needed = units::print(memory.needed());
    const bool fits = memory.fits;
    table.rows.push_back({text(one.size), text(one.weights), per_second(d.limit),
                          fits ? per_second(d.expected.mid) : null_value(),
                          fits ? per_second(d.expected.high) : null_value(),
                          fits ? per_second(d.expected.low) : null_value(), flag(fits), value(memory.needed()),
                          text(fits ? "fits (" + needed + ")" : "does not fit (needs " + needed + ")")});
  }
  return table;
}

std::string shortened(std::string note) {
  if (note.size() <= longest_note) return note;
  std::size_t end = note.rfind(' ', longest_note);
  if (end == std::string::npos) end = longest_note;
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0U) == 0x80U) --end;  // not inside a UTF-8 character
  note.resize(end);
  return note + " …";
}

}  // namespace

Document welcome_view(const app::WelcomeAnswer& answer) {
  Document doc;
  doc.schema = "corridor/machine/1";
  doc.title = title(answer);
  FieldGroup machine = machine_group(answer);
  const auto shown = static_cast<std::size_t>(std::count_if(machine.fields.begin(), machine.fields.end(),
                                                            [](const report::Field& f) { return !f.label.empty(); }));
  const std::size_t most_notes = (screen_lines - std::min(screen_lines, fixed_lines + shown)) / lines_of_note;
  doc.blocks.push_back(std::move(machine));
  doc.blocks.push_back(cases_table(answer));
  const std::vector<std::string>& notes = answer.machine.notes;
  for (std::size_t i = 0; i < std::min(most_notes, notes.size()); ++i) {
    doc.blocks.push_back(Paragraph{"notes", shortened(notes[i]) + ".", Paragraph::Style::plain});
  }
  return doc;
}

}  // namespace corridor::views
