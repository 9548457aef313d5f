// SPDX-License-Identifier: Apache-2.0
// Fixed lists of spellings; the order in each list matters, because the first match counts.
#include "corridor/profile/points/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "corridor/profile/paste/text_scan.h"
#include "corridor/profile/points/cells.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_name = 200;

struct Spelling {
  std::string_view part;
  std::string_view word;
};

/// `text` without what stands in round or square brackets.
std::string outside_brackets(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (depth == 0) out += c;
    if ((c == ')' || c == ']') && depth > 0) --depth;
  }
  return std::string(trim(out));
}

std::string spaces_for(std::string text, std::string_view marks) {
  std::replace_if(
      text.begin(), text.end(), [marks](char c) { return marks.find(c) != std::string_view::npos; }, ' ');
  return text;
}

/// "q4_k_m", "iq4_xs", "q8_0", "q4_k - medium"; of mixes that we do not know ("q4_k_xl") the medium one.
std::string gguf_type(std::string_view text) {
  static constexpr std::array<std::string_view, 30> types{
      "iq1_s",  "iq1_m",  "iq2_xxs", "iq2_xs", "iq2_s", "iq3_xxs", "iq3_s", "iq4_nl", "iq4_xs", "tq1_0",
      "tq2_0",  "q4_0",   "q4_1",    "q5_0",   "q5_1",  "q8_0",    "q8_1",  "q3_k_s", "q3_k_m", "q3_k_l",
      "q4_k_s", "q4_k_m", "q5_k_s",  "q5_k_m", "q2_k",  "q6_k",    "q8_k",  "q3_k",   "q4_k",   "q5_k"};
  for (const std::string_view type : types) {
    if (!contains(text, type)) continue;
    if (type == "q2_k") return "q2_k_mix";
    const bool mix_follows = type == "q3_k" || type == "q4_k" || type == "q5_k";
    if (!mix_follows) return std::string(type);
    if (contains(text, "large") && type == "q3_k") return "q3_k_l";
    return std::string(type) + (contains(text, "small") ? "_s" : "_m");
  }
  const bool short_name = text.size() == 2 && text.front() == 'q' && is_digit(text.back());
  return short_name ? std::string(text) : std::string();
}

std::string grouped(int bits, double group) {
  if (bits == 8) return group > 0 ? "int8-g128" : "int8";
  if (bits == 3) return "int3-g128";
  if (bits == 2) return "int2-g64";
  if (bits != 4) return {};
  return group == 32 ? "int4-g32" : group == 64 ? "int4-g64" : "int4-g128";
}

/// Bits of an integer format as written: "4-bit", "int4", "w4", "8 bit".
int bits_of(std::string_view text) {
  for (const int bits : {2, 3, 4, 8}) {
    const std::string figure = std::to_string(bits);
    for (const std::string& form : {figure + "-bit", figure + " bit", figure + "bit", "int" + figure, "w" + figure}) {
      if (contains(text, form)) return bits;
    }
  }
  return 0;
}

std::string by_bit_rate(double bits) {
  static constexpr std::array<std::pair<double, std::string_view>, 11> rates{{{2.5625, "iq2_s"},
                                                                              {3.0625, "iq3_xxs"},
                                                                              {3.4375, "q3_k"},
                                                                              {4.0, "int4-channel"},
                                                                              {4.25, "iq4_xs"},
                                                                              {4.5, "q4_0"},
                                                                              {4.80, "q4_k_m"},
                                                                              {5.5, "q5_0"},
                                                                              {6.0, "q5_1"},
                                                                              {6.5625, "q6_k"},
                                                                              {8.0, "int8"}}};
  constexpr double near = 0.03;
  const auto off = [bits](double rate) { return std::abs(bits / rate - 1); };
  const auto* best = std::min_element(rates.begin(), rates.end(),
                                      [off](const auto& a, const auto& b) { return off(a.first) < off(b.first); });
  return off(best->first) <= near ? std::string(best->second) : std::string();
}

/// Names of ours that the rules below would read as something more usual.
bool is_own_name(std::string_view text) {
  static constexpr std::array<std::string_view, 13> names{
      "q2_k",         "q3_k",         "q4_k",      "q5_k",      "q2_k_mix", "int4-channel", "int4-sym-g128",
      "int4-sym-g64", "int4-sym-g32", "nvfp4-a16", "mxfp4-a16", "nf4-dq",   "w4a8-fp8"};
  return std::find(names.begin(), names.end(), text) != names.end();
}

