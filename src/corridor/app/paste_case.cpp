// SPDX-License-Identifier: Apache-2.0
// Maps the fields of a PastedRun to the flags of a case and to observed numbers.
#include "corridor/app/paste_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/paste_case_effects.h"
#include "corridor/app/paste_case_model.h"
#include "corridor/app/paste_case_numbers.h"
#include "corridor/model/readers.h"

namespace corridor::app {
namespace {

using diagnose::Observation;
using profile::ClientCommand;
using profile::PastedRun;
using profile::ResultBlock;
using profile::ResultKind;
using profile::ServeCommand;

template <class T, class U>
void fill(std::optional<T>& target, const std::optional<U>& from) {
  if (!target && from) target = static_cast<T>(*from);
}
/// A speed that no clock of a benchmark can have measured is left out.
constexpr const char* rounded_to_zero = "is printed as 0: too short to be told, so it is left out";

class PasteTaker {
 public:
  PasteTaker(const Assets& assets, const PastedRun& paste, PredictRequest& request, Observation& seen)
      : assets_(assets), paste_(paste), r_(request), seen_(seen), model_given_(!request.model.empty()) {}

  Result<TakenPaste> take() {
    if (paste_.command) take_command(*paste_.command);
    if (paste_.client) take_client(*paste_.client);
    if (!paste_.results.empty()) take_results();
    take_log();
    take_gpus();
    if (Result<int> ok = settle_model(); !ok) return tl::unexpected(ok.error());
    settle_concurrency();
    if (paste_.command) name_without_effect(*paste_.command, out_.remarks);
    for (const std::string& note : paste_.notes) remark(note);
    return std::move(out_);
  }

 private:
  void take_engine(profile::Engine engine) {
    if (!r_.engine.empty()) return;
    const std::string name(profile::name(engine));
    r_.engine = name == "ollama" ? "llama.cpp" : name;
  }
  void take_command(const ServeCommand& c) {
    take_engine(c.engine);
    if (c.model) take_model(*c.model, c.engine == profile::Engine::ollama);
    fill(r_.tp, c.tp);
    fill(r_.pp, c.pp);
    fill(r_.dp, c.dp);
    fill(r_.ep, c.ep);
    if (!r_.ep && c.expert_parallel.value_or(false)) r_.ep = r_.tp.value_or(1) * r_.dp.value_or(1);
    if (r_.ep && *r_.ep == 1) r_.ep.reset();
    take_format("--quantization", c.quantization, r_.weights);
    take_format("--dtype", c.dtype, r_.weights);
    take_format("--kv-cache-dtype", c.kv_cache_dtype, r_.kv);
    if (c.max_num_seqs && *c.max_num_seqs >= 1) {
      // vLLM and SGLang bound each replica; the other engines have one.
      out_.max_sequences = static_cast<double>(*c.max_num_seqs) * static_cast<double>(r_.dp.value_or(1));
    }
    if (c.enforce_eager.value_or(false)) r_.no_graphs = true;
    if (c.flash_attention && !*c.flash_attention) r_.no_flash_attention = true;

    if (c.speculative.num_tokens) {
      remark(
          "speculative decoding is on: its acceptance is not in the command, so it was left out; add "
          "--spec-tokens and --spec-acceptance");
    }
    if (c.cpu_offload_gb.value_or(0) > 0 || c.cpu_moe.value_or(false) || c.n_cpu_moe.value_or(0) > 0) {
      remark(
          "a part of the weights is in host memory and is read over PCIe or by the CPU: the prediction takes all "
          "of them on the device");
    }
    if (c.disable_custom_all_reduce.value_or(false)) {
      remark("custom all-reduce is off: small transfers take the slower library path");
    }
  }
  void take_client(const ClientCommand& c) {
    if (c.model) take_model(*c.model, false);
    fill(r_.input, c.input_len);
    if (!r_.output && c.output_len) {
      r_.output = c.output_len;
      seen_.lengths_given = true;
    }
    if (c.batch_size && !r_.concurrency) fill(r_.batch, c.batch_size);
    if (!r_.batch) fill(r_.concurrency, c.max_concurrency);
    take_rate(seen_.request_rate, c.request_rate, "request rate");
  }

