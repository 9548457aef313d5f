// SPDX-License-Identifier: Apache-2.0
// Windows of events are copied text by text; an event that does not parse is not copied at all.
#include "corridor/profile/kineto/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "corridor/profile/kineto/category.h"
#include "corridor/profile/kineto/window.h"

namespace corridor::profile {
namespace {

using kineto::Category;

constexpr std::size_t deepest_value = 64;  // lists in lists; beyond it an event is not copied
constexpr std::size_t longest_word = 40;
constexpr std::string_view removed_text = "\"removed\"";

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Fields around the events that stay; the values of all others are removed.
constexpr std::array<std::string_view, 17> kept_fields = {
    "schemaVersion",       "deviceProperties",  "cupti_version",       "cuda_runtime_version", "cuda_driver_version",
    "record_shapes",       "with_stack",        "with_flops",          "profile_memory",       "with_modules",
    "distributedInfo",     "displayTimeUnit",   "baseTimeNanoseconds", "traceEvents",          "roctracer_version",
    "hip_runtime_version", "hip_driver_version"};

// Arguments of events, and fields inside those around the events, whose texts stay when they look harmless.
constexpr std::array<std::string_view, 19> kept_arguments = {
    "Input type", "Input Dims",     "Input dims",  "Input Strides", "dtype",       "Collective name",
    "kind",       "kernel",         "External id", "external id",   "correlation", "src",
    "dst",        "kernel_backend", "Group size",  "In msg nelems", "backend",     "ranks",
    "cbid"};

/// Printable ASCII with whole escapes: what any reader of JSON takes.
bool is_sound_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20U || c >= 0x7FU) return false;
    if (c != '\\') continue;
    if (++i >= text.size() || std::string_view("\"\\/bfnrtu").find(text[i]) == std::string_view::npos) return false;
    if (text[i] != 'u') continue;
    const std::string_view digits = text.substr(i + 1, 4);
    const bool surrogate = digits.size() == 4 && (digits[0] == 'd' || digits[0] == 'D') && digits[1] >= '8';
    if (digits.size() < 4 || surrogate || !std::all_of(digits.begin(), digits.end(), [](char d) {
          return std::isxdigit(static_cast<unsigned char>(d)) != 0;
        })) {
      return false;
    }
    i += 4;
  }
  return true;
}

bool is_json_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < word.size() && std::isdigit(static_cast<unsigned char>(word[at])) != 0) ++at;
    return at - begin;
  };
  const bool zero = at < word.size() && word[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == word.size();
}

/// Copies JSON while it checks it; false at the first thing that is none.
class Copier {
 public:
  Copier(std::string_view text, std::string& out, std::size_t& removed) : text_(text), out_(out), removed_(removed) {}

  /// "[{…},{…}]" → the events, one a line; `first` tells whether none stands in the copy yet.
  bool events(bool& first) {
    if (!take('[')) return false;
    for (bool more = !peek(']'); more; more = take(',')) {
      out_ += first ? "\n" : ",\n";
      first = false;
      if (!event()) return false;
    }
    return take(']') && (skip_space(), at_ == text_.size());
  }

  /// Fields around the events: their members without the list, each with a comma before it.
  bool surroundings() {
    around_ = true;
    if (!take('{')) return false;
    for (bool more = !peek('}'); more; more = take(',')) {
      const std::optional<std::string_view> key = string_token();
      if (!key || !take(':')) return false;
      const std::size_t length = out_.size();
      out_ += ",\n\"" + shown_key(*key) + "\":";
      if (is_among(kept_fields, *key) && peek('"')) {
        const std::optional<std::string_view> text = string_token();
        if (!text) return false;
        put(*text, text->size() <= longest_word && !looks_private(*text));
      } else if (is_among(kept_fields, *key)) {
        const std::size_t removed = removed_;
        if (!value(*key, 0)) return false;
        if (*key == "traceEvents") {
          out_.resize(length);
          removed_ = removed;
        }
      } else {
        const std::size_t begin = out_.size(), removed = removed_;
        if (!value(*key, 0)) return false;
        out_.resize(begin);
        removed_ = removed + 1;
        out_ += removed_text;
      }
    }
    return take('}') && (skip_space(), at_ == text_.size());
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  bool peek(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }

  /// The inside of the string that follows, escapes as written.
  std::optional<std::string_view> string_token() {
    if (!take('"')) return std::nullopt;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size()) return std::nullopt;
    return text_.substr(begin, at_++ - begin);
  }

