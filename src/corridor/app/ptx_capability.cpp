// SPDX-License-Identifier: Apache-2.0
// The table of compute capabilities. te42kyfo/gpu-benches is read at commits 11f5daa and fd7091f, numbers only.
//
// Latencies (clocks): 8.0 A100, 9.0 H100 PCIe, 8.9 L40, 7.0 V100: gpu-benches gpu-latency; 10.0 B200 and 12.0 RTX 5090:
// markdewing/AI_kernels latency; 7.5 RTX 2080 Ti: caps-tum/mt4g sample results (DRAM from the catalogue). Shared
// memory: 29.0 (8.0), 29 (9.0), 30.1 (8.9): mt4g, AI_kernels and Luo et al. arXiv 2402.13499; 19 (7.0): Jia et al.
// 2018, from memory; others as their neighbour. Launch, start of a block, blocks a clock: derived from gpu-benches.
// gpu-small-kernels with a CUDA graph, 4,096 numbers: 2.29 us (H200), 1.34 us (A100), 0.94 us (L40) a kernel, of which
// one start of a block and one read from L2 are taken off. gpu-stream `init` at 3 to 9 % occupancy: 450, 385 and 563
// clocks from one block to the next in its place. gpu-small-kernels with blocks of 16 and 32 threads: 1.66, 1.35
// and 1.88 billion blocks a second on these three. L1 of 64 bytes a clock on 7.5, 8.6 and 8.9: gpu-benches gpu-strides
// and gpu-l1 (A40, L40); 16 load lanes go with it.
#include "corridor/app/ptx_capability.h"

#include <array>
#include <charconv>
#include <string_view>

namespace corridor::app {
namespace {

constexpr std::array<Capability, 10> table = {{
    {6, 1, 64, 32, 96, 96, 48, 256, 0, 128, 2, 4, 128, 32, 32, 0, 64, 82, 24, 216, 500, 1.0e-6, 450, 0.9, false},
    {7, 0, 64, 32, 128, 96, 96, 256, 0, 64, 64, 32, 64, 16, 32, 1024, 128, 28, 19, 193, 430, 1.0e-6, 450, 0.9, false},
    {7, 5, 32, 16, 96, 64, 64, 256, 0, 64, 64, 2, 64, 16, 16, 1024, 64, 34, 22, 176, 496, 0.9e-6, 450, 0.9, false},
    {8,  0,  64,   32,  192, 164, 163, 128, 1024,    64,  128,  32,  64,
     16, 32, 2048, 128, 36,  29,  212, 570, 0.87e-6, 385, 0.96, true},
    {8,  6,  48,   16, 128, 100, 99,  128, 1024,   128, 64,   2,    64,
     16, 16, 1024, 64, 34,  30,  230, 560, 0.6e-6, 560, 0.75, false},
    {8,  7,  48,   16, 192, 164, 163, 128, 1024,   128, 64,   2,    64,
     16, 16, 2048, 64, 36,  30,  230, 560, 0.6e-6, 560, 0.75, false},
    {8,  9,  48,   24, 128, 100, 99,  128, 1024,   128, 64,    2,   64,
     16, 16, 1024, 64, 36,  30,  276, 630, 0.6e-6, 563, 0.755, true},
    {9,  0,  64,   32,  256, 228, 227, 128, 1024,   128, 128,  64,  64,
     16, 32, 4096, 126, 38,  29,  265, 655, 1.9e-6, 450, 0.84, true},
    {10, 0,  64,   32,  256, 228, 227, 128, 1024,   128, 128,  64,   128,
     16, 32, 8192, 126, 40,  29,  295, 860, 1.9e-6, 450, 0.84, false},
    {12, 0,  48,   24, 128, 100, 99,  128, 1024,   128, 64,    2,    128,
     16, 16, 1024, 64, 40,  30,  300, 936, 0.6e-6, 563, 0.755, false},
}};

struct Number {
  std::uint32_t major = 0, minor = 0;
};

/// The number after "cc " in "GH100 (cc 9.0)".
bool stated(std::string_view architecture, Number& out) {
  const std::size_t at = architecture.find("cc ");
  if (at == std::string_view::npos) return false;
  const char* first = architecture.data() + at + 3;
  const char* const end = architecture.data() + architecture.size();
  const auto major = std::from_chars(first, end, out.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return false;
  return std::from_chars(major.ptr + 1, end, out.minor).ec == std::errc{};
}

/// By product line: what NVIDIA's list of CUDA GPUs gives for the boards of the catalogue that state nothing.
bool by_line(const hardware::Device& device, Number& out) {
  struct Line {
    std::string_view word;
    Number number;
  };
  constexpr Line lines[] = {{"Thor", {11, 0}}, {"Orin", {8, 7}},   {"GB10", {12, 1}},      {"Hopper", {9, 0}},
                            {"Ada", {8, 9}},   {"Ampere", {8, 6}}, {"Blackwell", {12, 0}}, {"Turing", {7, 5}},
                            {"Volta", {7, 0}}, {"Pascal", {6, 1}}};
  for (const Line& line : lines) {
    if (device.family.find(line.word) != std::string::npos ||
        device.architecture.find(line.word) != std::string::npos) {
      out = line.number;
      return true;
    }
  }
  return false;
}

}  // namespace

FoundCapability capability_of(const hardware::Device& device) {
  Number wanted{9, 0};
  FoundCapability out;
  out.known = stated(device.architecture, wanted) || by_line(device, wanted);
  // The newest row that is not newer: 10.3 and 11.0 from 10.0, 12.1 from 12.0.
  const Capability* best = &table.front();
  for (const Capability& row : table) {
    const bool newer = row.major > wanted.major || (row.major == wanted.major && row.minor > wanted.minor);
    if (!newer) best = &row;
  }
  out.exact = best->major == wanted.major && best->minor == wanted.minor;
  out.capability = *best;
  out.capability.major = wanted.major;
  out.capability.minor = wanted.minor;
  return out;
}

}  // namespace corridor::app