  void take_results() {
    const ResultBlock* chosen = &paste_.results.back();
    if (chosen->kind == ResultKind::llama_bench || chosen->kind == ResultKind::ollama_verbose) {
      for (const ResultBlock& block : paste_.results) {  // generation tells more than the prompt
        if (block.decode_tok_s) chosen = &block;
      }
    }
    if (paste_.results.size() > 1) {
      remark(fmt::format("{} result blocks were read; line {} is compared", paste_.results.size(), chosen->line));
    }
    take_block(*chosen);
  }
  void take_block(const ResultBlock& b) {
    take_lengths(b);
    take_batch(b);
    const bool stated = r_.concurrency.has_value();
    if (!r_.batch) fill(r_.concurrency, b.max_concurrency);
    if (!stated && r_.concurrency && b.completed && *b.completed >= 1 && *b.completed < *r_.concurrency) {
      remark(fmt::format("{:.0f} requests in all: no more than these can run at once", *b.completed));
      r_.concurrency = *b.completed;
    }
    if (!r_.batch)
      fill(r_.concurrency, b.concurrency ? std::optional(std::max(1.0, std::round(*b.concurrency))) : std::nullopt);
    take_rate(seen_.request_rate, b.request_rate, "request rate");
    take_rate(seen_.request_per_s, b.request_per_s, "request throughput");
    take_time(seen_.tpot_s, b.tpot_s.mean ? b.tpot_s.mean : b.tpot_s.median, "TPOT");
    take_time(seen_.ttft_s, b.ttft_s.mean ? b.ttft_s.mean : b.ttft_s.median, "TTFT");
    take_rate(seen_.output_tok_s, b.output_tok_s, "output tok/s");
    take_rate(seen_.total_tok_s, b.total_tok_s, "total tok/s");
    take_rate(seen_.tok_s_per_user, b.per_user_tok_s ? b.per_user_tok_s : b.decode_tok_s, "tok/s per user");
    if (!b.decode_tok_s) take_rate(seen_.prefill_tok_s, b.prefill_tok_s, "prompt tok/s");
    in_flight_ = requests_in_flight(b);
    fill(r_.tp, b.tp);
    fill(r_.pp, b.pp);
    take_format("quantization", b.quantization, r_.weights);
    take_format("KV cache dtype", b.kv_cache_dtype, r_.kv);
    if (r_.engine.empty()) r_.engine = engine_of(b.kind);
    single_user_ = b.kind == ResultKind::llama_bench || b.kind == ResultKind::ollama_verbose;
    if (b.kind == ResultKind::llama_bench || b.kind == ResultKind::llama_batched_bench)
      take_llama_bench(b);
    else if (b.model)
      take_model(*b.model, b.kind == ResultKind::ollama_verbose);
    ollama_ = ollama_ || b.kind == ResultKind::ollama_verbose;
    if (r_.device.empty() && b.gpu) r_.device = *b.gpu;
  }
  /// Static batches: of llama-batched-bench, and the time of a whole one of vllm bench latency.
  void take_batch(const ResultBlock& b) {
    if (b.batch && *b.batch >= 1) {
      if (!r_.concurrency) fill(r_.batch, b.batch);
      if (b.batch_decode_tok_s)
        take_rate(seen_.tok_s_per_user, std::optional(*b.batch_decode_tok_s / *b.batch), "tok/s per user");
    }
    if (b.kind != ResultKind::vllm_bench_latency || !b.e2e_s.mean || *b.e2e_s.mean <= 0) return;
    if (!r_.batch || !r_.output) {
      return remark("the latency is that of a whole batch: state --batch, --input and --output to have it compared");
    }
    take_rate(seen_.output_tok_s, std::optional(*r_.batch * static_cast<double>(*r_.output) / *b.e2e_s.mean),
              "output tok/s");
  }
  void take_lengths(const ResultBlock& b) {
    const auto mean = [&](const std::optional<double>& stated,
                          const std::optional<double>& total) -> std::optional<double> {
      if (stated) return stated;
      if (total && b.completed && *b.completed > 0) return *total / *b.completed;
      return std::nullopt;
    };
    std::optional<double> input = mean(b.mean_input_len, b.input_tokens);
    std::optional<double> output = mean(b.mean_output_len, b.output_tokens);
    if (b.kind == ResultKind::ollama_verbose) {  // its counts are those of the one request
      input = b.input_tokens;
      output = b.output_tokens;
    }
    constexpr double longest = 1e8;  // beyond any context; a larger count is a broken line
    if (!r_.input && input && *input >= 1 && *input <= longest) r_.input = std::llround(*input);
    if (!r_.output && output && *output >= 1 && *output <= longest) {
      r_.output = std::llround(*output);
      seen_.lengths_given = true;
    }
  }
  void take_llama_bench(const ResultBlock& b) {
    if (!r_.input && b.prompt_tokens && *b.prompt_tokens > 0) r_.input = *b.prompt_tokens;
    if (!r_.output && b.gen_tokens && *b.gen_tokens > 0) r_.output = *b.gen_tokens;
    // tg N starts from an empty cache (or from the depth) and averages over N tokens.
    if (!r_.context && b.gen_tokens && *b.gen_tokens > 0) {
      const std::int64_t before = b.batch ? b.prompt_tokens.value_or(0) : b.depth.value_or(0);
      r_.context = before + std::max<std::int64_t>(1, *b.gen_tokens / 2);
    }
    // The name of the file tells the model where it is a known one; the model column has no more than its family.
    if (b.model_file && model::find_model(assets_, pasted_model(*b.model_file).name)) take_model(*b.model_file, false);
    if (b.model) {
      if (const PastedModel named = pasted_model(*b.model); named.file_here || named.path_elsewhere)
        take_model(*b.model, false);
      else if (row_format_.empty())
        row_format_ = printed_format(*b.model);
    }
    if (!b.parameters || *b.parameters <= 0) return;
    table_parameters_ = b.parameters;
    if (row_format_.empty() && b.model_bytes) {
      row_format_ = nearest_gguf_format(*b.model_bytes * 8 / *b.parameters);
      remark(fmt::format("weights taken as {}: the nearest to size ÷ parameters = {:.2f} bits", row_format_,
                         *b.model_bytes * 8 / *b.parameters));
    }
  }

