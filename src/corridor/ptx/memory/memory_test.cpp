// SPDX-License-Identifier: Apache-2.0
// Sectors, lines and bank passes against a plain count and against strides measured on an H200.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "corridor/ptx/memory/coalesce.h"

namespace corridor::ptx {
namespace {

constexpr std::uint32_t all = 0xFFFFFFFF;

std::vector<std::uint64_t> strided(std::uint64_t first, std::uint64_t step) {
  std::vector<std::uint64_t> out(warp_lanes);
  for (std::size_t lane = 0; lane < out.size(); ++lane) out[lane] = first + lane * step;
  return out;
}

Request request_of(const std::vector<std::uint64_t>& address, std::uint32_t mask, std::uint32_t bytes) {
  Request out;
  coalesce(address.data(), mask, bytes, out);
  return out;
}

SharedCost shared_of(const std::vector<std::uint64_t>& address, std::uint32_t mask, std::uint32_t bytes) {
  const std::vector<std::uint32_t> narrow(address.begin(), address.end());
  return shared_cost(narrow.data(), mask, bytes);
}

/// The definition, byte by byte.
struct Plain {
  std::set<std::uint64_t> sectors, lines;
  std::vector<std::uint64_t> order;
  std::uint32_t passes = 0, groups = 0;

  Plain(const std::vector<std::uint64_t>& address, std::uint32_t mask, std::uint32_t bytes) {
    const std::uint32_t lanes = bytes <= 4 ? 32 : 128 / bytes;
    for (std::uint32_t first = 0; first < warp_lanes; first += lanes) {
      std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
      for (std::uint32_t lane = first; lane < first + lanes; ++lane) {
        if ((mask >> lane & 1) == 0) continue;
        for (std::uint64_t byte = address[lane]; byte < address[lane] + bytes; ++byte) {
          if (sectors.insert(byte / 32).second) order.push_back(byte / 32);
          lines.insert(byte / 128);
          words_of_bank[byte / 4 % 32].insert(byte / 4);
        }
      }
      std::size_t most = 0;
      for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
      passes += static_cast<std::uint32_t>(most);
      groups += most > 0;
    }
  }
};

TEST(Coalesce, MeasuredStrides) {
  // te42kyfo/gpu-benches, gpu-strides, H200: clocks of one warp's load of floats `stride` words apart.
  constexpr std::uint32_t banks[] = {1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1};
  constexpr double tags[] = {1.00, 1.22, 1.62, 1.84, 2.00, 2.31, 2.41, 2.72, 3.00, 3.16, 3.41, 3.62, 4.09, 4.25, 4.59};
  constexpr double clocks[] = {1.01, 2.01, 1.63, 4.01, 2.00, 2.32, 2.41, 8.0, 3.00, 3.16, 3.41, 4.01, 4.10, 4.25, 4.60};
  constexpr double tolerance = 0.131;  // clocks; strides of 3 and 12 words are 0.13 off
  for (std::uint32_t stride = 1; stride <= 15; ++stride) {
    const auto address = strided(1 << 20, std::uint64_t{4} * stride);
    const Request request = request_of(address, all, 4);
    EXPECT_EQ(request.bank_wavefronts, banks[stride - 1]) << stride;
    EXPECT_EQ(shared_of(address, all, 4).wavefronts, banks[stride - 1]) << stride;
    EXPECT_EQ(request.lines, stride);
    EXPECT_NEAR(std::max(1.0, 0.75 + request.lines / 4.0), tags[stride - 1], tolerance) << stride;
    EXPECT_NEAR(l1_clocks(request), clocks[stride - 1], tolerance) << stride;
  }
}

TEST(Coalesce, ClosedForms) {
  for (std::uint32_t stride = 1; stride <= 70; ++stride) {
    const auto address = strided(4096, std::uint64_t{4} * stride);
    const Request request = request_of(address, all, 4);
    EXPECT_EQ(request.sectors, std::min(4 * stride, 32U)) << stride;
    EXPECT_EQ(request.bank_wavefronts, std::gcd(stride, 32U)) << stride;
    EXPECT_EQ(shared_of(address, all, 4).wavefronts, std::gcd(stride, 32U)) << stride;
    EXPECT_EQ(shared_of(address, all, 4).ideal, 1U);
  }
  EXPECT_EQ(request_of(strided(512, 8), all, 8).bank_wavefronts, 2U);    // half a warp a pass
  EXPECT_EQ(request_of(strided(512, 16), all, 16).bank_wavefronts, 4U);  // a quarter a pass
  EXPECT_EQ(shared_of(strided(0, 8), all, 8).wavefronts, 2U);
  EXPECT_EQ(shared_of(strided(0, 16), all, 16).wavefronts, 4U);
  EXPECT_EQ(request_of(strided(512, 4), all, 4).sectors, 4U);
  EXPECT_EQ(request_of(strided(528, 4), all, 4).sectors, 5U);  // 16 bytes off: one sector more
  EXPECT_EQ(request_of(strided(528, 4), all, 4).lines, 2U);
  EXPECT_EQ(request_of(strided(4096, 0), all, 4).sectors, 1U);  // all lanes one word
  EXPECT_EQ(request_of(strided(4096, 0), all, 4).wavefronts, 1U);
  EXPECT_EQ(request_of(strided(4096, 4), 0, 4).sectors, 0U);
  EXPECT_EQ(request_of(strided(512, 128), all, 4).wavefronts, 32U);  // one bank
}

TEST(Coalesce, AtomicsSerialiseEqualAddresses) {
  std::vector<std::uint32_t> address(warp_lanes, 64);
  EXPECT_EQ(shared_cost(address.data(), all, 4).wavefronts, 1U);
  EXPECT_EQ(shared_atomic_cost(address.data(), all, 4).wavefronts, 32U);
  EXPECT_EQ(shared_atomic_cost(address.data(), 0xFF, 4).wavefronts, 8U);
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) address[lane] = 4 * lane;
  EXPECT_EQ(shared_atomic_cost(address.data(), all, 4).wavefronts, 1U);
  EXPECT_EQ(shared_atomic_cost(address.data(), all, 4).ideal, 1U);
  EXPECT_EQ(shared_atomic_cost(address.data(), 0, 4).wavefronts, 0U);
}

/// Rows, clusters and noise, with holes in the mask.
rc::Gen<std::vector<std::uint64_t>> lanes_of(std::uint32_t bytes) {
  return rc::gen::mapcat(rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange<std::uint64_t>(0, 300)),
                         [bytes](const std::tuple<int, std::uint64_t>& kind) {
                           const auto [shape, step] = kind;
                           if (shape == 0) return rc::gen::just(strided(4096, step * bytes));
                           if (shape == 1) return rc::gen::just(strided(4096 + step, step));
                           const std::uint64_t range = shape == 2 ? 64 : 100000;
                           return rc::gen::map(rc::gen::container<std::vector<std::uint64_t>>(
                                                   warp_lanes, rc::gen::inRange<std::uint64_t>(0, range)),
                                               [bytes](std::vector<std::uint64_t> cell) {
                                                 for (std::uint64_t& one : cell) one *= bytes;
                                                 return cell;
                                               });
                         });
}

