// SPDX-License-Identifier: Apache-2.0
// Reads the report that trtllm-bench prints.
#include <array>
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

struct NumberKey {
  std::string_view name;
  std::optional<double> ResultBlock::*field;
  double factor = 1;
};
constexpr std::array<NumberKey, 14> number_keys{
    {{"number of requests", &ResultBlock::completed},
     {"number of concurrent requests", &ResultBlock::concurrency},
     {"average input length (tokens)", &ResultBlock::mean_input_len},
     {"average output length (tokens)", &ResultBlock::mean_output_len},
     {"request throughput (req/sec)", &ResultBlock::request_per_s},
     {"total output throughput (tokens/sec)", &ResultBlock::output_tok_s},
     {"total token throughput (tokens/sec)", &ResultBlock::total_tok_s},
     {"token throughput (tokens/sec)", &ResultBlock::output_tok_s},
     {"per user output throughput (tokens/sec/user)", &ResultBlock::per_user_tok_s},
     {"per user output speed (tps/user)", &ResultBlock::per_user_tok_s},
     {"per gpu output throughput (tokens/sec/gpu)", &ResultBlock::per_gpu_tok_s},
     {"per gpu output throughput (tps/gpu)", &ResultBlock::per_gpu_tok_s},
     {"total latency (ms)", &ResultBlock::duration_s, 1e-3},
     {"total latency (seconds)", &ResultBlock::duration_s}}};

struct IntegerKey {
  std::string_view name;
  std::optional<std::int64_t> ResultBlock::*field;
};
constexpr std::array<IntegerKey, 5> integer_keys{{{"tp size", &ResultBlock::tp},
                                                  {"pp size", &ResultBlock::pp},
                                                  {"ep size", &ResultBlock::ep},
                                                  {"max runtime batch size", &ResultBlock::max_num_seqs},
                                                  {"max runtime tokens", &ResultBlock::max_num_batched_tokens}}};

struct TextKey {
  std::string_view name;
  std::optional<std::string> ResultBlock::*field;
};
constexpr std::array<TextKey, 4> text_keys{{{"model", &ResultBlock::model},
                                            {"dtype", &ResultBlock::dtype},
                                            {"kv cache dtype", &ResultBlock::kv_cache_dtype},
                                            {"quantization", &ResultBlock::quantization}}};

/// Which spread the report is in: "[Latency] P50" lines name only the statistic.
struct Part {
  std::string_view mark;
  Spread ResultBlock::*field;
};
constexpr std::array<Part, 4> parts{{{"request latency", &ResultBlock::e2e_s},
                                     {"time-to-first-token", &ResultBlock::ttft_s},
                                     {"time-per-output-token", &ResultBlock::tpot_s},
                                     {"inter-token latency", &ResultBlock::itl_s}}};

class TrtllmReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    if (contains(line.text, "PERFORMANCE OVERVIEW") || contains(line.text, " BACKEND") ||
        contains(line.text, "WORLD + RUNTIME INFORMATION") || contains(line.text, "REQUEST DETAILS") ||
        contains(line.text, "ENGINE DETAILS")) {
      if (!trim(line.text).starts_with("=")) return false;
      if (contains(line.text, " BACKEND") || contains(line.text, "ENGINE DETAILS")) finish();
      open(line);
      return true;
    }
    const auto pair = labelled(line.text);
    if (open_ && contains(line.text, "Breakdown")) return choose_part(lower(line.text));
    if (!pair) return false;
    return (open_ && (read_text(*pair) || read_integer(*pair) || read_statistic(*pair))) || read_average(line, *pair) ||
           read_number(line, *pair);
  }

  void finish() override {
    if (open_ && measured_) recorder_.result(std::move(block_));
    open_ = false;
    measured_ = false;
    part_ = nullptr;
  }

 private:
  void open(const Line& line) {
    if (open_) return;
    block_ = ResultBlock{};
    block_.kind = ResultKind::trtllm_bench;
    block_.line = line.number;
    open_ = true;
  }

  bool choose_part(const std::string& text) {
    part_ = nullptr;
    for (const Part& part : parts) {
      if (contains(text, part.mark)) part_ = part.field;
    }
    return true;
  }

  bool read_text(const Labelled& pair) {
    for (const TextKey& key : text_keys) {
      if (key.name != pair.key || pair.value.empty()) continue;
      if (lower(pair.value) != "none") block_.*key.field = shortened(pair.value, 200);
      return true;
    }
    return false;
  }

  bool read_integer(const Labelled& pair) {
    for (const IntegerKey& key : integer_keys) {
      const auto value = key.name == pair.key ? whole_integer(pair.value) : std::nullopt;
      if (value && *value >= 0) {
        block_.*key.field = *value;
        return true;
      }
    }
    return false;
  }

  /// "P99    : 812.5" of the breakdown; in milliseconds.
  bool read_statistic(const Labelled& pair) {
    const auto field = statistic(pair.key);
    const auto value = whole_number(pair.value);
    if (field == nullptr || part_ == nullptr || !value) return false;
    (block_.*part_).*field = *value * 1e-3;
    return true;
  }

  /// "Average time-to-first-token [TTFT] (ms)".
  bool read_average(const Line& line, const Labelled& pair) {
    if (!pair.key.starts_with("average ") || !pair.key.ends_with("(ms)")) return false;
    const auto value = whole_number(pair.value);
    for (const Part& part : parts) {
      if (!contains(pair.key, part.mark) || !value) continue;
      open(line);
      (block_.*part.field).mean = *value * 1e-3;
      measured_ = true;
      return true;
    }
    return false;
  }

  bool read_number(const Line& line, const Labelled& pair) {
    for (const NumberKey& key : number_keys) {
      if (key.name != pair.key) continue;
      // Names with a unit belong to this report alone and may open it.
      const bool unmistakable = contains(key.name, "/sec") || contains(key.name, "tps/");
      const auto value = whole_number(pair.value);
      if ((!open_ && !unmistakable) || !value) return false;
      open(line);
      keep_last(block_.*key.field, *value * key.factor, pair.key, recorder_);
      measured_ = measured_ || unmistakable;
      return true;
    }
    return false;
  }

  ResultBlock block_;
  bool open_ = false;
  bool measured_ = false;
  Spread ResultBlock::*part_ = nullptr;
};

}  // namespace

std::unique_ptr<BlockReader> make_trtllm_reader(Recorder& recorder) {
  return std::make_unique<TrtllmReader>(recorder);
}

}  // namespace corridor::profile
