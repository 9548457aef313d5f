// SPDX-License-Identifier: Apache-2.0
// Reads the texts, result files and metrics pages of one run and fills one case from all of them; what the sources say
// differently of the same thing is named.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/diagnose.h"
#include "corridor/app/paste_case.h"
#include "corridor/app/paste_case_model.h"
#include "corridor/base/lower.h"
#include "corridor/profile/byte_source.h"
#include "corridor/profile/paste/result_file.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using profile::PastedRun;
using profile::ResultBlock;
using profile::ServerMetrics;

constexpr std::size_t most_unpacked_text_bytes = 64U << 20U;

bool is_packed(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.starts_with("\x1f\x8b"sv) || bytes.starts_with("\x28\xb5\x2f\xfd"sv);
}

/// A text as it is; a packed one is unpacked, up to a bound.
Result<PastedRun> read_text_of_run(const RunFile& file) {
  if (!is_packed(file.bytes)) return profile::read_paste(file.bytes);
  const auto source = profile::open_bytes(file.bytes, file.name);
  std::string text;
  std::string lost;
  while (text.size() < most_unpacked_text_bytes) {
    const Result<std::string_view> piece = source->next(most_unpacked_text_bytes - text.size());
    if (!piece && text.empty()) return tl::unexpected(piece.error());
    if (!piece) lost = piece.error().line();
    if (!piece || piece->empty()) break;
    text += *piece;
  }
  PastedRun run = profile::read_paste(text);
  if (!lost.empty()) run.notes.push_back(lost + "; what stood before it was read");
  if (text.size() >= most_unpacked_text_bytes)
    run.notes.emplace_back("only the first 64 MiB of the packed text were read");
  return run;
}

/// One statement of a quantity: its value and who says so.
struct Statement {
  double value = 0;
  std::string source;
};

/// Names the first two statements that differ by more than `factor`.
void compare_statements(const char* what, const std::vector<Statement>& said, double factor, const char* unit,
                        std::vector<std::string>& remarks) {
  for (std::size_t i = 1; i < said.size(); ++i) {
    const double a = said[0].value, b = said[i].value;
    if (a <= 0 || b <= 0 || std::max(a / b, b / a) <= factor) continue;
    remarks.push_back(fmt::format("contradiction: {} is {}{} in {} and {}{} in {}; are they of one run?", what,
                                  units::print_number(a), unit, said[0].source, units::print_number(b), unit,
                                  said[i].source));
    return;
  }
}

void add_statement(std::vector<Statement>& said, const std::optional<double>& value, std::string source) {
  if (value && *value > 0) said.push_back({*value, std::move(source)});
}

std::string key_of_model(const std::string& word) {
  const std::string name = pasted_model(word).name;
  return lower(name.substr(name.rfind('/') + 1));  // npos + 1 = 0
}

/// Models that differ by more than their spelling.
void compare_models(const PastedRun& run, const ServerMetrics* metrics, std::vector<std::string>& remarks) {
  std::vector<std::pair<std::string, std::string>> said;  // word, source
  if (run.command && run.command->model) said.emplace_back(*run.command->model, "the serve command");
  if (run.client && run.client->model) said.emplace_back(*run.client->model, "the benchmark command");
  for (const ResultBlock& block : run.results) {
    const bool family = block.kind == profile::ResultKind::llama_bench && !block.model_file;
    const std::optional<std::string>& word = block.model_file ? block.model_file : block.model;
    if (word && !family && said.size() < 4) said.emplace_back(*word, std::string(profile::name(block.kind)));
  }
  if (metrics != nullptr && !metrics->models.empty()) said.emplace_back(metrics->models.front(), "the metrics");
  const bool renamed = run.command && run.command->served_model_name;
  for (std::size_t i = 1; i < said.size() && !renamed; ++i) {
    const std::string a = key_of_model(said[0].first), b = key_of_model(said[i].first);
    if (a == b || a.find(b) != std::string::npos || b.find(a) != std::string::npos) continue;
    remarks.push_back(fmt::format("contradiction: the model is {} in {} and {} in {}; are they of one run?",
                                  said[0].first, said[0].second, said[i].first, said[i].second));
    return;
  }
}

