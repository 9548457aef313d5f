// SPDX-License-Identifier: Apache-2.0
// What tables write for formats, engines and devices, turned into the words our own tables know.
//
//   weight_format_word("GPTQ 4-bit g128")              "int4-g128"
//   engine_word("TensorRT-LLM v0.6.1 (static batch)")  "tensorrt-llm"
//   version_of("TensorRT-LLM v0.6.1 (static batch)")   "0.6.1"
//   device_word("A100 SXM 80GB (DGX-A100)")            "A100 SXM 80GB"
#pragma once

#include <string>
#include <string_view>

namespace corridor::profile {

/// Name of a storage format of weights or KV cache; empty when no format of ours is near. A rate of bits ("EXL2 4.0
/// bpw") gives the weight-only format within 3 % of it.
[[nodiscard]] std::string weight_format_word(std::string_view as_written);

/// The type of one operation: as weight_format_word, but 8-bit weights under 16-bit arithmetic are
/// "int8-weight-only", because "int8" alone is also the name of int8 arithmetic. What no format of ours is near stays
/// as written, in lower case.
[[nodiscard]] std::string operation_type(std::string_view as_written);

/// Engine without version and options; an unknown one is its first word in lower case.
[[nodiscard]] std::string engine_word(std::string_view as_written);

/// The version an engine's name carries: "0.6.1", "b6918", "1.0.0rc3"; empty when there is none. What stands in
/// brackets (options, libraries below) is not looked at.
[[nodiscard]] std::string version_of(std::string_view engine);

/// A device name without brackets, remarks about power and joining marks of file names: for a second try, when the
/// name as written is not found.
[[nodiscard]] std::string device_word(std::string_view as_written);

/// The third try: also without sizes and kinds of memory, the model of a Mac and "-class", cut at '/'.
[[nodiscard]] std::string short_device_word(std::string_view as_written);

/// The board in a host, where a name is "HOST (MAKER BOARD)": "Pi 5 - 16GB (AMD RX 7600)" is of "AMD RX 7600". Empty
/// for other names. The host must never be taken for the device that was measured.
[[nodiscard]] std::string board_in_host(std::string_view as_written);

}  // namespace corridor::profile
