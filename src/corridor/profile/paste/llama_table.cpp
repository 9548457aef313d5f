// SPDX-License-Identifier: Apache-2.0
// Reads the Markdown tables of llama-bench and llama-batched-bench: one result a row.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/llama_test.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {

std::optional<LlamaTest> llama_test(std::string_view text) {
  LlamaTest test;
  std::string_view rest = trim(text);
  const auto count = [&](std::string_view kind) -> std::optional<std::int64_t> {
    if (!rest.starts_with(kind)) return std::nullopt;
    const std::string_view digits = trim(rest.substr(kind.size()));
    const std::size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
    const auto value = whole_integer(digits.substr(0, end));
    if (value) rest = trim(digits.substr(end));
    return value;
  };
  test.prompt = count("pp");
  if (test.prompt && rest.starts_with("+")) rest = trim(rest.substr(1));
  test.generated = count("tg");
  if (!test.prompt && !test.generated) return std::nullopt;
  if (rest.starts_with("@")) {
    rest = trim(rest.substr(1));
    test.depth = count("d");
    if (!test.depth) return std::nullopt;
  }
  return rest.empty() ? std::optional(test) : std::nullopt;
}

void set_llama_rate(ResultBlock& block, const LlamaTest& test, double tok_s) {
  block.prompt_tokens = test.prompt;
  block.gen_tokens = test.generated;
  block.depth = test.depth;
  if (test.prompt && test.generated) {
    block.total_tok_s = tok_s;  // prompt and generated tokens over the time of both
  } else if (test.prompt) {
    block.prefill_tok_s = tok_s;
  } else {
    block.decode_tok_s = tok_s;
  }
}

namespace {

/// "8.03 B" → 8.03e9, "494.03 M" → 494.03e6.
std::optional<double> parameters_of(std::string_view text) {
  const auto number = leading_number(text);
  if (!number) return std::nullopt;
  const std::string_view unit = trim(number->rest);
  if (unit == "B") return number->value * 1e9;
  if (unit == "M") return number->value * 1e6;
  return std::nullopt;
}

class LlamaTableReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    if (!contains(line.text, "|") && !contains(line.text, "\u2502")) return false;
    const std::vector<std::string> cells = table_cells(line.text);
    if (cells.size() < 3) return false;
    if (read_head(cells)) return true;
    return read_batched(line, cells) || read_row(line, cells);
  }

 private:
  bool read_head(const std::vector<std::string>& cells) {
    const auto has = [&](std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
    const bool head = (has("test") && (has("t/s") || has("tok/s"))) || is_batched_head(cells);
    if (head) {
      head_ = cells;
      batched_.clear();
    }
    return head;
  }

  /// A row of llama-batched-bench: PP and TG tokens, B sequences, times and rates of both phases.
  bool read_batched(const Line& line, const std::vector<std::string>& cells) {
    if (batched_.empty()) batched_ = is_batched_head(head_) ? head_ : std::vector<std::string>();
    if (batched_.size() != cells.size()) return false;
    ResultBlock block;
    block.kind = ResultKind::llama_batched_bench;
    block.line = line.number;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = whole_number(cells[i]);
      if (!value) return false;  // the rule under the head, or another table
      const std::string& head = batched_[i];
      if (head == "PP") block.prompt_tokens = static_cast<std::int64_t>(*value);
      if (head == "TG") block.gen_tokens = static_cast<std::int64_t>(*value);
      if (head == "B") block.batch = value;
      if (head == "T_PP s") block.prefill_s = value;
      if (head == "S_PP t/s") block.prefill_tok_s = value;
      if (head == "T_TG s") block.decode_s = value;
      if (head == "S_TG t/s") block.batch_decode_tok_s = value;
      if (head == "T s") block.duration_s = value;
      if (head == "S t/s") block.total_tok_s = value;
    }
    if (!block.batch || *block.batch < 1) return false;
    block.test = fmt::format("{:.0f} × (pp{} + tg{})", *block.batch, block.prompt_tokens.value_or(0),
                             block.gen_tokens.value_or(0));
    recorder_.result(std::move(block));
    return true;
  }

  /// The test and the rate are known by their form, so a row pasted without its head is read too.
  bool read_row(const Line& line, const std::vector<std::string>& cells) {
    std::size_t at = 0;
    std::optional<LlamaTest> test;
    for (; at < cells.size() && !test; ++at) test = llama_test(cells[at]);
    if (!test || at >= cells.size()) return false;
    const auto rate = leading_number(cells[at]);
    if (!rate) return false;
    const bool unlabelled = head_.size() != cells.size();
    const bool spread = contains(rate->rest, "\u00B1") || contains(rate->rest, "+");
    if (unlabelled && !spread) return false;  // some other table
    ResultBlock block;
    block.kind = ResultKind::llama_bench;
    block.line = line.number;
    block.test = cells[at - 1];
    set_llama_rate(block, *test, rate->value);
    const std::size_t digit = rate->rest.find_first_of("0123456789");
    if (spread && digit != std::string_view::npos) {
      if (const auto deviation = leading_number(rate->rest.substr(digit))) block.tok_s_stddev = deviation->value;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) read_cell(block, unlabelled ? "" : head_[i], cells[i], i);
    recorder_.result(std::move(block));
    return true;
  }

  static void read_cell(ResultBlock& block, const std::string& head, const std::string& cell, std::size_t at) {
    if (head == "model" || (head.empty() && at == 0)) block.model = shortened(cell, 200);
    if (contains(cell, "iB") && (head == "size" || head.empty())) block.model_bytes = bytes_of(cell);
    if (head == "params" || (head.empty() && at == 2)) block.parameters = parameters_of(cell);
    if (head == "backend") block.backend = shortened(cell, 80);
    const auto integer = whole_integer(cell);
    if (!integer) {
      if (head == "type_k") block.kv_cache_dtype = shortened(cell, 40);
      return;
    }
    if (head == "ngl" && *integer >= 0) block.gpu_layers = integer;
    if (head == "threads") block.threads = integer;
    if (head == "fa" && *integer >= 0) block.flash_attention = *integer == 1;
  }

  static bool is_batched_head(const std::vector<std::string>& cells) {
    const auto has = [&](std::string_view name) { return std::find(cells.begin(), cells.end(), name) != cells.end(); };
    return has("PP") && has("TG") && has("B") && has("S_TG t/s");
  }

  std::vector<std::string> head_;
  std::vector<std::string> batched_;  ///< the head, when it is of llama-batched-bench
};

}  // namespace

std::unique_ptr<BlockReader> make_llama_table_reader(Recorder& recorder) {
  return std::make_unique<LlamaTableReader>(recorder);
}

}  // namespace corridor::profile
