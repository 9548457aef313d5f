// SPDX-License-Identifier: Apache-2.0
// Arguments, manifests and comparisons of `corridor ptx run`.
#include "corridor/app/ptx_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/app/ptx_case_manifest.h"
#include "corridor/base/file.h"

namespace corridor::app {
namespace {

using ptx::Type;
using testing::HasSubstr;

TEST(PtxValues, SixteenBitFormatsComeBack) {
  for (const Type type : {Type::f16, Type::bf16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto stored = static_cast<std::uint16_t>(bits);
      const double value = value_of(type, reinterpret_cast<const std::byte*>(&stored));
      if (type == Type::bf16) {
        const auto wide = std::bit_cast<float>(bits << 16U);
        ASSERT_TRUE(value == wide || (std::isnan(value) && std::isnan(wide))) << bits;
      }
      if (std::isnan(value)) continue;
      std::uint16_t back = 0;
      put_value(type, value, reinterpret_cast<std::byte*>(&back));
      ASSERT_EQ(back, stored);
    }
  }
}

TEST(PtxValues, RoundToNearestEven) {
  const auto f16 = [](double value) {
    std::uint16_t bits = 0;
    put_value(Type::f16, value, reinterpret_cast<std::byte*>(&bits));
    return bits;
  };
  EXPECT_EQ(f16(1 + 0x1p-11), 0x3C00);            // half a place: to the even one
  EXPECT_EQ(f16(1 + 0x1p-11 + 0x1p-20), 0x3C01);  // a little more: up
  EXPECT_EQ(f16(1 + 3 * 0x1p-11), 0x3C02);
  EXPECT_EQ(f16(65519), 0x7BFF);
  EXPECT_EQ(f16(65520), 0x7C00);  // infinity
  EXPECT_EQ(f16(0x1p-25), 0x0000);
  EXPECT_EQ(f16(-0x1.8p-24), 0x8002);
  EXPECT_EQ(f16(2047.5 * 0x1p-25), 0x0400);  // the largest subnormal's upper neighbour
}

PtxArgument argument(const std::string& word) {
  const Result<PtxArgument> out = parse_ptx_argument(word, 3);
  EXPECT_TRUE(out) << (out ? "" : out.error().line());
  return out.value_or(PtxArgument{});
}

TEST(PtxArguments, Words) {
  const PtxArgument x = argument("x=buf:i32:1M:rand=1000");
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, Type::s32);
  EXPECT_EQ(x.count, 1'000'000);
  EXPECT_EQ(x.fill, PtxArgument::Fill::random);
  EXPECT_EQ(x.fill_number, 1000);
  EXPECT_EQ(argument("buf:f16:8:file=a=b:c.bin").file, "a=b:c.bin");
  EXPECT_EQ(argument("2.5").name, "3");
  for (const char* bad : {"buf", "buf:f32", "buf:q9:4", "buf:pred:4", "buf:f32:0", "buf:f32:-1", "buf:f32:1e30",
                          "buf:f32:4:sparkle", "buf:f32:4:const", "buf:f32:4:file", "q7:1", "i32:", "", "x="}) {
    EXPECT_FALSE(parse_ptx_argument(bad, 0)) << bad;
  }
}

TEST(PtxArguments, TexturesAreBuffersWithAWayToReadThem) {
  const PtxArgument t = argument("t=tex2d:f16x4:64x32:rand=2:linear:normalized:wrap");
  ASSERT_TRUE(t.texture);
  EXPECT_TRUE(t.is_buffer);
  EXPECT_EQ(t.count, 64U * 32 * 4);
  EXPECT_EQ(t.fill, PtxArgument::Fill::random);
  EXPECT_EQ(t.texture->type, Type::f16);
  EXPECT_EQ(t.texture->height, 32U);
  EXPECT_TRUE(t.texture->linear && t.texture->normalized && !t.texture->unit);
  EXPECT_EQ(t.texture->edge, ptx::Texture::Edge::wrap);
  EXPECT_EQ(argument("tex1d:u8:256:border:ramp:unit").texture->height, 0U);
  for (const char* bad : {"tex2d:f32:64", "tex1d:f32:64x2", "tex2d:f32x3:4x4", "tex2d:f32:0x4", "tex2d:f32:1e9x4",
                          "tex2d:f32:4x4:ramp:sparkle", "tex2d:q:4x4", "tex2d:", "tex2d:f32:4x4:zero:ramp"}) {
    EXPECT_FALSE(parse_ptx_argument(bad, 0)) << bad;
  }
  ptx::DeviceMemory memory(1 << 20);
  const PtxArgument wide = argument("tex1d:f64:16");
  EXPECT_FALSE(make_texture(wide, *make_buffer(wide, 0, memory), memory));
}

std::string encoded(const std::string& word, Type type, std::vector<std::uint64_t> dimensions = {}) {
  ptx::Variable parameter;
  parameter.name = "k_param_0";
  parameter.type = type;
  parameter.dimensions = dimensions;
  parameter.bytes = ptx::bytes_of(type) * (dimensions.empty() ? 1 : dimensions[0]);
  const auto bytes = encode_scalar(argument(word), parameter);
  if (!bytes) return bytes.error().line();
  std::string out;
  for (const std::byte b : *bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(b));
    out += text;
  }
  return out;
}

