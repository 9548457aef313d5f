// SPDX-License-Identifier: Apache-2.0
// The quick reader of device heads: looking up one name looks at every head, so that each must cost almost nothing.
#include "corridor/hardware/device_head.h"

#include <utility>

namespace corridor::hardware {
namespace {

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

/// Takes one "…" off the front; nothing when it is not a plain basic string.
std::optional<std::string_view> take_string(std::string_view& text) {
  skip_blanks(text);
  if (text.empty() || text.front() != '"') return std::nullopt;
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view body = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  const bool triple_quoted = body.empty() && !text.empty() && text.front() == '"';
  if (triple_quoted || body.find('\\') != std::string_view::npos) return std::nullopt;
  return body;
}

bool at_end(std::string_view text) {
  skip_blanks(text);
  return text.empty() || text == "\r" || text.front() == '#';
}

bool take_strings(std::string_view text, std::vector<std::string>& out) {
  skip_blanks(text);
  if (text.empty() || text.front() != '[') return false;
  text.remove_prefix(1);
  while (true) {
    skip_blanks(text);
    if (!text.empty() && text.front() == ']') return at_end(text.substr(1));
    const std::optional<std::string_view> item = take_string(text);
    if (!item || item->empty()) return false;
    out.emplace_back(*item);
    skip_blanks(text);
    if (!text.empty() && text.front() == ',') {
      text.remove_prefix(1);
    } else if (text.empty() || text.front() != ']') {
      return false;
    }
  }
}

/// The value part of "key = value" when the line is that key; nothing else.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  skip_blanks(line);
  if (line.empty() || line.front() != '=') return std::nullopt;
  return line.substr(1);
}

/// False when the line holds one of the wanted keys in a form that only TOML reads.
bool scan_line(std::string_view line, DeviceHead& head) {
  if (const auto aliases = value_of(line, "aliases"))
    return head.aliases.empty() && take_strings(*aliases, head.aliases);
  for (const auto& [key, out] : {std::pair{"id", &head.id}, std::pair{"name", &head.name}}) {
    auto value = value_of(line, key);
    if (!value) continue;
    const std::optional<std::string_view> text = take_string(*value);
    if (!text || text->empty() || !out->empty() || !at_end(*value)) return false;
    *out = std::string(*text);
  }
  return true;
}

}  // namespace

std::string_view head_of(std::string_view toml_text) {
  std::size_t line = 0;
  while (line < toml_text.size()) {
    if (toml_text[line] == '[') return toml_text.substr(0, line);
    const std::size_t end = toml_text.find('\n', line);
    if (end == std::string_view::npos) break;
    line = end + 1;
  }
  return toml_text;
}

std::optional<DeviceHead> scan_device_head(std::string_view toml_text) {
  std::string_view rest = head_of(toml_text);
  if (rest.find("\"\"\"") != std::string_view::npos || rest.find("'''") != std::string_view::npos) return std::nullopt;
  DeviceHead head;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    skip_blanks(line);
    if (!scan_line(line, head)) return std::nullopt;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  if (head.id.empty() || head.name.empty()) return std::nullopt;
  return head;
}

}  // namespace corridor::hardware
