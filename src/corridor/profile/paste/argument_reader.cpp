// SPDX-License-Identifier: Apache-2.0
// Flags with their values, checked; unknown ones are named and never guessed at.
#include "corridor/profile/paste/argument_reader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

constexpr std::size_t longest_text = 300;  // of a model path or another text value
constexpr std::size_t most_overrides = 64;

/// True for -x, --xyz and -tp2; not for -1 and not for quoted words.
bool is_flag(const Word& word) {
  return !word.quoted && !word.end && word.text.size() > 1 && word.text[0] == '-' &&
         (is_letter(word.text[1]) || (word.text[1] == '-' && word.text.size() > 2 && is_letter(word.text[2])));
}

/// Long names with hyphens: --tp_size is --tp-size.
std::string hyphened(std::string_view name) {
  std::string out(name);
  if (out.starts_with("--")) std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

/// The length that "8k" (1000) and "8K" (1024) abbreviate in vLLM; plain integers as they are.
std::optional<std::int64_t> length_of(std::string_view text) {
  if (const auto plain = whole_integer(text)) return plain;
  const auto number = leading_number(text);
  if (!number || number->rest.size() != 1) return std::nullopt;
  constexpr std::pair<char, double> suffixes[] = {{'k', 1e3},    {'m', 1e6},       {'g', 1e9},
                                                  {'K', 1024.0}, {'M', 1048576.0}, {'G', 1073741824.0}};
  for (const auto& [suffix, factor] : suffixes) {
    const double value = number->value * factor;
    if (number->rest[0] == suffix && value < 1e15) return static_cast<std::int64_t>(value);
  }
  return std::nullopt;
}

std::optional<bool> truth_of(std::string_view text) {
  const std::string word = lower(text);
  if (word == "1" || word == "on" || word == "true" || word == "yes") return true;
  if (word == "0" || word == "off" || word == "false" || word == "no") return false;
  return std::nullopt;
}

/// A switch takes a value only as --name=value.
bool is_switch(const Flag& flag) {
  const auto* harmless = std::get_if<Harmless>(&flag.target);
  return (harmless != nullptr && !harmless->takes_value) || std::holds_alternative<ServeSwitch>(flag.target) ||
         std::holds_alternative<ClientSwitch>(flag.target);
}

/// A text value stands on one line and is not endless.
bool is_text_value(std::string_view value) {
  return !value.empty() && value.size() <= longest_text && value.find('\n') == std::string_view::npos;
}

/// True when a plain word can only be the name of a model: a path, an id with an owner, or a name with a digit.
bool looks_like_model(std::string_view word) {
  if (!is_text_value(word) || word[0] == '-') return false;
  const bool has_letter = std::any_of(word.begin(), word.end(), is_letter);
  const bool marked = contains(word, "/") || word.ends_with(".gguf") || std::any_of(word.begin(), word.end(), is_digit);
  return has_letter && marked;
}

/// Text that is not ASCII ends a word of a command, unless the word is a path.
std::string_view ascii_head(const Word& word) {
  const std::string_view text = word.text;
  if (word.quoted || text.starts_with('/') || text.starts_with('.') || text.starts_with('~')) return text;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return text.substr(0, i);
  }
  return text;
}

/// A value that may be a password is never repeated.
bool is_secret(std::string_view flag) {
  const std::string name = lower(flag);
  return contains(name, "key") || contains(name, "token") || contains(name, "secret") || contains(name, "password");
}

template <class T>
std::string shown(const T& value) {
  return fmt::format("{}", value);
}

}  // namespace

ArgumentReader::ArgumentReader(Program program) : program_(std::move(program)) {
  if (program_.engine) {
    serve.engine = *program_.engine;
    serve.program = program_.name;
    switch (*program_.engine) {
      case Engine::vllm:
        tables_.push_back(vllm_flags());
        break;
      case Engine::sglang:
        tables_.push_back(sglang_flags());
        break;
      case Engine::tensorrt_llm:
        tables_.push_back(tensorrt_llm_flags());
        break;
      case Engine::llama_cpp:
        tables_.push_back(llama_cpp_flags());
        break;
      case Engine::ollama:
        tables_.push_back(ollama_flags());
        break;
    }
  }
  if (!program_.client) return;
  client.tool = *program_.client;
  client.program = program_.name;
  switch (*program_.client) {
    // The client's own meaning of a name goes before the engine's (-p, -n, -d of llama-bench).
    case ClientTool::vllm_bench:
      tables_.insert(tables_.begin(), vllm_bench_flags());
      break;
    case ClientTool::sglang_bench:
      tables_.insert(tables_.begin(), sglang_bench_flags());
      break;
    case ClientTool::llama_bench:
      tables_.insert(tables_.begin(), llama_bench_flags());
      break;
    case ClientTool::trtllm_bench:
      tables_.insert(tables_.begin(), trtllm_bench_flags());
      break;
    case ClientTool::genai_perf:
    case ClientTool::aiperf:
      tables_.insert(tables_.begin(), aiperf_flags());
      break;
  }
}