TEST(PtxArguments, ScalarsTakeTheParametersType) {
  EXPECT_EQ(encoded("5", Type::u32), "05000000");
  EXPECT_EQ(encoded("1M", Type::u32), "40420f00");
  EXPECT_EQ(encoded("-1", Type::u64), "ffffffffffffffff");
  EXPECT_EQ(encoded("18446744073709551615", Type::b64), "ffffffffffffffff");
  EXPECT_EQ(encoded("0x10", Type::b32), "10000000");
  EXPECT_EQ(encoded("2", Type::f32), "00000040");
  EXPECT_EQ(encoded("f32:2", Type::b32), "00000040");
  EXPECT_EQ(encoded("f16x2:1.5", Type::b8, {4}), "003e003e");
  EXPECT_EQ(encoded("hex:01ff02", Type::b8, {3}), "01ff02");
  EXPECT_THAT(encoded("i32:5", Type::u64), HasSubstr("has 4 bytes, the parameter k_param_0 of the kernel 8"));
  EXPECT_THAT(encoded("300", Type::u8), HasSubstr("does not fit into 8 bits"));
  EXPECT_THAT(encoded("-129", Type::u8), HasSubstr("does not fit into 8 bits"));
  EXPECT_THAT(encoded("2.5", Type::u32), HasSubstr("not a whole number"));
  EXPECT_THAT(encoded("hex:0", Type::b8, {1}), HasSubstr("no whole bytes"));
  EXPECT_THAT(encoded("hex:zz", Type::b8, {1}), HasSubstr("no byte in hex"));
}

TEST(PtxArguments, ACycleVisitsEveryPlace) {
  ptx::DeviceMemory memory(1 << 20);
  const auto address = make_buffer(argument("buf:u32:1000:cycle"), 0, memory);
  ASSERT_TRUE(address) << address.error().line();
  std::vector<std::uint32_t> next(1000);
  ASSERT_TRUE(memory.read(*address, std::as_writable_bytes(std::span(next))));
  std::uint32_t at = 0, steps = 0;
  do {
    ASSERT_LT(next[at], 1000U);
    at = next[at];
    ++steps;
  } while (at != 0 && steps < 2000);
  EXPECT_EQ(steps, 1000);
}

TEST(PtxManifest, SaysWhatIsWrong) {
  const auto fault = [](const char* text) {
    const auto read = parse_ptx_manifest(text, "m.json", "");
    return read ? std::string("no fault") : read.error().line();
  };
  EXPECT_EQ(fault(R"({"file": "a.ptx", "grid": [1, 2], "args": ["i32:1", 5]})"), "no fault");
  EXPECT_THAT(fault("{"), HasSubstr("m.json: is not JSON"));
  EXPECT_THAT(fault("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(fault("{}"), HasSubstr("names no file"));
  EXPECT_THAT(fault(R"({"file": "a", "blok": 1})"), HasSubstr("blok is no key"));
  EXPECT_THAT(fault(R"({"file": "a", "grid": [1, 2, 3, 4]})"), HasSubstr("grid"));
  EXPECT_THAT(fault(R"({"file": "a", "grid": -1})"), HasSubstr("grid is no whole number"));
  EXPECT_THAT(fault(R"({"file": 7})"), HasSubstr("file is no text"));
  EXPECT_THAT(fault(R"({"file": "a", "args": "i32:5"})"), HasSubstr("args is no list"));
  EXPECT_THAT(fault(R"({"file": "a", "tolerance": -1})"), HasSubstr("tolerance"));
  EXPECT_THAT(fault((std::string(100000, '[')).c_str()), HasSubstr("nested too deeply"));
  const auto placed = parse_ptx_manifest(R"({"file": "a.ptx", "args": ["buf:f32:4:file=x.bin"], "expect": "y.bin"})",
                                         "m.json", "folder");
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->request.file, "folder/a.ptx");
  EXPECT_EQ(placed->request.arguments[0], "buf:f32:4:file=folder/x.bin");
  EXPECT_EQ(placed->request.expect.at(""), "folder/y.bin");
}

class PtxRun : public testing::Test {
 protected:
  Assets assets = *Assets::open();
  std::string folder = testing::TempDir();
  PtxRequest request;

  void SetUp() override {
    request.file = "saxpy";
    request.grid = ptx::Dim3{1};
    request.block = ptx::Dim3{32};
    request.arguments = {"n=32", "x=buf:f32:32:ramp", "y=buf:f32:32:const=1"};
  }
  std::string error() {
    const Result<PtxAnswer> answer = run_ptx(assets, request);
    return answer ? "it ran" : answer.error().line();
  }
};

TEST_F(PtxRun, NamedArgumentsReplaceThoseOfTheLaunch) {
  const Result<PtxAnswer> answer = run_ptx(assets, request);
  ASSERT_TRUE(answer) << answer.error().line();
  EXPECT_TRUE(answer->clean());
  EXPECT_EQ(answer->run.counters.flops(), 64);
  ASSERT_EQ(answer->buffers.size(), 2);
  EXPECT_EQ(answer->buffers[1].first, (std::vector<double>{1, 3, 5, 7}));  // a = 2 stays
}

TEST_F(PtxRun, ResultsAreHeldAgainstAFile) {
  const std::string good = folder + "ptx_good.txt", bad = folder + "ptx_bad.txt", raw = folder + "ptx_y.bin";
  std::string numbers, wrong;
  for (int i = 0; i < 32; ++i) {
    numbers += std::to_string(2 * i + 1) + (i % 4 == 3 ? "\n" : ", ");
    wrong += std::to_string(i == 5 ? 12 : 2 * i + 1) + " ";
  }
  ASSERT_TRUE(write_text_file(good, numbers));
  ASSERT_TRUE(write_text_file(bad, wrong));
  request.expect = {{"y", good}};
  request.dump = {{"y", raw}};
  EXPECT_TRUE(run_ptx(assets, request)->clean());
  request.dump.clear();
  request.expect = {{"", raw}};
  EXPECT_TRUE(run_ptx(assets, request)->clean());
  request.expect = {{"", bad}};
  const Result<PtxAnswer> answer = run_ptx(assets, request);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->clean());
  EXPECT_EQ(answer->checks[0].different, 1);
  EXPECT_EQ(answer->checks[0].first_difference, "[5] is 11, expected 12");
  request.tolerance = 0.1;
  EXPECT_TRUE(run_ptx(assets, request)->clean());
  request.expect = {{"z", bad}};
  EXPECT_THAT(error(), HasSubstr("the buffers are x, y"));
  request.expect = {{"x", folder + "ptx_absent.bin"}};
  EXPECT_NE(error(), "it ran");
  for (const std::string& file : {good, bad, raw}) std::remove(file.c_str());
}

