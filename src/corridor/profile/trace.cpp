// SPDX-License-Identifier: Apache-2.0
// The pool of names behind a trace.
#include "corridor/profile/trace.h"

namespace corridor::profile {

std::uint32_t NamePool::intern(std::string_view text) {
  const auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(text);
  index_.emplace(texts_.back(), id);
  return id;
}

std::string_view NamePool::text(std::uint32_t id) const {
  return id < texts_.size() ? std::string_view(texts_[id]) : std::string_view{};
}

}  // namespace corridor::profile
