// SPDX-License-Identifier: Apache-2.0
// Fills a serve and a client command from the words after a program's name.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/flag_table.h"
#include "corridor/profile/paste/program.h"
#include "corridor/profile/paste/serve_command.h"
#include "corridor/profile/paste/shell_words.h"

namespace corridor::profile {

class ArgumentReader {
 public:
  explicit ArgumentReader(Program program);

  /// Reads words until the command ends; returns the index of the first word behind it.
  std::size_t read(const std::vector<Word>& words);

  /// False when nothing but the program's name was understood: a mention in prose, not a command.
  [[nodiscard]] bool is_command() const;

  ServeCommand serve;
  ClientCommand client;
  std::vector<std::string> ignored;  ///< flags that are not known, or whose value cannot be
  std::vector<std::string> notes;    ///< contradictions

 private:
  struct Argument {
    std::string_view name;
    std::string_view value;
    bool has_value = false;  ///< written as --name=value or -tp2
  };

  void read_flag(const std::vector<Word>& words, std::size_t& at);
  void read_unknown(const Argument& argument, const std::vector<Word>& words, std::size_t& at);
  [[nodiscard]] bool read_plain(const std::vector<Word>& words, std::size_t at);
  [[nodiscard]] const Flag* find(std::string_view name) const;
  [[nodiscard]] const Flag* find_attached(Argument& argument) const;
  /// False when the value cannot be of this flag.
  [[nodiscard]] bool assign(const Flag& flag, std::string_view value);
  [[nodiscard]] bool assign_integer(std::optional<std::int64_t>& field, std::string_view value);
  [[nodiscard]] bool assign_number(std::optional<double>& field, std::string_view value, double largest);
  [[nodiscard]] bool assign_text(std::optional<std::string>& field, std::string_view value);
  [[nodiscard]] bool assign_switch(std::optional<bool>& field, std::string_view value, bool when_present);
  [[nodiscard]] bool assign_special(Special special, std::string_view value);
  [[nodiscard]] bool assign_speculation(std::string_view json);
  template <class T, class V>
  bool set(std::string_view what, std::optional<T>& field, V value);

  Program program_;
  std::vector<std::span<const Flag>> tables_;
  std::string_view flag_;  // the one being read
  std::size_t known_ = 0;
  std::size_t plain_words_ = 0;
};

}  // namespace corridor::profile
