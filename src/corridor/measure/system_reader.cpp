// SPDX-License-Identifier: Apache-2.0
// The real machine behind MachineReader: files, the C library and the drivers.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <thread>

#include "corridor/base/file.h"
#include "corridor/measure/cuda/driver_question.h"
#include "corridor/measure/machine_reader.h"

namespace corridor::measure {
namespace {

constexpr std::size_t most_bytes = 8U << 20U;  // /proc/cpuinfo of 512 processors is about 1 MiB

class SystemReader : public MachineReader {
 public:
  /// Files of /proc and /sys state no size, so they are read until they end.
  [[nodiscard]] std::optional<std::string> read_file(const std::string& path) const override {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) return std::nullopt;
    std::string text;
    std::array<char, 16384> buffer{};
    std::size_t got = 0;
    while (text.size() < most_bytes && (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0) {
      text.append(buffer.data(), got);
    }
    const bool failed = std::ferror(file) != 0;
    std::fclose(file);
    if (failed && text.empty()) return std::nullopt;
    return text;
  }

  [[nodiscard]] std::vector<std::string> list_folder(const std::string& path) const override {
    return folder_entries(path);
  }

  [[nodiscard]] std::optional<units::Bytes> cache_size(int level) const override {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    constexpr std::array names{_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    if (level < 1 || level > static_cast<int>(names.size())) return std::nullopt;
    const long bytes = sysconf(names[static_cast<std::size_t>(level - 1)]);
    if (bytes > 0) return units::Bytes{static_cast<double>(bytes)};
#else
    static_cast<void>(level);
#endif
    return std::nullopt;
  }

  [[nodiscard]] int allowed_cpus() const override {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    const unsigned known = std::thread::hardware_concurrency();  // more than 1,024 processors, or no such call
    return known > 0 ? static_cast<int>(known) : 1;
  }

  [[nodiscard]] std::optional<GpuSearch> ask_cuda() const override {
    return ask_cuda_driver();
  }
};

}  // namespace

std::unique_ptr<MachineReader> system_reader() {
  return std::make_unique<SystemReader>();
}

}  // namespace corridor::measure