  std::string shown_key(std::string_view key) {
    if (is_sound_text(key) && !looks_private(key)) return std::string(key);
    ++removed_;
    return "removed";
  }

  void put(std::string_view text, bool keep) {
    if (keep && is_sound_text(text)) {
      out_ += '"';
      out_ += text;
      out_ += '"';
    } else {
      ++removed_;
      out_ += removed_text;
    }
  }

  /// Cat and phase decide what its name may be, wherever they stand in the event.
  bool look_ahead() {
    const std::size_t begin = at_;
    cat_ = ph_ = {};
    bool ok = take('{');
    for (bool more = ok && !peek('}'); ok && more; more = take(',')) {
      const std::optional<std::string_view> key = string_token();
      ok = key && take(':');
      if (ok && (*key == "cat" || *key == "ph") && peek('"')) {
        const std::optional<std::string_view> text = string_token();
        ok = text.has_value();
        if (ok) (*key == "cat" ? cat_ : ph_) = *text;
      } else {
        ok = ok && skip_value();
      }
    }
    ok = ok && take('}');
    at_ = begin;
    return ok;
  }

  bool skip_value() {
    std::size_t depth = 0;
    do {
      skip_space();
      if (at_ >= text_.size()) return false;
      const char c = text_[at_];
      if (c == '"') {
        if (!string_token()) return false;
      } else {
        depth += c == '{' || c == '[' ? 1 : 0;
        if ((c == '}' || c == ']') && depth-- == 0) return false;
        ++at_;
        if (depth == 0 && c != '}' && c != ']') {
          while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '}' && text_[at_] != ']') ++at_;
        }
      }
    } while (depth > 0);
    return true;
  }

  bool event() {
    if (!look_ahead() || !take('{')) return false;
    out_ += '{';
    const std::size_t begin = out_.size();
    for (bool more = !peek('}'); more; more = take(',')) {
      const std::optional<std::string_view> key = string_token();
      if (!key || !take(':')) return false;
      if (out_.size() > begin) out_ += ',';
      out_ += "\"" + shown_key(*key) + "\":";
      if (peek('"')) {
        const std::optional<std::string_view> text = string_token();
        if (!text) return false;
        put(*text, keeps_field(*key, *text));
      } else if (!value(*key, 0)) {
        return false;
      }
    }
    out_ += '}';
    return take('}');
  }

  [[nodiscard]] bool keeps_field(std::string_view key, std::string_view text) const {
    if (key == "name") return keeps_name(text);
    if (key == "pid" || key == "tid") return is_plain_value(text) || is_track_name(text);
    if (key == "ph" || key == "cat" || key == "id" || key == "bp" || key == "s") {
      return text.size() <= longest_word && all_of_charset(text, "_-. ");
    }
    return is_plain_value(text);
  }

  [[nodiscard]] bool keeps_name(std::string_view text) const {
    if (ph_ == "M") return all_of_charset(text, "_");  // "process_name": which name is told, not the name
    if (looks_private(text)) return false;
    switch (kineto::category_of(cat_)) {
      case Category::python:
        return false;
      case Category::annotation:
      case Category::gpu_annotation:
        return is_step_name(text);
      case Category::op:
        return all_of_charset(text, "_:.#<>()[]+*/-~ ,&") && text.size() <= 200 && !is_prose(text);
      case Category::other:
        return cat_ == "cuda_profiler_range" || (cat_.empty() && all_of_charset(text, "_[]"));
      default:
        return true;
    }
  }

  /// Operations are called "aten::mm" or "autograd::engine::evaluate_function: AddmmBackward0": few words.
  [[nodiscard]] static bool is_prose(std::string_view text) {
    constexpr std::ptrdiff_t most_spaces = 2;
    if (text.find("::") != std::string_view::npos || text.starts_with("## ")) return false;
    return std::count(text.begin(), text.end(), ' ') > most_spaces;
  }

  [[nodiscard]] bool keeps_argument(std::string_view key, std::string_view text) const {
    if (ph_ == "M") return is_plain_value(text) || is_track_name(text);
    if (is_plain_value(text)) return true;
    if (around_ && key == "name") return !looks_private(text);  // of a device
    return is_among(kept_arguments, key) && !looks_private(text);
  }

  bool value(std::string_view key, std::size_t depth) {
    if (depth > deepest_value) return false;
    if (peek('"')) {
      const std::optional<std::string_view> text = string_token();
      if (text) put(*text, keeps_argument(key, *text));
      return text.has_value();
    }
    if (take('[')) {
      out_ += '[';
      for (bool more = !peek(']'); more; more = take(',')) {
        if (out_.back() != '[') out_ += ',';
        if (!value(key, depth + 1)) return false;
      }
      out_ += ']';
      return take(']');
    }
    if (take('{')) return members(depth);
    return literal();
  }

  bool members(std::size_t depth) {
    out_ += '{';
    const std::size_t begin = out_.size();
    for (bool more = !peek('}'); more; more = take(',')) {
      const std::optional<std::string_view> key = string_token();
      if (!key || !take(':')) return false;
      if (out_.size() > begin) out_ += ',';
      out_ += "\"" + shown_key(*key) + "\":";
      if (!value(*key, depth + 1)) return false;
    }
    out_ += '}';
    return take('}');
  }

  /// A number or a word of JSON, as written; words that other writers use for numbers that are none become null.
  bool literal() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-' ||
                                  text_[at_] == '+' || text_[at_] == '.'))
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool no_number = word == "NaN" || word == "Infinity" || word == "-Infinity";
    if (!no_number && word != "true" && word != "false" && word != "null" && !is_json_number(word)) return false;
    out_ += no_number ? "null" : word;
    return true;
  }

  std::string_view text_;
  std::string& out_;
  std::size_t& removed_;
  std::size_t at_ = 0;
  std::string_view cat_, ph_;  ///< of the event
  bool around_ = false;        ///< it is the fields around the events that are copied
};

}  // namespace

