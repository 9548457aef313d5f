// SPDX-License-Identifier: Apache-2.0
// One pass over the fields of an event. This is where most of the time of an import goes: keys are told apart by their
// first letter and compared at a fixed length, and an event is left as soon as it is known to be of no use.
#include "corridor/profile/kineto/event_fields.h"

#include <cmath>
#include <cstring>

#include "corridor/profile/kineto/window.h"

namespace corridor::profile::kineto {
namespace {

namespace od = simdjson::ondemand;

/// Whether the raw key at `raw` is `key`, which is given with its closing quote: is_key(raw, "ts\"").
template <std::size_t N>
bool is_key(const char* raw, const char (&key)[N]) {
  static_assert(N <= window_padding);
  return std::memcmp(raw, key, N - 1) == 0;
}

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

double number_of(od::value value) {
  double number = 0;
  if (value.get_double().get(number) == simdjson::SUCCESS) return number;
  std::uint64_t whole = 0;  // beyond what a double parse takes
  if (value.get_uint64().get(whole) == simdjson::SUCCESS) return static_cast<double>(whole);
  return std::nan("");
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

void take_argument(const char* key, od::value value, Fields& f) {
  switch (key[0]) {
    case 'g':
      if (is_key(key, "grid\"")) {
        f.grid = raw_array(value, f.damaged);
      } else if (is_key(key, "graph node id\"")) {
        f.from_graph = id_of(value) != 0;
      }
      break;
    case 'b':
      if (is_key(key, "block\"")) {
        f.block = raw_array(value, f.damaged);
      } else if (is_key(key, "bytes\"")) {
        f.bytes = number_of(value);
      }
      break;
    case 'B':
      if (is_key(key, "Bytes\"")) f.bytes = number_of(value);
      break;
    case 'd':
      if (is_key(key, "device\"")) f.device = number_of(value);
      break;
    case 's':
      if (is_key(key, "stream\"")) f.stream = number_of(value);
      break;
    case 'I':
      if (is_key(key, "Input Dims\"") || is_key(key, "Input dims\"")) {
        f.dims = raw_array(value, f.damaged);
      } else if (is_key(key, "Input type\"")) {
        f.types = raw_array(value, f.damaged);
      }
      break;
    case 'c':
    case 'C':
      if (is_key(key + 1, "orrelation\"")) {
        f.correlation = id_of(value);
      } else if (is_key(key, "Concrete Inputs\"")) {
        f.concrete = raw_array(value, f.damaged);
      }
      break;
    case 'e':
    case 'E':
      if (is_key(key + 1, "xternal id\"")) f.external = id_of(value);
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
    take_argument(field.key().raw(), field.value(), f);
    if (f.damaged) return;
  }
}

/// One field of an event. False once the event is known to be of no use.
bool take_field(const char* key, od::value value, Fields& f) {
  switch (key[0]) {
    case 'p':
      if (is_key(key, "ph\"")) {
        f.ph = inside_quotes(value.raw_json_token());
        return f.is_stretch() ? !is_unused(f.category) : unused_phase(f.ph).empty();
      }
      if (is_key(key, "pid\"")) f.pid = trimmed(value.raw_json_token());
      break;
    case 'c':
      if (is_key(key, "cat\"")) {
        f.cat = inside_quotes(value.raw_json_token());
        f.category = category_of(f.cat);
        return !f.is_stretch() || !is_unused(f.category);
      }
      break;
    case 'n':
      if (is_key(key, "name\"")) f.name = inside_quotes(value.raw_json_token());
      break;
    case 't':
      if (is_key(key, "ts\"")) {
        f.ts = number_of(value);
        f.has_ts = true;
      } else if (is_key(key, "tid\"")) {
        f.tid = trimmed(value.raw_json_token());
      }
      break;
    case 'd':
      if (is_key(key, "dur\"")) {
        f.dur = number_of(value);
        f.has_dur = true;
      }
      break;
    case 'a':
      if (is_key(key, "args\"") && (f.ph.empty() || f.is_stretch())) read_arguments(value, f);
      break;
    default:
      break;
  }
  return true;
}

}  // namespace

std::uint64_t id_of_token(std::string_view token) {
  if (!token.empty() && token.front() == '"') token = inside_quotes(token);
  std::uint64_t id = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') break;
    id = id * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return id;
}

bool is_unused(Category category) {
  return category == Category::python || category == Category::flow || category == Category::ignored;
}

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

void read_fields(od::object event, Fields& fields) {
  for (auto result : event) {
    od::field field;
    if (fields.damaged || std::move(result).get(field) != simdjson::SUCCESS) {
      fields.damaged = true;
      return;
    }
    const char* key = field.key().raw();
    if (!take_field(key, field.value(), fields)) return;
  }
}

}  // namespace corridor::profile::kineto
