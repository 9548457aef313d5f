// SPDX-License-Identifier: Apache-2.0
// Tensor-core instructions against products of small whole numbers, with the fragments as the PTX manual draws them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "corridor/ptx/functional/run_helper_test.h"
#include "corridor/ptx/functional/small_floats.h"

namespace corridor::ptx::testing {
namespace {

int value_a(std::uint32_t i, std::uint32_t k, bool natural) {
  const auto v = static_cast<int>((3 * i + 5 * k) % 7);
  return natural ? v : v - 3;
}
int value_b(std::uint32_t k, std::uint32_t j, bool natural) {
  const auto v = static_cast<int>((2 * k + 3 * j) % 5);
  return natural ? v : v - 2;
}
int value_c(std::uint32_t i, std::uint32_t j) {
  return static_cast<int>(i) - static_cast<int>(2 * j);
}
int expected(std::uint32_t i, std::uint32_t j, std::uint32_t depth, bool natural_a, bool natural_b) {
  int sum = value_c(i, j);
  for (std::uint32_t k = 0; k < depth; ++k) sum += value_a(i, k, natural_a) * value_b(k, j, natural_b);
  return sum;
}

std::size_t size_of(const std::string& type) {
  return type == "f64"                                    ? 8
         : type == "s8" || type == "u8" || type[0] == 'e' ? 1
         : type == "f16" || type == "bf16"                ? 2
                                                          : 4;
}

/// A small whole number in a type, and back.
std::uint64_t bits_of(const std::string& type, int v) {
  const auto f = std::bit_cast<std::uint32_t>(static_cast<float>(v));
  if (type[0] == 'e') return byte_of_value(*type_from(type), v);
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(v));
  if (type == "f32" || type == "tf32") return f;
  if (type == "bf16") return f >> 16;
  if (type == "f16") return v == 0 ? 0 : ((f >> 16) & 0x8000) | (((f >> 13) - (112U << 10)) & 0x7FFF);
  return static_cast<std::uint64_t>(v) & (type == "s32" ? 0xFFFFFFFF : 0xFF);
}

struct Bytes {
  explicit Bytes(std::size_t size) : words(size / 8) {}
  void put(std::size_t at, std::uint64_t value, std::size_t size) {
    std::memcpy(reinterpret_cast<char*>(words.data()) + at, &value, size);
  }
  std::vector<std::uint64_t> words;
};
std::uint64_t read(const std::vector<std::uint64_t>& words, std::size_t at, std::size_t size) {
  std::uint64_t out = 0;
  std::memcpy(&out, reinterpret_cast<const char*>(words.data()) + at, size);
  return out;
}

/// A kernel for the first warp of 128 threads; %r3 is its lane.
std::string first_warp(const std::string& body, const std::string& declarations) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[4096];
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>, %a<9>, %b<9>, %c<9>, %d<9>;
  .reg .b64 %q<8>, %in, %out, %wa<2>, %wb<2>, %wc<2>, %wd<2>;
)" + declarations +
         R"(  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %r3, %tid.x;
  setp.ge.u32 %p1, %r3, 32;
  @%p1 exit;
)" + body +
         "  ret;\n}\n";
}

