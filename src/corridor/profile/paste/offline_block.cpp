// SPDX-License-Identifier: Apache-2.0
// Reads what vllm bench throughput and vllm bench latency print.
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

class OfflineReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    return contains(line.text, "Throughput:") ? read_throughput(line) : read_latency(line) || read_totals(line);
  }

  void finish() override {
    if (latency_.e2e_s.stated()) recorder_.result(std::move(latency_));
    latency_ = ResultBlock{};
  }

 private:
  /// "Throughput: 6.51 requests/s, 3333.1 total tokens/s, 1666.5 output tokens/s"; without the word "total" the middle
  /// figure still counts prompt and output together.
  bool read_throughput(const Line& line) {
    const auto requests = number_after(line.text, "Throughput:");
    if (!requests || !trim(requests->rest).starts_with("requests/s")) return false;
    ResultBlock block;
    block.kind = ResultKind::vllm_bench_throughput;
    block.line = line.number;
    block.request_per_s = requests->value;
    std::string_view rest = requests->rest;
    for (int part = 0; part < 2; ++part) {
      const std::size_t comma = rest.find(',');
      if (comma == std::string_view::npos) break;
      const auto rate = leading_number(rest.substr(comma + 1));
      if (!rate) break;
      const std::string_view unit = trim(rate->rest);
      if (unit.starts_with("total tokens/s") || unit.starts_with("tokens/s")) block.total_tok_s = rate->value;
      if (unit.starts_with("output tokens/s")) block.output_tok_s = rate->value;
      rest = rate->rest;
    }
    recorder_.result(std::move(block));
    return true;
  }

  bool read_totals(const Line& line) {
    ResultBlock* last = recorder_.last_result(ResultKind::vllm_bench_throughput);
    if (last == nullptr) return false;
    const auto prompt = value_after(line.text, "Total num prompt tokens:");
    const auto output = value_after(line.text, "Total num output tokens:");
    if (prompt) last->input_tokens = prompt;
    if (output) last->output_tokens = output;
    return prompt || output;
  }

  /// "Avg latency: 2.41 seconds", "90% percentile latency: 2.5 seconds": the time of a whole static batch.
  bool read_latency(const Line& line) {
    if (!contains(line.text, "latency:")) return false;
    const auto seconds = [&](std::string_view label) -> std::optional<double> {
      const auto rest = after(line.text, label);
      return rest ? seconds_of(*rest) : std::nullopt;
    };
    const std::pair<std::string_view, std::optional<double> Spread::*> labels[] = {
        {"Avg latency:", &Spread::mean},
        {"50% percentile latency:", &Spread::median},
        {"90% percentile latency:", &Spread::p90},
        {"99% percentile latency:", &Spread::p99}};
    for (const auto& [label, field] : labels) {
      const auto value = seconds(label);
      if (!value) continue;
      if (field == &Spread::mean) finish();
      if (!latency_.e2e_s.stated()) latency_.line = line.number;
      latency_.kind = ResultKind::vllm_bench_latency;
      latency_.e2e_s.*field = *value;
      return true;
    }
    return contains(line.text, "% percentile latency:");
  }

  ResultBlock latency_;
};

}  // namespace

std::unique_ptr<BlockReader> make_offline_reader(Recorder& recorder) {
  return std::make_unique<OfflineReader>(recorder);
}

}  // namespace corridor::profile