std::size_t ArgumentReader::read(const std::vector<Word>& words) {
  std::size_t at = program_.arguments;
  while (at < words.size() && !words[at].end) {
    if (is_flag(words[at])) {
      read_flag(words, at);
    } else if (!read_plain(words, at)) {
      break;
    } else {
      ++at;
    }
  }
  return at;
}

bool ArgumentReader::is_command() const {
  return known_ > 0 || serve.model || client.model;
}

bool ArgumentReader::read_plain(const std::vector<Word>& words, std::size_t at) {
  const std::string_view text = ascii_head(words[at]);
  const bool whole = text.size() == words[at].text.size();
  constexpr std::string_view subcommands[] = {"throughput", "latency", "build", "prepare-dataset", "prepare_dataset"};
  if (program_.client == ClientTool::trtllm_bench) {
    return std::find(std::begin(subcommands), std::end(subcommands), text) != std::end(subcommands);
  }
  if (text == "serve") return plain_words_++ == 0;
  if (!program_.takes_model || serve.model || plain_words_ > 0) return false;
  ++plain_words_;
  // A plain word such as "mistral" is a model only where the command says nothing else that could be prose.
  const bool alone = at + 1 >= words.size() || words[at + 1].end || is_flag(words[at + 1]) || words[at + 1].quoted;
  const bool plain_name = alone && is_text_value(text) && at == program_.arguments && text.size() > 2 && whole &&
                          text.back() != '.' && text.back() != ',' &&
                          text.find_first_of("?!:()") == std::string_view::npos;
  if (!looks_like_model(text) && !plain_name) return false;
  serve.model = std::string(text);
  return whole;
}

const Flag* ArgumentReader::find(std::string_view name) const {
  const std::string wanted = hyphened(name);
  for (const auto& table : tables_) {
    for (const Flag& flag : table) {
      if (flag.name == wanted) return &flag;
    }
  }
  return nullptr;
}

/// "-tp2" and "-ngl99": a short flag with its number attached.
const Flag* ArgumentReader::find_attached(Argument& argument) const {
  if (argument.has_value || argument.name.starts_with("--")) return nullptr;
  const std::size_t digit = argument.name.find_first_of("0123456789");
  if (digit == std::string_view::npos || !whole_integer(argument.name.substr(digit))) return nullptr;
  const Flag* flag = find(argument.name.substr(0, digit));
  if (flag == nullptr || is_switch(*flag)) return nullptr;
  argument = {argument.name.substr(0, digit), argument.name.substr(digit), true};
  return flag;
}

void ArgumentReader::read_flag(const std::vector<Word>& words, std::size_t& at) {
  const std::string_view text = words[at++].text;
  const std::size_t equal = text.find('=');
  Argument argument{text.substr(0, equal), {}, equal != std::string_view::npos};
  if (argument.has_value) argument.value = text.substr(equal + 1);
  const Flag* flag = find(argument.name);
  if (flag == nullptr) flag = find_attached(argument);
  if (flag == nullptr) return read_unknown(argument, words, at);
  flag_ = flag->name;
  const bool optional_value =
      std::holds_alternative<Special>(flag->target) && std::get<Special>(flag->target) == Special::flash_attention;
  const bool follows = at < words.size() && !words[at].end && !is_flag(words[at]);
  const bool takes =
      optional_value ? follows && (truth_of(words[at].text) || words[at].text == "auto") : !is_switch(*flag) && follows;
  if (!argument.has_value && takes) {
    argument.value = ascii_head(words[at++]);
    argument.has_value = true;
  }
  if (!argument.has_value && !is_switch(*flag) && !optional_value) {
    ignored.push_back(fmt::format("{} (without a value)", argument.name));
  } else if (assign(*flag, argument.value)) {
    if (!std::holds_alternative<Harmless>(flag->target)) ++known_;
  } else {
    ignored.push_back(fmt::format("{} {} (not a value it can have)", argument.name, argument.value));
  }
}

void ArgumentReader::read_unknown(const Argument& argument, const std::vector<Word>& words, std::size_t& at) {
  std::string shown_value(argument.value);
  if (!argument.has_value && at < words.size() && !words[at].end && !is_flag(words[at])) {
    shown_value = words[at++].text;
  }
  if (is_secret(argument.name)) shown_value.clear();
  ignored.push_back(fmt::format("{}{}{}", argument.name, shown_value.empty() ? "" : " ", shown_value));
}

template <class T, class V>
bool ArgumentReader::set(std::string_view what, std::optional<T>& field, V value) {
  T next = T(std::move(value));
  if (field && *field != next) {
    notes.push_back(fmt::format("{} is given twice in the command: {}, then {}; the last is kept", what, shown(*field),
                                shown(next)));
  }
  field = std::move(next);
  return true;
}

