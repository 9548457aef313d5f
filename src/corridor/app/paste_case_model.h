// SPDX-License-Identifier: Apache-2.0
// What the name of a model in pasted text tells: the model without paths and endings, and the format of its weights.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace corridor::app {

/// A model as a command or a result names it.
struct PastedModel {
  std::string name;             ///< what is looked up; the word itself when it is a file or folder of this machine
  std::string weights;          ///< the format that the name states, as `--weights` takes it; empty when none
  bool file_here = false;       ///< a file or folder of this machine: its own formats hold
  bool path_elsewhere = false;  ///< a path, and not one of this machine
};

/// "/models/llama-2-7b.Q4_0.gguf" → llama-2-7b, q4_0; "unsloth/Qwen3-8B-GGUF:Q4_K_M" → unsloth/Qwen3-8B-GGUF, q4_k_m.
[[nodiscard]] PastedModel pasted_model(std::string_view word);

/// A tag of ollama: "llama3.1:8b-instruct-q8_0" → llama3.1:8b-instruct, q8_0. A tag without a size, and the tags of
/// distilled models, are replaced by what the ollama library holds under them.
[[nodiscard]] PastedModel ollama_model(std::string_view tag);

/// The format that llama.cpp prints behind a model's size: "llama 8B Q4_K - Medium" → q4_k_m; empty when there is none.
[[nodiscard]] std::string printed_format(std::string_view model);

/// The GGUF format whose bits a weight are nearest, embedding and head counted.
[[nodiscard]] std::string nearest_gguf_format(double bits_per_weight);

/// A format as `--quantization`, `--dtype` or `--kv-cache-dtype` names it: "awq_marlin" → awq, "modelopt_fp4" → nvfp4.
/// Empty text for the words that leave the format to the model ("auto"); nothing for a word that is not known.
[[nodiscard]] std::optional<std::string> format_word(std::string_view word);

}  // namespace corridor::app
