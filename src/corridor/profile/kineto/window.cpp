// SPDX-License-Identifier: Apache-2.0
// The buffer behind WindowReader, the guess of a cut and the scanner that needs no guess.
#include "corridor/profile/kineto/window.h"

#include <algorithm>
#include <optional>

namespace corridor::profile::kineto {
namespace {

constexpr std::size_t largest_event = std::size_t{32} << 20U;      // bytes; a longer one is dropped unread
constexpr std::size_t most_surroundings = std::size_t{16} << 20U;  // bytes kept of what stands around the array
constexpr std::size_t most_guesses = 8;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Follows braces and strings through a text.
class Scanner {
 public:
  /// Takes one more character; true when the outermost object closed with it.
  bool closes(char c) {
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
      return false;
    }
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      return --depth_ == 0;
    }
    return false;
  }

 private:
  bool in_string_ = false, escaped_ = false;
  std::size_t depth_ = 0;
};

/// Length of the object at the start of `text`; empty when it does not close inside.
std::optional<std::size_t> object_length(std::string_view text) {
  Scanner scanner;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (scanner.closes(text[i])) return i + 1;
  }
  return std::nullopt;
}

/// Bytes of spaces and commas at the start of `text`.
std::size_t separators(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (is_space(text[n]) || text[n] == ',')) ++n;
  return n;
}

/// Where the next event seems to begin: at "{" behind a comma; the end of `text` when nowhere.
std::size_t next_border(std::string_view text) {
  for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',', comma + 1)) {
    const std::size_t at = comma + separators(text.substr(comma));
    if (at < text.size() && text[at] == '{') return at;
  }
  return text.size();
}

/// Where an event surely begins: at a "{" behind a comma with one of the keys that events begin with; npos when
/// nowhere.
std::size_t sure_border(std::string_view text) {
  for (std::size_t at = text.find(','); at != std::string_view::npos; at = text.find(',', at + 1)) {
    const std::size_t brace = at + separators(text.substr(at));
    if (brace >= text.size() || text[brace] != '{') continue;
    std::size_t key = brace + 1;
    while (key < text.size() && is_space(text[key])) ++key;
    for (const std::string_view first : {"\"ph\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\""}) {
      if (text.substr(key).starts_with(first)) return brace;
    }
  }
  return std::string_view::npos;
}

/// The last place before `end` that looks like the end of an event: behind "}" of "} , {".
std::optional<std::size_t> guess_cut(std::string_view text, std::size_t end) {
  while (end > 0) {
    const std::size_t comma = text.rfind(',', end - 1);
    if (comma == std::string_view::npos || comma == 0) return std::nullopt;
    end = comma;
    std::size_t before = comma, after = comma + 1;
    while (before > 0 && is_space(text[before - 1])) --before;
    while (after < text.size() && is_space(text[after])) ++after;
    if (before > 0 && text[before - 1] == '}' && after < text.size() && text[after] == '{') return before;
  }
  return std::nullopt;
}

}  // namespace

WindowReader::WindowReader(ByteSource& source, ImportStats& stats, std::size_t window_bytes)
    : source_(source), stats_(stats), window_bytes_(window_bytes), buffer_(1, ' ') {}

/// Brings the unread part to `wanted` bytes unless the source ends before; keeps padding behind the buffer's end.
bool WindowReader::fill(std::size_t wanted) {
  if (rest().size() >= wanted || ended_) return !rest().empty();
  if (begin_ > 1) {
    buffer_.erase(1, begin_ - 1);
    begin_ = 1;
  }
  buffer_.reserve(wanted + 2 + window_padding);
  while (!ended_ && rest().size() < wanted) {
    const Result<std::string_view> piece = source_.next(wanted - rest().size());
    if (!piece) {
      stats_.drop("the rest of the file: " + piece.error().what, Severity::loss);
      ended_ = true;
    } else if (piece->empty()) {
      ended_ = true;
    } else {
      buffer_ += *piece;
      buffer_.reserve(buffer_.size() + window_padding);
    }
  }
  return !rest().empty();
}

bool WindowReader::find_array() {
  fill(window_bytes_);
  std::size_t first = 0;
  if (rest().starts_with("\xEF\xBB\xBF")) first = 3;
  while (first < rest().size() && is_space(rest()[first])) ++first;
  if (first < rest().size() && rest()[first] == '[') {
    begin_ += first + 1;
    return true;
  }
  constexpr std::string_view key = "\"traceEvents\"";
  std::size_t from = 0;
  while (rest().size() < most_surroundings || from == 0) {
    const std::size_t at = rest().find(key, from);
    std::size_t after = at == std::string_view::npos ? at : at + key.size();
    while (after < rest().size() && (is_space(rest()[after]) || rest()[after] == ':')) ++after;
    if (after < rest().size() && rest()[after] == '[') {
      surroundings_ = std::string(rest().substr(first, after - first)) + "[]";
      begin_ += after + 1;
      return true;
    }
    if (at != std::string_view::npos && after >= rest().size() && !ended_) {
      from = at;  // what follows the key is not read yet
      fill(rest().size() + window_bytes_);
      continue;
    }
    if (at != std::string_view::npos) {
      from = at + key.size();
      continue;
    }
    if (ended_) return false;
    from = rest().size() > key.size() ? rest().size() - key.size() : 0;
    fill(rest().size() + window_bytes_);
  }
  return false;
}

