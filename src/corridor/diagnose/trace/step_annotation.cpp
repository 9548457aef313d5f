// SPDX-License-Identifier: Apache-2.0
// A small reader of step names; anything that does not fit the whole pattern is no step.
#include "corridor/diagnose/trace/step_annotation.h"

#include <cctype>

namespace corridor::diagnose {
namespace {

constexpr double largest_count = 1e12;  // tokens; beyond it the text is no count

/// Takes a text apart from the left.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<double> number() {
    double value = 0;
    std::size_t n = 0;
    while (n < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[n])) != 0) {
      value = value * 10 + (rest_[n++] - '0');
    }
    if (n == 0 || value > largest_count) return std::nullopt;
    rest_.remove_prefix(n);
    return value;
  }

 private:
  std::string_view rest_;
};

/// "9(sq8155sk8430sqsq7475785sqsk7671310)", "1(888_788544)" or "0(0)".
std::optional<TokenSums> read_sums(Words& words) {
  TokenSums sums;
  const std::optional<double> sequences = words.number();
  if (!sequences || !words.take("(")) return std::nullopt;
  sums.sequences = *sequences;
  if (words.take("sq")) {
    const std::optional<double> query = words.number();
    if (!query || !words.take("sk")) return std::nullopt;
    sums.query = *query;
    sums.kv = words.number();
    if (words.take("sqsq")) sums.query_query = words.number();
    if (words.take("sqsk")) sums.query_kv = words.number();
  } else {
    const std::optional<double> query = words.number();
    if (!query) return std::nullopt;
    sums.query = *query;
    if (words.take("_")) sums.query_query = words.number();
  }
  if (!words.take(")")) return std::nullopt;
  return sums;
}

std::optional<StepTokens> parse_vllm(std::string_view name) {
  Words words(name);
  if (!words.take("execute_")) return std::nullopt;
  if (words.number()) {
    if (!words.take("_")) return std::nullopt;
  }
  if (!words.take("context_")) return std::nullopt;
  StepTokens step;
  const std::optional<TokenSums> prefill = read_sums(words);
  if (!prefill || !words.take("_generation_")) return std::nullopt;
  const std::optional<TokenSums> decode = read_sums(words);
  if (!decode) return std::nullopt;
  step.prefill = *prefill;
  step.decode = *decode;
  return step;
}

/// "step[DECODE bs=32]", "step[EXTEND bs=2 toks=512]".
std::optional<StepTokens> parse_sglang(std::string_view name) {
  Words words(name);
  if (!words.take("step[")) return std::nullopt;
  const bool decode = words.take("DECODE");
  if (!decode && !words.take("EXTEND") && !words.take("PREFILL") && !words.take("MIXED")) return std::nullopt;
  if (!words.take(" bs=")) return std::nullopt;
  const std::optional<double> sequences = words.number();
  if (!sequences) return std::nullopt;
  StepTokens step;
  TokenSums& sums = decode ? step.decode : step.prefill;
  sums.sequences = *sequences;
  sums.query = decode ? *sequences : 0;
  if (words.take(" toks=") || words.take(" tokens=")) sums.query = words.number().value_or(sums.query);
  return step;
}

}  // namespace

std::optional<StepTokens> parse_step(std::string_view name) {
  if (std::optional<StepTokens> step = parse_vllm(name)) return step;
  return parse_sglang(name);
}

bool names_step(std::string_view name) {
  return name.starts_with("ProfilerStep#") || parse_step(name).has_value();
}

}  // namespace corridor::diagnose
