// SPDX-License-Identifier: Apache-2.0
// One pass over each event: its few fixed fields, and of its arguments only those that join or size something.
#include "corridor/profile/kineto/events.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "corridor/profile/kineto/category.h"
#include "corridor/profile/kineto/window.h"

namespace corridor::profile::kineto {
namespace {

namespace od = simdjson::ondemand;

constexpr double largest_time_us = 1e18;         // absolute times of today are 2e15
constexpr std::size_t longest_inputs = 1 << 16;  // bytes of shapes, types or values of one operation
constexpr std::size_t longest_launch = 256;      // bytes of a grid or a block

/// The bytes between the quotes of a raw JSON token; empty when it is no string.
std::string_view inside_quotes(std::string_view token) {
  if (token.empty() || token.front() != '"') return {};
  const std::size_t end = token.rfind('"');
  return end == 0 ? std::string_view{} : token.substr(1, end - 1);
}

/// A raw token may reach to the next one.
std::string_view trimmed(std::string_view token) {
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t')) {
    token.remove_suffix(1);
  }
  return token;
}

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

/// What one event says, whatever the order of its fields.
struct Fields {
  std::string_view ph, cat, name;  ///< raw, without quotes
  double ts = 0, dur = 0;
  bool has_ts = false, has_dur = false, has_tid = false;
  std::string_view pid, tid;  ///< as written: numbers, or texts in old traces
  std::uint64_t correlation = 0, external = 0;
  double device = -1, stream = -1, bytes = 0;
  bool from_graph = false;
  std::string_view grid, block, dims, types, concrete;  ///< raw JSON
  bool damaged = false;                                 ///< not JSON: the whole window is refused
};

/// The text of a key; keys are short, so the closing quote is looked for.
std::string_view key_text(od::field& field) {
  const char* begin = field.key().raw();
  const char* end = begin;
  while (*end != '"' && *end != '\0') end += *end == '\\' && end[1] != '\0' ? 2 : 1;
  return {begin, static_cast<std::size_t>(end - begin)};
}

double number_of(od::value value) {
  double number = 0;
  if (value.get_double().get(number) == simdjson::SUCCESS) return number;
  std::uint64_t whole = 0;  // beyond what a double parse takes
  if (value.get_uint64().get(whole) == simdjson::SUCCESS) return static_cast<double>(whole);
  return std::nan("");
}

/// A number, or a text that is one ("42"); 0 for anything else.
std::uint64_t id_of_token(std::string_view token) {
  if (!token.empty() && token.front() == '"') token = inside_quotes(token);
  std::uint64_t id = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') break;
    id = id * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return id;
}

std::uint64_t id_of(od::value value) {
  return id_of_token(value.raw_json_token());
}

std::string_view raw_array(od::value value, bool& damaged) {
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return {};
  std::string_view raw;
  damaged = damaged || array.raw_json().get(raw) != simdjson::SUCCESS;
  return raw;
}

void take_argument(std::string_view key, od::value value, Fields& f) {
  switch (key.size()) {
    case 4:
      if (key == "grid") f.grid = raw_array(value, f.damaged);
      break;
    case 5:
      if (key == "block") {
        f.block = raw_array(value, f.damaged);
      } else if (key == "bytes" || key == "Bytes") {
        f.bytes = number_of(value);
      }
      break;
    case 6:
      if (key == "device") {
        f.device = number_of(value);
      } else if (key == "stream") {
        f.stream = number_of(value);
      }
      break;
    case 10:
      if (key == "Input Dims" || key == "Input dims") {
        f.dims = raw_array(value, f.damaged);
      } else if (key == "Input type") {
        f.types = raw_array(value, f.damaged);
      }
      break;
    case 11:
      if (key == "correlation" || key == "Correlation") {
        f.correlation = id_of(value);
      } else if (key == "External id" || key == "external id") {
        f.external = id_of(value);
      }
      break;
    case 13:
      if (key == "graph node id") f.from_graph = id_of(value) != 0;
      break;
    case 15:
      if (key == "Concrete Inputs") f.concrete = raw_array(value, f.damaged);
      break;
    default:
      break;
  }
}

void read_arguments(od::value value, Fields& f) {
  od::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return;
  for (auto result : arguments) {
    od::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) {
      f.damaged = true;
      return;
    }
    take_argument(key_text(field), field.value(), f);
    if (f.damaged) return;
  }
}

/// One field of an event. False once the event is known to be of no use.
bool take_field(std::string_view key, od::value value, Fields& f) {
  switch (key.size()) {
    case 2:
      if (key[0] == 'p' && key[1] == 'h') {
        f.ph = inside_quotes(value.raw_json_token());
      } else if (key[0] == 't' && key[1] == 's') {
        f.ts = number_of(value);
        f.has_ts = true;
      }
      break;
    case 3:
      if (key[0] == 'c' && key[1] == 'a' && key[2] == 't') {
        f.cat = inside_quotes(value.raw_json_token());
        return f.cat != "python_function";
      }
      if (key[0] == 'd' && key[1] == 'u' && key[2] == 'r') {
        f.dur = number_of(value);
        f.has_dur = true;
      } else if (key[1] == 'i' && key[2] == 'd' && key[0] == 'p') {
        f.pid = trimmed(value.raw_json_token());
      } else if (key[1] == 'i' && key[2] == 'd' && key[0] == 't') {
        f.tid = trimmed(value.raw_json_token());
      }
      break;
    case 4:
      if (key == "name") {
        f.name = inside_quotes(value.raw_json_token());
      } else if (key == "args") {
        if (f.ph.size() == 1 && f.ph[0] != 'X') return false;
        read_arguments(value, f);
      }
      break;
    default:
      break;
  }
  return true;
}

/// Reads an event; returns early, leaving the rest to be skipped, once it is known to be of no use.
void read_event(od::object event, Fields& f) {
  for (auto result : event) {
    od::field field;
    if (f.damaged || std::move(result).get(field) != simdjson::SUCCESS) {
      f.damaged = true;
      return;
    }
    const std::string_view key = key_text(field);
    if (!take_field(key, field.value(), f)) return;
  }
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
  std::string last_thread;                                 ///< events of one thread come in rows
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
    text.assign(f.pid);
    text += ' ';
    text += f.tid;
    if (text == last_thread) return last_thread_id;
    last_thread = text;
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

namespace {

/// What a phase other than a stretch of time is called; empty when it is not known.
std::string_view unused_phase(std::string_view ph) {
  switch (ph.size() == 1 ? ph[0] : ' ') {
    case 'M':
      return "names of processes and threads";
    case 's':
    case 'f':
    case 't':
      return "arrows between events";
    case 'i':
    case 'I':
      return "instants without a duration";
    case 'C':
      return "values of counters";
    default:
      return "";
  }
}

bool is_time(double us) {
  return std::fabs(us) <= largest_time_us;  // false for NaN
}

}  // namespace

void EventParser::State::take_event(const Fields& f) {
  if (f.ph.size() != 1 || f.ph[0] != 'X') {
    const std::string_view kind = unused_phase(f.ph);
    if (!kind.empty()) return pass_over(kind);
    window_stats.drop("events of phase \"" + std::string(f.ph.substr(0, 8)) + "\"", Severity::warning, f.name);
    return;
  }
  const Category category = category_of(f.cat);
  if (category == Category::python) {
    events.python_stacks = true;
    return pass_over("Python functions");
  }
  if (category == Category::flow || category == Category::ignored) return pass_over(f.cat);
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
    read_event(event, fields);
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
