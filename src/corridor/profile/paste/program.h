// SPDX-License-Identifier: Apache-2.0
// Recognises the program that a command starts: which engine, which benchmark client, or both.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/profile/paste/serve_command.h"
#include "corridor/profile/paste/shell_words.h"

namespace corridor::profile {

/// A program and the first word of its arguments. llama-bench and `vllm bench throughput` are engine and client in one.
struct Program {
  std::string name;
  std::optional<Engine> engine;
  std::optional<ClientTool> client;
  std::size_t arguments = 0;
  bool takes_model = false;  ///< the first plain word is the model
};

/// True when the line may hold a command; cheap, and wrong only on the generous side.
[[nodiscard]] bool may_be_command(std::string_view line);

/// The program that begins at word `at`, if one does.
[[nodiscard]] std::optional<Program> program_at(const std::vector<Word>& words, std::size_t at);

}  // namespace corridor::profile