std::string list(const std::string& name, std::uint32_t count) {
  std::string out;
  for (std::uint32_t i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return count == 1 ? out : "{" + out + "}";
}

struct Mma {
  const char *shape, *d, *a, *b, *c;
  std::uint32_t m, k;
};

/// Loads or stores the registers of a lane one after the other: `at` bytes from its own place on.
std::string move_words(bool loads, const std::string& name, std::uint32_t count, std::uint32_t at, bool wide) {
  std::string out;
  const char* type = wide ? "b64" : "b32";
  for (std::uint32_t i = 0; i < count; ++i, at += wide ? 8 : 4) {
    out += loads ? fmt::format("  ld.global.{} %{}{}, [%in+{}];\n", type, name, i, at)
                 : fmt::format("  st.global.{} [%out+{}], %{}{};\n", type, at, name, i);
  }
  return out;
}

TEST(Mma, EveryShapeMultiplies) {
  const Mma all[] = {
      {"m16n8k8", "f32", "f16", "f16", "f32", 16, 8},     {"m16n8k16", "f32", "f16", "f16", "f32", 16, 16},
      {"m16n8k16", "f16", "f16", "f16", "f16", 16, 16},   {"m16n8k16", "f32", "bf16", "bf16", "f32", 16, 16},
      {"m16n8k8", "f32", "bf16", "bf16", "f32", 16, 8},   {"m16n8k4", "f32", "tf32", "tf32", "f32", 16, 4},
      {"m16n8k8", "f32", "tf32", "tf32", "f32", 16, 8},   {"m16n8k32", "s32", "s8", "u8", "s32", 16, 32},
      {"m16n8k16", "s32", "u8", "s8", "s32", 16, 16},     {"m8n8k16", "s32", "s8", "s8", "s32", 8, 16},
      {"m16n8k32", "f32", "e4m3", "e5m2", "f32", 16, 32}, {"m8n8k4", "f64", "f64", "f64", "f64", 8, 4},
      {"m16n8k8", "f64", "f64", "f64", "f64", 16, 8}};
  for (const Mma& one : all) {
    const std::string a = one.a, b = one.b, c = one.c, d = one.d;
    const bool wide = a == "f64", natural_a = a == "u8", natural_b = b == "u8";
    const std::uint32_t e = wide ? 1 : 4 / static_cast<std::uint32_t>(size_of(a)), rows = one.m / 8;
    const std::uint32_t registers_b = one.k / (4 * e), registers_a = rows * registers_b;
    const std::uint32_t per_c = c == "f16" ? 2 : 1, registers_c = 2 * rows / per_c, word = wide ? 8 : 4;
    Bytes in(32 * 128);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::uint32_t group = lane / 4, in_group = lane % 4;
      std::size_t at = std::size_t{lane} * 128;
      for (std::uint32_t i = 0; i < registers_a * e; ++i, at += word / e) {
        const std::uint32_t r = i / e;  // registers 1 and 3 of A: eight rows further down
        const std::uint32_t row = group + (rows == 2 ? 8 * (r % 2) : 0);
        const std::uint32_t column = in_group * e + i % e + r / rows * 4 * e;
        in.put(at, bits_of(a, value_a(row, column, natural_a)), word / e);
      }
      for (std::uint32_t i = 0; i < registers_b * e; ++i, at += word / e) {
        in.put(at, bits_of(b, value_b(in_group * e + i % e + i / e * 4 * e, group, natural_b)), word / e);
      }
      for (std::uint32_t i = 0; i < 2 * rows; ++i, at += word / per_c) {
        in.put(at, bits_of(c, value_c(group + 8 * (i / 2), 2 * in_group + i % 2)), word / per_c);
      }
    }
    const std::string w = wide ? "w" : "";
    const std::uint32_t at_b = registers_a * word, at_c = at_b + registers_b * word;
    const std::string text = first_warp(
        "  mad.wide.u32 %in, %r3, 128, %in;\n  mad.wide.u32 %out, %r3, 32, %out;\n" +
            move_words(true, w + "a", registers_a, 0, wide) + move_words(true, w + "b", registers_b, at_b, wide) +
            move_words(true, w + "c", registers_c, at_c, wide) +
            fmt::format("  mma.sync.aligned.{}.row.col.{}.{}.{}.{} {}, {}, {}, {};\n", one.shape, d, a, b, c,
                        list(w + "d", registers_c), list(w + "a", registers_a), list(w + "b", registers_b),
                        list(w + "c", registers_c)) +
            move_words(false, w + "d", registers_c, 0, wide),
        wide ? "  .reg .b64 %wa2, %wa3, %wb2, %wc2, %wc3, %wd2, %wd3;\n" : "");
    const Ran ran = run_module(text, in.words, Dim3{1}, Dim3{128});
    ASSERT_EQ(faults_of(ran), "") << one.shape << a;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t i = 0; i < 2 * rows; ++i) {
        const std::uint32_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
        ASSERT_EQ(read(ran.out, std::size_t{lane} * 32 + i * word / per_c, word / per_c),
                  bits_of(d, expected(row, column, one.k, natural_a, natural_b)))
            << one.shape << " " << a << " lane " << lane << " value " << i;
      }
    }
    if (d != "s32") {
      EXPECT_EQ(ran.result.counters.flops(), 2.0 * one.m * 8 * one.k);
    }
  }
}

struct Wmma {
  const char *a, *b, *c;
  std::uint32_t m, n, k, registers_a, registers_b, registers_c;
};

