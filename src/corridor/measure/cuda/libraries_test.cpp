// SPDX-License-Identifier: Apache-2.0
// Where libraries are looked for and what is said when they are not there; kernels through the real NVRTC where it is.
#include "corridor/measure/cuda/libraries.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <regex>
#include <set>

#include "corridor/measure/cuda/chase.h"
#include "corridor/measure/cuda/compiler.h"
#include "corridor/measure/cuda/kernel_table.h"
#include "corridor/measure/cuda/peaks.h"

namespace corridor::measure::cuda {
namespace {

using ::testing::HasSubstr;

/// Libraries by path; every symbol is one function that answers 0, except those that are absent.
class FakeOpener : public LibraryOpener {
 public:
  std::map<std::string, int> versions;  ///< path → major version that nvrtcVersion answers
  std::map<std::string, std::vector<std::string>> folders;
  std::map<std::string, std::string> variables;
  std::set<std::string> absent_symbols;
  std::vector<std::string> opened;

  void* open(const std::string& path) override {
    opened.push_back(path);
    const auto found = versions.find(path);
    return found == versions.end() ? nullptr : &found->second;
  }
  void* symbol(void* library, const char* name) override {
    if (absent_symbols.contains(name)) return nullptr;
    if (std::string_view(name) == "nvrtcVersion") {
      const int major = *static_cast<int*>(library);
      return reinterpret_cast<void*>(major == 12 ? &version<12> : &version<13>);
    }
    if (std::string_view(name) == "cuDriverGetVersion") return reinterpret_cast<void*>(&driver_version);
    return reinterpret_cast<void*>(&nothing);
  }
  std::vector<std::string> list(const std::string& folder) override { return folders[folder]; }
  std::string environment(const char* name) override { return variables[name]; }

 private:
  static Status nothing() { return success; }
  template <int major>
  static Status version(int* a, int* b) {
    *a = major;
    *b = 0;
    return success;
  }
  static Status driver_version(int* version) {
    *version = 12040;
    return success;
  }
};

TEST(CudaLibraries, WithoutADriverTheMessageSaysWhereItLooked) {
  FakeOpener opener;
  const auto libraries = find_cuda_libraries(opener);
  ASSERT_FALSE(libraries);
  EXPECT_THAT(libraries.error().line(), HasSubstr("libcuda.so.1 was not found; looked in the loader's search path"));
  EXPECT_THAT(libraries.error().line(), HasSubstr("/usr/lib/wsl/lib"));
  EXPECT_THAT(libraries.error().line(), HasSubstr("--on cpu"));
}

TEST(CudaLibraries, ADriverThatLacksACallIsNamed) {
  FakeOpener opener;
  opener.versions["libcuda.so.1"] = 0;
  opener.absent_symbols = {"cuMemAlloc_v2", "cuGraphLaunch"};
  EXPECT_THAT(find_cuda_libraries(opener).error().what, HasSubstr("lacks cuMemAlloc_v2"));
  opener.absent_symbols = {"cuGraphLaunch"};
  const auto libraries = find_cuda_libraries(opener);
  ASSERT_TRUE(libraries) << libraries.error().line();
  EXPECT_EQ(libraries->driver.graph_launch, nullptr);
  EXPECT_NE(libraries->driver.mem_alloc, nullptr);
  EXPECT_FALSE(libraries->nvrtc.api);
  EXPECT_THAT(libraries->nvrtc.missing, HasSubstr("libnvrtc was not found; looked in"));
}

TEST(CudaLibraries, TakesTheCompilerThatTheDriverCanLoad) {
  FakeOpener opener;  // its driver supports CUDA 12.4
  opener.versions = {{"libcuda.so.1", 0}, {"libnvrtc.so.13", 13}, {"/usr/local/cuda/lib64/libnvrtc.so.12", 12}};
  opener.folders["/usr/local/cuda/lib64"] = {"libnvrtc.so.12"};
  EXPECT_EQ(find_cuda_libraries(opener)->nvrtc.path, "/usr/local/cuda/lib64/libnvrtc.so.12");
  opener.versions.erase("/usr/local/cuda/lib64/libnvrtc.so.12");
  EXPECT_EQ(find_cuda_libraries(opener)->nvrtc.path, "libnvrtc.so.13") << "a newer one is better than none";
}

TEST(CudaLibraries, WheelsAndTheVariableAreFound) {
  FakeOpener opener;
  const std::string wheel = "/venv/lib/python3.11/site-packages/nvidia/cu13/lib";
  opener.variables["VIRTUAL_ENV"] = "/venv";
  opener.folders["/venv/lib"] = {"python3.11"};
  opener.folders["/venv/lib/python3.11/site-packages/nvidia"] = {"cu13"};
  opener.folders[wheel] = {"libnvrtc-builtins.so.13.0", "libnvrtc.so.13"};
  opener.versions[wheel + "/libnvrtc.so.13"] = 13;
  EXPECT_EQ(find_nvrtc(opener, 0).path, wheel + "/libnvrtc.so.13");
  EXPECT_THAT(opener.opened, ::testing::Contains(wheel + "/libnvrtc-builtins.so.13.0"));
  opener.folders["/mine"] = {"libnvrtc.so.12"};
  opener.versions["/mine/libnvrtc.so.12"] = 12;
  for (const char* given : {"/mine", "/mine/libnvrtc.so.12"}) {
    opener.variables["CORRIDOR_NVRTC"] = given;
    EXPECT_EQ(find_nvrtc(opener, 0).path, "/mine/libnvrtc.so.12") << given;
  }
}

TEST(CudaChain, VisitsEverySlotOnce) {
  for (const double bytes : {1.0, 128.0, 256.0, 3072.0, 65536.0, 98304.0, 12345678.0}) {
    const ChainStep chain = chain_of(bytes);
    EXPECT_EQ(std::gcd(chain.slots, chain.step), 1U) << bytes;
    EXPECT_LE(static_cast<double>((chain.slots - 1) * line_bytes), bytes);
    std::vector<bool> seen(chain.slots);
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < chain.slots; ++i, at = (at + chain.step) % chain.slots) seen[at] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0) << bytes;
  }
}

