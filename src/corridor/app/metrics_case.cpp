// SPDX-License-Identifier: Apache-2.0
// Pairs pages by server, fills a case from them, and judges what needs no prediction.
#include "corridor/app/metrics_case.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/paste_case_model.h"
#include "corridor/model/readers.h"
#include "corridor/profile/byte_source.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using profile::GpuActivity;
using profile::MetricsPage;
using profile::ServerMetrics;
using units::print;
using units::print_number;

constexpr std::size_t most_page_bytes = 64U << 20U;
// DRAM_ACTIVE of a memory-bound kernel reads about 0.8, the busy tensor pipe of dcgmproftester about 0.93 (DCGM's own
// documentation, read 2026-11-29): shares of these are what a busy unit shows.
constexpr double dram_at_its_best = 0.8, tensor_at_its_best = 0.93;
constexpr double busy_unit = 0.75, idle_unit = 0.4;
// As in the verdicts on logs: with so much of the KV cache in use, requests wait for memory.
constexpr double full_kv_share = 0.9;

Result<MetricsPage> read_page(const TraceFile& file) {
  const auto source = profile::open_bytes(file.bytes, file.name, most_page_bytes);
  std::string text;
  while (text.size() < most_page_bytes) {
    const Result<std::string_view> piece = source->next(most_page_bytes - text.size());
    if (!piece && text.empty()) return tl::unexpected(piece.error());
    if (!piece || piece->empty()) break;
    text += *piece;
  }
  MetricsPage page = profile::read_metrics_page(text);
  if (text.size() >= most_page_bytes)
    page.stats.drop("bytes beyond the first 64 MiB of a page", profile::Severity::loss, file.name);
  return page;
}

double busiest_share(const ServerMetrics& m, std::optional<double> GpuActivity::*field) {
  double most = -1;
  for (const GpuActivity& gpu : m.gpus) most = std::max(most, (gpu.*field).value_or(-1));
  return most;
}

