// SPDX-License-Identifier: Apache-2.0
// Engines of result kinds, requests in flight, the engine's own estimates.
#include "corridor/app/paste_case_numbers.h"

namespace corridor::app {

using profile::ResultKind;

std::string engine_of(ResultKind kind) {
  switch (kind) {
    case ResultKind::sglang_bench_serving:
      return "sglang";
    case ResultKind::trtllm_bench:
      return "tensorrt-llm";
    case ResultKind::llama_bench:
    case ResultKind::llama_batched_bench:
    case ResultKind::ollama_verbose:
      return "llama.cpp";
    case ResultKind::vllm_bench_throughput:
    case ResultKind::vllm_bench_latency:
      return "vllm";
    case ResultKind::vllm_bench_serve:
    case ResultKind::aiperf:
      break;
  }
  return "";
}

std::optional<double> requests_in_flight(const profile::ResultBlock& b) {
  const std::optional<double> whole = b.e2e_s.mean ? b.e2e_s.mean : b.e2e_s.median;
  if (b.request_per_s && whole) return *b.request_per_s * *whole;
  const std::optional<double> tpot = b.tpot_s.mean ? b.tpot_s.mean : b.tpot_s.median;
  if (b.output_tok_s && tpot) return *b.output_tok_s * *tpot;
  return std::nullopt;
}

const profile::LogFact* busiest_estimate(const profile::PastedRun& paste) {
  const profile::LogFact* busiest = nullptr;
  for (const profile::LogFact& fact : paste.log_facts) {
    if (fact.kind != profile::LogKind::engine_estimate || fact.bytes_per_s.value_or(0) <= 0) continue;
    if (busiest == nullptr || *fact.bytes_per_s > *busiest->bytes_per_s) busiest = &fact;
  }
  return busiest;
}

}  // namespace corridor::app