  void take_log() {
    const profile::LogWindows& w = paste_.windows;
    if (w.kv_usage_max > 0) seen_.kv_usage = w.kv_usage_max;
    if (w.waiting_max > 0) seen_.waiting = w.waiting_max;
    double preemptions = 0;
    for (const profile::LogFact& fact : paste_.log_facts) {
      if (fact.kind == profile::LogKind::preemption) preemptions = std::max(preemptions + 1, fact.count.value_or(0));
      if (fact.kind != profile::LogKind::decode_timing || !fact.generation_tok_s || has_paste_speed_) continue;
      single_user_ = true;
      take_rate(seen_.tok_s_per_user, fact.generation_tok_s, "eval rate");
    }
    if (preemptions > 0) seen_.preemptions = preemptions;
    take_estimate();
    if (!r_.batch && !r_.concurrency && w.running_max >= 1) r_.concurrency = w.running_max;
    if (seen_.has_speed() || w.busy == 0 || w.generation_tok_s_max <= 0) return;
    take_rate(seen_.output_tok_s, std::optional(w.generation_tok_s_max), "generation throughput");
    seen_.from_log_windows = true;
    remark("from the log: the best throughput window; a window averages over idle time, so it is no decode rate");
  }
  /// vLLM's own bytes and FLOPs a second, of the busiest window; a measured speed tells more.
  void take_estimate() {
    const profile::LogFact* busiest = busiest_estimate(paste_);
    if (busiest == nullptr || seen_.has_speed() || seen_.bytes_per_s || seen_.flop_per_s) return;
    seen_.bytes_per_s = busiest->bytes_per_s;
    seen_.flop_per_s = busiest->flop_per_s;
    remark("bytes and FLOPs a second are the engine's own estimate in its busiest window, idle time counted");
  }
  void take_gpus() {
    if (paste_.gpus.empty()) return;
    if (r_.device.empty()) r_.device = paste_.gpus.front().name;
    if (!r_.tp && !r_.devices && paste_.gpus.size() > 1) {
      remark(fmt::format("{} GPUs are listed; no --tp is stated, so one is taken", paste_.gpus.size()));
    }
    fill(seen_.meter, paste_.gpus.front().utilization);
  }

