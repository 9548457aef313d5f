// SPDX-License-Identifier: Apache-2.0
// What the metrics page of an inference server and of NVIDIA's DCGM exporter tell of a run: load, KV cache, rates,
// latencies, and how busy the parts of each GPU were.
//
// Counters only grow from the start of a server: two pages of the same server give what happened between them, and with
// the time between them rates. One page gives gauges as they were and the means since the start.
//
// vLLM (V0 and V1), SGLang, TGI, the llama.cpp server; dcgm-exporter with its old and its new names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/profile/metrics/prometheus.h"

namespace corridor::profile {

/// A quantity over the requests, steps or gaps of the time that the pages cover. Percentiles come from the buckets of a
/// histogram, by linear interpolation inside one, and are never more than the mean allows.
struct MetricSpread {
  double count = 0;
  std::optional<double> mean, p50, p90, p99;
  bool p99_beyond_buckets = false;  ///< p99 lies above the largest bound, which is what stands in p99
  [[nodiscard]] bool stated() const { return count > 0 && mean.has_value(); }
};

/// One GPU (or MIG slice) as the DCGM exporter tells. Activities are shares of the sampled time, 0..1.
struct GpuActivity {
  std::string gpu;          ///< its index on the machine, "0"; a slice: "0, 1g.10gb"
  std::string name;         ///< "NVIDIA H100 80GB HBM3"; may be empty
  std::string mig_profile;  ///< empty: the whole GPU
  std::optional<double> graphics_active, sm_active, sm_occupancy, tensor_active, dram_active;
  std::optional<double> utilization;  ///< the meter of nvidia-smi: share of time in which some kernel ran
  std::optional<double> power_w, sm_clock_hz, memory_used_bytes, memory_free_bytes;
};

struct ServerMetrics {
  std::string server;                 ///< "vLLM", "SGLang", "TGI", "llama.cpp server"; empty: GPUs alone
  std::string engine;                 ///< as `--engine` takes it; empty where Corridor knows none
  std::vector<std::string> models;    ///< label model_name, each once
  std::vector<std::string> replicas;  ///< label engine or dp_rank, each once: data parallel ranks
  bool difference = false;            ///< two pages: counts are those between them
  std::optional<double> seconds;      ///< between the two pages

  // Gauges of the last page, summed over replicas (kv_usage: the fullest).
  std::optional<double> running, waiting, kv_usage;
  std::optional<double> decode_kv_tokens;  ///< SGLang: cached tokens of the sequences in the decode batch
  std::optional<double> kv_pool_tokens;    ///< that the KV cache holds, all replicas
  std::string kv_cache_dtype;              ///< as the server prints it
  std::optional<bool> graph;               ///< SGLang: the last decode batch ran as a graph
  // Counts.
  std::optional<double> prompt_tokens, generation_tokens, requests, steps, preemptions;
  std::optional<double> prefix_hit_rate;            ///< 0..1, of prompt tokens
  std::optional<double> accept_length, acceptance;  ///< speculation: tokens a round; share of draft tokens kept
  // Rates, of all replicas.
  std::optional<double> prompt_tok_s, generation_tok_s, request_per_s, steps_per_s;
  /// Estimated by the engine from its model, one GPU.
  std::optional<double> read_bytes_per_s, write_bytes_per_s, flop_per_s;

  MetricSpread ttft_s, itl_s, tpot_s, queue_s, prefill_s, decode_s, e2e_s;
  MetricSpread decode_step_s;                             ///< TGI: forward pass of a decode batch
  MetricSpread input_tokens, output_tokens, step_tokens;  ///< tokens a request; tokens a step
  std::vector<GpuActivity> gpus;

  std::vector<std::string> notes;  ///< what was summed, reset, missing or could mislead
  ImportStats stats;
};

/// From one page, or two of one server in order of time. `seconds`: between the two, above 0; without it there are no
/// rates unless the pages state their times. Fails when the pages have no metric of a known server.
[[nodiscard]] Result<ServerMetrics> read_server_metrics(const MetricsPage& first, const MetricsPage* second,
                                                        std::optional<double> seconds, const std::string& file);

/// Which server a page is of: as ServerMetrics::server, "DCGM", or empty.
[[nodiscard]] std::string server_of(const MetricsPage& page);

/// Puts the GPUs of `other` beside the server of `into`, or the other way round. Fails when both are of a server.
[[nodiscard]] Result<int> merge_metrics(ServerMetrics& into, ServerMetrics other);

}  // namespace corridor::profile