void name_contradictions(const PastedRun& run, const ServerMetrics* metrics, std::vector<std::string>& remarks) {
  constexpr double same_speed = 1.5, same_count = 1.001;
  compare_models(run, metrics, remarks);
  const ResultBlock* result = run.results.size() == 1 ? &run.results.front() : nullptr;
  std::vector<Statement> tp, tpot, ttft, rate;
  if (run.command && run.command->tp) tp.push_back({static_cast<double>(*run.command->tp), "the serve command"});
  if (result != nullptr) {
    if (result->tp) tp.push_back({static_cast<double>(*result->tp), "the result"});
    add_statement(tpot, result->tpot_s.mean, "the result");
    add_statement(ttft, result->ttft_s.mean, "the result");
    add_statement(rate, result->output_tok_s, "the result");
  }
  if (run.windows.busy > 0) add_statement(rate, run.windows.generation_tok_s_max, "the log's best window");
  if (metrics != nullptr && metrics->difference) {
    if (!metrics->accept_length) add_statement(tpot, metrics->itl_s.mean, "the metrics");
    add_statement(ttft, metrics->ttft_s.mean, "the metrics");
    add_statement(rate, metrics->generation_tok_s, "the metrics");
  }
  compare_statements("tp", tp, same_count, "", remarks);
  compare_statements("the mean time per output token", tpot, same_speed, " s", remarks);
  compare_statements("the mean time to first token", ttft, 2 * same_speed, " s", remarks);
  compare_statements("the generation rate", rate, same_speed, " tok/s", remarks);
}

std::string describe_metrics(const ServerMetrics& m) {
  std::string what = m.server.empty() ? "DCGM metrics" : m.server + " metrics";
  what += m.difference ? ": two pages" : ": one page";
  if (m.seconds) what += fmt::format(", {} apart", units::print(units::Seconds{*m.seconds}));
  if (!m.models.empty()) what += ", model " + m.models.front().substr(0, 100);
  if (!m.gpus.empty()) what += fmt::format(", {} {}", m.gpus.size(), m.gpus.size() == 1 ? "GPU" : "GPUs");
  return what;
}

class Gatherer {
 public:
  Gatherer(const Assets& assets, const DiagnoseRequest& request) : assets_(assets), request_(request) {
    out_.base = request.base;
    out_.seen = request.seen;
    out_.seen.lengths_given = request.base.output.has_value();
  }

  Result<GatheredRun> gather() {
    if (Result<int> ok = read_files(); !ok) return tl::unexpected(ok.error());
    if (!request_.texts.empty() || !request_.results.empty()) {
      Result<TakenPaste> taken = take_paste(assets_, run_, out_.base, out_.seen);
      if (!taken) return tl::unexpected(taken.error());
      take(std::move(*taken));
    }
    if (!request_.metrics.empty()) {
      if (Result<int> ok = take_pages(); !ok) return tl::unexpected(ok.error());
    }
    name_contradictions(run_, out_.metrics ? &*out_.metrics : nullptr, out_.remarks);
    out_.results = std::move(run_.results);
    return std::move(out_);
  }

 private:
  Result<int> read_files() {
    for (const RunFile& file : request_.texts) {
      Result<PastedRun> run = read_text_of_run(file);
      if (!run) return tl::unexpected(run.error());
      profile::merge_run(run_, std::move(*run));
    }
    for (const RunFile& file : request_.results) {
      const auto source = profile::open_bytes(file.bytes, file.name);
      Result<PastedRun> run = profile::read_result_file(*source, file.name);
      if (!run) return tl::unexpected(run.error());
      profile::merge_run(run_, std::move(*run));
    }
    return 0;
  }

  void take(TakenPaste taken) {
    out_.understood = run_.understood;
    out_.ignored = run_.ignored;
    if (run_.ignored_more > 0) out_.ignored.push_back(fmt::format("and {} more", run_.ignored_more));
    out_.ignored.insert(out_.ignored.end(), taken.ignored.begin(), taken.ignored.end());
    out_.remarks = std::move(taken.remarks);
    out_.max_sequences = taken.max_sequences;
    out_.asks_for_concurrency = taken.asks_for_concurrency;
    out_.understood_nothing = run_.empty() && request_.metrics.empty();
  }

  Result<int> take_pages() {
    Result<ServerMetrics> metrics = read_metrics(request_.metrics, request_.metrics_seconds);
    if (!metrics) return tl::unexpected(metrics.error());
    out_.understood.push_back(describe_metrics(*metrics));
    take_metrics(assets_, *metrics, out_.base, out_.seen, out_.remarks);
    if (std::string sentence = dram_sentence(*metrics); !sentence.empty()) out_.remarks.push_back(std::move(sentence));
    out_.remarks.insert(out_.remarks.end(), metrics->notes.begin(), metrics->notes.end());
    for (const profile::ImportEvent& lost : metrics->stats.dropped)
      out_.remarks.push_back(fmt::format("{} {} left out (the first: {})", lost.count, lost.what, lost.example));
    if (out_.base.batch || out_.base.concurrency) out_.asks_for_concurrency = false;
    out_.metrics = std::move(*metrics);
    return 0;
  }

  const Assets& assets_;
  const DiagnoseRequest& request_;
  PastedRun run_;
  GatheredRun out_;
};

}  // namespace

Result<GatheredRun> gather_run(const Assets& assets, const DiagnoseRequest& request) {
  return Gatherer(assets, request).gather();
}

}  // namespace corridor::app