/// Formats that one part of the name settles.
std::string settled(std::string_view text) {
  static constexpr std::array<Spelling, 33> spellings{{{"w4a16_mxfp4", "mxfp4-a16"},
                                                       {"w4a8_mxfp4", "mxfp4"},
                                                       {"mxfp4", "mxfp4"},
                                                       {"mxfp8", "mxfp8"},
                                                       {"mxfp6", "mxfp6"},
                                                       {"nvfp4", "nvfp4"},
                                                       {"fp4", "nvfp4"},
                                                       {"nf4", "nf4"},
                                                       {"w4afp8", "w4a8-fp8"},
                                                       {"w4a8", "w4a8-fp8"},
                                                       {"fp8_block", "fp8-block"},
                                                       {"fp8-block", "fp8-block"},
                                                       {"fp8 block", "fp8-block"},
                                                       {"block fp8", "fp8-block"},
                                                       {"fp8", "fp8"},
                                                       {"float8", "fp8"},
                                                       {"e4m3", "fp8"},
                                                       {"e5m2", "fp8"},
                                                       {"w8a8", "w8a8-int8"},
                                                       {"smoothquant", "w8a8-int8"},
                                                       {"int8_sq", "w8a8-int8"},
                                                       {"int8_wo", "int8"},
                                                       {"int4_wo", "int4-channel"},
                                                       {"bf16", "bf16"},
                                                       {"bfloat16", "bf16"},
                                                       {"fp16", "fp16"},
                                                       {"float16", "fp16"},
                                                       {"half", "fp16"},
                                                       {"f16", "fp16"},
                                                       {"tf32", "tf32"},
                                                       {"fp32", "fp32"},
                                                       {"float32", "fp32"},
                                                       {"f32", "fp32"}}};
  for (const auto& [part, word] : spellings) {
    if (contains(text, part)) return std::string(word);
  }
  return {};
}

bool is_version_start(std::string_view word) {
  if (word.empty()) return false;
  const std::size_t at = word.front() == 'v' || word.front() == 'V' ? 1 : 0;
  if (word.front() == 'b' && word.size() >= 4) return std::all_of(word.begin() + 1, word.end(), is_digit);
  return at < word.size() && is_digit(word[at]) && contains(word, ".");
}

/// "8x H100", "8 x H100" without the count.
std::string_view without_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view rest = trim(text.substr(digits));
  const bool counted = digits > 0 && rest.size() > 2 && (rest.front() == 'x' || rest.front() == 'X') && rest[1] == ' ';
  return counted ? trim(rest.substr(1)) : text;
}

/// Cuts a remark about power off a device name: "H100 SXM 80GB power-capped", "A100 limited to 330 W".
std::string without_power(std::string_view text) {
  const std::string small = lower(text);
  std::size_t end = text.size();
  for (const std::string_view mark : {" power-", " power ", " powercap", " limited to", " capped", ", "}) {
    end = std::min(end, small.find(mark));
  }
  return std::string(trim(text.substr(0, end)));
}

