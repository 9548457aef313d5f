// SPDX-License-Identifier: Apache-2.0
// .cu files: a script in the place of nvcc, nvcc on PATH, NVRTC where there is one, and what is said without any.
#include "corridor/app/nvcc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "corridor/app/ptx_case.h"
#include "corridor/measure/cuda/libraries.h"

namespace corridor::app {
namespace {

using testing::HasSubstr;

/// A folder with a .cu file, and the environment as it was when it goes.
class CuFile : public testing::Test {
 protected:
  CuFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "corridor-cu-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
    write("k.cu", R"(extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; })");
    write("k.ptx", R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 p) {
  .reg .f32 %f; .reg .b32 %r; .reg .b64 %q;
  ld.param.u64 %q, [p]; mov.u32 %r, %tid.x; mad.wide.u32 %q, %r, 4, %q;
  ld.global.f32 %f, [%q]; add.f32 %f, %f, %f; st.global.f32 [%q], %f; ret; }
)");
    for (const char* name : {"PATH", "CORRIDOR_NVCC"}) {
      const char* const value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? "" : value);
    }
    ::unsetenv("CORRIDOR_NVCC");
  }
  ~CuFile() override {
    for (const auto& [name, value] : before_) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    std::filesystem::remove_all(folder_);
  }
  CuFile(const CuFile&) = delete;
  CuFile& operator=(const CuFile&) = delete;

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  /// A program `nvcc` of these lines; "$6" is the file it writes, "$7" the source.
  std::string fake(const std::string& lines) const {
    write("nvcc", "#!/bin/sh\n" + lines + "\n");
    std::filesystem::permissions(folder_ + "/nvcc", std::filesystem::perms::owner_all);
    return folder_ + "/nvcc";
  }
  [[nodiscard]] Result<PtxAnswer> run() const {
    static const Assets assets = *Assets::open();
    PtxRequest request;
    request.file = folder_ + "/k.cu";
    request.grid = ptx::Dim3{1};
    request.block = ptx::Dim3{32};
    request.arguments = {"x=buf:f32:32:ramp"};
    return run_ptx(assets, request);
  }

  std::string folder_;
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(CuFile, ANamedNvccCompiles) {
  // The script writes the PTX that lies beside the source, after a look at its options.
  const std::string nvcc = fake(R"([ "$1 $2 $5 $6" = "-ptx -arch=sm_90 -o $6" ] || exit 3
cp "${7%.cu}.ptx" "$6")");
  for (const std::string& named : {nvcc, folder_}) {
    ::setenv("CORRIDOR_NVCC", named.c_str(), 1);
    const auto answer = run();
    ASSERT_TRUE(answer) << answer.error().line();
    EXPECT_TRUE(answer->clean());
    EXPECT_EQ(answer->buffers[0].first.at(3), 6);
    EXPECT_THAT(answer->source.compiled, HasSubstr("nvcc for sm_90"));
    EXPECT_EQ(answer->source.source_name, "k.cu");
  }
}

TEST_F(CuFile, WhatGoesWrongIsOneLine) {
  const auto said = [&](const std::string& lines) {
    ::setenv("CORRIDOR_NVCC", fake(lines).c_str(), 1);
    const auto answer = run();
    return answer ? std::string("no error") : answer.error().line();
  };
  EXPECT_THAT(said("echo nvcc warning >&2; echo 'k.cu(1): error: x is undefined'; exit 2"),
              HasSubstr("nvcc does not compile it: k.cu(1): error: x is undefined"));
  EXPECT_THAT(said("exit 1"), HasSubstr("it says nothing"));
  EXPECT_THAT(said("exit 0"), HasSubstr("nvcc wrote no PTX"));
  EXPECT_THAT(said("kill -9 $$"), HasSubstr("ended by a signal"));
  EXPECT_THAT(said("echo sparkle > \"$6\""), HasSubstr("not PTX"));
  ::setenv("CORRIDOR_NVCC", (folder_ + "/none").c_str(), 1);
  EXPECT_THAT(run().error().line(), HasSubstr("cannot be run"));
}

TEST_F(CuFile, NvccOnThePathIsTheLastChance) {
  const bool has_nvrtc = measure::cuda::find_nvrtc().api.has_value();
  ::setenv("PATH", ("/nowhere::" + folder_).c_str(), 1);
  EXPECT_EQ(nvcc_on_path(), "");
  if (!has_nvrtc) {
    EXPECT_THAT(run().error().line(), HasSubstr("nvcc is not on PATH"));
  }
  // PATH holds no cp: the script writes with what the shell has itself.
  fake(R"(while IFS= read -r line; do echo "$line"; done <"${7%.cu}.ptx" >"$6")");
  EXPECT_EQ(nvcc_on_path(), folder_ + "/nvcc");
  if (has_nvrtc) GTEST_SKIP() << "NVRTC is found and comes first";
  const auto answer = run();
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_EQ(answer->buffers[0].first.at(3), 6);
}

TEST_F(CuFile, NvrtcCompiles) {
  const auto nvrtc = measure::cuda::find_nvrtc();
  if (!nvrtc.api) GTEST_SKIP() << nvrtc.missing << "; set CORRIDOR_NVRTC to its folder";
  const auto answer = run();
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_TRUE(answer->clean());
  EXPECT_EQ(answer->buffers[0].first.at(3), 6);
  EXPECT_THAT(answer->source.compiled, HasSubstr("NVRTC"));
}

}  // namespace
}  // namespace corridor::app
