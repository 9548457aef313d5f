// SPDX-License-Identifier: Apache-2.0
// Finds JSON objects in pasted lines and reads the result fields of vLLM, SGLang, llama-bench, trtllm-bench and aiperf.
#include "corridor/profile/paste/json_results.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "corridor/profile/paste/block_reader.h"
#include "corridor/profile/paste/llama_test.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

/// All attempts together may look at so many bytes; it keeps a text of a million braces linear.
constexpr std::size_t most_scanned = 32U << 20U;
constexpr std::size_t most_scalars = 2000;
constexpr std::size_t deepest = 4;

/// The scalars of an object by their path ("performance.request_throughput_req_s"); lists are passed over.
class Scalars final : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> truths;

  bool null() override { return true; }
  bool boolean(bool value) override {
    if (wanted()) truths[key_] = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return add(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override {
    if (wanted() && value.size() <= 300) texts[key_] = printable(value);
    return true;
  }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    if (depth_++ > 0 && depth_ <= deepest) path_.push_back(last_);
    return true;
  }
  bool key(string_t& value) override {
    last_ = value.substr(0, 80);
    key_.clear();
    for (const std::string& part : path_) key_ += part + ".";
    key_ += last_;
    return true;
  }
  bool end_object() override {
    if (--depth_ > 0 && depth_ < deepest && !path_.empty()) path_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override {
    ++lists_;
    return true;
  }
  bool end_array() override {
    --lists_;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  [[nodiscard]] bool wanted() const {
    return lists_ == 0 && depth_ <= deepest && numbers.size() + texts.size() + truths.size() < most_scalars;
  }
  bool add(double value) {
    if (wanted() && value >= 0 && value <= 1e18) numbers[key_] = value;
    return true;
  }

  std::vector<std::string> path_;
  std::string last_, key_;
  std::size_t depth_ = 0;
  std::size_t lists_ = 0;
};

struct NumberKey {
  std::string_view name;
  std::optional<double> ResultBlock::*field;
};

constexpr std::array<NumberKey, 24> number_keys{
    {{"duration", &ResultBlock::duration_s},
     {"completed", &ResultBlock::completed},
     {"failed", &ResultBlock::failed},
     {"total_input_tokens", &ResultBlock::input_tokens},
     {"total_output_tokens", &ResultBlock::output_tokens},
     {"request_throughput", &ResultBlock::request_per_s},
     {"input_throughput", &ResultBlock::input_tok_s},
     {"output_throughput", &ResultBlock::output_tok_s},
     {"total_token_throughput", &ResultBlock::total_tok_s},
     {"total_throughput", &ResultBlock::total_tok_s},
     {"max_output_tokens_per_s", &ResultBlock::peak_output_tok_s},
     {"max_concurrency", &ResultBlock::max_concurrency},
     {"request_rate", &ResultBlock::request_rate},
     {"concurrency", &ResultBlock::concurrency},
     {"accept_length", &ResultBlock::accept_length},
     {"spec_decode_acceptance_length", &ResultBlock::accept_length},
     {"performance.request_throughput_req_s", &ResultBlock::request_per_s},
     {"performance.system_output_throughput_tok_s", &ResultBlock::output_tok_s},
     {"performance.system_total_throughput_tok_s", &ResultBlock::total_tok_s},
     {"performance.output_throughput_per_gpu_tok_s", &ResultBlock::per_gpu_tok_s},
     {"performance.output_throughput_per_user_tok_s", &ResultBlock::per_user_tok_s},
     {"request_info.avg_input_length", &ResultBlock::mean_input_len},
     {"request_info.avg_output_length", &ResultBlock::mean_output_len},
     {"request_info.avg_num_concurrent_requests", &ResultBlock::concurrency}}};

struct TextKey {
  std::string_view name;
  std::optional<std::string> ResultBlock::*field;
};
constexpr std::array<TextKey, 6> text_keys{{{"model_id", &ResultBlock::model},
                                            {"backend", &ResultBlock::backend},
                                            {"engine.model", &ResultBlock::model},
                                            {"engine.dtype", &ResultBlock::dtype},
                                            {"engine.kv_cache_dtype", &ResultBlock::kv_cache_dtype},
                                            {"engine.quantization", &ResultBlock::quantization}}};

std::optional<double> number(const Scalars& s, const std::string& key) {
  const auto found = s.numbers.find(key);
  return found == s.numbers.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::string> text(const Scalars& s, const std::string& key) {
  const auto found = s.texts.find(key);
  return found == s.texts.end() ? std::nullopt : std::optional(found->second);
}
std::optional<std::int64_t> integer(const Scalars& s, const std::string& key) {
  const auto value = number(s, key);
  return value && *value < 1e15 ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

/// mean_ttft_ms, p99_itl_ms, median_e2e_latency_ms …
void read_spreads(const Scalars& s, ResultBlock& block) {
  constexpr std::pair<std::string_view, Spread ResultBlock::*> metrics[] = {{"_ttft_ms", &ResultBlock::ttft_s},
                                                                            {"_tpot_ms", &ResultBlock::tpot_s},
                                                                            {"_itl_ms", &ResultBlock::itl_s},
                                                                            {"_e2el_ms", &ResultBlock::e2e_s},
                                                                            {"_e2e_latency_ms", &ResultBlock::e2e_s}};
  for (const auto& [key, value] : s.numbers) {
    for (const auto& [suffix, field] : metrics) {
      if (!key.ends_with(suffix)) continue;
      const auto part = statistic(std::string_view(key).substr(0, key.size() - suffix.size()));
      if (part != nullptr) (block.*field).*part = value * 1e-3;
    }
  }
}

void read_serving(const Scalars& s, ResultBlock& block) {
  for (const NumberKey& key : number_keys) {
    if (const auto value = number(s, std::string(key.name))) block.*key.field = value;
  }
  for (const TextKey& key : text_keys) {
    if (const auto value = text(s, std::string(key.name))) block.*key.field = value;
  }
  block.request_rate_unlimited = text(s, "request_rate").value_or("") == "inf";
  if (const auto rate = number(s, "spec_decode_acceptance_rate"); rate && *rate <= 100) block.acceptance = *rate / 100;
  block.tp = integer(s, "world_info.tp_size");
  block.pp = integer(s, "world_info.pp_size");
  block.ep = integer(s, "world_info.ep_size");
  block.max_num_seqs = integer(s, "world_info.max_batch_size");
  if (const auto ttft = number(s, "streaming_metrics.avg_ttft_ms")) block.ttft_s.mean = *ttft * 1e-3;
  if (const auto tpot = number(s, "streaming_metrics.avg_tpot_ms")) block.tpot_s.mean = *tpot * 1e-3;
  read_spreads(s, block);
}

bool read_llama(const Scalars& s, ResultBlock& block) {
  LlamaTest test;
  const auto rate = number(s, "avg_ts");
  const auto prompt = integer(s, "n_prompt");
  const auto generated = integer(s, "n_gen");
  if (!rate || !prompt || !generated) return false;
  if (*prompt > 0) test.prompt = prompt;
  if (*generated > 0) test.generated = generated;
  if (!test.prompt && !test.generated) return false;
  test.depth = integer(s, "n_depth");
  set_llama_rate(block, test, *rate);
  std::string name = test.prompt ? "pp" + std::to_string(*prompt) : "";
  if (test.generated) name += (name.empty() ? "tg" : "+tg") + std::to_string(*generated);
  if (test.depth.value_or(0) > 0) name += " @ d" + std::to_string(*test.depth);
  block.test = name;
  block.tok_s_stddev = number(s, "stddev_ts");
  block.model = text(s, "model_type");
  block.model_bytes = number(s, "model_size");
  block.parameters = number(s, "model_n_params");
  block.backend = text(s, "backends");
  block.gpu = text(s, "gpu_info");
  block.gpu_layers = integer(s, "n_gpu_layers");
  block.threads = integer(s, "n_threads");
  block.kv_cache_dtype = text(s, "type_k");
  if (const auto found = s.truths.find("flash_attn"); found != s.truths.end()) block.flash_attention = found->second;
  return true;
}

/// Metrics with a unit each; only the units that are documented are read.
bool read_aiperf(const Scalars& s, ResultBlock& block) {
  constexpr std::pair<std::string_view, Spread ResultBlock::*> times[] = {
      {"time_to_first_token", &ResultBlock::ttft_s},
      {"request_latency", &ResultBlock::e2e_s},
      {"inter_token_latency", &ResultBlock::tpot_s}};
  bool found = false;
  for (const auto& [name, field] : times) {
    const std::string prefix = std::string(name) + ".";
    if (text(s, prefix + "unit") != "ms") continue;
    for (const std::string_view part : {"avg", "p50", "p90", "p95", "p99", "min", "max", "std"}) {
      const auto value = number(s, prefix + std::string(part));
      if (value) (block.*field).*statistic(part) = *value * 1e-3;
      found = found || value;
    }
  }
  block.output_tok_s = number(s, "output_token_throughput.avg");
  block.per_user_tok_s = number(s, "output_token_throughput_per_user.avg");
  block.request_per_s = number(s, "request_throughput.avg");
  block.completed = number(s, "request_count.avg");
  block.mean_input_len = number(s, "input_sequence_length.avg");
  block.mean_output_len = number(s, "output_sequence_length.avg");
  return found;
}

bool read_throughput(const Scalars& s, ResultBlock& block) {
  block.request_per_s = number(s, "requests_per_second");
  block.total_tok_s = number(s, "tokens_per_second");  // prompt + output: total_num_tokens ÷ elapsed_time
  block.duration_s = number(s, "elapsed_time");
  block.completed = number(s, "num_requests");
  return block.request_per_s && block.total_tok_s;
}

/// Which tool wrote it is known by fields that only it writes.
bool read_result(const Scalars& s, ResultBlock& block) {
  if (s.numbers.count("avg_ts") != 0) {
    block.kind = ResultKind::llama_bench;
    return read_llama(s, block);
  }
  if (s.texts.count("time_to_first_token.unit") != 0) {
    block.kind = ResultKind::aiperf;
    return read_aiperf(s, block);
  }
  if (s.numbers.count("tokens_per_second") != 0 && s.numbers.count("total_num_tokens") != 0) {
    block.kind = ResultKind::vllm_bench_throughput;
    return read_throughput(s, block);
  }
  const bool trtllm = s.numbers.count("performance.request_throughput_req_s") != 0;
  const bool serving = s.numbers.count("request_throughput") != 0 && s.numbers.count("output_throughput") != 0;
  if (!trtllm && !serving) return false;
  const bool sglang = s.numbers.count("total_output_tokens_retokenized") != 0;
  block.kind = trtllm   ? ResultKind::trtllm_bench
               : sglang ? ResultKind::sglang_bench_serving
                        : ResultKind::vllm_bench_serve;
  read_serving(s, block);
  return true;
}

/// Follows braces and strings; true when the object that began is closed.
class BraceCounter {
 public:
  /// The bytes of `text` up to the closing brace, or all of it.
  std::size_t follow(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (in_string_) {
        if (c == '\\') {
          ++i;
        } else if (c == '"') {
          in_string_ = false;
        }
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{') {
        ++open_;
      } else if (c == '}' && open_ > 0 && --open_ == 0) {
        closed_ = true;
        return i + 1;
      }
    }
    return text.size();
  }
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  std::size_t open_ = 0;
  bool in_string_ = false;
  bool closed_ = false;
};

}  // namespace

std::size_t JsonReader::read(const PasteLines& lines, std::size_t at) {
  std::string_view first = trim(lines[at].text);
  if (first.starts_with("[{")) first.remove_prefix(1);
  if (!first.starts_with("{") || scanned_ > most_scanned) return 0;
  BraceCounter braces;
  std::string object;
  std::size_t taken = 0;
  for (; at + taken < lines.size() && !braces.closed() && scanned_ <= most_scanned; ++taken) {
    const std::string_view part = taken == 0 ? first : lines[at + taken].text;
    const std::size_t length = braces.follow(part);
    scanned_ += length + 1;
    object.append(part.substr(0, length));
    object += '\n';
  }
  if (!braces.closed()) return 0;
  Scalars scalars;
  ResultBlock block;
  block.line = lines[at].number;
  if (!nlohmann::json::sax_parse(object, &scalars) || !read_result(scalars, block)) return 0;
  recorder_.result(std::move(block));
  return taken;
}

}  // namespace corridor::profile