  void remark(std::string text) { out_.remarks.push_back(std::move(text)); }

  void take_time(std::optional<double>& target, const std::optional<double>& from, const char* what) {
    take_observed(target, from, what, diagnose::least_seconds, diagnose::most_seconds);
  }
  void take_rate(std::optional<double>& target, const std::optional<double>& from, const char* what) {
    take_observed(target, from, what, diagnose::least_rate, diagnose::most_rate);
  }
  void take_observed(std::optional<double>& target, const std::optional<double>& from, const char* what, double least,
                     double most) {
    if (target || !from) return;
    if (*from >= least && *from <= most) {
      target = from;
      has_paste_speed_ = true;
    } else {
      remark(*from <= 0 ? fmt::format("{} {}", what, rounded_to_zero)
                        : fmt::format("{} of {:.3g} is no value of a run, so it is left out", what, *from));
    }
  }

  /// A word that names no format is shown as ignored, never dropped.
  void take_format(const char* flag, const std::optional<std::string>& word, std::string& target) {
    if (!word) return;
    const std::optional<std::string> format = format_word(*word);
    if (!format)
      out_.ignored.push_back(fmt::format("{} {}", flag, word->substr(0, 60)));
    else if (target.empty())
      target = *format;
  }

  /// Keeps the first model that the text names, and the format in its name.
  void take_model(const std::string& word, bool ollama) {
    ollama_ = ollama_ || ollama;
    PastedModel named = ollama ? ollama_model(word) : pasted_model(word);
    if (pasted_ && (!pasted_->path_elsewhere || named.path_elsewhere)) return;
    if (pasted_ && named.weights.empty()) named.weights = pasted_->weights;
    pasted_ = std::move(named);  // an id tells more than a path of another machine
    pasted_word_ = word;
  }

  Result<int> settle_model() {
    const bool own_file = model_given_ && pasted_model(r_.model).file_here;
    if (!model_given_ && r_.params.empty()) {
      if (Result<int> ok = choose_model(); !ok) return ok;
    }
    const bool read_here = own_file || (!model_given_ && pasted_ && pasted_->file_here);
    if (r_.weights.empty() && !read_here) choose_weights();
    return 0;
  }
  Result<int> choose_model() {
    const auto known = [&](const std::string& name) { return model::find_model(assets_, name).has_value(); };
    if (pasted_ && (pasted_->file_here || known(pasted_->name))) {
      r_.model = pasted_->name;
      if (pasted_->path_elsewhere)
        remark(fmt::format("{} is no file here: taken as the model {}", pasted_word_, pasted_->name));
      else if (pasted_->name != pasted_word_)
        remark(fmt::format("{} taken as {}", pasted_word_, pasted_->name));
    } else if (table_parameters_) {
      r_.params = fmt::format("{:.0f}", *table_parameters_);
      remark(fmt::format("no known model is named: taken as a plain model of {:.3g} parameters, so without KV cache",
                         *table_parameters_));
    } else if (pasted_ && pasted_->path_elsewhere) {
      return fail(fmt::format("\"{}\" is no file here, and \"{}\" is no known model", pasted_word_.substr(0, 120),
                              pasted_->name.substr(0, 80)),
                  "pasted text",
                  "name the model on the command line: corridor diagnose MODEL … (corridor models lists)");
    } else if (pasted_) {
      r_.model = pasted_->name;  // the search for it names its neighbours
    }
    return 0;
  }

