// SPDX-License-Identifier: Apache-2.0
// From the named scalars of one record to a ResultBlock: which tool wrote it, and what each of its fields means.
#pragma once

#include "corridor/profile/paste/json_scan.h"
#include "corridor/profile/paste/pasted_run.h"

namespace corridor::profile {

/// Fills `block` when the record is a result of vLLM's, SGLang's, TensorRT-LLM's, llama.cpp's or NVIDIA's benchmark
/// tools; which one is known by fields that only it writes. False for anything else.
[[nodiscard]] bool read_result_fields(const RecordFields& fields, ResultBlock& block);

/// "6 lists a request are left out (500 values each: input_lens, itls …)"; empty when the record had none.
[[nodiscard]] std::string describe_lists(const RecordFields& fields);

}  // namespace corridor::profile
