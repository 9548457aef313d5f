// SPDX-License-Identifier: Apache-2.0
// Cuts a large text to its two ends and cleans what terminals, editors and web pages add to pasted lines.
#include "corridor/profile/paste/paste_lines.h"

#include <algorithm>
#include <array>
#include <map>

#include "corridor/profile/paste/line_prefix.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr char escape = '\x1b';
/// A colour or title sequence is shorter; a longer one is broken, and only its first character is dropped.
constexpr std::size_t longest_sequence = 200;

/// Length of the terminal sequence at the start of `text`, which begins with ESC.
std::size_t sequence_length(std::string_view text) {
  if (text.size() < 2) return 1;
  const std::string_view body = text.substr(0, longest_sequence);
  if (body[1] == '[') {
    for (std::size_t i = 2; i < body.size(); ++i) {
      if (body[i] >= '@' && body[i] <= '~') return i + 1;
      if (body[i] < ' ' || body[i] > '?') break;
    }
    return 1;
  }
  if (body[1] == ']') {
    for (std::size_t i = 2; i < body.size() && body[i] != '\n'; ++i) {
      if (body[i] == '\a') return i + 1;
      if (body[i] == escape) return std::min(i + 2, text.size());
    }
    return 1;
  }
  return body[1] == '\n' || body[1] == '\r' ? 1 : 2;
}

/// Length of a colour sequence whose ESC was lost on the way ("[0;36m"), or 0.
std::size_t bare_colour_length(std::string_view text) {
  std::size_t i = 1;
  while (i < text.size() && i < 12 && (is_digit(text[i]) || text[i] == ';')) ++i;
  return i > 1 && i < text.size() && text[i] == 'm' ? i + 1 : 0;
}

/// Length of the well-formed UTF-8 character at the start of `text`, or 0.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0U) == 0xE0 ? 3 : 4;
  if (lead >= 0x80 && (lead < 0xC2 || lead > 0xF4)) return 0;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  if (length == 1) return 1;
  // Overlong forms, surrogates and numbers beyond the last character.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0)) return 0;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90)) return 0;
  return length;
}

struct Replacement {
  std::string_view from, to;
};

/// What editors and web pages put in place of plain characters.
constexpr std::array<Replacement, 12> replacements{{{"\uFEFF", ""},
                                                    {"\u200B", ""},
                                                    {"\u00A0", " "},
                                                    {"\u202F", " "},
                                                    {"\u3000", " "},
                                                    {"\uFF1A", ":"},
                                                    {"\uFF08", "("},
                                                    {"\uFF09", ")"},
                                                    {"\u2018", "'"},
                                                    {"\u2019", "'"},
                                                    {"\u201C", "\""},
                                                    {"\u201D", "\""}}};

/// Appends the character at the start of `text` in its plain form.
void append_character(std::string& out, std::string_view text, std::size_t length) {
  const std::string_view character = text.substr(0, length);
  for (const Replacement& replacement : replacements) {
    if (character == replacement.from) {
      out += replacement.to;
      return;
    }
  }
  // A word processor writes the two hyphens of a flag as one dash.
  const bool dash = character == "\u2013" || character == "\u2014";
  const bool word_start = out.empty() || out.back() == ' ' || out.back() == '\n' || out.back() == '\t';
  const std::string_view next = text.substr(length);
  const bool again =
      next.size() > 3 && (next.starts_with("\u2013") || next.starts_with("\u2014")) && is_letter(next[3]);
  if (dash && word_start && again) return;  // the second of two dashes stands for both
  if (dash && word_start && !next.empty() && is_letter(next[0])) {
    out += "--";
  } else {
    out += character;
  }
}

/// `part` cleaned, with \n as the only line end.
void clean(std::string_view part, std::string& out) {
  for (std::size_t i = 0; i < part.size();) {
    const char c = part[i];
    const std::string_view rest = part.substr(i);
    if (c == escape) {
      i += sequence_length(rest);
    } else if (c == '\r') {
      out += '\n';
      i += rest.size() > 1 && rest[1] == '\n' ? 2 : 1;
    } else if (c == '[' && bare_colour_length(rest) > 0) {
      i += bare_colour_length(rest);
    } else if (c == '\0') {
      ++i;  // half of a UTF-16 character
    } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f') {
      out += ' ';
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
      ++i;
    } else {
      const std::size_t length = character_length(rest);
      if (length == 0) {
        out += '?';
      } else {
        append_character(out, rest, length);
      }
      i += std::max<std::size_t>(length, 1);
    }
  }
}

}  // namespace

PasteLines::PasteLines(std::string_view text) {
  if (text.starts_with("\xFF\xFE")) text.remove_prefix(2);  // UTF-16 of a Windows console; its zero bytes are dropped
  if (text.size() <= 2 * kept_bytes_at_each_end) {
    add(text, 1);
    cut_prefixes();
    return;
  }
  // Lines that the cut goes through are left out: half a number is a wrong number.
  cut_ = true;
  const std::size_t head_end = text.rfind('\n', kept_bytes_at_each_end);
  if (head_end != std::string_view::npos) add(text.substr(0, head_end), 1);
  const std::size_t tail_begin = text.find('\n', text.size() - kept_bytes_at_each_end);
  if (tail_begin != std::string_view::npos) {
    const auto lines_before = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(tail_begin), '\n');
    add(text.substr(tail_begin + 1), static_cast<std::size_t>(lines_before) + 2);
  }
  cut_prefixes();
}

void PasteLines::cut_prefixes() {
  const auto cut = [](Span& span, std::size_t length) {
    span.begin += length;
    span.length -= length;
  };
  std::map<std::string_view, std::size_t> containers;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::string_view line = (*this)[i].text;
    if (const std::size_t length = container_length(line); length > 0) ++containers[line.substr(0, length)];
  }
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::string_view line = (*this)[i].text;
    const std::size_t length = container_length(line);
    // A second border makes it a row of a table.
    const bool alone = length > 0 && line.find(" | ", length) == std::string_view::npos;
    if (alone && containers[line.substr(0, length)] > 1) cut(spans_[i], length);
    cut(spans_[i], stamp_length((*this)[i].text));
  }
  spans_.erase(std::remove_if(spans_.begin(), spans_.end(),
                              [&](const Span& span) {
                                return trim(std::string_view(clean_).substr(span.begin, span.length)).empty();
                              }),
               spans_.end());
}

void PasteLines::add(std::string_view part, std::size_t first_number) {
  std::size_t begin = clean_.size();
  clean(part, clean_);
  std::size_t number = first_number;
  while (begin < clean_.size()) {
    const std::size_t end = std::min(clean_.find('\n', begin), clean_.size());
    const std::string_view line = std::string_view(clean_).substr(begin, end - begin);
    if (!trim(line).empty()) spans_.push_back({begin, line.size(), number});
    begin = end + 1;
    ++number;
  }
  if (!clean_.empty() && clean_.back() != '\n') clean_ += '\n';
}

Line PasteLines::operator[](std::size_t at) const {
  const Span& span = spans_[at];
  return {std::string_view(clean_).substr(span.begin, span.length), span.number};
}

bool PasteLines::adjacent(std::size_t at) const {
  return at > 0 && at < spans_.size() && spans_[at].number == spans_[at - 1].number + 1;
}

}  // namespace corridor::profile
