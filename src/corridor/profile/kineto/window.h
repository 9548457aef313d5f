// SPDX-License-Identifier: Apache-2.0
// Cuts the event array of a Chrome trace into windows that end between two events, whatever the size of the file.
//
// A cut is guessed at "}, {" near the end of the window and then proven: only a window that parses as a whole is
// taken. Where no guess holds (a damaged event, an event larger than a window) a scanner goes byte by byte.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "corridor/profile/byte_source.h"
#include "corridor/profile/import_stats.h"

namespace corridor::profile::kineto {

/// Zero bytes that follow a window, for a parser that reads ahead.
inline constexpr std::size_t window_padding = 64;

/// Where an array of events begins and ends inside its file.
class WindowReader {
 public:
  /// Takes one window "[{…},{…}]" (readable `window_padding` bytes beyond); says whether all of it was well formed up
  /// to its last bracket. On `false` nothing of it may have been kept.
  using Take = std::function<bool(std::string_view window)>;

  /// Windows that fit into the processor's caches are read fastest.
  WindowReader(ByteSource& source, ImportStats& stats, std::size_t window_bytes = std::size_t{1} << 20U);

  /// Reads all events. Fails only when there is no event array in the file, or nothing could be unpacked.
  [[nodiscard]] Result<int> read(const Take& take, const std::string& file);
  /// What stood around the array, as one object with an empty array in its place; empty for a bare array.
  [[nodiscard]] const std::string& surroundings() const { return surroundings_; }

 private:
  [[nodiscard]] std::string_view rest() const { return std::string_view(buffer_).substr(begin_); }
  bool fill(std::size_t wanted);
  bool find_array();
  bool take_guessed(const Take& take);
  bool take_scanned(const Take& take);
  void take_one(const Take& take, std::size_t length);
  bool offer(const Take& take, std::size_t length);
  bool skip_damaged(std::size_t length);
  void drop_oversized();
  void keep_tail();

  ByteSource& source_;
  ImportStats& stats_;
  std::size_t window_bytes_;
  std::string buffer_;  ///< unread bytes begin at begin_; at least one byte stands before them
  std::size_t begin_ = 1;
  std::size_t careful_bytes_ = 0;                     ///< still to be scanned, not guessed
  std::size_t resync_bytes_ = std::size_t{1} << 30U;  ///< still to be spent on finding events behind damage
  bool ended_ = false;                                ///< the source gave its last byte
  bool array_ended_ = false;
  std::string surroundings_;
};

}  // namespace corridor::profile::kineto
