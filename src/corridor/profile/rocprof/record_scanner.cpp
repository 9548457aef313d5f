// SPDX-License-Identifier: Apache-2.0
// A scan by bytes that knows strings, depth and the keys of the outer levels; the inside of an object is not judged
// here.
#include "corridor/profile/rocprof/record_scanner.h"

#include <algorithm>
#include <utility>

namespace corridor::profile::rocprof {

RecordScanner::RecordScanner(std::vector<std::string> lists, Take take)
    : lists_(std::move(lists)), take_(std::move(take)) {}

bool RecordScanner::is_wanted(const std::string& path) const {
  return std::find(lists_.begin(), lists_.end(), path) != lists_.end();
}

void RecordScanner::feed(std::string_view bytes) {
  std::size_t from = 0;  // of an object to keep: its first byte that is not kept yet
  for (std::size_t at = 0; at < bytes.size();) {
    if (in_string_) {
      at = skip_string(bytes, at);
      continue;
    }
    const char c = bytes[at++];
    if (c == '"') {
      in_string_ = true;
      in_key_ = key_next_;
      if (in_key_) key_.clear();
    } else if (c == '{' || c == '[') {
      if (open_level(c == '[')) from = at - 1;
    } else if (c == '}' || c == ']') {
      if (capturing_ && depth_ == capture_depth_) {
        keep(bytes.substr(from, at - from));
        end_capture();
      }
      close_level();
    } else if (c == ',') {
      key_next_ = !levels_.empty() && levels_.size() == depth_ && !levels_.back().is_list;
    }
  }
  if (capturing_) keep(bytes.substr(from));
}

/// Moves to just behind the closing quote, or to the end of the piece.
std::size_t RecordScanner::skip_string(std::string_view bytes, std::size_t at) {
  while (at < bytes.size()) {
    const char c = bytes[at++];
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      if (in_key_) key_next_ = false;
      in_key_ = false;
      return at;
    }
    if (in_key_ && key_.size() <= longest_key) key_ += c;
  }
  return at;
}

bool RecordScanner::open_level(bool is_list) {
  const bool known = levels_.size() == depth_;
  ++depth_;
  key_next_ = false;
  if (!known || depth_ > most_levels) return false;
  Level level{is_list, {}};
  const bool in_list = !levels_.empty() && levels_.back().is_list;
  if (!levels_.empty()) {
    level.path = levels_.back().path;
    if (!in_list) level.path += (level.path.empty() ? "" : "/") + key_;
  }
  constexpr std::uint64_t element_depth = 3;  // outermost object, list, element
  if (!is_list && in_list && depth_ == element_depth) ++element_;
  levels_.push_back(std::move(level));
  key_next_ = !is_list;
  if (capturing_ || is_list || !in_list || !is_wanted(levels_.back().path)) return false;
  capturing_ = true;
  too_long_ = false;
  capture_depth_ = depth_;
  captured_path_ = levels_.back().path;
  object_.clear();
  return true;
}

void RecordScanner::keep(std::string_view bytes) {
  if (too_long_) return;
  too_long_ = object_.size() + bytes.size() > most_object_bytes;
  if (!too_long_) object_ += bytes;
}

void RecordScanner::end_capture() {
  capturing_ = false;
  if (too_long_) {
    ++passed_over_;
    return;
  }
  object_.reserve(object_.size() + padding);
  take_(captured_path_, object_);
}

void RecordScanner::close_level() {
  if (depth_ == 0) return;
  if (levels_.size() == depth_) levels_.pop_back();
  --depth_;
  key_next_ = false;
}

}  // namespace corridor::profile::rocprof