/// Sizes of the parameters of every entry of a PTX text: q for 8 bytes, d for 4.
std::map<std::string, std::string> entries_of(const std::string& ptx) {
  std::map<std::string, std::string> entries;
  const std::regex entry(R"(\.entry\s+(\w+)\s*\(([^)]*)\))"), parameter(R"(\.param\s+\.\w(64|32))");
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), entry), end; at != end; ++at) {
    const std::string list = (*at)[2];
    std::string& sizes = entries[(*at)[1]];
    for (std::sregex_iterator p(list.begin(), list.end(), parameter); p != end; ++p)
      sizes += (*p)[1] == "64" ? 'q' : 'd';
  }
  return entries;
}

class Ptx : public ::testing::Test {
 protected:
  void SetUp() override {
    nvrtc_ = find_nvrtc();
    if (!nvrtc_.api) GTEST_SKIP() << nvrtc_.missing << "; set CORRIDOR_NVRTC to its folder";
  }
  [[nodiscard]] std::string compiled(const std::string& file, const std::string& architecture) const {
    const auto source = kernel_source(file);
    if (!source) ADD_FAILURE() << source.error().line();
    if (!source) return {};
    const auto code = compile(*nvrtc_.api, *source, file, {architecture, false});
    if (!code) ADD_FAILURE() << code.error().line();
    return code ? std::string(code->data()) : std::string();
  }
  Found<NvrtcApi> nvrtc_;
};

TEST_F(Ptx, EveryKernelHasTheArgumentsOfTheTable) {
  std::map<std::string, std::string> entries;
  std::set<std::string> files;
  for (const KernelFacts& kernel : kernel_table()) files.emplace(kernel.file);
  for (const std::string& file : files) entries.merge(entries_of(compiled(file, "compute_90a")));
  for (const KernelFacts& kernel : kernel_table()) {
    const std::string name = kernel.versions ? version_name(kernel.name, 16, 4) : std::string(kernel.name);
    ASSERT_TRUE(entries.contains(name)) << name;
    EXPECT_EQ(entries[name], kernel.arguments) << name;
  }
  for (const auto& [name, sizes] : entries) EXPECT_TRUE(find_kernel(name)) << name << " is in no table";
}

TEST_F(Ptx, EveryArchitectureCompilesAndHasItsPeakKernels) {
  int count = 0;
  ASSERT_EQ(nvrtc_.api->get_num_supported_archs(&count), success);
  std::vector<int> archs(static_cast<std::size_t>(count));
  ASSERT_EQ(nvrtc_.api->get_supported_archs(archs.data()), success);
  for (const int arch : archs) {
    const std::string architecture = "compute_" + std::to_string(arch) + (arch == 90 ? "a" : "");
    std::string all;
    std::vector<std::string> files{"cuda/latency.cu", "cuda/all_reduce.cu", "cuda/multiply_add.cu",
                                   "cuda/matrix_warp.cu", "cuda/matrix_warpgroup.cu"};
    // The kernels of the lab are the same on all: the newest and what EveryKernelHasTheArguments compiles stand for
    // them.
    for (const char* name : {"stream", "warp", "product", "attention", "weights"}) {
      if (arch == archs.back()) files.push_back(fmt::format("cuda/lab_{}.cu", name));
    }
    for (const std::string& file : files) {
      if (arch >= 70) all += compiled(file, architecture);
    }
    const auto entries = entries_of(all);
    for (const PeakKernel& peak : peak_kernels()) {
      if (arch < 70 || arch < peak.from || arch > peak.to) continue;
      EXPECT_TRUE(entries.contains(peak.kernel)) << architecture << " lacks " << peak.kernel;
    }
  }
}

/// The FLOP the table counts for a round must be those of the instructions that the compiled loop holds.
TEST_F(Ptx, RoundsHoldTheProductsThatAreCounted) {
  const std::string warp = compiled("cuda/matrix_warp.cu", "compute_90a");
  const std::string group = compiled("cuda/matrix_warpgroup.cu", "compute_90a");
  const std::regex product(R"((?:mma\.sync|wgmma\.mma_async\.sync)\.aligned\.m(\d+)n(\d+)k(\d+))");
  for (const PeakKernel& peak : peak_kernels()) {
    const std::string& ptx = std::string_view(peak.unit) == "wgmma" ? group : warp;
    const std::size_t from = ptx.find(".entry " + std::string(peak.kernel) + "(");
    if (std::string_view(peak.unit) == "FMA" || 90 < peak.from || 90 > peak.to) continue;
    ASSERT_NE(from, std::string::npos) << peak.kernel;
    const std::string body = ptx.substr(from, ptx.find("\n}", from) - from);
    double flop = 0;
    for (std::sregex_iterator at(body.begin(), body.end(), product), end; at != end; ++at) {
      flop += 2.0 * std::stod((*at)[1]) * std::stod((*at)[2]) * std::stod((*at)[3]);
    }
    const double issuers = std::string_view(peak.unit) == "wgmma" ? 2 : 8;  // warpgroups or warps of 256 threads
    EXPECT_EQ(flop * issuers, peak.flop_per_round) << peak.kernel;
  }
}

}  // namespace
}  // namespace corridor::measure::cuda