/// "24GB", "16 GiB", "DDR5-6400", "LPDDR5X-8533": memory beside a device's name; a lone dash before it.
bool is_memory_word(std::string_view word) {
  const std::string small = lower(word);
  if (small == "-" || small.substr(0, 3) == "ddr" || small.substr(0, 5) == "lpddr") return true;
  if (small.size() < 3 || !is_digit(small.front())) return false;
  return small.substr(small.size() - 2) == "gb" || small.substr(small.size() - 2) == "ib";
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string weight_format_word(std::string_view as_written) {
  const std::string whole = lower(as_written.substr(0, longest_name));
  const std::string text = outside_brackets(whole);
  if (text.empty()) return {};
  if (is_own_name(text)) return text;
  if (std::string type = gguf_type(text); !type.empty()) return type;
  if (const std::size_t bpw = std::min(text.find("bpw"), text.find("bits per weight")); bpw != std::string::npos) {
    const std::string_view before = trim(std::string_view(text).substr(0, bpw));
    const std::size_t word = before.find_last_not_of("0123456789.");
    const auto bits = leading_number(before.substr(word == std::string_view::npos ? 0 : word + 1));
    return bits ? by_bit_rate(bits->value) : std::string();
  }
  if (text == "sq") return "w8a8-int8";
  if (std::string word = settled(text); !word.empty()) return word;
  if (contains(text, "16-bit") || contains(text, "16 bit") || text == "16") return "bf16";
  const bool grouped_tool = contains_any(text, {"gptq", "awq", "marlin"});
  const int bits = bits_of(text);
  if (contains_any(text, {"bnb", "bitsandbytes"})) return bits == 8 ? "int8" : "nf4";
  double group = 0;
  for (const std::string_view word : {std::string_view("g"), std::string_view("gs"), std::string_view("group")}) {
    if (const auto size = number_at_word(spaces_for(text, "-_,"), word)) group = *size;
  }
  if (group == 0 && contains(text, "mlx")) group = 64;  // the default of that tool
  if (group == 0 && grouped_tool) group = 128;          // the default of these tools
  return grouped(bits == 0 && grouped_tool ? 4 : bits, group);
}

std::string operation_type(std::string_view as_written) {
  const std::string word = weight_format_word(as_written);
  if (word == "int8") return lower(trim(as_written)) == "int8" ? "int8" : "int8-weight-only";
  return word.empty() ? lower(trim(as_written.substr(0, longest_name))) : word;
}

std::string engine_word(std::string_view as_written) {
  static constexpr std::array<Spelling, 33> spellings{{{"tensorrt-llm", "tensorrt-llm"},
                                                       {"tensorrt_llm", "tensorrt-llm"},
                                                       {"tensorrt llm", "tensorrt-llm"},
                                                       {"trtllm", "tensorrt-llm"},
                                                       {"trt-llm", "tensorrt-llm"},
                                                       {"trt_llm", "tensorrt-llm"},
                                                       {"llama.cpp", "llama.cpp"},
                                                       {"llamacpp", "llama.cpp"},
                                                       {"llama-cpp", "llama.cpp"},
                                                       {"llama-bench", "llama.cpp"},
                                                       {"llama_bench", "llama.cpp"},
                                                       {"ollama", "ollama"},
                                                       {"sglang", "sglang"},
                                                       {"vllm", "vllm"},
                                                       {"exllamav2", "exllamav2"},
                                                       {"exllamav3", "exllamav3"},
                                                       {"exllama", "exllama"},
                                                       {"gpt-fast", "gpt-fast"},
                                                       {"lmdeploy", "lmdeploy"},
                                                       {"turbomind", "lmdeploy"},
                                                       {"deepspeed", "deepspeed"},
                                                       {"text-generation-inference", "tgi"},
                                                       {"text generation inference", "tgi"},
                                                       {"lm studio", "lm studio"},
                                                       {" nim", "nim"},
                                                       {"gptq-for-llama", "gptq-for-llama"},
                                                       {"ctranslate", "ctranslate2"},
                                                       {"mlc", "mlc-llm"},
                                                       {"mlx", "mlx"},
                                                       {"transformers (", "transformers"},
                                                       {"hf transformers", "transformers"},
                                                       {"hugging face", "transformers"},
                                                       {"huggingface", "transformers"}}};
  const std::string text = lower(trim(as_written.substr(0, longest_name)));
  for (const auto& [part, word] : spellings) {
    if (contains(text, part)) return std::string(word);
  }
  std::string first = text.substr(0, text.find_first_of(" \t(,;/"));
  return first == "hf" ? "transformers" : first;
}

std::string version_of(std::string_view engine) {
  std::string text = spaces_for(outside_brackets(engine.substr(0, longest_name)), ",;=/@");
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, end);
    if (is_version_start(word)) {
      if (word.front() == 'v' || word.front() == 'V') word.remove_prefix(1);
      return std::string(word);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

std::string device_word(std::string_view as_written) {
  const std::string whole = outside_brackets(as_written.substr(0, longest_name));
  std::string text = without_power(without_count(whole));
  text = spaces_for(std::move(text), "_");
  // Systems that exist with one board only, and pairs of boards that a bridge joins.
  if (const std::size_t dgx = lower(text).find(" dgx"); dgx != std::string::npos) text = text.substr(0, dgx) + " SXM";
  if (const std::size_t pair = lower(text).find(" pairwise"); pair != std::string::npos) {
    text = text.substr(0, pair) + " PCIe";
  }
  return text;
}

std::string short_device_word(std::string_view as_written) {
  std::string text = device_word(as_written);
  std::string out;
  for (const std::string_view word : words_of(std::string_view(text).substr(0, text.find('/')))) {
    const std::string small = lower(word);
    if (small == "mac" || small == "macbook") break;  // "M4 Max MacBook Pro": the chip stands before
    if (!is_memory_word(word)) out += (out.empty() ? "" : " ") + std::string(word);
  }
  constexpr std::string_view similar = "-class";
  const std::string small = lower(out);
  if (small.size() > similar.size() && small.substr(small.size() - similar.size()) == similar) {
    out.resize(out.size() - similar.size());
  }
  return std::string(trim(out));
}

std::string board_in_host(std::string_view as_written) {
  const std::size_t open = as_written.find('(');
  const std::size_t close = open == std::string_view::npos ? open : as_written.find(')', open);
  if (close == std::string_view::npos || as_written.size() > longest_name) return {};
  const std::string_view board = trim(as_written.substr(open + 1, close - open - 1));
  const std::vector<std::string_view> words = words_of(board);
  if (words.size() < 2 || !has_digit(board)) return {};
  static constexpr std::array<std::string_view, 7> makers{"nvidia", "amd", "intel", "radeon", "geforce", "rtx", "rx"};
  if (std::find(makers.begin(), makers.end(), lower(words.front())) == makers.end()) return {};
  // "H100 SXM (NVIDIA HGX H100)" only says one device twice.
  const std::string host = lower(as_written.substr(0, open));
  const auto repeated = [&host](std::string_view word) { return has_digit(word) && contains(host, lower(word)); };
  if (std::any_of(words.begin(), words.end(), repeated)) return {};
  return std::string(board);
}

}  // namespace corridor::profile
