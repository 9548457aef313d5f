// SPDX-License-Identifier: Apache-2.0
// Launches of the kernels of memory.cu and the search over their versions.
#include "corridor/measure/cuda/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "corridor/measure/cuda/kernel_table.h"

namespace corridor::measure::cuda {
namespace {

constexpr std::size_t grain = 512;               // arrays start and end on multiples of it
constexpr std::uint32_t unlikely = 0x9e3779b1U;  // a sum that ends a kernel with one store

int arrays_of(Kind kind) {
  if (kind == Kind::copy) return 2;
  return kind == Kind::triad ? 3 : 1;
}

/// Bytes of one array of a working set.
std::size_t part_of(Kind kind, std::size_t bytes) {
  const std::size_t part = bytes / static_cast<std::size_t>(arrays_of(kind));
  return std::max(part / grain * grain, grain);
}

std::vector<Version> versions_of(Kind kind, const GpuFacts& facts) {
  std::vector<Version> versions;
  const unsigned most_blocks = static_cast<unsigned>(facts.max_threads_per_sm) / 256U;
  for (const int vector_bytes : {16, 8, 4}) {
    for (const int unroll : {1, 2, 4, 8}) {
      if (kind == Kind::read_l1) {
        const unsigned threads = std::min(1024U, static_cast<unsigned>(facts.max_threads_per_block));
        versions.push_back({vector_bytes, unroll, 1, threads});
        versions.push_back({vector_bytes, unroll, 1, 512});
        continue;
      }
      // One block of 256 threads an SM up to as many as fit, and twice that: a second wave evens out the last one.
      for (unsigned blocks = 1; blocks <= 2 * most_blocks; blocks *= 2) {
        versions.push_back({vector_bytes, unroll, blocks, 256});
      }
    }
  }
  return versions;
}

}  // namespace

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 5> names{"read", "write", "copy", "triad", "read_l1"};
  return names[static_cast<std::size_t>(kind)];
}

Result<void> Traffic::fill(std::uint32_t mask, std::uint32_t exponent) const {
  const auto words = static_cast<std::uint64_t>(memory_.bytes() / 4);
  const Shape shape{static_cast<unsigned>(gpu_.facts().sm_count) * 8, 256};
  constexpr std::uint32_t seed = 12345;
  if (auto done = gpu_.launch("fill", shape, memory_.place(), words, seed, mask, exponent); !done) return done;
  return gpu_.synchronize();
}

double Traffic::bytes_moved(Kind kind, const Version& version, std::size_t bytes) const {
  const double once = static_cast<double>(part_of(kind, bytes)) * arrays_of(kind);
  if (kind != Kind::read_l1) return once;
  return once * static_cast<double>(gpu_.facts().sm_count) * version.blocks_per_sm;
}

Result<void> Traffic::walk(Kind kind, const Version& version, std::size_t bytes, unsigned repeats) const {
  const std::size_t part = part_of(kind, bytes);
  const auto length = static_cast<std::uint64_t>(part);
  const std::string kernel = version_name(name(kind), version.vector_bytes, version.unroll);
  const Shape shape{static_cast<unsigned>(gpu_.facts().sm_count) * version.blocks_per_sm, version.threads};
  const DevicePointer a = memory_.place(), b = a + part, c = b + part;
  switch (kind) {
    case Kind::write:
      return gpu_.launch(kernel, shape, a, length, repeats, std::uint32_t{0x3f000000});
    case Kind::copy:
      return gpu_.launch(kernel, shape, a, b, length, repeats);
    case Kind::triad:
      return gpu_.launch(kernel, shape, a, b, c, length, repeats);
    case Kind::read:
    case Kind::read_l1:
      break;
  }
  return gpu_.launch(kernel, shape, a, length, repeats, sink_.place(), unlikely);
}

Result<double> Traffic::glance_rate(Kind kind, const Version& version, std::size_t bytes, units::Seconds least) const {
  const auto time = glance(gpu_, least, [&](unsigned repeats) { return walk(kind, version, bytes, repeats); });
  if (!time) return tl::unexpected(time.error());
  return time->value() > 0 ? bytes_moved(kind, version, bytes) / time->value() : 0;
}

Result<std::vector<Version>> Traffic::search(Kind kind, std::size_t bytes, std::size_t count,
                                             units::Seconds least) const {
  std::vector<std::pair<double, Version>> rated;
  for (const Version& version : versions_of(kind, gpu_.facts())) {
    const Result<double> rate = glance_rate(kind, version, bytes, least);
    if (!rate) return tl::unexpected(rate.error());
    rated.emplace_back(*rate, version);
  }
  std::stable_sort(rated.begin(), rated.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Version> best;
  for (const auto& [rate, version] : rated) {
    if (best.size() < count) best.push_back(version);
  }
  return best;
}

Result<Figure> Traffic::rate(Kind kind, const std::vector<Version>& versions, std::size_t bytes,
                             const EstimatorSettings& settings) const {
  Version best;
  double best_rate = -1;
  for (const Version& version : versions) {
    const Result<double> rate = glance_rate(kind, version, bytes, settings.least_pass / 2);
    if (!rate) return tl::unexpected(rate.error());
    if (*rate > best_rate) {
      best_rate = *rate;
      best = version;
    }
  }
  const auto samples = time_work(gpu_, settings, [&](unsigned repeats) { return walk(kind, best, bytes, repeats); });
  if (!samples) return tl::unexpected(samples.error());
  return rate_figure(
      bytes_moved(kind, best, bytes), *samples,
      fmt::format("{} by the SMs{}, {}-byte vectors, {} in flight, {} blocks of {} threads an SM",
                  kind == Kind::read_l1 ? "read" : name(kind), kind == Kind::read_l1 ? ", every SM the whole set" : "",
                  best.vector_bytes, best.unroll, best.blocks_per_sm, best.threads));
}

}  // namespace corridor::measure::cuda