RC_GTEST_PROP(Coalesce, AgreesWithThePlainCount, ()) {
  const auto bytes = *rc::gen::element<std::uint32_t>(1U, 2U, 4U, 8U, 16U);
  const auto address = *lanes_of(bytes);
  const auto mask = *rc::gen::element(0xFFFFFFFFU, 0x0000FFFFU, 0x55555555U, 1U, 0xF0F00F00U);
  const Plain plain(address, mask, bytes);
  const Request request = request_of(address, mask, bytes);
  RC_ASSERT(request.sectors == plain.sectors.size());
  RC_ASSERT(std::vector<std::uint64_t>(request.sector.begin(), request.sector.begin() + request.sectors) ==
            plain.order);
  RC_ASSERT(request.lines == plain.lines.size());
  RC_ASSERT(request.bank_wavefronts == plain.passes);
  RC_ASSERT(request.wavefronts ==
            std::max<std::uint32_t>(plain.passes, static_cast<std::uint32_t>(plain.lines.size() + 3) / 4));
  const SharedCost shared = shared_of(address, mask, bytes);
  RC_ASSERT(shared.wavefronts == plain.passes);
  RC_ASSERT(shared.ideal == plain.groups);
  RC_ASSERT(shared.ideal <= shared.wavefronts);
}

TEST(Coalesce, AddressesAtTheEndOfTheRange) {
  // Wrapped ranges are refused before they come here; still every answer has to come back and stay inside its array.
  for (const std::uint32_t bytes : {1U, 4U, 16U, 0U, 400U}) {
    for (const std::uint64_t step : {std::uint64_t{0}, std::uint64_t{4}, ~std::uint64_t{0}, std::uint64_t{1} << 60}) {
      const Request request = request_of(strided(~std::uint64_t{0} - 7, step), all, bytes);
      EXPECT_GE(request.sectors, 1U);
      EXPECT_LE(request.sectors, 64U);
      EXPECT_LE(request.lines, request.sectors);
    }
  }
}

}  // namespace
}  // namespace corridor::ptx
