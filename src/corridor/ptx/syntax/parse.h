// SPDX-License-Identifier: Apache-2.0
// Reads PTX text: the whole grammar of PTX 9 as compilers write it, whether or not an instruction can be executed.
#pragma once

#include <string>

#include "corridor/base/result.h"
#include "corridor/ptx/syntax/module.h"

namespace corridor::ptx {

/// Parses a module. Errors name file and line ("saxpy.ptx:12"). Hostile text ends in an error: nesting, sizes and
/// counts are bounded, arrays are not allocated from a claim alone.
[[nodiscard]] Result<Module> parse_module(std::string text, std::string name);

}  // namespace corridor::ptx