std::string percent_text(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

class MetricsTaker {
 public:
  MetricsTaker(const Assets& assets, const ServerMetrics& m, PredictRequest& request, diagnose::Observation& seen,
               std::vector<std::string>& remarks)
      : assets_(assets), m_(m), r_(request), seen_(seen), remarks_(remarks) {}

  void take() {
    if (r_.engine.empty()) r_.engine = m_.engine;
    take_model();
    take_device();
    if (r_.kv.empty() && !m_.kv_cache_dtype.empty()) r_.kv = format_word(m_.kv_cache_dtype).value_or("");
    if (!r_.dp && m_.replicas.size() > 1) {
      r_.dp = static_cast<std::int64_t>(m_.replicas.size());
      remark(fmt::format("dp taken as {}, the number of engines on the page", *r_.dp));
    }
    take_lengths();
    take_load();
    take_speed();
    if (!seen_.kv_usage) seen_.kv_usage = m_.kv_usage;
    if (!seen_.waiting) seen_.waiting = m_.waiting;
    if (!seen_.preemptions && m_.difference && m_.preemptions.value_or(0) > 0) seen_.preemptions = m_.preemptions;
    const double meter = busiest_share(m_, &GpuActivity::utilization);
    if (!seen_.meter && meter >= 0) seen_.meter = meter;
  }

 private:
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

  void take_model() {
    if (!r_.model.empty() || !r_.params.empty() || m_.models.empty()) return;
    const PastedModel named = pasted_model(m_.models.front());
    if (!model::find_model(assets_, named.name)) {
      return remark(fmt::format("the server calls its model {}, which is no known model: name it first",
                                m_.models.front().substr(0, 100)));
    }
    r_.model = named.name;
    if (r_.weights.empty()) r_.weights = named.weights;
  }
  void take_device() {
    if (!r_.device.empty()) return;
    for (const GpuActivity& gpu : m_.gpus) {
      if (r_.device.empty()) r_.device = gpu.name;
    }
  }
  void take_lengths() {
    const auto whole = [](const profile::MetricSpread& spread) -> std::optional<std::int64_t> {
      constexpr double longest = 1e8;
      if (!spread.stated() || *spread.mean < 1 || *spread.mean > longest) return std::nullopt;
      return std::llround(*spread.mean);
    };
    if (!r_.input) r_.input = whole(m_.input_tokens);
    if (!r_.output) r_.output = whole(m_.output_tokens);
  }
  /// How many sequences decode at once: rate × gap, or what ran when the page was written.
  void take_load() {
    if (r_.batch || r_.concurrency) return;
    if (m_.generation_tok_s && token_s() && *m_.generation_tok_s * *token_s() >= 0.5) {
      r_.concurrency = std::max(1.0, std::round(*m_.generation_tok_s * *token_s()));
      remark(fmt::format("concurrency taken as {:.0f}: {} tok/s with {} a token", *r_.concurrency,
                         print_number(*m_.generation_tok_s), print(units::Seconds{*token_s()})));
    } else if (m_.running.value_or(0) >= 1) {
      r_.concurrency = m_.running;
      remark(fmt::format("concurrency taken as {:.0f}, the requests that ran when the page was written", *m_.running));
    }
  }
  /// A gap between chunks is a time per token where nothing drafts several at once.
  [[nodiscard]] std::optional<double> token_s() const {
    if (m_.tpot_s.stated()) return m_.tpot_s.mean;
    if (m_.itl_s.stated() && !m_.accept_length) return m_.itl_s.mean;
    if (m_.decode_step_s.stated()) return m_.decode_step_s.mean;
    return std::nullopt;
  }
  static bool is_time(const std::optional<double>& t) {
    return t && *t >= diagnose::least_seconds && *t <= diagnose::most_seconds;
  }
  void take_speed() {
    if (seen_.has_speed()) return;
    if (is_time(token_s())) seen_.tpot_s = token_s();
    if (m_.ttft_s.stated() && is_time(m_.ttft_s.mean)) seen_.ttft_s = m_.ttft_s.mean;
    if (seen_.tpot_s || m_.generation_tok_s.value_or(0) < diagnose::least_rate) return;
    seen_.output_tok_s = m_.generation_tok_s;
    seen_.from_log_windows = true;  // idle time of the pages counts in it as in a log window
  }

  const Assets& assets_;
  const ServerMetrics& m_;
  PredictRequest& r_;
  diagnose::Observation& seen_;
  std::vector<std::string>& remarks_;
};

void judge_gpus(const ServerMetrics& m, MetricsVerdict& v) {
  const double dram = busiest_share(m, &GpuActivity::dram_active),
               tensor = busiest_share(m, &GpuActivity::tensor_active);
  const double meter = busiest_share(m, &GpuActivity::utilization);
  if (dram < 0 && tensor < 0) return;
  const double dram_share = dram / dram_at_its_best, tensor_share = tensor / tensor_at_its_best;
  const std::string both = fmt::format("the memory interface is active {} of the time, the tensor pipes {}",
                                       dram < 0 ? "?" : percent_text(dram), tensor < 0 ? "?" : percent_text(tensor));
  if (dram_share >= busy_unit && dram_share >= tensor_share) {
    v.wall = "memory";
    v.sentence += fmt::format(" Memory-bound: {}.", both);
  } else if (tensor_share >= busy_unit) {
    v.wall = "compute";
    v.sentence += fmt::format(" Compute-bound: {}.", both);
  } else if (dram >= 0 && dram_share < idle_unit && tensor_share < idle_unit) {
    v.wall = "overhead";
    v.sentence += fmt::format(" Neither memory nor arithmetic is busy: {}{}.", both,
                              meter > 0.9 ? fmt::format(", though the meter reads {}", percent_text(meter)) : "");
    if (v.remedy.empty())
      v.remedy = "look for idle time: too few requests, launches and host between kernels, waiting for other devices";
  } else {
    v.sentence += fmt::format(" Between the walls: {}.", both);
  }
}

void judge_load(const ServerMetrics& m, MetricsVerdict& v) {
  const double waiting = m.waiting.value_or(0), running = m.running.value_or(0);
  if (m.kv_usage.value_or(0) >= full_kv_share && waiting > 0) {
    v.status = "queueing";
    v.sentence = fmt::format("Queueing: the KV memory is full ({} in use) and {:.0f} requests wait.",
                             percent_text(*m.kv_usage), waiting);
    v.remedy = "more room for the KV cache: an 8-bit cache, fewer bits a weight, shorter lengths, more devices";
  } else if (m.difference && m.preemptions.value_or(0) > 0) {
    v.status = "queueing";
    v.sentence = fmt::format("Queueing: {:.0f} requests were thrown out of the full KV cache and computed again.",
                             *m.preemptions);
    v.remedy = "more room for the KV cache, or fewer sequences at once (max-num-seqs)";
  } else if (waiting > 0) {
    v.status = "queueing";
    v.sentence = fmt::format(
        "Queueing: {:.0f} requests wait while {:.0f} run{}.", waiting, running,
        m.kv_usage ? fmt::format(" and {} of the KV memory is in use", percent_text(*m.kv_usage)) : std::string());
    v.remedy = "more sequences at once if memory holds them (max-num-seqs), or another replica";
  } else if (!m.server.empty() && running == 0 && m.generation_tok_s.value_or(0) == 0) {
    v.status = "load_limited";
    v.sentence = "Idle: nothing runs and nothing waits.";
    v.remedy = "take the pages while the load is on";
  } else if (!m.server.empty()) {
    v.sentence = fmt::format("{:.0f} requests run, none waits.", running);
  }
}

}  // namespace

