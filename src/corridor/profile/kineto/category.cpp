// SPDX-License-Identifier: Apache-2.0
// The table of spellings.
#include "corridor/profile/kineto/category.h"

#include <algorithm>
#include <array>

#include "corridor/base/lower.h"

namespace corridor::profile::kineto {
namespace {

struct CategoryName {
  std::string_view name;
  Category category;
};
// Spellings of 2021 stand beside today's; names are compared in lower case.
constexpr std::array<CategoryName, 28> categories = {{
    {"kernel", Category::kernel},
    {"gpu_memcpy", Category::copy},
    {"memcpy", Category::copy},
    {"gpu_memset", Category::set},
    {"memset", Category::set},
    {"cuda_runtime", Category::call},
    {"cuda_driver", Category::call},
    {"hip_runtime", Category::call},
    {"hip_driver", Category::call},
    {"xpu_runtime", Category::call},
    {"runtime", Category::call},
    {"cpu_op", Category::op},
    {"operator", Category::op},
    {"user_annotation", Category::annotation},
    {"gpu_user_annotation", Category::gpu_annotation},
    {"python_function", Category::python},
    {"ac2g", Category::flow},
    {"async_cpu_to_gpu", Category::flow},
    {"async", Category::flow},
    {"fwdbwd", Category::flow},
    {"forward_backward", Category::flow},
    {"overhead", Category::ignored},
    {"trace", Category::ignored},
    {"cpu_instant_event", Category::ignored},
    {"instant", Category::ignored},
    {"memory", Category::ignored},
    {"cuda_sync", Category::ignored},
    {"cuda_profiler_range", Category::other},
}};

}  // namespace

Category category_of(std::string_view text) {
  std::array<char, 24> small{};  // no memory is asked for: this runs once for each event
  if (text.empty() || text.size() > small.size()) return Category::other;
  std::transform(text.begin(), text.end(), small.begin(), [](char c) { return lower(c); });
  const std::string_view word(small.data(), text.size());
  for (const CategoryName& entry : categories) {
    if (entry.name.size() == word.size() && entry.name[0] == word[0] && entry.name == word) return entry.category;
  }
  return Category::other;
}

}  // namespace corridor::profile::kineto
