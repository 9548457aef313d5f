// SPDX-License-Identifier: Apache-2.0
// Writes the tables of a device file in the order in which the shipped ones have them.
#include "corridor/measure/device_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace corridor::measure {
namespace {

using hardware::ComputeType;
using hardware::Device;
using hardware::MaybeFact;

double number(double value) {
  return value;
}
template <int S, int B, int F>
double number(units::Quantity<S, B, F> value) {
  return value.value();
}

std::string one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return out;
}

class Writer {
 public:
  std::string text;

  /// `whole` rounds down: a device file wants bytes and counts without a fraction.
  template <class T>
  void fact(std::string_view key, const MaybeFact<T>& maybe, std::string_view unit, bool whole = false) {
    if (!maybe) return;
    const double exact = number(maybe->value);
    const double value = whole ? std::floor(exact) : exact;
    if (!std::isfinite(value) || value <= 0) return;
    const std::string digits = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
    fmt::format_to(std::back_inserter(pending_),
                   "{} = {{ value = {}, unit = \"{}\", source = {}, basis = \"{}\", date = {}", key, digits, unit,
                   toml_text(maybe->source), hardware::name(maybe->basis), toml_text(maybe->date));
    if (!maybe->note.empty()) pending_ += ", note = " + toml_text(maybe->note);
    pending_ += " }\n";
  }
  void word(std::string_view key, std::string_view value) {
    if (!value.empty()) fmt::format_to(std::back_inserter(pending_), "{} = {}\n", key, toml_text(value));
  }
  /// Closes a table: nothing is written for an empty one.
  void table(std::string_view head) {
    if (pending_.empty()) return;
    text += head.empty() ? pending_ : fmt::format("\n{}\n{}", head, pending_);
    pending_.clear();
  }

 private:
  std::string pending_;
};

void write_head(Writer& w, const Device& d) {
  w.word("id", d.id);
  w.word("name", d.name);
  w.word("vendor", d.vendor.empty() ? "unknown" : d.vendor);
  w.word("family", d.family);
  w.word("architecture", d.architecture);
  w.word("form_factor", d.form_factor);
  w.word("kind", hardware::name(d.kind));
  w.word("default_engine", d.default_engine);
  w.word("memory_type", d.memory_type.empty() ? "memory" : d.memory_type);
  w.word("warning", d.warning);
  w.table("");
  if (d.unified_memory) w.text += "unified_memory = true\n";
}

void write_peaks(Writer& w, const Device& d) {
  for (std::size_t i = 0; i < hardware::compute_type_count; ++i) {
    const auto type = static_cast<ComputeType>(i);
    const bool integer = type == ComputeType::int8 || type == ComputeType::int4;
    w.fact(fmt::format("{}{}", hardware::name(type), integer ? "_op_per_s" : "_flop_per_s"), d.peaks[i],
           integer ? "OP/s" : "FLOP/s");
  }
  w.table("[peaks]");
}

void write_sm(Writer& w, const hardware::SmLimits& sm) {
  w.fact("count", sm.count, "count", true);
  w.fact("lanes_fp32_per_clock", sm.lanes_fp32_per_clock, "lanes/clk", true);
  w.fact("schedulers", sm.schedulers, "schedulers", true);
  w.fact("warp_size", sm.warp_size, "threads", true);
  w.fact("max_threads", sm.max_threads, "threads", true);
  w.fact("max_warps", sm.max_warps, "warps", true);
  w.fact("max_blocks", sm.max_blocks, "blocks", true);
  w.fact("max_threads_per_block", sm.max_threads_per_block, "threads", true);
  w.fact("registers_bytes", sm.registers, "B", true);
  w.fact("shared_per_block_bytes", sm.shared_per_block, "B", true);
  w.fact("shared_per_sm_bytes", sm.shared_per_sm, "B", true);
  w.fact("l1_shared_bytes", sm.l1_shared, "B", true);
  w.table("[sm]");
}

void write_level(Writer& w, const hardware::MemoryLevel& level) {
  w.fact("capacity_bytes", level.capacity, "B", true);
  w.fact("bandwidth_bytes_per_s", level.bandwidth, "B/s");
  w.fact("latency_s", level.latency, "s");
}

/// The last rung is main memory and has a table of its own.
void write_ladder(Writer& w, const Device& d) {
  for (std::size_t i = 0; i + 1 < d.ladder.size(); ++i) {
    w.word("name", d.ladder[i].name);
    w.word("reach", d.ladder[i].reach);
    write_level(w, d.ladder[i]);
    w.table("[[ladder]]");
  }
  hardware::MemoryLevel memory = d.ladder.empty() ? hardware::MemoryLevel() : d.ladder.back();
  if (d.memory_capacity) memory.capacity = d.memory_capacity;
  if (d.memory_bandwidth) memory.bandwidth = d.memory_bandwidth;
  write_level(w, memory);
  w.table("[memory]");
}

void write_link(Writer& w, const hardware::Link& link, std::string_view head) {
  if (link.kind.empty()) return;
  w.word("kind", link.kind);
  w.fact("bandwidth_per_direction_bytes_per_s", link.bandwidth_per_direction, "B/s");
  w.fact("devices_in_node", link.devices_in_node, "devices", true);
  w.table(head);
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += ' ';  // a device file refuses control characters even when they are escaped
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string device_toml(const Device& device, const std::vector<std::pair<std::string, std::string>>& remarks) {
  Writer w;
  w.text = "# A device measured by `corridor measure`; give this file to --device of any command.\n";
  for (const auto& [what, value] : remarks) w.text += one_line(fmt::format("# {}: {}", what, value)) + "\n";
  write_head(w, device);
  w.fact("year", device.year, "year", true);
  w.fact("board_power_w", device.board_power_w, "W");
  w.fact("clock_base_hz", device.clock_base, "Hz");
  w.fact("clock_boost_hz", device.clock_boost, "Hz");
  w.table("[general]");
  w.fact("bandwidth_bytes_per_s", device.reachable_bandwidth, "B/s");
  w.fact("bf16_flop_per_s", device.reachable_bf16, "FLOP/s");
  w.table("[reachable]");
  w.fact("floor_s", device.launch_floor, "s");
  w.table("[launch]");
  write_peaks(w, device);
  write_sm(w, device.sm);
  write_ladder(w, device);
  write_link(w, device.link, "[link]");
  write_link(w, device.pcie, "[pcie]");
  return w.text;
}

}  // namespace corridor::measure
