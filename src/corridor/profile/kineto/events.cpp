// SPDX-License-Identifier: Apache-2.0
// Events become rows: names once each, what is of no use counted.
#include "corridor/profile/kineto/events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "corridor/profile/kineto/event_fields.h"
#include "corridor/profile/kineto/window.h"

namespace corridor::profile::kineto {
namespace {

namespace od = simdjson::ondemand;

constexpr double largest_time_us = 1e18;         // absolute times of today are 2e15
constexpr std::size_t longest_inputs = 1 << 16;  // bytes of shapes, types or values of one operation
constexpr std::size_t longest_launch = 256;      // bytes of a grid or a block

/// Names with escapes keep their meaning: \" \\ \/ are undone, other escapes stay as written.
std::string_view unescaped(std::string_view text, std::string& storage) {
  if (text.find('\\') == std::string_view::npos) return text;
  storage.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '/'))
      ++i;
    storage += text[i];
  }
  return storage;
}

bool is_time(double us) {
  return std::fabs(us) <= largest_time_us;  // false for NaN
}

bool wants_values(std::string_view name) {
  for (const char* word : {"attention", "attn", "conv", "embedding", "moe", "quant"}) {
    if (name.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

struct EventParser::State {
  State(RawEvents& e, ImportStats& s) : events(e), stats(s) {}

  RawEvents& events;
  ImportStats& stats;
  od::parser parser;
  std::string text, storage;
  std::unordered_map<std::string, std::uint32_t> threads;  ///< by process and thread as written
  std::string last_pid, last_tid;                          ///< events of one thread come in rows
  std::uint32_t last_thread_id = 0;
  ImportStats window_stats;                                 ///< of the window being read; merged when it holds
  std::vector<std::pair<std::string, std::size_t>> unused;  ///< the same, of kinds that come in millions

  /// Counts an event that is known and of no use here.
  void pass_over(std::string_view kind) {
    for (auto& [known, count] : unused) {
      if (known != kind) continue;
      ++count;
      return;
    }
    unused.emplace_back(kind, 1);
  }

  std::uint32_t thread(const Fields& f) {
    if (!threads.empty() && f.tid == last_tid && f.pid == last_pid) return last_thread_id;
    last_pid = f.pid;
    last_tid = f.tid;
    text = last_pid + ' ' + last_tid;
    last_thread_id = threads.try_emplace(text, static_cast<std::uint32_t>(threads.size())).first->second;
    return last_thread_id;
  }
  std::uint32_t name(const Fields& f) { return events.names.intern(unescaped(f.name, storage)); }

  [[nodiscard]] bool read_window(std::string_view window);
  void take_gpu(const Fields& f, GpuWork work);
  void take_op(const Fields& f);
  void take_event(const Fields& f);
  void note_time(const Fields& f);
};

void EventParser::State::note_time(const Fields& f) {
  const double end = f.ts + (f.dur > 0 ? f.dur : 0);
  events.first_ts = events.any ? std::min(events.first_ts, f.ts) : f.ts;
  if (f.ts > 0) events.first_positive_ts = std::min(events.first_positive_ts, f.ts);
  events.last_ts = events.any ? std::max(events.last_ts, end) : end;
  events.any = true;
}

void EventParser::State::take_gpu(const Fields& f, GpuWork work) {
  RawGpu gpu;
  gpu.ts = f.ts;
  gpu.dur = f.dur;
  gpu.correlation = f.correlation;
  gpu.external = f.external;
  gpu.name = name(f);
  gpu.work = work;
  gpu.from_graph = f.from_graph;
  gpu.bytes = std::isfinite(f.bytes) && f.bytes > 0 ? f.bytes : 0;
  if (f.device >= 0 && f.device < 65536) gpu.device = static_cast<std::uint16_t>(f.device);
  if (f.stream >= 0 && f.stream < 4e9) gpu.stream = static_cast<std::uint32_t>(f.stream);
  if (!f.grid.empty() && !f.block.empty() && f.grid.size() + f.block.size() <= longest_launch) {
    text.assign(f.grid);
    text += '\n';
    text += f.block;
    gpu.shape = events.launch_texts.intern(text);
  }
  events.gpu.push_back(gpu);
}

void EventParser::State::take_op(const Fields& f) {
  RawOp op{f.ts, f.dur, f.external, name(f), none, thread(f)};
  if (std::max({f.dims.size(), f.types.size(), f.concrete.size()}) > longest_inputs) {
    window_stats.drop("shapes of operations with more than 64 KiB of them", Severity::warning, f.name);
  } else if (!f.dims.empty()) {
    text.assign(f.dims);
    text += part_separator;
    text += f.types;
    text += part_separator;
    if (wants_values(f.name)) text += f.concrete;
    op.inputs = events.input_texts.intern(text);
  }
  events.ops.push_back(op);
}

void EventParser::State::take_event(const Fields& f) {
  if (!f.is_stretch()) {
    const std::string_view kind = unused_phase(f.ph);
    if (!kind.empty()) return pass_over(kind);
    window_stats.drop("events of phase \"" + std::string(f.ph.substr(0, 8)) + "\"", Severity::warning, f.name);
    return;
  }
  const Category category = f.category;
  if (category == Category::python) {
    events.python_stacks = true;
    return pass_over("Python functions");
  }
  if (is_unused(category)) return pass_over(f.cat);
  if (!f.has_ts || !is_time(f.ts) || !f.has_dur || !is_time(f.dur)) {
    window_stats.drop("events without a time or a duration", Severity::loss, f.name);
    return;
  }
  const bool on_gpu = category == Category::kernel || category == Category::copy || category == Category::set;
  if (on_gpu && (f.dur < 0 || (f.ts <= 0 && f.dur <= 0))) {
    window_stats.drop("GPU events at time zero or of negative duration", Severity::loss, f.name);
    return;
  }
  switch (category) {
    case Category::kernel:
      take_gpu(f, GpuWork::kernel);
      break;
    case Category::copy:
      take_gpu(f, GpuWork::copy);
      break;
    case Category::set:
      take_gpu(f, GpuWork::set);
      break;
    case Category::call:
      events.calls.push_back({f.ts, f.dur, f.correlation, f.external, name(f), thread(f)});
      break;
    case Category::op:
      take_op(f);
      break;
    case Category::annotation:
    case Category::gpu_annotation: {
      const double device = category == Category::gpu_annotation ? static_cast<double>(id_of_token(f.pid)) : 0;
      events.annotations.push_back({f.ts, f.dur, f.external, name(f), thread(f), static_cast<std::uint16_t>(device),
                                    category == Category::gpu_annotation});
      break;
    }
    default:
      window_stats.drop("events of category \"" + std::string(f.cat.substr(0, 40)) + "\"", Severity::note, f.name);
      return;
  }
  note_time(f);
}

EventParser::EventParser(RawEvents& events, ImportStats& stats) : state_(new State(events, stats)) {}
EventParser::~EventParser() {
  delete state_;
}

bool EventParser::State::read_window(std::string_view window) {
  od::document document;
  const simdjson::padded_string_view padded(window.data(), window.size(), window.size() + window_padding);
  od::array array;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_array().get(array) != simdjson::SUCCESS) {
    return false;
  }
  for (auto result : array) {
    od::object event;
    if (result.get_object().get(event) != simdjson::SUCCESS) return false;
    Fields fields;
    read_fields(event, fields);
    if (fields.damaged) return false;
    take_event(fields);
  }
  const char* behind = nullptr;  // anything after the array means that it ended inside the window
  return document.current_location().get(behind) == simdjson::OUT_OF_BOUNDS;
}

bool EventParser::take(std::string_view window) {
  RawEvents& e = state_->events;
  const std::array<std::size_t, 4> sizes = {e.gpu.size(), e.calls.size(), e.ops.size(), e.annotations.size()};
  const double first = e.first_ts, last = e.last_ts, positive = e.first_positive_ts;
  const bool any = e.any;
  state_->window_stats = {};
  state_->unused.clear();
  const bool whole = state_->read_window(window);
  if (whole) {
    for (const auto& [kind, count] : state_->unused) state_->window_stats.drop(kind, Severity::note, {}, count);
    state_->stats.merge(state_->window_stats);
    return true;
  }
  e.gpu.resize(sizes[0]);
  e.calls.resize(sizes[1]);
  e.ops.resize(sizes[2]);
  e.annotations.resize(sizes[3]);
  e.first_ts = first;
  e.last_ts = last;
  e.first_positive_ts = positive;
  e.any = any;
  return false;
}

}  // namespace corridor::profile::kineto
