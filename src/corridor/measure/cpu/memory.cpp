// SPDX-License-Identifier: Apache-2.0
// Anonymous mappings, one huge page larger than asked so that the start can be aligned.
#include "corridor/measure/cpu/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace corridor::measure {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20U;
}

Memory::Memory(std::size_t bytes, bool huge) {
  if (bytes == 0 || bytes > SIZE_MAX - 2 * huge_page) return;
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page + huge_page;
  void* place = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return;
  mapping_ = place;
  mapped_ = whole;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(place) % huge_page;
  data_ = static_cast<std::byte*>(place) + (past == 0 ? 0 : huge_page - past);
  size_ = bytes;
#ifdef MADV_HUGEPAGE
  madvise(data_, whole - huge_page, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // only a wish
#else
  static_cast<void>(huge);
#endif
}

Memory::~Memory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

units::Bytes bytes_in_huge_pages() {
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) return units::Bytes{};
  char line[256];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "AnonHugePages:", 14) == 0) kib = std::strtoull(line + 14, nullptr, 10);
  }
  std::fclose(file);
  return units::Bytes{static_cast<double>(kib) * 1024};
}

}  // namespace corridor::measure