TEST_F(PtxRun, WhatCannotStartIsRefused) {
  const PtxRequest good = request;
  const auto with = [&](auto change) {
    request = good;
    change(request);
    return error();
  };
  EXPECT_THAT(with([](PtxRequest& r) { r.file = "saxpi"; }), HasSubstr("saxpy"));
  EXPECT_THAT(with([](PtxRequest& r) { r.file = "faults.ptx"; }), HasSubstr("several kernels"));
  EXPECT_THAT(with([](PtxRequest& r) { r.kernel = "sxpy"; }), HasSubstr("the kernels are saxpy"));
  EXPECT_THAT(with([](PtxRequest& r) { r.arguments = {"1"}; }), HasSubstr("takes 4 arguments (u32, f32, u64, u64)"));
  EXPECT_THAT(with([](PtxRequest& r) { r.arguments[0] = "n=buf:f32:4"; }), HasSubstr("takes no buffer"));
  EXPECT_THAT(with([](PtxRequest& r) { r.block = ptx::Dim3{2048}; }), HasSubstr("2048"));
  EXPECT_THAT(with([](PtxRequest& r) { r.device = "no-such-device"; }), HasSubstr("no-such-device"));
  EXPECT_NE(with([](PtxRequest& r) { r.arguments[1] = "x=buf:f64:1e15"; }), "it ran");
  EXPECT_NE(with([](PtxRequest& r) { r.max_memory_bytes = 100; }), "it ran");
  EXPECT_NE(with([](PtxRequest& r) { r.shared_bytes = 1U << 30U; }), "it ran");
}

TEST_F(PtxRun, InspectTellsWithoutRunning) {
  const auto inspection = inspect_ptx(assets, {"matmul", "", "h100-sxm", {}});
  ASSERT_TRUE(inspection) << inspection.error().line();
  ASSERT_EQ(inspection->kernels.size(), 2);
  const PtxInspectedKernel& tiled = inspection->kernels[1];
  EXPECT_EQ(tiled.name, "matmul_tiled");
  EXPECT_EQ(tiled.facts.static_shared_bytes, 2 * 32 * 33 * 4);
  EXPECT_EQ(tiled.facts.by_opcode.at("bar"), 2);
  ASSERT_EQ(tiled.devices.size(), 1);
  EXPECT_TRUE(tiled.devices[0].occupancy);
  const auto everywhere = inspect_ptx(assets, {"saxpy.ptx", "saxpy", "", 1024});
  ASSERT_TRUE(everywhere);
  EXPECT_GT(everywhere->kernels.at(0).devices.size(), 5U);
}

}  // namespace
}  // namespace corridor::app
