// SPDX-License-Identifier: Apache-2.0
// Reads the "Serving Benchmark Result" of vllm bench serve and of SGLang's bench_serving.
#include <array>
#include <string>
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

struct Key {
  std::string_view name;
  std::optional<double> ResultBlock::*field = nullptr;  ///< null: known, and not kept
  bool opens = false;                                   ///< unmistakable: may begin a block without its title
};

constexpr std::array<Key, 26> keys{{{"successful requests", &ResultBlock::completed, true},
                                    {"failed requests", &ResultBlock::failed},
                                    {"maximum request concurrency", &ResultBlock::max_concurrency},
                                    {"max request concurrency", &ResultBlock::max_concurrency},
                                    {"request rate configured (rps)", &ResultBlock::request_rate},
                                    {"traffic request rate", &ResultBlock::request_rate},
                                    {"benchmark duration (s)", &ResultBlock::duration_s, true},
                                    {"total input tokens", &ResultBlock::input_tokens, true},
                                    {"total input text tokens", nullptr},
                                    {"total input vision tokens", nullptr},
                                    {"total generated tokens", &ResultBlock::output_tokens, true},
                                    {"total generated tokens (retokenized)", nullptr},
                                    {"last generation throughput (tok/s)", nullptr},
                                    {"request throughput (req/s)", &ResultBlock::request_per_s, true},
                                    {"request goodput (req/s)", nullptr},
                                    {"input token throughput (tok/s)", &ResultBlock::input_tok_s, true},
                                    {"output token throughput (tok/s)", &ResultBlock::output_tok_s, true},
                                    {"peak output token throughput (tok/s)", &ResultBlock::peak_output_tok_s},
                                    {"peak concurrent requests", nullptr},
                                    {"total token throughput (tok/s)", &ResultBlock::total_tok_s, true},
                                    {"concurrency", &ResultBlock::concurrency},
                                    {"accept length", &ResultBlock::accept_length},
                                    {"acceptance length", &ResultBlock::accept_length},
                                    {"drafts", nullptr},
                                    {"draft tokens", nullptr},
                                    {"accepted tokens", nullptr}}};

struct Metric {
  std::string_view name;
  Spread ResultBlock::*field;
};
constexpr std::array<Metric, 6> metrics{{{"ttft", &ResultBlock::ttft_s},
                                         {"tpot", &ResultBlock::tpot_s},
                                         {"itl", &ResultBlock::itl_s},
                                         {"e2el", &ResultBlock::e2e_s},
                                         {"e2e latency", &ResultBlock::e2e_s},
                                         {"latency", &ResultBlock::e2e_s}}};

/// "p99 ttft (ms)" → which spread, which statistic, and the factor to seconds.
struct Statistic {
  Spread ResultBlock::*spread;
  std::optional<double> Spread::*field;
  double to_seconds;
};

std::optional<Statistic> statistic_of(std::string_view key) {
  const std::size_t space = key.find(' ');
  const std::size_t unit = key.rfind(" (");
  if (space == std::string_view::npos || unit == std::string_view::npos || unit <= space) return std::nullopt;
  const auto field = statistic(key.substr(0, space));
  const std::string_view unit_name = key.substr(unit + 1);
  const double factor = unit_name == "(ms)" ? 1e-3 : unit_name == "(s)" ? 1 : 0;
  if (field == nullptr || factor == 0) return std::nullopt;
  for (const Metric& metric : metrics) {
    if (metric.name == key.substr(space + 1, unit - space - 1)) return Statistic{metric.field, field, factor};
  }
  return std::nullopt;
}

class ServingReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    if (contains(line.text, "Serving Benchmark Result") || contains(line.text, "Throughput Benchmark Result")) {
      finish();
      open(line);
      sglang_ = contains(line.text, "Offline Throughput Benchmark");
      return true;
    }
    if (open_ && is_rule(line.text)) {
      if (filled_ && !contains(line.text, "-")) finish();
      return true;
    }
    const auto pair = labelled(line.text);
    return pair && (read_text(*pair) || read_statistic(line, *pair) || read_key(line, *pair));
  }

  void finish() override {
    if (open_ && filled_) {
      block_.kind = sglang_ ? ResultKind::sglang_bench_serving : ResultKind::vllm_bench_serve;
      recorder_.result(std::move(block_));
    }
    open_ = false;
    filled_ = false;
    sglang_ = false;
  }

 private:
  void open(const Line& line) {
    block_ = ResultBlock{};
    block_.line = line.number;
    open_ = true;
  }

  /// "=====" and "-----Time per Output Token (excl. 1st token)-----".
  static bool is_rule(std::string_view text) {
    const std::string_view rule = trim(text);
    return rule.starts_with("=====") || rule.starts_with("-----");
  }

  bool read_text(const Labelled& pair) {
    if (!open_ || pair.key != "backend" || pair.value.empty()) return false;
    block_.backend = shortened(pair.value, 80);
    sglang_ = true;  // only SGLang's client prints it
    return true;
  }

  bool read_statistic(const Line& line, const Labelled& pair) {
    const auto target = statistic_of(pair.key);
    if (!target) return false;
    if (contains(pair.key, "e2e latency")) sglang_ = true;
    return set(line, (block_of(line).*target->spread).*target->field, pair, target->to_seconds);
  }

  bool read_key(const Line& line, const Labelled& pair) {
    if (open_ && pair.key == "acceptance rate (%)") return set(line, block_.acceptance, pair, 1e-2);
    for (const Key& key : keys) {
      if (key.name != pair.key || (!open_ && !key.opens)) continue;
      if (key.name == "concurrency" || key.name == "traffic request rate" || key.name == "accept length" ||
          key.name == "max request concurrency") {
        sglang_ = true;
      }
      if (key.field == nullptr) return true;
      if (key.field == &ResultBlock::request_rate && lower(pair.value) == "inf") {
        block_of(line).request_rate_unlimited = true;
        return true;
      }
      const std::string value = lower(pair.value);
      if (value == "none" || value == "not set") return true;
      return set(line, block_of(line).*key.field, pair, 1);
    }
    return false;
  }

  ResultBlock& block_of(const Line& line) {
    if (!open_) open(line);
    return block_;
  }

  /// A known name whose value is no number is told, never guessed.
  bool set(const Line& line, std::optional<double>& field, const Labelled& pair, double factor) {
    const auto value = whole_number(pair.value);
    if (!value) {
      recorder_.ignore(trim(line.text));
      return true;
    }
    keep_last(field, *value * factor, pair.key, recorder_);
    filled_ = true;
    return true;
  }

  ResultBlock block_;
  bool open_ = false;
  bool filled_ = false;
  bool sglang_ = false;
};

}  // namespace

std::unique_ptr<BlockReader> make_serving_reader(Recorder& recorder) {
  return std::make_unique<ServingReader>(recorder);
}

}  // namespace corridor::profile