/// Gives the first `length` unread bytes to `take` as an array of events.
bool WindowReader::offer(const Take& take, std::size_t length) {
  const char before = buffer_[begin_ - 1];
  buffer_[begin_ - 1] = '[';
  const std::size_t end = begin_ + length;
  if (end == buffer_.size()) buffer_ += ' ';
  const char after = buffer_[end];
  buffer_[end] = ']';
  buffer_.reserve(buffer_.size() + window_padding);
  const bool ok = take(std::string_view(buffer_).substr(begin_ - 1, length + 2));
  buffer_[end] = after;
  buffer_[begin_ - 1] = before;
  if (ok) begin_ = end;
  return ok;
}

/// One window up to a guessed cut. False when no guess near its end holds.
bool WindowReader::take_guessed(const Take& take) {
  if (ended_) return false;  // the array ends in this piece: it is scanned
  std::size_t end = std::min(rest().size(), window_bytes_);
  for (std::size_t i = 0; i < most_guesses; ++i) {
    const std::optional<std::size_t> cut = guess_cut(rest(), end);
    if (!cut) return false;
    if (offer(take, *cut)) return true;
    end = *cut;
  }
  return false;
}

/// One event alone; a damaged one is counted and left behind.
void WindowReader::take_one(const Take& take, std::size_t length) {
  if (offer(take, length) || skip_damaged(length)) return;
  stats_.drop("events that are not well-formed JSON", Severity::loss, rest().substr(0, 80));
  begin_ += length;
}

/// A missing quote or bracket makes whole events look like parts of one: goes on at the first that surely begins
/// within the next `length` bytes. False when there is none, or when this was done for too many bytes.
bool WindowReader::skip_damaged(std::size_t length) {
  if (length > resync_bytes_) return false;
  const std::size_t border = sure_border(rest().substr(0, length));
  if (border == std::string_view::npos) return false;
  resync_bytes_ -= length;
  stats_.drop("events that are not well-formed JSON", Severity::loss, rest().substr(0, 80));
  begin_ += border;
  return true;
}

/// All whole events of the unread part, by scanning. False at the end of the array or of the file.
bool WindowReader::take_scanned(const Take& take) {
  std::size_t whole = 0;
  bool strays = false;
  const std::string_view text = rest().substr(0, window_bytes_);
  while (true) {
    const std::size_t at = whole + separators(text.substr(whole));
    if (at >= text.size()) break;
    if (text[at] != '{') {
      array_ended_ = text[at] == ']';
      strays = !array_ended_;
      break;
    }
    const std::optional<std::size_t> length = object_length(text.substr(at));
    if (!length) break;
    whole = at + *length;
  }
  if (whole > 0) {
    if (!offer(take, whole)) {
      // Something inside is damaged: take the events one by one. Where the array ends is then not known either.
      array_ended_ = false;
      for (const std::size_t end = begin_ + whole; begin_ < end;) {
        begin_ += separators(rest());
        const std::optional<std::size_t> length = object_length(rest());
        if (begin_ >= end || !length) break;
        take_one(take, *length);
      }
      return true;
    }
    return !array_ended_;
  }
  if (array_ended_) {
    begin_ += separators(rest());
    return false;
  }
  if (strays) {
    stats_.drop("text in the list of events that is no event", Severity::loss, rest().substr(0, 80));
    begin_ += next_border(rest());
    careful_bytes_ = window_bytes_;
    return true;
  }
  if (ended_ && text.size() == rest().size()) {
    begin_ += separators(rest());
    if (skip_damaged(rest().size())) return true;
    const std::string_view left = rest();
    stats_.drop(left.empty() ? "the end of the list of events: the file is cut off"
                             : "an event cut off at the end of the file, and what followed it",
                Severity::loss, left.substr(0, 80));
    begin_ = buffer_.size();
    return false;
  }
  drop_oversized();
  return true;
}

/// The event at the front does not end inside the window: a larger window is tried, then it is dropped unread.
void WindowReader::drop_oversized() {
  begin_ += separators(rest());
  if (rest().size() < largest_event) {
    fill(std::min(largest_event, rest().size() * 2 + window_bytes_));
    window_bytes_ = std::max(window_bytes_, rest().size());
    return;
  }
  if (skip_damaged(rest().size())) return;
  stats_.drop("events larger than 32 MiB", Severity::loss, rest().substr(0, 80));
  Scanner scanner;
  while (fill(window_bytes_)) {
    const std::string_view text = rest();
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (scanner.closes(text[i])) {
        begin_ += i + 1;
        return;
      }
    }
    begin_ = buffer_.size();
  }
}

void WindowReader::keep_tail() {
  begin_ += separators(rest());
  if (surroundings_.empty()) return;
  if (!rest().empty() && rest().front() == ']') ++begin_;
  fill(most_surroundings);
  if (rest().size() >= most_surroundings) {
    stats_.drop("fields behind the events, more than 16 MiB", Severity::note);
    surroundings_ += "}";
    return;
  }
  surroundings_ += rest();
}

Result<int> WindowReader::read(const Take& take, const std::string& file) {
  if (!find_array()) {
    return fail("has no list of trace events", file, "a Chrome trace has \"traceEvents\": [ … ], or is one array");
  }
  while (!array_ended_) {
    if (rest().size() < window_bytes_ / 2) fill(window_bytes_);
    begin_ += separators(rest());
    // Guessing reads a whole window: behind a stray text it would be done in vain for each of its neighbours.
    const std::size_t before = rest().size();
    if (careful_bytes_ == 0 && take_guessed(take)) continue;
    if (!take_scanned(take)) break;
    const std::size_t taken = before > rest().size() ? before - rest().size() : 0;
    careful_bytes_ -= std::min(careful_bytes_, taken);
  }
  keep_tail();
  return 0;
}

}  // namespace corridor::profile::kineto
