// SPDX-License-Identifier: Apache-2.0
// A push parser of JSON objects: state between two bytes, nothing of the text kept but scalars.
#include "corridor/profile/paste/json_scan.h"

#include <cmath>
#include <cstdlib>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t most_json_scalars = 20000;
constexpr std::size_t deepest_json = 64;
constexpr std::size_t longest_json_text = 300;
constexpr std::size_t longest_json_word = 64;
constexpr std::size_t longest_json_path = 300;

bool is_json_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_json_word(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '+' || c == '.';
}

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code >= 0xD800 && code <= 0xDFFF) {
    out += '?';  // half of a pair: no name of a run is written so
  } else {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
    case 'f':
      return ' ';
    default:
      return c;
  }
}

}  // namespace

std::size_t JsonScan::feed(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && (state_ == State::before || state_ == State::inside)) {
    if (in_string_ && !escaped_ && unicode_digits_ == 0 && token_.size() >= longest_json_text) {
      // Of a long text only its end matters.
      while (at < text.size() && text[at] != '"' && text[at] != '\\' && text[at] != '\n' && text[at] != '\r') ++at;
      if (at == text.size()) break;
    }
    take(text[at]);
    if (state_ == State::broken) break;  // the byte that broke it may begin the next object
    ++at;
  }
  return at;
}

void JsonScan::take(char c) {
  if (in_string_) return take_in_string(c);
  if (in_word_) {
    if (is_json_word(c)) {
      if (token_.size() < longest_json_word) token_ += c;
      return;
    }
    end_word();
    if (state_ == State::broken) return;
  }
  if (!is_json_blank(c)) take_structure(c);
}

void JsonScan::take_in_string(char c) {
  const auto add = [&](char byte) {
    if (token_.size() < longest_json_text) token_ += byte;
  };
  if (unicode_digits_ > 0) {
    const int digit = hex_digit(c);
    if (digit < 0) return break_off();
    unicode_ = unicode_ * 16 + static_cast<unsigned>(digit);
    if (--unicode_digits_ == 0 && token_.size() < longest_json_text) append_utf8(token_, unicode_);
  } else if (escaped_) {
    escaped_ = false;
    if (c == 'u') {
      unicode_digits_ = 4;
      unicode_ = 0;
    } else {
      add(unescaped(c));
    }
  } else if (c == '\\') {
    escaped_ = true;
  } else if (c == '"') {
    in_string_ = false;
    end_string();
  } else if (c == '\n' || c == '\r') {
    break_off();  // no JSON string holds a line end: the record is cut off
  } else {
    add(c);
  }
}

void JsonScan::take_structure(char c) {
  if (state_ == State::before) {
    if (c != '{') return break_off();
    state_ = State::inside;
    return open(true);
  }
  switch (c) {
    case '"':
      if (want_ != Want::value && want_ != Want::key) return break_off();
      in_string_ = true;
      token_.clear();
      return;
    case '{':
    case '[':
      if (want_ != Want::value) return break_off();
      return open(c == '{');
    case '}':
      return close(true);
    case ']':
      return close(false);
    case ':':
      if (want_ != Want::colon) return break_off();
      want_ = Want::value;
      return;
    case ',':
      if (want_ != Want::next) return break_off();
      want_ = frames_.back().object ? Want::key : Want::value;
      return;
    default:
      if (want_ != Want::value || !is_json_word(c)) return break_off();
      in_word_ = true;
      token_.assign(1, c);
  }
}

/// An element of a list begins.
void JsonScan::begin_value() {
  if (!frames_.empty() && !frames_.back().object) ++frames_.back().elements;
}

void JsonScan::open(bool object) {
  if (frames_.size() >= deepest_json) return break_off();
  begin_value();
  frames_.push_back({object, path_.size(), 0});
  if (!object) ++list_depth_;
  want_ = object ? Want::key : Want::value;
}

void JsonScan::close(bool object) {
  const bool empty = want_ == (frames_.back().object ? Want::key : Want::value);  // also after a last comma
  if (frames_.back().object != object || (want_ != Want::next && !empty)) return break_off();
  path_.resize(frames_.back().path);
  if (!object && --list_depth_ == 0 && fields_.lists.size() < most_json_scalars)
    fields_.lists[path_] = frames_.back().elements;
  frames_.pop_back();
  want_ = Want::next;
  if (frames_.empty()) state_ = State::closed;
}

bool JsonScan::kept() const {
  return list_depth_ == 0 || (list_depth_ == 1 && !frames_.back().object && frames_.back().elements == 1);
}

bool JsonScan::room() {
  if (!kept()) return false;
  if (fields_.size() < most_json_scalars) return true;
  ++fields_.left_out;
  return false;
}

void JsonScan::end_string() {
  if (want_ == Want::key) {
    path_.resize(frames_.back().path);
    if (!path_.empty()) path_ += '.';
    if (path_.size() < longest_json_path) path_ += token_.substr(0, 80);
    want_ = Want::colon;
    return;
  }
  begin_value();
  want_ = Want::next;
  if (room()) fields_.texts[list_depth_ > 0 ? path_ + "[0]" : path_] = printable(token_);
}

void JsonScan::end_word() {
  in_word_ = false;
  begin_value();
  want_ = Want::next;
  if (!kept()) return;
  const std::string key = list_depth_ > 0 ? path_ + "[0]" : path_;
  if (token_ == "true" || token_ == "false") {
    if (room()) fields_.truths[key] = token_ == "true";
    return;
  }
  if (token_ == "null" || token_ == "NaN" || token_ == "Infinity" || token_ == "-Infinity") return;
  char* end = nullptr;
  const double value = std::strtod(token_.c_str(), &end);
  if (end != token_.c_str() + token_.size() || !std::isfinite(value)) return break_off();
  if (value >= 0 && value <= 1e18 && room()) fields_.numbers[key] = value;
}

}  // namespace corridor::profile
