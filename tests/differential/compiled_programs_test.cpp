// SPDX-License-Identifier: Apache-2.0
// Random CUDA C through every compiler that is found: the simulated GPU against the plain interpreter on each one's
// PTX, and the compilers against each other. CORRIDOR_RANDOM_SEEDS=N tries N sources instead of two.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include <fmt/format.h>

#include "corridor/app/nvcc.h"
#include "corridor/ptx/functional/plain_block_test.h"
#include "corridor/ptx/functional/run_helper_test.h"
#include "differential/random_kernels.h"
#include "support/process.h"

namespace corridor::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kernels = 12;  // of one source

struct Compiler {
  std::string name;
  std::vector<std::string> command;  ///< up to the files
};

/// Every clang without and with optimisation, and nvcc. `clang++` is often one of the others.
std::vector<Compiler> compilers() {
  std::vector<Compiler> out;
  std::set<std::string> seen;
  for (const char* name : {"clang++", "clang++-14", "clang++-19"}) {
    const std::string program = app::program_on_path(name);
    std::error_code code;
    if (!program.empty() && !seen.insert(fs::canonical(program, code).string()).second) continue;
    for (const char* level : {"-O0", "-O2"}) {
      if (program.empty()) continue;
      out.push_back(
          {fmt::format("{} {}", name, level),
           {program, level, "-x", "cuda", "--cuda-device-only", "-S", "-nocudainc", "-nocudalib",
            "--cuda-gpu-arch=sm_80", "-Xclang", "-target-feature", "-Xclang", "+ptx70", "-ffp-contract=off", "-w"}});
    }
  }
  const std::string named = app::named_nvcc();
  const std::string nvcc = named.empty() ? app::nvcc_on_path() : named;
  if (!nvcc.empty()) out.push_back({"nvcc", {nvcc, "-ptx", "-arch=sm_80", "-fmad=false", "-w"}});
  return out;
}

class CompiledPrograms : public ::testing::Test {
 protected:
  CompiledPrograms() {
    std::string pattern = (fs::temp_directory_path() / "corridor-compiled-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~CompiledPrograms() override { fs::remove_all(folder_); }
  CompiledPrograms(const CompiledPrograms&) = delete;
  CompiledPrograms& operator=(const CompiledPrograms&) = delete;

  /// PTX of the source; empty when this compiler cannot make any, for which `why` says the reason.
  [[nodiscard]] std::string compile(const Compiler& compiler, const std::string& source, std::string& why) const {
    const std::string from = folder_ + "/k.cu", to = folder_ + "/k.ptx";
    std::ofstream(from) << source;
    fs::remove(to);
    test::CommandLine command{compiler.command, {}};
    command.arguments.insert(command.arguments.end(), {from, "-o", to});
    const test::ProcessResult done = test::run_process(command, {true, std::chrono::seconds(300)});
    if (done.exit_code != 0) why += compiler.name + ": " + done.output.substr(0, 600);
    std::ifstream file(to);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string folder_;
};

std::vector<std::uint64_t> inputs(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> in(std::size_t{3} * random_kernel_threads);
  for (std::uint64_t& v : in) v = random() >> (random() % 64);
  return in;
}

/// What the threads of every kernel wrote, the same on both interpreters.
std::vector<std::vector<std::uint64_t>> run_both(const std::string& ptx, std::uint64_t seed) {
  std::vector<std::vector<std::uint64_t>> out;
  const auto module = ptx::parse_module(ptx, "k.ptx");
  auto program = ptx::Program::compile(ptx::parse_module(ptx, "k.ptx").value());
  EXPECT_TRUE(module && program) << (program ? "" : program.error().line());
  if (!module || !program) return out;
  const std::vector<std::uint64_t> in = inputs(seed);
  ptx::RunOptions options;
  options.caches = false;
  for (int k = 0; k < kernels; ++k) {
    const std::string name = fmt::format("k{}", k);
    const ptx::Function* const kernel = module->find(name);
    EXPECT_NE(kernel, nullptr);
    if (kernel == nullptr) continue;
    ptx::testing::Ran ran =
        ptx::testing::run_kernel(*program, name, in, ptx::Dim3{1}, ptx::Dim3{random_kernel_threads}, options);
    EXPECT_EQ(ptx::testing::faults_of(ran), "") << name;
    EXPECT_EQ(ran.out, ptx::testing::PlainBlock(*module, *kernel, in, random_kernel_threads).run()) << name;
    out.push_back(std::move(ran.out));
  }
  return out;
}

TEST_F(CompiledPrograms, GiveTheSameBitsOnBothInterpretersAndFromEveryCompiler) {
  const std::vector<Compiler> all = compilers();
  if (all.empty()) GTEST_SKIP() << "neither clang++ nor nvcc is on PATH, and CORRIDOR_NVCC names none";
  const char* const wanted = std::getenv("CORRIDOR_RANDOM_SEEDS");
  const int seeds = wanted == nullptr ? 2 : std::atoi(wanted);
  std::string why;
  int compiled = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::string source = random_kernels(static_cast<std::uint64_t>(seed), kernels);
    std::vector<std::vector<std::uint64_t>> first;
    for (const Compiler& compiler : all) {
      const std::string ptx = compile(compiler, source, why);
      if (ptx.empty()) continue;
      ++compiled;
      SCOPED_TRACE(fmt::format("seed {}, {}", seed, compiler.name));
      const auto results = run_both(ptx, static_cast<std::uint64_t>(seed));
      if (first.empty()) first = results;
      for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(results[k], first[k]) << "k" << k;
      ASSERT_FALSE(HasFailure());
    }
  }
  if (compiled == 0) GTEST_SKIP() << "no compiler here makes PTX: " << why;
}

}  // namespace
}  // namespace corridor::testing