Result<Redaction> redact_kineto(ByteSource& source, const ByteSink& sink, const std::string& file) {
  Redaction done;
  std::optional<Error> failed;
  std::string out;
  bool first = true;
  const auto flush = [&] {
    const Result<int> kept = failed ? Result<int>(0) : sink(out);
    if (!kept) failed = kept.error();
    out.clear();
  };
  kineto::WindowReader reader(source, done.stats);
  const auto take = [&](std::string_view window) {
    std::size_t removed = 0;
    bool none_yet = first;
    const std::size_t begin = out.size();
    if (out.empty() && first) out = "{\"traceEvents\": [";
    if (!Copier(window, out, removed).events(none_yet)) {
      out.resize(begin);
      return false;
    }
    first = none_yet;
    done.removed += removed;
    flush();
    return true;
  };
  if (const Result<int> read = reader.read(take, file); !read) return tl::unexpected(read.error());
  if (first) out = "{\"traceEvents\": [";
  out += "\n]";
  if (!reader.surroundings().empty()) {
    const std::size_t begin = out.size(), removed = done.removed;
    if (!Copier(reader.surroundings(), out, done.removed).surroundings()) {
      out.resize(begin);
      done.removed = removed;
      done.stats.drop("fields around the events that are not well-formed JSON", Severity::warning);
    }
  }
  out += "}\n";
  flush();
  if (failed) return tl::unexpected(*failed);
  return done;
}

}  // namespace corridor::profile
