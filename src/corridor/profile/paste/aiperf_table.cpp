// SPDX-License-Identifier: Apache-2.0
// Reads the metric table of aiperf and genai-perf.
#include <array>
#include <utility>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

struct TimeRow {
  std::string_view name;
  Spread ResultBlock::*field;
};
/// These tools define inter-token latency as (request latency − TTFT) ÷ (tokens − 1) of a request: that is TPOT.
constexpr std::array<TimeRow, 3> time_rows{{{"time to first token", &ResultBlock::ttft_s},
                                            {"request latency", &ResultBlock::e2e_s},
                                            {"inter token latency", &ResultBlock::tpot_s}}};

struct NumberRow {
  std::string_view name;
  std::optional<double> ResultBlock::*field;
};
/// The longer name stands before its beginning.
constexpr std::array<NumberRow, 6> number_rows{{{"output token throughput per user", &ResultBlock::per_user_tok_s},
                                                {"output token throughput", &ResultBlock::output_tok_s},
                                                {"request throughput", &ResultBlock::request_per_s},
                                                {"request count", &ResultBlock::completed},
                                                {"output sequence length", &ResultBlock::mean_output_len},
                                                {"input sequence length", &ResultBlock::mean_input_len}}};

class AiperfReader final : public BlockReader {
 public:
  using BlockReader::BlockReader;

  bool feed(const Line& line) override {
    const std::vector<std::string> cells = table_cells(line.text);
    if (cells.size() < 2) {
      if (contains(line.text, "|") || contains(line.text, "\u2501") || contains(line.text, "\u2500")) return false;
      finish();
      return false;
    }
    if ((cells[0] == "Metric" || cells[0] == "Statistic") && lower(cells[1]) == "avg") {
      finish();
      for (const std::string& cell : cells) head_.push_back(lower(cell));
      block_ = ResultBlock{};
      block_.kind = ResultKind::aiperf;
      block_.line = line.number;
      open_ = true;
      return true;
    }
    if (!open_ || cells.size() != head_.size()) return false;
    if (contains(cells[0], "--")) return true;  // the rule below the head
    // A long name goes on in the rows below it, whose other cells are empty.
    bool values = false;
    for (std::size_t i = 1; i < cells.size(); ++i) values = values || !cells[i].empty();
    if (values) {
      flush();
      row_ = cells;
    } else if (!row_.empty() && !cells[0].empty() && row_[0].size() < longest_name) {
      row_[0] += " " + cells[0];
    }
    return true;
  }

  void finish() override {
    flush();
    if (open_ && filled_) recorder_.result(std::move(block_));
    if (open_ && block_has_tpot_) {
      recorder_.note("the inter-token latency of aiperf and genai-perf is (E2E - TTFT) / (tokens - 1): read as TPOT");
    }
    open_ = filled_ = block_has_tpot_ = false;
    head_.clear();
  }

 private:
  static constexpr std::size_t longest_name = 120;

  void flush() {
    if (row_.empty()) return;
    const std::vector<std::string> row = std::exchange(row_, {});
    const std::string name = normalised(row[0]);
    for (const TimeRow& time : time_rows) {
      const double factor = contains(name, "(ms)") ? 1e-3 : contains(name, "(s)") ? 1 : 0;
      if (name.starts_with(time.name) && factor > 0) return read_times(row, time.field, factor);
    }
    const auto average = whole_number(row[1]);
    for (const NumberRow& number : number_rows) {
      if (!name.starts_with(number.name)) continue;
      if (average) {
        block_.*number.field = *average;
        filled_ = true;
      }
      return;
    }
    recorder_.ignore(row[0] + ": " + row[1]);
  }

  void read_times(const std::vector<std::string>& row, Spread ResultBlock::*spread, double factor) {
    for (std::size_t i = 1; i < row.size(); ++i) {
      const auto field = statistic(head_[i]);
      const auto value = whole_number(row[i]);
      if (field == nullptr || !value) continue;
      (block_.*spread).*field = *value * factor;
      filled_ = true;
      if (spread == &ResultBlock::tpot_s) block_has_tpot_ = true;
    }
  }

  std::vector<std::string> head_, row_;
  ResultBlock block_;
  bool open_ = false;
  bool filled_ = false;
  bool block_has_tpot_ = false;
};

}  // namespace

std::unique_ptr<BlockReader> make_aiperf_reader(Recorder& recorder) {
  return std::make_unique<AiperfReader>(recorder);
}

}  // namespace corridor::profile
