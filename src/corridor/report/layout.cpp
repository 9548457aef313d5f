// SPDX-License-Identifier: Apache-2.0
// Width, cleaning and wrapping of UTF-8 text.
#include "corridor/report/layout.h"

#include <algorithm>
#include <array>

namespace corridor::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr char32_t broken = 0xFFFFFFFF;

/// One code point and the bytes it takes; `broken` and one byte where the text is not UTF-8.
struct Decoded {
  char32_t code;
  std::size_t bytes;
};

Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {broken, 1};
  char32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {broken, 1};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {broken, 1};
  return {code, length};
}

std::size_t cells(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 5> combining{
      {{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
  static constexpr std::array<Range, 6> wide{
      {{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}}};
  const auto inside = [code](const Range& range) { return code >= range.first && code <= range.last; };
  if (std::any_of(combining.begin(), combining.end(), inside)) return 0;
  if (std::any_of(wide.begin(), wide.end(), inside) || (code >= 0x1F300 && code <= 0x3FFFD)) return 2;
  return 1;
}

/// Bytes of `word` that fit in `width` cells; at least one code point, so that wrapping always moves on.
std::size_t prefix_bytes(std::string_view word, std::size_t width) {
  std::size_t at = 0;
  std::size_t used = 0;
  while (at < word.size()) {
    const Decoded next = decode(word, at);
    const std::size_t size = cells(next.code);
    if (at > 0 && used + size > width) break;
    used += size;
    at += next.bytes;
  }
  return at;
}

/// Lays words into lines; spaces between two words of one line stay as many as they were.
class LineFiller {
 public:
  LineFiller(std::size_t width, std::vector<std::string>& out) : width_(width), out_(out) {}

  void add(std::size_t spaces, std::string_view word) {
    std::size_t size = display_width(word);
    if (has_word_ && used_ + spaces + size > width_) break_line();
    // Spaces that open the first line are an indentation; after a break they are dropped.
    const std::size_t kept = has_word_ ? spaces : first_ ? std::min(spaces, width_ / 2) : 0;
    current_.append(kept, ' ');
    used_ += kept;
    while (used_ + size > width_ && !word.empty()) {
      const std::string_view head = word.substr(0, prefix_bytes(word, width_ - used_));
      const std::size_t head_size = display_width(head);
      if (used_ > 0 && used_ + head_size > width_) {  // a wide character before the last cell
        break_line();
        continue;
      }
      current_ += head;
      word.remove_prefix(head.size());
      size -= head_size;
      break_line();
    }
    current_ += word;
    used_ += size;
    has_word_ = !current_.empty();
    first_ = false;
  }
  void finish() {
    if (has_word_ || first_) out_.push_back(current_);
  }

 private:
  void break_line() {
    out_.push_back(std::move(current_));
    current_.clear();
    used_ = 0;
    has_word_ = false;
    first_ = false;
  }

  std::size_t width_;
  std::vector<std::string>& out_;
  std::string current_;
  std::size_t used_ = 0;
  bool has_word_ = false;
  bool first_ = true;
};

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& out) {
  LineFiller filler(width, out);
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t word = std::min(line.find_first_not_of(' ', at), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    if (word < end) filler.add(word - at, line.substr(word, end - word));
    at = end;
  }
  filler.finish();
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode(text, at);
    width += cells(next.code);
    at += next.bytes;
  }
  return width;
}

std::string clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode(text, at);
    if (next.code == broken) {
      out += replacement;
    } else if (next.code == '\n') {
      out += '\n';
    } else if (next.code < 0x20 || (next.code >= 0x7F && next.code < 0xA0) || next.code == 0x2028 ||
               next.code == 0x2029 || (next.code >= 0x202A && next.code <= 0x202E) ||
               (next.code >= 0x2066 && next.code <= 0x2069)) {
      out += ' ';
    } else {
      out += text.substr(at, next.bytes);
    }
    at += next.bytes;
  }
  return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> out;
  width = std::max<std::size_t>(width, 2);
  std::size_t at = 0;
  while (at <= text.size()) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    wrap_line(text.substr(at, end - at), width, out);
    at = end + 1;
  }
  return out;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t size = display_width(text);
  return std::string(text) + std::string(width > size ? width - size : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t size = display_width(text);
  return std::string(width > size ? width - size : 0, ' ') + std::string(text);
}

std::size_t widest_word(std::string_view text) {
  std::size_t widest = 0;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    widest = std::max(widest, display_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

std::string heading_of(std::string_view key) {
  std::string out(key.substr(key.rfind('.') + 1));  // npos + 1 is 0: no dot, whole key
  std::replace(out.begin(), out.end(), '_', ' ');
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z') out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

}  // namespace corridor::report
