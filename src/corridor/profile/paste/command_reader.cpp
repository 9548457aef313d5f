// SPDX-License-Identifier: Apache-2.0
// Finds commands in lines, with the environment in front of them, and the settings of ollama outside any command.
#include "corridor/profile/paste/command_reader.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "corridor/profile/paste/argument_reader.h"
#include "corridor/profile/paste/program.h"
#include "corridor/profile/paste/shell_words.h"
#include "corridor/profile/paste/text_scan.h"

namespace corridor::profile {
namespace {

/// More commands than any paste holds; beyond it the text is machine-made.
constexpr std::size_t most_tries = 1000;
constexpr std::size_t longest_value = 200;
constexpr std::size_t most_variables = 50;

struct Variable {
  std::string name, value;
};

bool is_variable_character(char c) {
  return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

/// NAME=value of a variable that an engine reads; secrets are left out.
std::optional<Variable> variable_of(std::string_view word) {
  const std::size_t equal = word.find('=');
  if (equal == std::string_view::npos || equal < 4 || word.size() > longest_value) return std::nullopt;
  const std::string_view name = word.substr(0, equal);
  constexpr std::array<std::string_view, 11> owners{"VLLM_", "SGLANG_", "SGL_", "OLLAMA_", "LLAMA_",  "GGML_",
                                                    "CUDA_", "NCCL_",   "HIP_", "TRTLLM_", "PYTORCH_"};
  const bool known = std::any_of(owners.begin(), owners.end(), [&](auto owner) { return name.starts_with(owner); }) &&
                     std::all_of(name.begin(), name.end(), is_variable_character);
  if (!known || contains(name, "KEY") || contains(name, "TOKEN") || contains(name, "SECRET")) return std::nullopt;
  return Variable{std::string(name), std::string(word.substr(equal + 1))};
}

/// How many devices "0,1,2,3" or "device=0,1" lists; nothing for "all" and for an empty list.
std::optional<std::int64_t> device_count(std::string_view list) {
  if (const auto devices = after(list, "device=")) list = *devices;
  while (!list.empty() && (list.back() == '"' || list.back() == '\'')) list.remove_suffix(1);
  std::int64_t count = 0;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view one = trim(list.substr(0, comma));
    const bool number = whole_integer(one) && *whole_integer(one) >= 0;
    if (!number && !one.starts_with("GPU-") && !one.starts_with("MIG-")) return std::nullopt;
    ++count;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

/// Sets the field a variable stands for. An explicit flag wins: it was read before.
void apply(const Variable& variable, ServeCommand& command) {
  const auto integer = [&](std::optional<std::int64_t>& field) {
    const auto value = whole_integer(variable.value);
    if (!field && value && *value >= 0) field = value;
  };
  const std::string& name = variable.name;
  if (name == "OLLAMA_NUM_PARALLEL") integer(command.max_num_seqs);
  if (name == "OLLAMA_CONTEXT_LENGTH") integer(command.max_model_len);
  if (name == "OLLAMA_KV_CACHE_TYPE" && !command.kv_cache_dtype) command.kv_cache_dtype = variable.value;
  if (name == "OLLAMA_FLASH_ATTENTION" && !command.flash_attention) {
    if (variable.value == "1" || variable.value == "true") command.flash_attention = true;
    if (variable.value == "0" || variable.value == "false") command.flash_attention = false;
  }
  if (name == "VLLM_ATTENTION_BACKEND" && !command.attention_backend) command.attention_backend = variable.value;
  if ((name == "CUDA_VISIBLE_DEVICES" || name == "HIP_VISIBLE_DEVICES") && !command.visible_gpus) {
    command.visible_gpus = device_count(variable.value);
  }
  const std::pair<std::string, std::string> entry{name, variable.value};
  const auto& all = command.environment;
  if (all.size() < most_variables && std::find(all.begin(), all.end(), entry) == all.end()) {
    command.environment.push_back(entry);
  }
}

/// The environment and `docker --gpus` among the words [from, to) in front of a program.
void apply_words_before(const std::vector<Word>& words, std::size_t from, std::size_t to, ServeCommand& command) {
  for (std::size_t i = from; i < to; ++i) {
    if (const auto variable = variable_of(words[i].text)) apply(*variable, command);
    std::string_view gpus = words[i].text;
    if (gpus == "--gpus" && i + 1 < to) {
      gpus = words[i + 1].text;
    } else if (gpus.starts_with("--gpus=")) {
      gpus.remove_prefix(7);
    } else {
      continue;
    }
    // A plain number is a count, not a list.
    const auto count = whole_integer(gpus);
    if (!command.visible_gpus) command.visible_gpus = count && *count > 0 ? count : device_count(gpus);
  }
}

/// `num_ctx 8192`, `"num_ctx": 8192`, `num_gpu=99`: a parameter of ollama.
std::optional<std::int64_t> parameter(std::string_view line, std::string_view name) {
  auto rest = after(line, name);
  if (!rest) return std::nullopt;
  while (!rest->empty() && contains(" \t:=\"'", rest->substr(0, 1))) rest->remove_prefix(1);
  const auto number = leading_number(*rest);
  if (!number || contains(std::string_view(rest->data(), rest->size() - number->rest.size()), ".")) return std::nullopt;
  return static_cast<std::int64_t>(number->value);
}

/// Copies what `from` states and `to` does not.
void fill(ServeCommand& to, const ServeCommand& from) {
  if (!to.model) to.model = from.model;
  if (!to.max_model_len) to.max_model_len = from.max_model_len;
  if (!to.max_num_seqs) to.max_num_seqs = from.max_num_seqs;
  if (!to.gpu_layers) to.gpu_layers = from.gpu_layers;
  if (!to.kv_cache_dtype) to.kv_cache_dtype = from.kv_cache_dtype;
  if (!to.flash_attention) to.flash_attention = from.flash_attention;
  for (const auto& entry : from.environment) {
    const bool stated = std::any_of(to.environment.begin(), to.environment.end(),
                                    [&](const auto& known) { return known.first == entry.first; });
    if (!stated && to.environment.size() < most_variables) to.environment.push_back(entry);
  }
}

}  // namespace

std::size_t CommandReader::read(const PasteLines& lines, std::size_t at) {
  if (!may_be_command(lines[at].text) || tried_ > most_tries) return 0;
  const LogicalLine logical = logical_line(lines, at);
  const std::vector<Word> words = shell_words(logical.text);
  bool found = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto program = program_at(words, i);
    if (!program) continue;
    if (++tried_ > most_tries) {
      recorder_.note(fmt::format("the text names more than {} commands; those after line {} were not read", most_tries,
                                 lines[at].number));
      break;
    }
    ArgumentReader reader(std::move(*program));
    const std::size_t end = reader.read(words);
    apply_words_before(words, begin, i, reader.serve);
    if (!reader.is_command() && reader.serve.environment.empty()) continue;
    reader.serve.line = reader.client.line = lines[at].number;
    for (const std::string& flag : reader.ignored) recorder_.ignore(flag);
    for (std::string& note : reader.notes) recorder_.note(std::move(note));
    // llama-bench and `vllm bench throughput` are engine and client in one.
    if (!reader.client.program.empty()) recorder_.client(reader.client);
    const auto& before = recorder_.run().command;
    const bool ollama = reader.serve.engine == Engine::ollama && before && before->engine == Engine::ollama;
    if (ollama && !reader.serve.program.empty()) fill(reader.serve, *before);  // one server, several commands
    if (!reader.serve.program.empty()) recorder_.command(reader.serve);
    found = true;
    begin = end;
    i = std::max(end, i + 1) - 1;
  }
  return found ? logical.lines : 0;
}

bool CommandReader::read_setting(const Line& line) {
  const std::string_view text = line.text;
  ServeCommand stated;
  if (contains(text, "OLLAMA_")) {
    for (const Word& word : shell_words(text)) {
      if (const auto variable = variable_of(word.text)) apply(*variable, stated);
    }
    // Environment="OLLAMA_…" of a service file.
    if (const auto quoted = after(text, "Environment=")) {
      for (const Word& word : shell_words(*quoted)) {
        if (const auto variable = variable_of(word.text)) apply(*variable, stated);
      }
    }
    const auto not_ollama = [](const auto& entry) { return !entry.first.starts_with("OLLAMA_"); };
    auto& all = stated.environment;
    all.erase(std::remove_if(all.begin(), all.end(), not_ollama), all.end());
  }
  const bool option = contains(text, "PARAMETER ") || contains(text, "/set parameter") || contains(text, "\"num_");
  if (option) {
    stated.max_model_len = parameter(text, "num_ctx");
    stated.gpu_layers = parameter(text, "num_gpu");
  }
  if (stated.environment.empty() && !stated.max_model_len && !stated.gpu_layers) return false;
  if (!settings_) {
    settings_ = ServeCommand{};
    settings_->engine = Engine::ollama;
    settings_->program = "ollama";
    settings_->line = line.number;
  }
  fill(stated, *settings_);  // the later line wins
  stated.engine = Engine::ollama;
  stated.program = settings_->program;
  stated.line = settings_->line;
  settings_ = stated;
  return true;
}

void CommandReader::finish() {
  if (!settings_) return;
  auto& command = recorder_.run().command;
  if (command && command->engine == Engine::ollama) {
    fill(*command, *settings_);
  } else if (!command) {
    recorder_.command(*settings_);
  } else {
    recorder_.ignore(
        fmt::format("settings of ollama from line {} (the command is of {})", settings_->line, name(command->engine)));
  }
}

}  // namespace corridor::profile
