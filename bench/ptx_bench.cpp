// SPDX-License-Identifier: Apache-2.0
// How fast the simulated GPU runs: instructions a second of four kernels with counters, then with checks and with the
// model of the caches too, on one thread and on all, beside a plain interpreter without any of these. A second is one
// of processor time, of all threads together, so that a busy machine changes little; the clock stands beside it.
//
//   ptx_bench [ROUNDS [THREADS [KERNEL]]]     THREADS: 1, or 0 for one and all (default); KERNEL: part of a label
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_case_source.h"
#include "corridor/app/ptx_machine.h"
#include "corridor/hardware/catalogue.h"
#include "corridor/ptx/isa/static_facts.h"
#include "corridor/ptx/timing/occupancy.h"
#include "plain_threads.h"

namespace {

using namespace corridor;

struct Case {
  const char* label;
  const char* file;
  const char* kernel;
  ptx::Dim3 grid, block;
  std::vector<std::string> arguments;
};

std::vector<Case> cases() {
  return {
      {"saxpy", "saxpy.ptx", "saxpy", {16384}, {256}, {"4194304", "2.0", "buf:f32:4194304:ramp", "buf:f32:4194304"}},
      {"tiled product 512",
       "matmul.ptx",
       "matmul_tiled",
       {16, 16},
       {32, 32},
       {"512", "512", "512", "buf:f32:262144:rand", "buf:f32:262144:rand", "buf:f32:262144"}},
      {"random gather",
       "gather.ptx",
       "gather",
       {4096},
       {256},
       {"1048576", "buf:i32:1048576:rand=16777216", "buf:f32:16777216", "buf:f32:1048576"}},
      {"arithmetic chain", "chain.ptx", "alu_chain", {128}, {256}, {"1024", "buf:u32:32768"}}};
}

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

template <class T>
T take(Result<T> result) {
  if (!result) stop(result.error().line());
  return std::move(*result);
}

void take_all(const Result<void>& result) {
  if (!result) stop(result.error().line());
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Instructions a second of processor time and of the clock.
struct Speed {
  double warps = 0, lanes = 0, warps_by_clock = 0;
};

/// A buffer on the device, and what the plain interpreter has for it.
struct Buffer {
  std::uint64_t address = 0;
  std::vector<std::byte> host;
};

/// A kernel with its memory, ready to run again and again.
class Bench {
 public:
  Bench(const Assets& assets, const app::PtxMachine& machine, const Case& c)
      : source_(take(app::ptx_source(assets, c.file))), memory_(std::uint64_t{1} << 30U) {
    const ptx::Function& kernel = *source_.program->module().find(c.kernel);
    launch_.kernel = c.kernel;
    launch_.grid = c.grid;
    launch_.block = c.block;
    for (std::size_t i = 0; i < c.arguments.size(); ++i) {
      const app::PtxArgument argument = take(app::parse_ptx_argument(c.arguments[i], i));
      if (argument.is_buffer) {
        Buffer buffer{take(app::make_buffer(argument, i, memory_)), {}};
        buffer.host.resize(argument.count * ptx::bytes_of(argument.type));
        take_all(memory_.read(buffer.address, buffer.host));
        launch_.add_argument(buffer.address);
        buffers_.push_back(std::move(buffer));
        plain_arguments_.push_back(reinterpret_cast<std::uintptr_t>(buffers_.back().host.data()));
      } else {
        launch_.arguments.push_back(take(app::encode_scalar(argument, kernel.parameters[i])));
        plain_arguments_.push_back(0);
        std::memcpy(&plain_arguments_.back(), launch_.arguments.back().data(), launch_.arguments.back().size());
      }
    }
    const ptx::StaticFacts facts = ptx::static_facts(source_.program->module(), kernel);
    const ptx::BlockNeeds needs{static_cast<std::uint32_t>(c.block.count()), facts.registers,
                                facts.static_shared_bytes};
    device_ = app::run_device(machine.machine, needs, take(ptx::occupancy(needs, machine.machine)));
  }

  /// The median round by processor time.
  Speed speed(bool caches, bool check, int rounds) {
    ptx::RunOptions options;
    options.caches = caches;
    options.check = check;
    std::vector<Speed> speeds;
    for (int i = 0; i < rounds; ++i) {
      const double start = processor_seconds(), start_by_clock = clock_seconds();
      const ptx::RunResult result = take(ptx::run(*source_.program, launch_, memory_, device_, options));
      const double took = processor_seconds() - start, took_by_clock = clock_seconds() - start_by_clock;
      if (!result.completed || !result.faults.empty()) stop(launch_.kernel + " has faults");
      warps_ = static_cast<double>(result.counters.warp_instructions);
      lanes_ = static_cast<double>(result.counters.thread_instructions);
      speeds.push_back({warps_ / took, lanes_ / took, warps_ / took_by_clock});
    }
    std::sort(speeds.begin(), speeds.end(), [](const Speed& a, const Speed& b) { return a.warps < b.warps; });
    return speeds[speeds.size() / 2];
  }

  /// The plain interpreter, once and first of all: what one run of each leaves in memory has to be the same.
  Speed plain_speed() {
    speed(false, true, 1);
    const double start = processor_seconds(), start_by_clock = clock_seconds();
    const auto lanes = static_cast<double>(take(bench::run_plain_threads(
        *source_.program->module().find(launch_.kernel), launch_.grid, launch_.block, plain_arguments_)));
    const double took = processor_seconds() - start, took_by_clock = clock_seconds() - start_by_clock;
    if (lanes != lanes_) stop(launch_.kernel + ": the plain interpreter runs another number of instructions");
    for (const Buffer& buffer : buffers_) {
      std::vector<std::byte> out(buffer.host.size());
      take_all(memory_.read(buffer.address, out));
      if (out != buffer.host) stop(launch_.kernel + ": the plain interpreter has another result");
    }
    return {warps_ / took, lanes / took, warps_ / took_by_clock};
  }

 private:
  app::PtxSource source_;
  ptx::DeviceMemory memory_;
  ptx::Launch launch_;
  ptx::RunDevice device_;
  std::vector<Buffer> buffers_;
  std::vector<std::uint64_t> plain_arguments_;
  double warps_ = 0, lanes_ = 0;  ///< instructions of one run
};

void print(const Case& c, const char* what, std::size_t threads, const Speed& speed) {
  std::printf("| %s | %s | %zu | %.1f | %.1f | %.0f |\n", c.label, what, threads, speed.warps * 1e-6,
              speed.warps_by_clock * 1e-6, speed.lanes * 1e-6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  const bool only_one = argc > 2 && std::atoi(argv[2]) == 1;
  const Assets assets = take(Assets::open());
  const app::PtxMachine machine = take(app::ptx_machine(take(hardware::find_device(assets, "h100-sxm")).device));
  const std::size_t all = only_one ? 1 : std::max(1U, std::thread::hardware_concurrency());
  std::printf(
      "| kernel | what | threads | M warp instr. / s of processor time | of the clock | × 1 M thread instr. / s |\n"
      "|---|---|---:|---:|---:|---:|\n");
  for (const Case& c : cases()) {
    if (argc > 3 && std::string_view(c.label).find(argv[3]) == std::string_view::npos) continue;
    Bench bench(assets, machine, c);
    const Speed plain = bench.plain_speed();
    for (std::size_t threads = 1;; threads = all) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      print(c, "counters", threads, bench.speed(false, false, rounds));
      print(c, "and checks", threads, bench.speed(false, true, rounds));
      print(c, "and caches", threads, bench.speed(true, true, rounds));
      if (threads == all) break;
    }
    print(c, "plain interpreter", 1, plain);
  }
  return 0;
}
