// SPDX-License-Identifier: Apache-2.0
// Predicts the bytes and FLOPs of each result's step and divides them by its own time.
#include "corridor/app/result_ladder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/app/case_loader.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using profile::ResultBlock;
using profile::ResultKind;

constexpr double longest_ladder_context = 1e8;

/// The step that a result times; nothing when it does not tell.
std::optional<LadderRow> decode_row(const ResultBlock& b) {
  LadderRow row;
  row.line = b.line;
  row.test = b.test.value_or(std::string(profile::name(b.kind)));
  row.depth = static_cast<double>(b.depth.value_or(0));
  const double generated = static_cast<double>(b.gen_tokens.value_or(0));
  if (b.kind == ResultKind::llama_bench && b.decode_tok_s && *b.decode_tok_s > 0) {
    row.tok_s = *b.decode_tok_s;
    row.step_s = 1 / row.tok_s;
    row.context = row.depth + std::max(1.0, generated / 2);
    return row;
  }
  if (b.kind == ResultKind::llama_batched_bench && b.batch_decode_tok_s && *b.batch_decode_tok_s > 0 && b.batch) {
    row.sequences = *b.batch;
    row.tok_s = *b.batch_decode_tok_s;
    row.step_s = row.sequences / row.tok_s;
    row.context = static_cast<double>(b.prompt_tokens.value_or(0)) + std::max(1.0, generated / 2);
    return row;
  }
  const std::optional<double> tpot = b.tpot_s.mean ? b.tpot_s.mean : b.tpot_s.median;
  const auto mean_length = [&](const std::optional<double>& stated, const std::optional<double>& total) {
    if (stated) return *stated;
    return total && b.completed.value_or(0) > 0 ? *total / *b.completed : 0.0;
  };
  const double input = mean_length(b.mean_input_len, b.input_tokens);
  const double output = mean_length(b.mean_output_len, b.output_tokens);
  if (!tpot || *tpot <= 0 || !b.output_tok_s || input + output <= 0 || b.accept_length) return std::nullopt;
  row.step_s = *tpot;
  row.tok_s = *b.output_tok_s;
  row.sequences = std::max(1.0, row.tok_s * row.step_s);
  row.context = input + output / 2;
  return row;
}

std::optional<LadderRow> prompt_row(const ResultBlock& b) {
  if (b.kind != ResultKind::llama_bench || !b.prefill_tok_s || *b.prefill_tok_s <= 0) return std::nullopt;
  const double prompt = static_cast<double>(b.prompt_tokens.value_or(0));
  if (prompt < 1) return std::nullopt;
  LadderRow row;
  row.line = b.line;
  row.test = b.test.value_or("pp");
  row.prompt = true;
  row.depth = static_cast<double>(b.depth.value_or(0));
  row.context = row.depth + prompt / 2;
  row.tok_s = *b.prefill_tok_s;
  row.step_s = prompt / row.tok_s;
  return row;
}

/// Only what the ladder runs over may differ: lengths, depth and the number of sequences.
bool is_same_setting(const ResultBlock& a, const ResultBlock& b) {
  return a.model == b.model && a.model_bytes == b.model_bytes && a.backend == b.backend &&
         a.kv_cache_dtype == b.kv_cache_dtype && a.flash_attention == b.flash_attention &&
         a.gpu_layers == b.gpu_layers && a.threads == b.threads;
}

class LadderMaker {
 public:
  explicit LadderMaker(const PredictAnswer& prepared) : a_(prepared) {}

  std::optional<ResultLadder> make(const std::vector<ResultBlock>& results) {
    const ResultBlock* first = nullptr;
    std::size_t others = 0;
    for (const ResultBlock& block : results) {
      std::optional<LadderRow> row = decode_row(block);
      if (!row) row = prompt_row(block);
      if (!row || row->context > longest_ladder_context) continue;
      if (first == nullptr) first = &block;
      if (!is_same_setting(block, *first)) {
        ++others;
        continue;
      }
      if (row->prompt ? fill_prompt(block, *row) : fill_decode(block, *row)) ladder_.rows.push_back(std::move(*row));
    }
    if (ladder_.rows.size() < 2) return std::nullopt;
    if (others > 0)
      ladder_.notes.push_back(fmt::format("{} results of other models, back ends or settings are left out", others));
    if (deep_prompts_)
      ladder_.notes.emplace_back("prompt tests at a depth: attention to the tokens before is not counted in their MFU");
    const auto impossible = std::count_if(ladder_.rows.begin(), ladder_.rows.end(), [](const LadderRow& row) {
      return row.mbu_weights.value_or(0) > 1 || row.mfu.value_or(0) > 1;
    });
    if (impossible > 0) {
      ladder_.notes.push_back(
          fmt::format("{} results are above what {} can do: another board, speculation, a model that "
                      "stays in its cache, or tokens of several sequences",
                      impossible, a_.device.id));
    }
    say_what_changes();
    return std::move(ladder_);
  }

