// SPDX-License-Identifier: Apache-2.0
// The one interface of the readers of result blocks and log lines, and what "name: value" readers share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/paste_lines.h"
#include "corridor/profile/paste/recorder.h"

namespace corridor::profile {

/// Reads lines of one format, one after another, and records what it completes.
class BlockReader {
 public:
  explicit BlockReader(Recorder& recorder) : recorder_(recorder) {}
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  virtual ~BlockReader() = default;

  /// True when the line belongs to this format.
  virtual bool feed(const Line& line) = 0;
  /// Records a block that is still open.
  virtual void finish() {}

 protected:
  Recorder& recorder_;
};

/// Readers in the order in which they are asked.
[[nodiscard]] std::unique_ptr<BlockReader> make_serving_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_offline_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_trtllm_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_ollama_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_llama_table_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_aiperf_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_nvidia_smi_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_vllm_log_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_sglang_log_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_trtllm_log_reader(Recorder& recorder);
[[nodiscard]] std::unique_ptr<BlockReader> make_llama_log_reader(Recorder& recorder);

/// "Mean TTFT (ms):   71.54" → key "mean ttft (ms)", value "71.54". Log stamps, quote marks and bullets in front are
/// cut.
struct Labelled {
  std::string key;
  std::string_view value;
};
[[nodiscard]] std::optional<Labelled> labelled(std::string_view line);

/// Sets a field; a different earlier value is replaced and noted.
void keep_last(std::optional<double>& field, double value, std::string_view label, Recorder& recorder);

/// The field of a Spread that "mean", "median", "p99", "std" … name; null when it is not one.
[[nodiscard]] std::optional<double> Spread::*statistic(std::string_view word);

}  // namespace corridor::profile
