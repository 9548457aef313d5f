// SPDX-License-Identifier: Apache-2.0
// Texture reads against their formulas: nearest and linear, every edge, one and two dimensions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "corridor/ptx/functional/run_helper_test.h"

namespace corridor::ptx::testing {
namespace {

constexpr std::uint32_t width = 8, height = 4, lanes = 32;

/// The first two channels of a read by each of 32 lanes at (x, y); through an object, or through the .texref `t`.
std::vector<float> read_2d(const Texture& shape, const std::vector<float>& texels,
                           const std::function<float(std::uint32_t)>& x, const std::function<float(std::uint32_t)>& y,
                           bool by_name = false, std::string* faults = nullptr, std::uint64_t* sectors = nullptr) {
  const std::string text =
      fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.global .texref t;
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 object)
{{
  .reg .f32 %f<8>;
  .reg .b32 %r<4>;
  .reg .b64 %q<8>;
  ld.param.u64 %q1, [in];
  ld.param.u64 %q2, [out];
  ld.param.u64 %q3, [object];
  mov.u32 %r1, %tid.x;
  mad.wide.u32 %q1, %r1, 8, %q1;
  mad.wide.u32 %q2, %r1, 8, %q2;
  ld.global.v2.f32 {{%f1, %f2}}, [%q1];
  tex.{}.v4.f32.f32 {{%f3, %f4, %f5, %f6}}, [{}, {}];
  st.global.v2.f32 [%q2], {{%f3, %f4}};
  ret;
}}
)",
                  shape.height == 0 ? "1d" : "2d", by_name ? "t" : "%q3", shape.height == 0 ? "{%f1}" : "{%f1, %f2}");
  const auto program = Program::compile(*parse_module(text, "test.ptx"));
  DeviceMemory memory(1 << 20);
  std::vector<float> in(2 * lanes), out(2 * lanes);
  for (std::uint32_t i = 0; i < lanes; ++i) {
    in[2 * i] = x(i);
    in[2 * i + 1] = y(i);
  }
  const std::uint64_t a = *memory.allocate(in.size() * 4, "in"), b = *memory.allocate(out.size() * 4, "out");
  Texture texture = shape;
  texture.address = *memory.allocate(texels.size() * 4, "texels");
  (void)memory.write(a, std::as_bytes(std::span(in)));
  (void)memory.write(texture.address, std::as_bytes(std::span(texels)));
  const auto object = memory.add_texture(texture);
  EXPECT_TRUE(object);
  if (by_name) memory.bind_texture("t", *object);
  Launch launch;
  launch.kernel = "k";
  launch.block = Dim3{lanes};
  launch.add_argument(a);
  launch.add_argument(b);
  launch.add_argument(by_name ? std::uint64_t{0} : *object);
  const auto result = run(*program, launch, memory, small_device(), {});
  EXPECT_TRUE(result);
  std::string said;
  for (const Fault& f : result->faults) said += f.message;
  if (faults != nullptr) {
    *faults = said;
  } else {
    EXPECT_EQ(said, "");
  }
  if (sectors != nullptr) *sectors = result->counters.global_load.sectors;
  (void)memory.read(b, std::as_writable_bytes(std::span(out)));
  return out;
}

std::vector<float> grid() {
  std::vector<float> texels(width * height);
  for (std::uint32_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * i % 37);
  return texels;
}
float at(const std::vector<float>& texels, std::int64_t i, std::int64_t j, Texture::Edge edge, bool turns) {
  const auto inside = [&](std::int64_t v, std::int64_t size) {
    if (v >= 0 && v < size) return v;
    if (edge == Texture::Edge::border) return std::int64_t{-1};
    if (edge == Texture::Edge::wrap && turns) return (v % size + size) % size;
    return v < 0 ? 0 : size - 1;
  };
  const std::int64_t column = inside(i, width), row = inside(j, height);
  return column < 0 || row < 0 ? 0 : texels[static_cast<std::size_t>(row * width + column)];
}

TEST(Texture, TheNearestTexel) {
  const auto texels = grid();
  const auto x = [](std::uint32_t i) { return static_cast<float>(i) * 0.5F - 3; };
  const auto y = [](std::uint32_t i) { return static_cast<float>(i % 7) - 1.25F; };
  for (const auto edge : {Texture::Edge::clamp, Texture::Edge::border, Texture::Edge::wrap}) {
    for (const bool by_name : {false, true}) {
      const auto out = read_2d({0, Type::f32, 1, width, height, edge}, texels, x, y, by_name);
      for (std::uint32_t i = 0; i < lanes; ++i) {
        const auto column = static_cast<std::int64_t>(std::floor(x(i))),
                   row = static_cast<std::int64_t>(std::floor(y(i)));
        EXPECT_EQ(out[2 * i], at(texels, column, row, edge, false)) << i;
      }
    }
  }
}

TEST(Texture, NormalizedCoordinatesWrapAndMirror) {
  const auto texels = grid();
  const auto x = [](std::uint32_t i) { return (static_cast<float>(i) + 0.5F) / width - 1; };
  const auto y = [](std::uint32_t i) { return (static_cast<float>(i % 8) + 0.5F) / height; };
  const auto wrapped = read_2d({0, Type::f32, 1, width, height, Texture::Edge::wrap, false, true}, texels, x, y);
  const auto mirrored = read_2d({0, Type::f32, 1, width, height, Texture::Edge::mirror, false, true}, texels, x, y);
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const std::uint32_t column = i % width, row = i % 8, turned = i / width % 2 == 0 ? width - 1 - column : column;
    EXPECT_EQ(wrapped[2 * i], texels[row % height * width + column]) << i;
    EXPECT_EQ(mirrored[2 * i], texels[(row < height ? row : 7 - row) * width + turned]) << i;
  }
}

