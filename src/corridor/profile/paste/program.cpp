// SPDX-License-Identifier: Apache-2.0
// The table of programs, modules and container images that start an engine or a benchmark.
#include "corridor/profile/paste/program.h"

#include <algorithm>
#include <array>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

/// One form of a command: up to three words that must follow each other.
struct Form {
  std::array<std::string_view, 3> words;
  std::string_view name;
  std::optional<Engine> engine;
  std::optional<ClientTool> client;
  bool takes_model = false;
};

constexpr auto vllm = Engine::vllm;
constexpr auto sglang = Engine::sglang;
constexpr auto tensorrt = Engine::tensorrt_llm;
constexpr auto llama = Engine::llama_cpp;
constexpr std::nullopt_t none = std::nullopt;

/// Longer forms stand before their beginnings.
constexpr std::array<Form, 35> forms{{
    {{"vllm", "bench", "serve"}, "vllm bench serve", none, ClientTool::vllm_bench},
    {{"vllm", "bench", "throughput"}, "vllm bench throughput", vllm, ClientTool::vllm_bench},
    {{"vllm", "bench", "latency"}, "vllm bench latency", vllm, ClientTool::vllm_bench},
    {{"vllm", "serve", ""}, "vllm serve", vllm, none, true},
    {{"-m", "vllm.entrypoints.openai.api_server", ""}, "vllm api_server", vllm, none},
    {{"-m", "vllm.entrypoints.api_server", ""}, "vllm api_server", vllm, none},
    {{"-m", "vllm.entrypoints.cli.main", "serve"}, "vllm serve", vllm, none, true},
    {{"benchmark_serving.py", "", ""}, "benchmark_serving.py", none, ClientTool::vllm_bench},
    {{"benchmark_throughput.py", "", ""}, "benchmark_throughput.py", vllm, ClientTool::vllm_bench},
    {{"benchmark_latency.py", "", ""}, "benchmark_latency.py", vllm, ClientTool::vllm_bench},
    {{"sglang", "serve", ""}, "sglang serve", sglang, none},
    {{"-m", "sglang.launch_server", ""}, "sglang launch_server", sglang, none},
    {{"-m", "sglang.bench_serving", ""}, "sglang bench_serving", none, ClientTool::sglang_bench},
    {{"-m", "sglang.bench_one_batch_server", ""}, "sglang bench_one_batch_server", sglang, ClientTool::sglang_bench},
    {{"-m", "sglang.bench_one_batch", ""}, "sglang bench_one_batch", sglang, ClientTool::sglang_bench},
    {{"-m", "sglang.bench_offline_throughput", ""},
     "sglang bench_offline_throughput",
     sglang,
     ClientTool::sglang_bench},
    {{"bench_serving.py", "", ""}, "sglang bench_serving", none, ClientTool::sglang_bench},
    {{"trtllm-serve", "serve", ""}, "trtllm-serve", tensorrt, none, true},
    {{"trtllm-serve", "", ""}, "trtllm-serve", tensorrt, none, true},
    {{"trtllm-bench", "", ""}, "trtllm-bench", tensorrt, ClientTool::trtllm_bench},
    {{"llama-server", "", ""}, "llama-server", llama, none},
    {{"llama-cli", "", ""}, "llama-cli", llama, none},
    {{"llama-completion", "", ""}, "llama-completion", llama, none},
    {{"llama-speculative", "", ""}, "llama-speculative", llama, none},
    {{"llama-batched-bench", "", ""}, "llama-batched-bench", llama, none},
    {{"llama-bench", "", ""}, "llama-bench", llama, ClientTool::llama_bench},
    {{"ollama", "run", ""}, "ollama run", Engine::ollama, none, true},
    {{"ollama", "serve", ""}, "ollama serve", Engine::ollama, none},
    {{"genai-perf", "profile", ""}, "genai-perf", none, ClientTool::genai_perf},
    {{"genai-perf", "", ""}, "genai-perf", none, ClientTool::genai_perf},
    {{"aiperf", "profile", ""}, "aiperf", none, ClientTool::aiperf},
    {{"#image", "vllm-openai", ""}, "vllm container", vllm, none},
    {{"#image", "rocm/vllm", ""}, "vllm container", vllm, none},
    {{"#image", "llama.cpp:server", ""}, "llama.cpp server container", llama, none},
    {{"#image", "llama.cpp:light", ""}, "llama.cpp container", llama, none},
}};

/// "/usr/bin/vllm" → "vllm", "C:\\bin\\llama-server.exe" → "llama-server"; words of other alphabets in front are cut.
std::string_view base_name(std::string_view word) {
  const std::size_t slash = word.find_last_of("/\\");
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  if (word.ends_with(".exe")) word.remove_suffix(4);
  // "start:vllm" of a sentence; letters of another alphabet end where the program begins.
  for (std::size_t i = word.size(); i > 0; --i) {
    const char c = word[i - 1];
    if (static_cast<unsigned char>(c) >= 0x80 || c == ':' || c == '(') return word.substr(i);
  }
  return word;
}

/// A container image is a program only after `docker run`, `podman run` and the like.
bool is_image(const std::vector<Word>& words, std::size_t at, std::string_view part) {
  const Word& word = words[at];
  if (word.end || word.text.starts_with('-') || !contains(word.text, part) || contains(word.text, "=")) return false;
  constexpr std::size_t furthest_run = 80;
  for (std::size_t i = at; i > 0 && at - i < furthest_run; --i) {
    if (words[i - 1].end) return false;
    if (words[i - 1].text == "run") return true;
  }
  return false;
}

bool matches(const Form& form, const std::vector<Word>& words, std::size_t at) {
  if (form.words[0] == "#image") return is_image(words, at, form.words[1]);
  for (std::size_t i = 0; i < form.words.size() && !form.words[i].empty(); ++i) {
    if (at + i >= words.size() || words[at + i].end) return false;
    const std::string_view text = words[at + i].text;
    if ((i == 0 ? base_name(text) : text) != form.words[i]) return false;
  }
  return true;
}

std::size_t length(const Form& form) {
  if (form.words[0] == "#image") return 1;
  return static_cast<std::size_t>(
      std::count_if(form.words.begin(), form.words.end(), [](std::string_view word) { return !word.empty(); }));
}

}  // namespace

bool may_be_command(std::string_view line) {
  constexpr std::array<std::string_view, 15> marks{
      "vllm serve",   "vllm bench",       "vllm.entrypoints", "benchmark_",  "sglang.",
      "sglang serve", "bench_serving.py", "trtllm-",          "llama-",      "ollama run",
      "ollama serve", "genai-perf",       "aiperf profile",   "vllm-openai", "run"};
  return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) {
    return mark == "run" ? (contains(line, "docker run") || contains(line, "podman run")) : contains(line, mark);
  });
}

std::optional<Program> program_at(const std::vector<Word>& words, std::size_t at) {
  for (const Form& form : forms) {
    if (!matches(form, words, at)) continue;
    return Program{std::string(form.name), form.engine, form.client, at + length(form), form.takes_model};
  }
  return std::nullopt;
}

}  // namespace corridor::profile
