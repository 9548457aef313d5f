// SPDX-License-Identifier: Apache-2.0
// The allocations of DeviceMemory, with a bit a byte for what has been written.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "corridor/ptx/functional/launch.h"

namespace corridor::ptx {

struct Allocation {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::uint64_t address = 0, bytes = 0;
  std::string name;
  std::unique_ptr<std::uint8_t, Free> data;
  std::unique_ptr<std::uint64_t, Free> written;  ///< a bit a byte; null: all of it
  std::uint64_t filled = 0;  ///< bytes from the start on that the host wrote one piece after the other
  bool read_only = false;
};

struct DeviceMemory::State {
  std::uint64_t limit = 0, used = 0, next = 0;
  std::vector<std::unique_ptr<Allocation>> allocations;                             ///< by address
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> module_variables;  ///< by program and name
  std::vector<Texture> textures;
  std::map<std::string, std::uint64_t> texture_of_name;  ///< of .texref variables
  /// The allocation that holds `address`, or null.
  [[nodiscard]] Allocation* find(std::uint64_t address) const;
  /// The allocation nearest to `address`, for messages.
  [[nodiscard]] const Allocation* nearest(std::uint64_t address) const;
  [[nodiscard]] Result<Allocation*> allocate(std::uint64_t bytes, std::string name);
};

/// Marks bytes as written; several threads may do so at once.
void mark_written(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);
/// Whether all of them were written.
[[nodiscard]] bool was_written(const Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);

}  // namespace corridor::ptx