TEST(Texture, LinearBetweenFourTexels) {
  const auto texels = grid();
  const auto x = [](std::uint32_t i) { return static_cast<float>(i) * 0.375F - 1; };
  const auto y = [](std::uint32_t i) { return static_cast<float>(i % 11) * 0.5625F - 1; };
  for (const auto edge : {Texture::Edge::clamp, Texture::Edge::border}) {
    const auto out = read_2d({0, Type::f32, 1, width, height, edge, true}, texels, x, y);
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const float u = x(i) - 0.5F, v = y(i) - 0.5F, a = u - std::floor(u), b = v - std::floor(v);
      const auto column = static_cast<std::int64_t>(std::floor(u)), row = static_cast<std::int64_t>(std::floor(v));
      const auto t = [&](int di, int dj) { return at(texels, column + di, row + dj, edge, false); };
      const float expected =
          (1 - a) * (1 - b) * t(0, 0) + a * (1 - b) * t(1, 0) + (1 - a) * b * t(0, 1) + a * b * t(1, 1);
      EXPECT_EQ(out[2 * i], expected) << i;  // small whole numbers times parts of 256: exact
    }
  }
  // Weights have 8 bits: a 1000th of the way is none.
  const auto near = read_2d(
      {0, Type::f32, 1, width, height, Texture::Edge::clamp, true}, texels, [](std::uint32_t) { return 2.501F; },
      [](std::uint32_t) { return 1.5F; });
  EXPECT_EQ(near[0], texels[width + 2]);
}

TEST(Texture, OneDimensionChannelsAndIntegers) {
  std::vector<float> pairs(64);
  for (std::uint32_t i = 0; i < 64; ++i) pairs[i] = static_cast<float>(i);
  std::uint64_t sectors = 0;
  const auto out = read_2d(
      {0, Type::f32, 2, 32, 0}, pairs, [](std::uint32_t i) { return static_cast<float>(i) + 0.9F; },
      [](std::uint32_t) { return 0.0F; }, false, nullptr, &sectors);
  for (std::uint32_t i = 0; i < lanes; ++i) {
    EXPECT_EQ(out[2 * i], 2.0F * static_cast<float>(i));
    EXPECT_EQ(out[2 * i + 1], 2.0F * static_cast<float>(i) + 1);
  }
  EXPECT_EQ(sectors, 16U);  // 256 bytes of coordinates, 256 of texels
  // Bytes of 0 to 255 as parts of one, and halfway between two of them.
  std::vector<float> bytes(8);
  for (std::uint32_t i = 0; i < 32; ++i)
    reinterpret_cast<std::uint8_t*>(bytes.data())[i] = static_cast<std::uint8_t>(8 * i);
  const auto unit = read_2d(
      {0, Type::u8, 1, 32, 0, Texture::Edge::clamp, true, false, true}, bytes,
      [](std::uint32_t i) { return static_cast<float>(i) + 1; }, [](std::uint32_t) { return 0.0F; });
  EXPECT_FLOAT_EQ(unit[0], 4.0F / 255);
  EXPECT_FLOAT_EQ(unit[2 * 31], 248.0F / 255);
}

TEST(Texture, OddCoordinatesAndWrongObjects) {
  const auto texels = grid();
  const float odd[] = {NAN, INFINITY, -INFINITY, 1e30F};
  for (const bool normalized : {false, true}) {
    for (const auto edge : {Texture::Edge::clamp, Texture::Edge::wrap, Texture::Edge::mirror, Texture::Edge::border}) {
      for (const bool linear : {false, true}) {
        (void)read_2d(
            {0, Type::f32, 1, width, height, edge, linear, normalized}, texels,
            [&](std::uint32_t i) { return odd[i % 4]; }, [&](std::uint32_t i) { return odd[i / 4 % 4]; });
      }
    }
  }
  std::string faults;
  (void)read_2d(
      {0, Type::u8, 1, width, height, Texture::Edge::clamp, true}, texels, [](std::uint32_t) { return 0.0F; },
      [](std::uint32_t) { return 0.0F; }, false, &faults);
  EXPECT_NE(faults.find("cannot be filtered"), std::string::npos);
  const std::string wrong = "  tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%in, {%r62}];\n";
  EXPECT_NE(faults_of(run_body(wrong, {0, 0, 0})).find("is no texture"), std::string::npos);
  const std::string cube = "  tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%in, {%r1, %r2, %r3, %r3}];\n";
  EXPECT_NE(faults_of(run_body(cube, {0, 0, 0})).find("tex.3d.v4.f32.f32 is not executed"), std::string::npos);
  const std::string unbound = "  tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [t, {%r62}];\n";
  EXPECT_NE(run_body(unbound, {0, 0, 0}, 32, {}, ".global .texref t;").error.find("no texture is bound"),
            std::string::npos);
  DeviceMemory memory(1 << 20);
  Texture texture;
  texture.address = *memory.allocate(64, "small");
  texture.width = 17;
  EXPECT_FALSE(memory.add_texture(texture));
  texture.width = 16;
  texture.channels = 3;
  EXPECT_FALSE(memory.add_texture(texture));
}

}  // namespace
}  // namespace corridor::ptx::testing
