// SPDX-License-Identifier: Apache-2.0
// How fast the simulated GPU runs: instructions a second of four kernels, without and with checks and the model of the
// caches, on one thread and on all. On one thread the processor time counts, so that a busy machine changes little;
// several threads are timed by the clock.
//
//   ptx_bench [ROUNDS [THREADS [KERNEL]]]     THREADS: 1, or 0 for one and all (default); KERNEL: part of a label
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}
double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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
      if (argument.is_buffer)
        launch_.add_argument(take(app::make_buffer(argument, i, memory_)));
      else
        launch_.arguments.push_back(take(app::encode_scalar(argument, kernel.parameters[i])));
    }
    const ptx::StaticFacts facts = ptx::static_facts(source_.program->module(), kernel);
    const ptx::BlockNeeds needs{static_cast<std::uint32_t>(c.block.count()), facts.registers,
                                facts.static_shared_bytes};
    device_ = app::run_device(machine.machine, needs, take(ptx::occupancy(needs, machine.machine)));
  }

  /// Warp and thread instructions a second, the median round by the first.
  std::pair<double, double> speed(bool caches, bool check, int rounds, double (*now)()) {
    ptx::RunOptions options;
    options.caches = caches;
    options.check = check;
    std::vector<std::pair<double, double>> speeds;
    for (int i = 0; i < rounds; ++i) {
      const double start = now();
      const ptx::RunResult result = take(ptx::run(*source_.program, launch_, memory_, device_, options));
      const double took = now() - start;
      if (!result.completed || !result.faults.empty()) stop(launch_.kernel + " has faults");
      speeds.emplace_back(static_cast<double>(result.counters.warp_instructions) / took,
                          static_cast<double>(result.counters.thread_instructions_on) / took);
    }
    std::sort(speeds.begin(), speeds.end());
    return speeds[speeds.size() / 2];
  }

 private:
  app::PtxSource source_;
  ptx::DeviceMemory memory_;
  ptx::Launch launch_;
  ptx::RunDevice device_;
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  const bool only_one = argc > 2 && std::atoi(argv[2]) == 1;
  const Assets assets = take(Assets::open());
  const app::PtxMachine machine = take(app::ptx_machine(take(hardware::find_device(assets, "h100-sxm")).device));
  const std::size_t all = only_one ? 1 : std::max(1U, std::thread::hardware_concurrency());
  std::printf(
      "| kernel | checks | caches | threads | M warp instr./s | × 1 M thread instr./s |\n|---|---|---|---|---|---|\n");
  for (const Case& c : cases()) {
    if (argc > 3 && std::string_view(c.label).find(argv[3]) == std::string_view::npos) continue;
    Bench bench(assets, machine, c);
    for (std::size_t threads = 1;; threads = all) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      for (const int level : {0, 1, 2}) {
        const auto [warps, lanes] =
            bench.speed(level > 1, level > 0, rounds, threads == 1 ? processor_seconds : clock_seconds);
        std::printf("| %s | %s | %s | %zu | %.1f | %.0f |\n", c.label, level > 0 ? "yes" : "no",
                    level > 1 ? "yes" : "no", threads, warps * 1e-6, lanes * 1e-6);
        std::fflush(stdout);
      }
      if (threads == all) break;
    }
  }
  return 0;
}
