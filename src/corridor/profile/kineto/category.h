// SPDX-License-Identifier: Apache-2.0
// What an event of a Chrome trace tells of, by the word in its "cat".
#pragma once

#include <string_view>

namespace corridor::profile::kineto {

enum class Category { other, kernel, copy, set, call, op, annotation, gpu_annotation, python, flow, ignored };

/// In any case and in the spellings of every version since 2021; `other` for words that are not known.
[[nodiscard]] Category category_of(std::string_view text);

}  // namespace corridor::profile::kineto