Ran run_wmma(const Wmma& one, bool column_a, bool column_b, bool column_c, const char* space, const std::string& d) {
  const std::string a = one.a, b = one.b, c = one.c;
  const bool wide = a == "f64";
  Bytes in(3 * 8192);
  const auto fill = [&](std::size_t at, const std::string& type, std::uint32_t rows, std::uint32_t columns,
                        bool by_column, auto&& value) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      for (std::uint32_t j = 0; j < columns; ++j) {
        const std::size_t place = by_column ? std::size_t{j} * (rows + 8) + i : std::size_t{i} * (columns + 8) + j;
        in.put(at + place * size_of(type), bits_of(type, value(i, j)), size_of(type));
      }
    }
  };
  fill(0, a, one.m, one.k, column_a, [&](auto i, auto j) { return value_a(i, j, a == "u8"); });
  fill(4096, b, one.k, one.n, column_b, [&](auto i, auto j) { return value_b(i, j, b == "u8"); });
  fill(8192, c, one.m, one.n, column_c, [&](auto i, auto j) { return value_c(i, j); });
  const auto layout = [](bool by_column) { return by_column ? "col" : "row"; };
  const auto leading = [](bool by_column, std::uint32_t rows, std::uint32_t columns) {
    return (by_column ? rows : columns) + 8;
  };
  const std::string shape = fmt::format("m{}n{}k{}", one.m, one.n, one.k), w = wide ? "w" : "";
  const std::string types = a == "f16" ? d + "." + c : d + "." + a + "." + b + "." + c;
  const std::uint32_t registers_d = d == c ? one.registers_c : d == "f16" ? 4 : 8;
  std::string body = fmt::format("  wmma.load.a.sync.aligned.{}.{}{}.{} {}, [%in], {};\n", layout(column_a), shape,
                                 space, a, list(w + "a", one.registers_a), leading(column_a, one.m, one.k));
  body += fmt::format("  wmma.load.b.sync.aligned.{}.{}{}.{} {}, [%in+4096], {};\n", layout(column_b), shape, space, b,
                      list(w + "b", one.registers_b), leading(column_b, one.k, one.n));
  body += fmt::format("  wmma.load.c.sync.aligned.{}.{}{}.{} {}, [%in+8192], {};\n", layout(column_c), shape, space, c,
                      list(w + "c", one.registers_c), leading(column_c, one.m, one.n));
  body += fmt::format("  wmma.mma.sync.aligned.{}.{}.{}{}.{} {}, {}, {}, {};\n", layout(column_a), layout(column_b),
                      shape, wide ? ".rn" : "", types, list(w + "d", registers_d), list(w + "a", one.registers_a),
                      list(w + "b", one.registers_b), list(w + "c", one.registers_c));
  body += fmt::format("  wmma.store.d.sync.aligned.{}.{}{}.{} [%out], {};\n", layout(column_c), shape, space, d,
                      list(w + "d", registers_d));
  return run_module(first_warp(body, {}), in.words, Dim3{1}, Dim3{128});
}

TEST(Wmma, EveryShapeAndLayoutMultiplies) {
  std::vector<Wmma> all = {{"tf32", "tf32", "f32", 16, 16, 8, 4, 4, 8}, {"f64", "f64", "f64", 8, 8, 4, 1, 1, 2}};
  for (const auto& [m, n] : {std::pair{16U, 16U}, {8U, 32U}, {32U, 8U}}) {
    for (const char* c : {"f16", "f32"}) all.push_back({"f16", "f16", c, m, n, 16, 8, 8, c[1] == '1' ? 4U : 8U});
    all.push_back({"bf16", "bf16", "f32", m, n, 16, m / 4, n / 4, 8});
    for (const char* b : {"s8", "u8"}) all.push_back({b, b, "s32", m, n, 16, m / 8, n / 8, 8});
  }
  for (const Wmma& one : all) {
    for (unsigned layouts = 0; layouts < 8; ++layouts) {
      const std::string c = one.c;
      const bool swaps = std::string(one.a) == "f16" && layouts == 0;  // D of the other type
      const std::string d = swaps ? (c == "f16" ? "f32" : "f16") : c;
      const Ran ran =
          run_wmma(one, (layouts & 1) != 0, (layouts & 2) != 0, (layouts & 4) != 0, layouts == 3 ? ".global" : "", d);
      ASSERT_EQ(faults_of(ran), "") << one.a << one.m << "×" << one.n;
      const bool natural = std::string(one.a) == "u8";
      for (std::uint32_t i = 0; i < one.m; ++i) {
        for (std::uint32_t j = 0; j < one.n; ++j) {
          const std::size_t place = (layouts & 4) != 0 ? j * one.m + i : i * one.n + j;
          ASSERT_EQ(read(ran.out, place * size_of(d), size_of(d)), bits_of(d, expected(i, j, one.k, natural, natural)))
              << one.a << " " << one.m << "×" << one.n << " layouts " << layouts << " at " << i << " " << j;
        }
      }
    }
  }
}

