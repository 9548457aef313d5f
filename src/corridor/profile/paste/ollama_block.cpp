// SPDX-License-Identifier: Apache-2.0
// Reads the statistics that `ollama run --verbose` prints after an answer.
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

class OllamaReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    const auto pair = labelled(line.text);
    if (!pair) return false;
    const std::string& key = pair->key;
    if (key == "total duration") {
      finish();
      return duration(line, &ResultBlock::duration_s, *pair);
    }
    if (key == "load duration") return duration(line, &ResultBlock::load_s, *pair);
    if (key == "prompt eval duration") return duration(line, &ResultBlock::prefill_s, *pair);
    if (key == "eval duration") return duration(line, &ResultBlock::decode_s, *pair);
    if (key == "prompt eval count") return amount(line, &ResultBlock::input_tokens, *pair, "token");
    if (key == "eval count") return amount(line, &ResultBlock::output_tokens, *pair, "token");
    if (key == "prompt eval rate") return amount(line, &ResultBlock::prefill_tok_s, *pair, "tokens/s");
    if (key == "eval rate") {
      const bool read = amount(line, &ResultBlock::decode_tok_s, *pair, "tokens/s");
      if (read) finish();  // the last line of the block
      return read;
    }
    return false;
  }

  void finish() override {
    if (open_) recorder_.result(std::move(block_));
    open_ = false;
  }

 private:
  ResultBlock& block(const Line& line) {
    if (!open_) {
      block_ = ResultBlock{};
      block_.kind = ResultKind::ollama_verbose;
      block_.line = line.number;
      open_ = true;
    }
    return block_;
  }

  bool duration(const Line& line, std::optional<double> ResultBlock::*field, const Labelled& pair) {
    const auto seconds = seconds_of(pair.value);
    if (seconds) keep_last(block(line).*field, *seconds, pair.key, recorder_);
    return seconds.has_value();
  }

  bool amount(const Line& line, std::optional<double> ResultBlock::*field, const Labelled& pair,
              std::string_view unit) {
    const auto number = leading_number(pair.value);
    if (!number || !trim(number->rest).starts_with(unit)) return false;
    keep_last(block(line).*field, number->value, pair.key, recorder_);
    return true;
  }

  ResultBlock block_;
  bool open_ = false;
};

}  // namespace

std::unique_ptr<BlockReader> make_ollama_reader(Recorder& recorder) {
  return std::make_unique<OllamaReader>(recorder);
}

}  // namespace corridor::profile
