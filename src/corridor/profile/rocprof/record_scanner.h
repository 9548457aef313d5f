// SPDX-License-Identifier: Apache-2.0
// Cuts the objects of chosen lists out of JSON text that comes in pieces, so that a file of any size needs no more
// memory than one object.
//
//   RecordScanner scanner({"tool/agents"}, [](std::string_view path, std::string_view object) { … });
//   for (each piece) scanner.feed(piece);              // {"tool":[{"agents":[{…},{…}]}]} → two calls
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::profile::rocprof {

class RecordScanner {
 public:
  /// `object` is followed by `padding` readable bytes, as simdjson asks for.
  using Take = std::function<void(std::string_view path, std::string_view object)>;
  static constexpr std::size_t padding = 64;
  static constexpr std::size_t most_object_bytes = std::size_t{16} << 20U;  ///< longer objects are passed over

  /// `lists`: paths of keys joined by '/'; lists between them add nothing.
  RecordScanner(std::vector<std::string> lists, Take take);

  void feed(std::string_view bytes);

  /// Inside of something: the text was cut off.
  [[nodiscard]] bool open() const { return depth_ > 0; }
  [[nodiscard]] std::size_t passed_over() const { return passed_over_; }
  /// Which element of a list in the outermost object is being read, from 1.
  [[nodiscard]] std::size_t element() const { return element_; }

 private:
  struct Level {
    bool is_list = false;
    std::string path;
  };
  static constexpr std::size_t most_levels = 8;  // deeper ones are only counted
  static constexpr std::size_t longest_key = 64;

  [[nodiscard]] bool open_level(bool is_list);  ///< true when an object to keep begins here
  void close_level();
  void keep(std::string_view bytes);
  void end_capture();
  [[nodiscard]] bool is_wanted(const std::string& path) const;
  std::size_t skip_string(std::string_view bytes, std::size_t at);

  std::vector<std::string> lists_;
  Take take_;
  std::vector<Level> levels_;
  std::uint64_t depth_ = 0;
  bool in_string_ = false, escaped_ = false, key_next_ = false, in_key_ = false;
  std::string key_;
  bool capturing_ = false, too_long_ = false;
  std::uint64_t capture_depth_ = 0;
  std::string captured_path_, object_;
  std::size_t passed_over_ = 0, element_ = 0;
};

}  // namespace corridor::profile::rocprof