bool ArgumentReader::assign_integer(std::optional<std::int64_t>& field, std::string_view value) {
  const auto number = length_of(value);
  const bool uncut = flag_ == "--chunked-prefill-size" && number == -1;
  // "auto" and -1 leave the choice to the engine: nothing is stated.
  if (!number || (*number < 0 && !uncut)) return value == "auto" || value == "-1";
  return set(flag_, field, *number);
}

bool ArgumentReader::assign_number(std::optional<double>& field, std::string_view value, double largest) {
  const auto number = whole_number(value);
  return number && *number <= largest && set(flag_, field, *number);
}

bool ArgumentReader::assign_text(std::optional<std::string>& field, std::string_view value) {
  return is_text_value(value) && set(flag_, field, std::string(value));
}

bool ArgumentReader::assign_switch(std::optional<bool>& field, std::string_view value, bool when_present) {
  const auto stated = value.empty() ? std::optional(true) : truth_of(value);
  return stated && set(flag_, field, *stated == when_present);
}

bool ArgumentReader::assign(const Flag& flag, std::string_view value) {
  constexpr double any = 1e15;
  const auto to_field = [&](const auto& target) -> bool {
    using T = std::decay_t<decltype(target)>;
    if constexpr (std::is_same_v<T, Harmless>) {
      return true;
    } else if constexpr (std::is_same_v<T, ServeInteger>) {
      return assign_integer(serve.*target, value);
    } else if constexpr (std::is_same_v<T, ClientInteger>) {
      return assign_integer(client.*target, value);
    } else if constexpr (std::is_same_v<T, DraftInteger>) {
      return assign_integer(serve.speculative.*target, value);
    } else if constexpr (std::is_same_v<T, ServeShare>) {
      return whole_number(value).value_or(0) > 0 && assign_number(serve.*target.field, value, 1.0);
    } else if constexpr (std::is_same_v<T, ServeNumber>) {
      return assign_number(serve.*target, value, any);
    } else if constexpr (std::is_same_v<T, ClientNumber>) {
      return assign_number(client.*target, value, any);
    } else if constexpr (std::is_same_v<T, ServeText>) {
      return assign_text(serve.*target, value);
    } else if constexpr (std::is_same_v<T, ClientText>) {
      return assign_text(client.*target, value);
    } else if constexpr (std::is_same_v<T, DraftText>) {
      return assign_text(serve.speculative.*target, value);
    } else if constexpr (std::is_same_v<T, ServeSwitch>) {
      return assign_switch(serve.*target.field, value, target.value);
    } else if constexpr (std::is_same_v<T, ClientSwitch>) {
      return assign_switch(client.*target.field, value, target.value);
    } else {
      return assign_special(target, value);
    }
  };
  return std::visit(to_field, flag.target);
}

bool ArgumentReader::assign_special(Special special, std::string_view value) {
  switch (special) {
    case Special::speculative_config:
      return assign_speculation(value);
    case Special::request_rate: {
      client.request_rate_unlimited = lower(value) == "inf";
      if (client.request_rate_unlimited) return true;
      const auto rate = whole_number(value);
      return rate && set(flag_, client.request_rate, *rate);
    }
    case Special::gpu_layers: {
      if (value == "auto" || value == "-1") return true;  // the engine's own choice: nothing is stated
      if (value == "all") return set(flag_, serve.gpu_layers, all_gpu_layers);
      const auto layers = whole_integer(value);
      return layers && *layers >= 0 && set(flag_, serve.gpu_layers, std::min(*layers, all_gpu_layers));
    }
    case Special::flash_attention: {
      if (value == "auto") return true;
      const auto stated = value.empty() ? std::optional(true) : truth_of(value);
      return stated && set(flag_, serve.flash_attention, *stated);
    }
    case Special::override_tensor:
      if (!is_text_value(value) || serve.override_tensor.size() >= most_overrides) return false;
      serve.override_tensor.emplace_back(value);
      return true;
    case Special::model: {
      if (!is_text_value(value)) return false;
      if (program_.client) client.model = std::string(value);
      return !program_.engine || set(flag_, serve.model, std::string(value));
    }
  }
  return false;
}

bool ArgumentReader::assign_speculation(std::string_view json) {
  const auto parsed = nlohmann::json::parse(json.begin(), json.end(), nullptr, false);
  if (!parsed.is_object()) return false;
  const auto text = [&](const char* key, std::optional<std::string>& field) {
    const auto found = parsed.find(key);
    if (found == parsed.end() || !found->is_string()) return;
    const auto value = found->get<std::string>();
    if (!value.empty() && value.size() <= longest_text) field = printable(value);
  };
  text("method", serve.speculative.method);
  text("model", serve.speculative.model);
  const auto tokens = parsed.find("num_speculative_tokens");
  if (tokens != parsed.end() && tokens->is_number_unsigned()) {
    const auto count = tokens->get<std::uint64_t>();
    if (count <= 1000) serve.speculative.num_tokens = static_cast<std::int64_t>(count);
  }
  return serve.speculative.stated();
}

}  // namespace corridor::profile
