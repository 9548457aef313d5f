// SPDX-License-Identifier: Apache-2.0
// Memory for measurements: huge pages where the system grants them, touched first by the thread that uses it.
#pragma once

#include <cstddef>

#include "corridor/units/units.h"

namespace corridor::measure {

/// Anonymous memory, aligned to 2 MiB, not yet touched. `data` is null when the system gives none.
class Memory {
 public:
  /// `huge` asks for 2 MiB pages; the system may decline.
  explicit Memory(std::size_t bytes, bool huge = true);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Bytes of this process that stand in huge pages now; zero where the system does not tell.
[[nodiscard]] units::Bytes bytes_in_huge_pages();

}  // namespace corridor::measure
