// SPDX-License-Identifier: Apache-2.0
// The flags each engine and benchmark client knows, as data: name, and the field its value goes to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "corridor/profile/paste/serve_command.h"

namespace corridor::profile {

/// A known flag that says nothing about speed or memory.
struct Harmless {
  bool takes_value = true;
};
using ServeInteger = std::optional<std::int64_t> ServeCommand::*;
using ServeNumber = std::optional<double> ServeCommand::*;
using ServeText = std::optional<std::string> ServeCommand::*;
using ClientInteger = std::optional<std::int64_t> ClientCommand::*;
using ClientNumber = std::optional<double> ClientCommand::*;
using ClientText = std::optional<std::string> ClientCommand::*;
using DraftInteger = std::optional<std::int64_t> Speculative::*;
using DraftText = std::optional<std::string> Speculative::*;
/// A switch: present = `value`.
struct ServeSwitch {
  std::optional<bool> ServeCommand::*field = nullptr;
  bool value = true;
};
struct ClientSwitch {
  std::optional<bool> ClientCommand::*field = nullptr;
  bool value = true;
};
/// A share of memory: above 0, at most 1.
struct ServeShare {
  ServeNumber field = nullptr;
};
/// A value with a form of its own.
enum class Special {
  speculative_config,  ///< JSON of vLLM
  request_rate,        ///< a number or inf
  gpu_layers,          ///< a number, all or auto
  flash_attention,     ///< on, off, auto, 1, 0 or no value
  override_tensor,     ///< PATTERN=BUFFER
  model,               ///< of a server and of a client alike
};

using Target = std::variant<Harmless, ServeInteger, ServeNumber, ServeText, ServeSwitch, ServeShare, ClientInteger,
                            ClientNumber, ClientText, ClientSwitch, DraftInteger, DraftText, Special>;

/// `name` is written with hyphens: "--max-model-len" also stands for --max_model_len.
struct Flag {
  std::string_view name;
  Target target;
};

[[nodiscard]] std::span<const Flag> vllm_flags();
[[nodiscard]] std::span<const Flag> sglang_flags();
[[nodiscard]] std::span<const Flag> tensorrt_llm_flags();
[[nodiscard]] std::span<const Flag> llama_cpp_flags();
[[nodiscard]] std::span<const Flag> ollama_flags();
[[nodiscard]] std::span<const Flag> vllm_bench_flags();
[[nodiscard]] std::span<const Flag> sglang_bench_flags();
[[nodiscard]] std::span<const Flag> llama_bench_flags();
[[nodiscard]] std::span<const Flag> trtllm_bench_flags();
/// aiperf and genai-perf.
[[nodiscard]] std::span<const Flag> aiperf_flags();

}  // namespace corridor::profile
