// SPDX-License-Identifier: Apache-2.0
// Which server the pages are of, in which order they stand, and what they share.
#include "corridor/profile/metrics/server_metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/profile/metrics/series.h"
#include "corridor/profile/metrics/server_readers.h"
#include "corridor/units/text.h"

namespace corridor::profile {
namespace {

constexpr double least_page_seconds = 1e-3, most_page_seconds = 1e8;

bool has_prefix(const MetricsPage& page, std::string_view prefix) {
  return std::any_of(page.samples.begin(), page.samples.end(),
                     [&](const MetricSample& sample) { return sample.name.starts_with(prefix); });
}

/// Values of a label, each once, in order.
std::vector<std::string> label_values(const MetricsPage& page, std::string_view prefix, std::string_view label) {
  std::vector<std::string> values;
  constexpr std::size_t most_values = 64;
  for (const MetricSample& sample : page.samples) {
    if (!sample.name.starts_with(prefix)) continue;
    std::string value(sample.label(label));
    if (value.empty() || values.size() >= most_values) continue;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
  }
  return values;
}

std::string_view prefix_of(std::string_view server) {
  if (server == "vLLM") return "vllm:";
  if (server == "SGLang") return "sglang:";
  if (server == "TGI") return "tgi_";
  if (server == "llama.cpp server") return "llamacpp:";
  return "DCGM_FI_";
}

/// A name with all its labels.
std::string labelled_name(const MetricSample& sample) {
  std::string name = sample.name;
  for (const MetricLabel& label : sample.labels) {
    name += '\n';
    name += label.name;
    name += '=';
    name += label.value;
  }
  return name;
}

/// Counters fell, none grew, and the process is the same: the pages stand in the wrong order.
bool is_swapped(const MetricsPage& first, const MetricsPage& second) {
  std::map<std::string, double> before;
  std::optional<double> start_before, start_after;
  for (const MetricSample& sample : first.samples) {
    if (sample.name == "process_start_time_seconds") start_before = sample.value;
    if (sample.name.ends_with("_total") || sample.name.ends_with("_count"))
      before[labelled_name(sample)] = sample.value;
  }
  std::size_t fell = 0, grew = 0;
  for (const MetricSample& sample : second.samples) {
    if (sample.name == "process_start_time_seconds") start_after = sample.value;
    const auto known = before.find(labelled_name(sample));
    if (known == before.end()) continue;
    fell += sample.value < known->second ? 1 : 0;
    grew += sample.value > known->second ? 1 : 0;
  }
  if (start_before && start_after && *start_before != *start_after) return *start_after < *start_before;
  // A server that starts anew begins at zero; a page that is merely older does not.
  const bool restarted = std::all_of(second.samples.begin(), second.samples.end(), [](const MetricSample& sample) {
    return !sample.name.ends_with("generation_tokens_total") || sample.value == 0;
  });
  return fell > 0 && grew == 0 && !restarted;
}

class PagesReader {
 public:
  PagesReader(const MetricsPage* first, const MetricsPage& last, std::optional<double> seconds)
      : first_(first), last_(last), series_(first, last) {
    out_.difference = first != nullptr;
    out_.seconds = first != nullptr ? seconds : std::nullopt;
    if (first != nullptr && !out_.seconds) take_times();
  }

  ServerMetrics read(const std::string& server) {
    out_.stats.merge(last_.stats);
    if (has_prefix(last_, "DCGM_FI_")) read_dcgm_metrics(last_, out_);
    if (server == "DCGM") return std::move(out_);
    out_.server = server;
    const std::string_view prefix = prefix_of(server);
    out_.models = label_values(last_, prefix, "model_name");
    out_.replicas = label_values(last_, prefix, server == "SGLang" ? "dp_rank" : "engine");
    if (server == "vLLM") read_vllm_metrics(series_, out_);
    if (server == "SGLang") read_sglang_metrics(series_, out_);
    if (server == "TGI") read_tgi_metrics(series_, out_);
    if (server == "llama.cpp server") read_llama_server_metrics(series_, out_);
    add_rates();
    add_notes();
    return std::move(out_);
  }

