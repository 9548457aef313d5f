// SPDX-License-Identifier: Apache-2.0
// Machines made of text and probes that answer what a test says; for tests only.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "corridor/measure/machine_reader.h"
#include "corridor/measure/quick_probe.h"

namespace corridor::measure {

class FakeMachine : public MachineReader {
 public:
  std::map<std::string, std::string> files;
  std::map<int, double> library_caches;  ///< level → bytes
  int allowed = 1;
  std::optional<GpuSearch> cuda;

  [[nodiscard]] std::optional<std::string> read_file(const std::string& path) const override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::vector<std::string> list_folder(const std::string& path) const override {
    std::set<std::string> names;
    for (const auto& [file, text] : files) {
      if (!file.starts_with(path + "/")) continue;
      const std::string rest = file.substr(path.size() + 1);
      names.insert(rest.substr(0, rest.find('/')));
    }
    return {names.begin(), names.end()};
  }
  [[nodiscard]] std::optional<units::Bytes> cache_size(int level) const override {
    const auto found = library_caches.find(level);
    return found == library_caches.end() ? std::nullopt : std::optional(units::Bytes{found->second});
  }
  [[nodiscard]] int allowed_cpus() const override { return allowed; }
  [[nodiscard]] std::optional<GpuSearch> ask_cuda() const override { return cuda; }

  /// One cache of processor 0 as /sys lists it.
  void add_cache(int index, const std::string& level, const std::string& type, const std::string& size,
                 const std::string& sharers) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    files[folder + "level"] = level + "\n";
    files[folder + "type"] = type + "\n";
    files[folder + "size"] = size + "\n";
    files[folder + "shared_cpu_list"] = sharers + "\n";
  }
};

/// /proc/cpuinfo of an x86 machine whose logical processors are numbered thread by thread, socket by socket.
inline std::string x86_cpuinfo(const std::string& vendor, const std::string& name, int sockets, int cores, int threads,
                               const std::string& flags, const std::string& mhz) {
  std::string text;
  int processor = 0;
  for (int thread = 0; thread < threads; ++thread) {
    for (int socket = 0; socket < sockets; ++socket) {
      for (int core = 0; core < cores; ++core) {
        text += "processor\t: " + std::to_string(processor++) + "\nvendor_id\t: " + vendor + "\nmodel name\t: " + name +
                "\ncpu MHz\t\t: " + mhz + "\nphysical id\t: " + std::to_string(socket) +
                "\ncore id\t\t: " + std::to_string(core) + "\nflags\t\t: " + flags + "\n\n";
      }
    }
  }
  return text;
}

class FakeProber : public Prober {
 public:
  Result<ReadBandwidth> bandwidth = ReadBandwidth{units::BytesPerSecond{50e9}, units::Bytes{512e6}, 4, 5, false};
  Result<FmaPeak> fma = FmaPeak{units::FlopsPerSecond{1e12}, 4, 5, "avx2 + fma"};
  mutable int calls = 0;
  mutable BandwidthRequest last;

  [[nodiscard]] Result<ReadBandwidth> read_bandwidth(const BandwidthRequest& request) const override {
    ++calls;
    last = request;
    return bandwidth;
  }
  [[nodiscard]] Result<FmaPeak> fma_peak(int) const override {
    ++calls;
    return fma;
  }
  [[nodiscard]] std::string today() const override { return "2026-01-02"; }
};

/// A clock that moves by `step` each time it is asked.
class FakeClock : public Clock {
 public:
  explicit FakeClock(double step_s) : step_(step_s) {}
  [[nodiscard]] units::Seconds now() const override {
    now_ += step_;
    return units::Seconds{now_};
  }
  [[nodiscard]] std::string today() const override { return "2026-01-02"; }

 private:
  double step_;
  mutable double now_ = 0;
};

}  // namespace corridor::measure