  /// llama.cpp runs packed weights: from the name, the table, or what ollama and llama.cpp fetch when nothing is said.
  void choose_weights() {
    if (pasted_ && !pasted_->weights.empty()) {
      r_.weights = pasted_->weights;
      return remark(fmt::format("weights taken as {} from the name {}", r_.weights, pasted_word_));
    }
    if (!row_format_.empty()) {
      r_.weights = row_format_;
      return;
    }
    const bool llama = r_.engine == "llama.cpp" && (paste_.command || !paste_.results.empty());
    if (!llama && !ollama_) return assume_published_format();
    constexpr double packed_bits = 12;  // a model that is published in fewer bits is run in them (gpt-oss)
    if (const auto found = model::find_model(assets_, r_.model)) {
      for (const model::TensorRole role : {model::TensorRole::dense_mlp, model::TensorRole::expert}) {
        if (found->model.stored(role).format.bits_per_weight < packed_bits) return;
      }
    }
    r_.weights = "q4_k_m";
    remark(ollama_ ? "weights taken as q4_k_m: the default tags of ollama are Q4_K_M; name another with --weights"
                   : "no name tells the weight format: taken as q4_k_m, the usual GGUF file; name another with "
                     "--weights");
  }

  /// The files behind a path of another machine were not read: the format is that of the published model.
  void assume_published_format() {
    if (!pasted_ || !pasted_->path_elsewhere || r_.model.empty()) return;
    const auto found = model::find_model(assets_, r_.model);
    if (!found || std::any_of(found->model.layers.begin(), found->model.layers.end(), [](const auto& group) {
          return group.feed_forward.experts > 0;  // experts and the rest may differ: one name cannot tell both
        }))
      return;
    r_.weights = found->model.stored(model::TensorRole::dense_mlp).format.name;
    remark(fmt::format("weights taken as {}: the files of {} are not here; name another format with --weights",
                       r_.weights, pasted_word_));
  }

  /// How many run at once: what is stated, what the numbers tell, and no more than the server allows.
  void settle_concurrency() {
    const bool throughput = seen_.output_tok_s || seen_.total_tok_s;
    if (!r_.batch && !r_.concurrency && in_flight_ && *in_flight_ >= 1 && !seen_.request_rate && !single_user_) {
      r_.concurrency = std::max(1.0, std::round(*in_flight_));
      remark(
          fmt::format("no concurrency is stated: {:.0f} requests were in flight on average, from the result's own "
                      "rates and times",
                      *r_.concurrency));
    }
    out_.asks_for_concurrency = throughput && has_paste_speed_ && !r_.batch && !r_.concurrency && !seen_.request_rate &&
                                !single_user_ && !seen_.from_log_windows;
    for (std::optional<double>* sequences : {&r_.batch, &r_.concurrency}) {
      if (!*sequences || !out_.max_sequences || **sequences <= *out_.max_sequences) continue;
      remark(fmt::format("the server runs at most {:.0f} sequences at once: {:.0f} of the {:.0f} requests wait",
                         *out_.max_sequences, **sequences - *out_.max_sequences, **sequences));
      *sequences = *out_.max_sequences;
    }
  }

  const Assets& assets_;
  const PastedRun& paste_;
  PredictRequest& r_;
  Observation& seen_;
  bool model_given_;
  TakenPaste out_;
  std::optional<PastedModel> pasted_;  ///< the model that the text names
  std::string pasted_word_, row_format_;
  std::optional<double> table_parameters_, in_flight_;
  bool ollama_ = false;
  bool single_user_ = false;
  bool has_paste_speed_ = false;
};

}  // namespace

Result<TakenPaste> take_paste(const Assets& assets, const PastedRun& paste, PredictRequest& request,
                              Observation& seen) {
  return PasteTaker(assets, paste, request, seen).take();
}

}  // namespace corridor::app