TEST(Wmma, RowsOfAMatrixAreReadOnce) {
  // 16 rows of 24 halves (48 bytes), of which the first 16 are read: 32 bytes each, one or two sectors a row.
  const Ran ran = run_wmma({"f16", "f16", "f32", 16, 16, 16, 8, 8, 8}, false, false, false, ".global", "f32");
  ASSERT_EQ(faults_of(ran), "");
  const auto& c = ran.result.counters;
  EXPECT_EQ(c.global_load.requests, 4U + 4 + 8);
  EXPECT_EQ(c.global_load.bytes, 2 * 512U + 1024);
  EXPECT_EQ(c.global_store.sectors, 1024U / 32);
  EXPECT_EQ(c.flops(), 2.0 * 16 * 16 * 16);
}

TEST(Wmma, WhatIsRefusedIsNamed) {
  const auto fault = [](const std::string& line) {
    return faults_of(run_module(first_warp("  " + line + ";\n", {}), {0}, Dim3{1}, Dim3{128}));
  };
  EXPECT_NE(fault("wmma.load.a.sync.aligned.row.m8n8k32.global.s4 %a0, [%in]").find("wmma.load.a"), std::string::npos);
  EXPECT_NE(fault("wmma.load.a.sync.aligned.row.m16n16k8.global.f16 " + list("a", 8) + ", [%in]").find("no such shape"),
            std::string::npos);
  EXPECT_NE(fault("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + list("a", 4) + ", [%in]")
                .find("another number of registers"),
            std::string::npos);
  EXPECT_NE(
      fault("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%in+4096], " + list("d", 8)).find("out of bounds"),
      std::string::npos);
}

TEST(Matrices, MoveBetweenSharedMemoryAndFragments) {
  // Halves of four 8 × 8 matrices, 100 m + 10 row + column, rows of 16 bytes one after the other.
  Bytes in(4 * 128);
  for (std::uint32_t i = 0; i < 256; ++i) in.put(2 * i, 100 * (i / 64) + 10 * (i / 8 % 8) + i % 8, 2);
  const auto run = [&](const char* load, const char* store) {
    return run_module(first_warp(fmt::format(R"(  mov.u32 %r1, tile;
  mad.lo.u32 %r1, %r3, 16, %r1;
  mad.wide.u32 %in, %r3, 16, %in;
  mad.wide.u32 %q5, %r3, 16, %out;
  ld.global.v2.u64 {{%q1, %q2}}, [%in];
  st.shared.v2.u64 [%r1], {{%q1, %q2}};
  bar.warp.sync 0xffffffff;
  ldmatrix.sync.aligned.m8n8.x4{}.shared.b16 {{%a0, %a1, %a2, %a3}}, [%r1];
  movmatrix.sync.aligned.m8n8.trans.b16 %a3, %a3;
  st.global.v4.b32 [%q5], {{%a0, %a1, %a2, %a3}};
  add.u32 %r1, %r1, 1024;
  stmatrix.sync.aligned.m8n8.x4{}.shared.b16 [%r1], {{%a0, %a1, %a2, %a3}};
  bar.warp.sync 0xffffffff;
  ld.shared.v2.u64 {{%q1, %q2}}, [%r1];
  st.global.v2.u64 [%q5+512], {{%q1, %q2}};
)",
                                             load, store),
                                 {}),
                      in.words, Dim3{1}, Dim3{128});
  };
  for (const bool turned : {false, true}) {
    const Ran ran = run(turned ? ".trans" : "", turned ? ".trans" : "");
    ASSERT_EQ(faults_of(ran), "");
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t i = 0; i < 8; ++i) {
        std::uint32_t row = lane / 4, column = 2 * (lane % 4) + i % 2;
        const bool swaps = turned != (i / 2 == 3);  // the last one went through movmatrix as well
        if (swaps) std::swap(row, column);
        EXPECT_EQ(read(ran.out, lane * 16 + 2 * i, 2), 100 * (i / 2) + 10 * row + column) << lane << " " << i;
      }
    }
    // Stored as it was loaded: each matrix is the one in memory, the last one transposed.
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t row = i / 8 % 8, column = i % 8;
      if (i / 64 == 3) std::swap(row, column);
      EXPECT_EQ(read(ran.out, 512 + 2 * i, 2), 100 * (i / 64) + 10 * row + column) << i;
    }
    EXPECT_EQ(ran.result.counters.shared_load.wavefronts, 8U);  // 32 rows of 16 bytes, and as many words
  }
}

}  // namespace
}  // namespace corridor::ptx::testing