 private:
  void take_times() {
    const auto before = MetricSeries::time_of(*first_), after = MetricSeries::time_of(last_);
    if (before && after && *after - *before >= least_page_seconds) out_.seconds = *after - *before;
  }

  void add_rates() {
    if (!out_.seconds) return;
    const auto rate = [&](const std::optional<double>& count) {
      return count ? std::optional(*count / *out_.seconds) : std::nullopt;
    };
    out_.prompt_tok_s = rate(out_.prompt_tokens);
    if (out_.generation_tokens) out_.generation_tok_s = rate(out_.generation_tokens);
    out_.request_per_s = rate(out_.requests);
    out_.steps_per_s = rate(out_.steps);
  }

  void add_notes() {
    auto& notes = out_.notes;
    if (out_.replicas.size() > 1)
      notes.push_back(
          fmt::format("{} engines on one page ({}…): counts and requests are summed, the fullest KV cache "
                      "is shown",
                      out_.replicas.size(), out_.replicas.front()));
    if (out_.models.size() > 1)
      notes.push_back(fmt::format("{} models on one page ({}, {}…): their numbers are summed", out_.models.size(),
                                  out_.models[0], out_.models[1]));
    for (const std::string& name : series_.resets())
      notes.push_back(
          fmt::format("{} fell between the pages: the server was started anew, and the counter is taken "
                      "from zero",
                      name));
    if (!out_.difference)
      notes.emplace_back(
          "one page: counts and means are those since the server's start, idle time and warm-up included; two pages, "
          "or --for 10s with the server's address, give the run of that time");
    else if (!out_.seconds)
      notes.emplace_back("the pages do not tell the time between them: no rates; state it with --for");
    if (out_.ttft_s.p99_beyond_buckets || out_.itl_s.p99_beyond_buckets || out_.e2e_s.p99_beyond_buckets)
      notes.emplace_back("a 99th percentile lies above the largest bucket of its histogram: at least what is shown");
  }

  const MetricsPage* first_;
  const MetricsPage& last_;
  MetricSeries series_;
  ServerMetrics out_;
};

}  // namespace

std::string server_of(const MetricsPage& page) {
  for (const char* server : {"vLLM", "SGLang", "TGI", "llama.cpp server", "DCGM"}) {
    if (has_prefix(page, prefix_of(server))) return server;
  }
  return "";
}

Result<ServerMetrics> read_server_metrics(const MetricsPage& first, const MetricsPage* second,
                                          std::optional<double> seconds, const std::string& file) {
  const MetricsPage& last = second != nullptr ? *second : first;
  const std::string server = server_of(last);
  if (server.empty()) {
    return fail(last.samples.empty() ? "holds no metrics"
                                     : fmt::format("{} samples, none of a server that is known", last.samples.size()),
                file, "give the /metrics page of vLLM, SGLang, TGI, llama.cpp (--metrics) or dcgm-exporter");
  }
  if (seconds && !(*seconds >= least_page_seconds && *seconds <= most_page_seconds))
    return fail("is no time between two pages", "--for", "give 1ms to 1e8 s");
  if (second == nullptr) return PagesReader(nullptr, first, seconds).read(server);
  if (server_of(first) != server) return fail("is a page of another server than the one before it", file);
  if (!is_swapped(first, *second)) return PagesReader(&first, *second, seconds).read(server);
  ServerMetrics swapped = PagesReader(second, first, seconds).read(server);
  swapped.notes.emplace_back("the counters of the second page are below those of the first: taken as the earlier one");
  return swapped;
}

Result<int> merge_metrics(ServerMetrics& into, ServerMetrics other) {
  if (!into.server.empty() && !other.server.empty())
    return fail(fmt::format("pages of two servers, {} and {}", into.server, other.server), "metrics",
                "diagnose them one after the other");
  if (into.server.empty()) std::swap(into, other);
  if (into.gpus.empty()) into.gpus = std::move(other.gpus);
  into.notes.insert(into.notes.end(), other.notes.begin(), other.notes.end());
  into.stats.merge(other.stats);
  return 0;
}

}  // namespace corridor::profile