Result<ServerMetrics> read_metrics(const std::vector<TraceFile>& files, std::optional<double> seconds) {
  struct Pair {
    std::vector<MetricsPage> pages;
    std::string file;
  };
  std::vector<std::pair<std::string, Pair>> servers;
  for (const TraceFile& file : files) {
    Result<MetricsPage> page = read_page(file);
    if (!page) return tl::unexpected(page.error());
    const std::string server = profile::server_of(*page);
    auto known = std::find_if(servers.begin(), servers.end(), [&](const auto& one) { return one.first == server; });
    if (known == servers.end()) known = servers.insert(servers.end(), {server, {}});
    known->second.pages.push_back(std::move(*page));
    known->second.file = file.name;
    if (known->second.pages.size() > 2)
      return fail("is the third page of one server", file.name, "give one page, or two of the same server");
  }
  std::optional<ServerMetrics> all;
  for (auto& [server, pair] : servers) {
    const MetricsPage* second = pair.pages.size() > 1 ? &pair.pages[1] : nullptr;
    Result<ServerMetrics> one = profile::read_server_metrics(pair.pages[0], second, seconds, pair.file);
    if (!one) return one;
    if (!all) {
      all = std::move(*one);
    } else if (Result<int> ok = profile::merge_metrics(*all, std::move(*one)); !ok) {
      return tl::unexpected(ok.error());
    }
  }
  if (!all) return fail("no metrics page given", "metrics");
  return std::move(*all);
}

void take_metrics(const Assets& assets, const ServerMetrics& metrics, PredictRequest& request,
                  diagnose::Observation& seen, std::vector<std::string>& remarks) {
  MetricsTaker(assets, metrics, request, seen, remarks).take();
}

MetricsVerdict judge_metrics(const ServerMetrics& m) {
  MetricsVerdict v;
  judge_load(m, v);
  if (m.queue_s.stated() && m.ttft_s.stated() && *m.ttft_s.mean > 0 && *m.queue_s.mean > 0.5 * *m.ttft_s.mean) {
    v.sentence += fmt::format(" {} of the mean time to first token ({}) is waiting in the queue.",
                              percent_text(std::min(1.0, *m.queue_s.mean / *m.ttft_s.mean)),
                              print(units::Seconds{*m.ttft_s.mean}));
    if (v.status.empty()) v.status = "queueing";
  }
  judge_gpus(m, v);
  if (v.sentence.starts_with(" ")) v.sentence.erase(0, 1);
  return v;
}

std::string dram_sentence(const ServerMetrics& m) {
  const double dram = busiest_share(m, &GpuActivity::dram_active);
  if (dram < 0) return "";
  return fmt::format(
      "DCGM: the memory interface of the busiest GPU was active {} of the time. This counter reads about 80 % when the "
      "memory is as busy as it gets, so it is no MBU.",
      percent_text(dram));
}

}  // namespace corridor::app
