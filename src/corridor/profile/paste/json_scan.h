// SPDX-License-Identifier: Apache-2.0
// Reads one JSON object piece by piece and keeps its scalars by path; lists are counted, not kept, so that a result
// file of any size needs little memory.
//
//   JsonScan scan;
//   scan.feed(R"({"engine": {"tp": 4}, "itls": [[0.1], [0.2]]})");
//   scan.fields().numbers["engine.tp"]   // 4
//   scan.fields().lists["itls"]          // 2
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::profile {

/// Named scalars of one record: of a JSON object by path, of a CSV or SQL row by column.
struct RecordFields {
  /// "performance.request_throughput_req_s"; of a list the first element stands at "model_names[0]". The words NaN and
  /// Infinity, which Python writes, are no numbers and are left out; so are numbers below 0 and above 1e18.
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> truths;
  std::map<std::string, std::size_t> lists;  ///< elements of each outermost list
  std::size_t left_out = 0;                  ///< scalars that were one too many

  [[nodiscard]] std::size_t size() const { return numbers.size() + texts.size() + truths.size(); }
};

class JsonScan {
 public:
  enum class State { before, inside, closed, broken };

  /// Takes bytes up to the brace that closes the object; returns how many. Blanks before the object are passed over.
  std::size_t feed(std::string_view text);
  [[nodiscard]] State state() const { return state_; }

  [[nodiscard]] const RecordFields& fields() const { return fields_; }

 private:
  enum class Want { value, key, colon, next };
  struct Frame {
    bool object = true;
    std::size_t path = 0;  ///< length of the path of this object or list
    std::size_t elements = 0;
  };

  void take(char c);
  void take_in_string(char c);
  void take_structure(char c);
  void open(bool object);
  void close(bool object);
  void end_string();
  void end_word();
  void begin_value();
  void break_off() { state_ = State::broken; }
  [[nodiscard]] bool kept() const;
  /// Room for one more scalar; counts it as left out when there is none.
  [[nodiscard]] bool room();

  State state_ = State::before;
  Want want_ = Want::value;
  std::vector<Frame> frames_;
  std::string path_;  ///< of the value that is read
  std::string token_;
  bool in_string_ = false, escaped_ = false, in_word_ = false;
  int unicode_digits_ = 0;  ///< of \uXXXX still to come
  unsigned unicode_ = 0;
  std::size_t list_depth_ = 0;
  RecordFields fields_;
};

}  // namespace corridor::profile
