// SPDX-License-Identifier: Apache-2.0
// What loggers, containers and service managers write in front of every line of a program.
#pragma once

#include <cstddef>
#include <string_view>

namespace corridor::profile {

/// Length of the stamps at the start of a line: "(EngineCore pid=7) ", "INFO 11-29 10:00:01 [loggers.py:118] ",
/// "2025-11-29T10:00:00.1Z stdout F ", "Nov 29 10:00:00 host ollama[7]: ", "[pod/vllm-0/vllm] "; 0 when there are none.
[[nodiscard]] std::size_t stamp_length(std::string_view line);

/// Length of "vllm-1  | ", as docker compose writes it; 0 when the line does not look so. A table row may look so too:
/// it is a prefix only where the same one stands before other lines.
[[nodiscard]] std::size_t container_length(std::string_view line);

}  // namespace corridor::profile
