// SPDX-License-Identifier: Apache-2.0
// Checked reading of JSON values, with errors that name the key and what it must be.
#include "corridor/model/json_fields.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace corridor::model {
namespace {

constexpr int deepest_nesting = 64;
constexpr std::size_t longest_list = 100'000;
constexpr std::size_t shown_text = 40;

/// Python writes Infinity, -Infinity and NaN, which JSON does not know: they become null. Empty when too deep.
std::optional<std::string> without_python_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if ((c == '{' || c == '[') && ++depth > deepest_nesting) return std::nullopt;
    if (c == '}' || c == ']') --depth;
    std::size_t skipped = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (text.substr(i, word.size()) == word) skipped = word.size();
      if (skipped > 0) break;
    }
    if (skipped == 0) {
      out += c;
    } else {
      out += "null";
      i += skipped - 1;
    }
  }
  return out;
}

std::string shown(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > shown_text) text = text.substr(0, shown_text) + "…";
  return text;
}

/// The value as a whole number in [low, high]; truth values count as 0 and 1 when `allow_bool`.
std::optional<std::int64_t> whole(const nlohmann::json& value, std::int64_t low, std::int64_t high, bool allow_bool) {
  if (allow_bool && value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number) || number != std::floor(number)) return std::nullopt;
  if (number < static_cast<double>(low) || number > static_cast<double>(high)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

/// Follows the parser and writes down every key that its object has already.
class RepeatedKeys {
 public:
  explicit RepeatedKeys(std::vector<std::string>* found) : found_(found) {}

  bool operator()(int /*depth*/, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (found_ == nullptr) return true;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end && !open_.empty()) open_.pop_back();
    if (event == Event::key && !open_.empty() && !open_.back().insert(parsed.get<std::string>()).second) {
      found_->push_back(parsed.get<std::string>());
    }
    return true;
  }

 private:
  std::vector<std::string>* found_;
  std::vector<std::set<std::string>> open_;  ///< keys of each object being read
};

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& where, std::vector<std::string>* repeated) {
  const std::optional<std::string> clean = without_python_numbers(text);
  if (!clean) {
    return fail(fmt::format("JSON nested deeper than {}", deepest_nesting), where, "give a model's own config.json");
  }
  try {
    nlohmann::json parsed = nlohmann::json::parse(*clean, RepeatedKeys(repeated));
    if (!parsed.is_object()) return fail("not a JSON object", where, "give a model's own config.json");
    return parsed;
  } catch (const nlohmann::json::parse_error& problem) {
    const std::size_t at = std::min(problem.byte, clean->size());
    const auto line = 1 + std::count(clean->begin(), clean->begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fail("not valid JSON", fmt::format("{}:{}", where, line), "check that the file is complete");
  } catch (const nlohmann::json::exception&) {
    return fail("a number in it is beyond what a computer holds", where, "correct the number");
  }
}

const nlohmann::json* Fields::find(Names names, std::string* found) const {
  if (!object_->is_object()) return nullptr;
  for (const char* name : names) {
    const auto it = object_->find(name);
    if (it == object_->end() || it->is_null()) continue;
    if (found != nullptr) *found = name;
    return &*it;
  }
  return nullptr;
}

std::int64_t Fields::integer(Names names, std::optional<std::int64_t> fallback, std::int64_t low, std::int64_t high) {
  std::string key;
  const nlohmann::json* value = find(names, &key);
  if (value == nullptr) {
    if (!fallback) reject(fmt::format("{} is missing", *names.begin()), "give a model's own config.json");
    return fallback.value_or(low);
  }
  if (const auto number = whole(*value, low, high, false)) return *number;
  reject(fmt::format("{} is {}", key, shown(*value)),
         fmt::format("it must be a whole number from {} to {}", low, high));
  return fallback.value_or(low);
}

bool Fields::boolean(Names names, bool fallback) {
  std::string key;
  const nlohmann::json* value = find(names, &key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  reject(fmt::format("{} is {}", key, shown(*value)), "it must be true or false");
  return fallback;
}

std::string Fields::text(Names names, const std::string& fallback) {
  std::string key;
  const nlohmann::json* value = find(names, &key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  reject(fmt::format("{} is {}", key, shown(*value)), "it must be text");
  return fallback;
}

std::vector<std::int64_t> Fields::integers(Names names, std::int64_t low, std::int64_t high) {
  std::string key;
  const nlohmann::json* value = find(names, &key);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() > longest_list) {
    reject(fmt::format("{} is {}", key, shown(*value)), "it must be a list of numbers, one a layer");
    return {};
  }
  std::vector<std::int64_t> out;
  out.reserve(value->size());
  for (const nlohmann::json& entry : *value) {
    const auto number = whole(entry, low, high, true);
    if (!number) {
      reject(fmt::format("{} holds {}", key, shown(entry)), fmt::format("whole numbers from {} to {}", low, high));
      return {};
    }
    out.push_back(*number);
  }
  return out;
}

std::vector<std::string> Fields::texts(Names names) {
  std::string key;
  const nlohmann::json* value = find(names, &key);
  if (value == nullptr) return {};
  if (!value->is_array() || value->size() > longest_list) {
    reject(fmt::format("{} is {}", key, shown(*value)), "it must be a list of names");
    return {};
  }
  std::vector<std::string> out;
  out.reserve(value->size());
  for (const nlohmann::json& entry : *value) {
    if (!entry.is_string()) {
      reject(fmt::format("{} holds {}", key, shown(entry)), "it must be a list of names");
      return {};
    }
    out.push_back(entry.get<std::string>());
  }
  return out;
}

void Fields::reject(std::string what, std::string fix) {
  if (!error_) error_ = Error{std::move(what), where_, std::move(fix)};
}

}  // namespace corridor::model