 private:
  [[nodiscard]] double bandwidth() const { return a_.device.memory_bandwidth->value.value(); }

  bool fill_decode(const ResultBlock& block, LadderRow& row) const {
    graph::Scenario scenario = a_.scenario;
    scenario.load = graph::Load::batch;
    scenario.sequences = std::max(row.sequences, static_cast<double>(scenario.parallelism.dp));
    scenario.context = row.context;
    const Result<roofline::Prediction> p = predict_case(a_, scenario);
    if (!p) return false;
    const roofline::StepTotals& t = p->decode.per_device;
    // The file's own size is more exact than the rule of its format.
    const double scale =
        block.model_bytes && *block.model_bytes > 0 ? *block.model_bytes / p->weight_bytes.value() : 1.0;
    row.weights_bytes = t.weights.value() * scale;
    row.kv_bytes = t.kv.value();
    row.activation_bytes = t.activations.value();
    const double per_second = row.step_s * bandwidth();
    row.mbu_weights = row.weights_bytes / per_second;
    row.mbu_weights_kv = (row.weights_bytes + row.kv_bytes) / per_second;
    row.mbu = (row.weights_bytes + row.kv_bytes + row.activation_bytes) / per_second;
    row.mfu = t.flops.value() / row.step_s / p->arithmetic.peak.value();
    return true;
  }

  bool fill_prompt(const ResultBlock& block, LadderRow& row) {
    graph::Scenario scenario = a_.scenario;
    scenario.load = graph::Load::batch;
    scenario.sequences = static_cast<double>(scenario.parallelism.dp);
    scenario.input = block.prompt_tokens.value_or(1);
    const Result<roofline::Prediction> p = predict_case(a_, scenario);
    if (!p) return false;
    const double devices = static_cast<double>(scenario.parallelism.devices());
    row.mfu = p->prefill.totals.flops.value() / devices / row.step_s / p->arithmetic.peak.value();
    deep_prompts_ = deep_prompts_ || row.depth > 0;
    return true;
  }

  /// The first and the last decode row of a ladder over the context.
  void say_what_changes() {
    const LadderRow *low = nullptr, *high = nullptr;
    for (const LadderRow& row : ladder_.rows) {
      if (row.prompt) continue;
      if (low == nullptr || row.context < low->context) low = &row;
      if (high == nullptr || row.context > high->context) high = &row;
    }
    constexpr double real_ladder = 4;  // times the context: below it the KV cache hardly changes
    if (low == nullptr || high->context < real_ladder * low->context || low->sequences != high->sequences) return;
    const auto share = [](double x) { return fmt::format("{:.0f} %", x * 100); };
    ladder_.sentence = fmt::format(
        "From {:.0f} to {:.0f} tokens of context the MBU of the weights alone goes from {} to {}, with the KV cache "
        "from "
        "{} to {}",
        low->context, high->context, share(*low->mbu_weights), share(*high->mbu_weights), share(*low->mbu_weights_kv),
        share(*high->mbu_weights_kv));
    const double weights_change = std::fabs(std::log(*high->mbu_weights / *low->mbu_weights));
    const double all_change = std::fabs(std::log(*high->mbu_weights_kv / *low->mbu_weights_kv));
    constexpr double clear_change = 0.2;
    if (weights_change > clear_change && all_change < weights_change / 2) {
      ladder_.sentence += ": the memory stays busy, more of its bytes are KV cache.";
    } else if (*high->mbu_weights_kv < *low->mbu_weights_kv * (1 - clear_change)) {
      ladder_.sentence += ": the loss is more than the bytes of the KV cache explain.";
    } else {
      ladder_.sentence += ".";
    }
  }

  const PredictAnswer& a_;
  ResultLadder ladder_;
  bool deep_prompts_ = false;
};

}  // namespace

std::optional<ResultLadder> result_ladder(const std::vector<ResultBlock>& results, const PredictAnswer& prepared) {
  return LadderMaker(prepared).make(results);
}

}  // namespace corridor::app
