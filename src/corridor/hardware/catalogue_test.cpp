// SPDX-License-Identifier: Apache-2.0
// The shipped catalogue: every file loads, every name leads to one device, and the golden ridge points come out.
#include "corridor/hardware/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "corridor/base/file.h"
#include "corridor/hardware/device_head.h"
#include "corridor/hardware/name_key.h"

namespace corridor::hardware {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Catalogue : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Assets> opened = Assets::open();
    ASSERT_TRUE(opened) << opened.error().line();
    assets_ = std::move(*opened);
  }
  /// The device a name leads to, and the note that came with it.
  std::pair<std::string, std::string> resolve(std::string_view name) const {
    const Result<ResolvedDevice> found = find_device(assets_, name);
    if (!found) return {"error", found.error().line()};
    return {found->device.id, found->note};
  }
  Device device(std::string_view id) const {
    const Result<ResolvedDevice> found = find_device(assets_, id);
    EXPECT_TRUE(found) << found.error().line();
    return found ? found->device : Device{};
  }
  double ridge(std::string_view id, ComputeType type) const {
    const auto point = ridge_point(device(id), type);
    return point ? point->value() : std::nan("");
  }
  Assets assets_;
};

TEST_F(Catalogue, EveryFileLoadsAndIsNamedAfterItsId) {
  const std::vector<std::string> paths = assets_.list("devices");
  EXPECT_GE(paths.size(), 40U);
  for (const std::string& path : paths) {
    const Result<std::string_view> text = assets_.read(path);
    ASSERT_TRUE(text);
    const Result<Device> parsed = parse_device(*text, path);
    ASSERT_TRUE(parsed) << parsed.error().line();
    EXPECT_EQ("devices/" + parsed->id + ".toml", path);
    const auto quick = scan_device_head(*text);
    ASSERT_TRUE(quick) << path << " has a head that only TOML reads";
    EXPECT_EQ(quick->id, parsed->id);
    EXPECT_EQ(quick->name, parsed->name);
    EXPECT_EQ(quick->aliases, parsed->aliases);
  }
  EXPECT_EQ(device_ids(assets_).size(), paths.size());
}

TEST_F(Catalogue, GoldenRidgePoints) {
  EXPECT_NEAR(ridge("h100-sxm", ComputeType::bf16), 295, 0.5);
  EXPECT_NEAR(ridge("h100-sxm", ComputeType::fp8), 591, 0.5);
  EXPECT_NEAR(ridge("h200", ComputeType::bf16), 206, 0.5);
  const Device h100 = device("h100-sxm");
  EXPECT_EQ(h100.peak(ComputeType::bf16)->value.value(), 989.4e12);
  EXPECT_EQ(h100.memory_bandwidth->value.value(), 3.35e12);
  EXPECT_EQ(h100.memory_capacity->value.value(), 81559.0 * 1024 * 1024);
}

TEST_F(Catalogue, DesktopCardsUseTheRateWithFp32Accumulation) {
  const Device card = device("rtx-4090");
  const double sms = card.sm.count->value;
  const double clock = card.clock_boost->value.value();
  EXPECT_NEAR(card.peak(ComputeType::bf16)->value.value() / (sms * clock), 512, 3) << "half of 1024 a clock";
  EXPECT_NEAR(card.peak(ComputeType::fp8)->value.value() / (sms * clock), 1024, 6);
  EXPECT_THAT(card.warning, Not(IsEmpty()));
}

TEST_F(Catalogue, LadderOfTheH100GrowsAndSlowsDownward) {
  const Device h100 = device("h100-sxm");
  ASSERT_EQ(h100.ladder.size(), 4U);
  EXPECT_EQ(h100.ladder.front().name, "registers");
  EXPECT_EQ(h100.ladder.back().bandwidth->value, h100.memory_bandwidth->value);
  for (std::size_t i = 1; i < h100.ladder.size(); ++i) {
    EXPECT_LT(h100.ladder[i].bandwidth->value, h100.ladder[i - 1].bandwidth->value) << h100.ladder[i].name;
  }
  EXPECT_EQ(h100.ladder[0].bandwidth->value.value(), 132.0 * 128 * 12 * 1.98e9);
  EXPECT_EQ(h100.ladder[0].capacity->value.value(), 132.0 * 65536 * 4);
}

TEST_F(Catalogue, EveryDeviceHasABandwidthAndCpusAreMarked) {
  for (const std::string& id : device_ids(assets_)) {
    const Device found = device(id);
    EXPECT_TRUE(found.memory_bandwidth) << id;
    EXPECT_EQ(found.default_engine, found.kind == DeviceKind::cpu || found.vendor == "Apple" ? "llama.cpp" : "vllm")
        << id;
    if (found.kind == DeviceKind::cpu) {
      EXPECT_THAT(found.warning, Not(IsEmpty())) << id;
    }
    ASSERT_FALSE(found.ladder.empty()) << id;
    EXPECT_EQ(found.ladder.back().name, found.memory_type) << id;
  }
}

TEST_F(Catalogue, CompletePartsAreComplete) {
  for (const char* id : {"v100-sxm-32", "a100-sxm-80", "a100-sxm-40", "a100-pcie-80", "a100-pcie-40", "l4", "l40s",
                         "h100-sxm", "h100-pcie", "h100-nvl", "h200", "b200", "gb200", "rtx-3090", "rtx-4090",
                         "rtx-5090", "rtx-a6000", "rtx-6000-ada", "rtx-pro-6000"}) {
    const Device found = device(id);
    EXPECT_TRUE(found.sm.count && found.sm.lanes_fp32_per_clock && found.sm.max_threads && found.sm.max_warps &&
                found.sm.max_blocks && found.sm.schedulers && found.sm.registers && found.sm.shared_per_block)
        << id;
    EXPECT_TRUE(found.memory_capacity && found.clock_boost && found.board_power_w && found.year) << id;
    EXPECT_TRUE(found.peak(ComputeType::fp32) && found.peak(ComputeType::fp16)) << id;
    EXPECT_GE(found.ladder.size(), 4U) << id;
    EXPECT_FALSE(found.link.kind.empty()) << id;
  }
}

TEST_F(Catalogue, SharedNamesHaveAStatedDefault) {
  EXPECT_EQ(resolve("h100").first, "h100-sxm");
  EXPECT_EQ(resolve("h100").second, "h100 taken as h100-sxm; also: h100-pcie, h100-nvl");
  EXPECT_EQ(resolve("A100").first, "a100-sxm-80");
  EXPECT_EQ(resolve("a100-40").first, "a100-sxm-40");
  EXPECT_EQ(resolve("V100").first, "v100-sxm-32");
  EXPECT_EQ(resolve("4090").first, "rtx-4090");
  EXPECT_THAT(resolve("4090").second, HasSubstr("rtx-4090-laptop"));
  EXPECT_EQ(resolve("m3 max").first, "m3-max-40c");
  EXPECT_THAT(resolve("rtx pro 6000").second, HasSubstr("rtx-pro-6000-server"));
  for (const Family& family : families()) {
    const auto [id, note] = resolve(family.key);
    EXPECT_EQ(id, family.default_id);
    EXPECT_THAT(note, HasSubstr("also: ")) << family.key;
  }
}

TEST_F(Catalogue, DriverNamesAndSpellings) {
  EXPECT_EQ(resolve("NVIDIA H100 80GB HBM3"), std::make_pair(std::string("h100-sxm"), std::string()));
  EXPECT_EQ(resolve("nvidia_h100_80gb_hbm3").first, "h100-sxm");
  EXPECT_EQ(resolve("NVIDIA A100-SXM4-80GB").first, "a100-sxm-80");
  EXPECT_EQ(resolve("Tesla T4").first, "t4");
  EXPECT_EQ(resolve("GeForce RTX 4090").first, "rtx-4090");
  EXPECT_EQ(resolve("AMD Instinct MI250X").first, "mi250x-gcd") << "rocm-smi lists one GCD as one device";
  EXPECT_EQ(resolve("mi250x").first, "mi250x");
  EXPECT_EQ(resolve("  H100  PCIe ").first, "h100-pcie");
  EXPECT_EQ(resolve("NVIDIA GB10").first, "gb10");
  EXPECT_EQ(resolve("H100-SXM").first, "h100-sxm");
}

TEST_F(Catalogue, MemorySizeChoosesTheVariant) {
  EXPECT_EQ(resolve("H100 94GB").first, "h100-nvl");
  EXPECT_EQ(resolve("A100 40GB").first, "a100-sxm-40");
  EXPECT_EQ(resolve("RTX 3090 24GB").first, "rtx-3090");
  EXPECT_EQ(resolve("RTX 3090 48GB").first, "error") << "no such card";
  EXPECT_EQ(resolve("Apple M2 Max 32GB").first, "m2-max-38c");
}

TEST_F(Catalogue, BracketsNeverChooseSilentlyBetweenTwoDevices) {
  EXPECT_EQ(resolve("DGX Spark (GB10)").first, "gb10");
  EXPECT_EQ(resolve("Apple M1 Ultra (64-core GPU)").first, "m1-ultra-64c");
  EXPECT_EQ(resolve("A machine of mine (NVIDIA RTX 3060)").first, "rtx-3060");
  EXPECT_THAT(resolve("Core i9-13900K (RTX 4090)").second, HasSubstr("names two devices"));
}

TEST_F(Catalogue, UnknownNamesSuggestTheNearest) {
  EXPECT_THAT(resolve("h1000-sxm").second, HasSubstr("did you mean h100-sxm"));
  EXPECT_THAT(resolve("rtx 4099").second, HasSubstr("rtx-4090"));
  EXPECT_EQ(resolve("").first, "error");
  EXPECT_EQ(resolve("((((").first, "error");
  EXPECT_EQ(resolve(std::string(10000, 'h')).first, "error");
  EXPECT_THAT(resolve("no/such/file.toml").second, HasSubstr("no/such/file.toml"));
}

TEST_F(Catalogue, EveryAliasLeadsToItsDevice) {
  for (const std::string& path : assets_.list("devices")) {
    const Result<DeviceHead> head = parse_device_head(*assets_.read(path), path);
    ASSERT_TRUE(head) << head.error().line();
    std::vector<std::string> names = head->aliases;
    names.push_back(head->id);
    names.push_back(head->name);
    for (const std::string& name : names) {
      const Result<ResolvedDevice> found = find_device(assets_, name);
      ASSERT_TRUE(found) << name << ": " << found.error().line();
      // A name that several devices share leads to its default and names this one.
      if (found->device.id != head->id) {
        EXPECT_THAT(found->note, HasSubstr(head->id)) << name << " of " << head->id;
      }
    }
  }
}

/// Rows that name a computer, a class of devices or a setting beside the part.
bool describes_a_system(const std::string& written) {
  for (const char* word : {"Mac mini", "Mac Studio", "MacBook", "Framework", "-class", "power-capped", "DDR5-"}) {
    if (written.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST_F(Catalogue, NamesThatPeopleWrote) {
  const std::string file = std::string(CORRIDOR_SOURCE_DIR) + "/../shared/data/measured/gpu_aliases.csv";
  const Result<std::string> text = read_text_file(file);
  if (!text) GTEST_SKIP() << "no ../shared/data beside the checkout";
  const std::vector<std::string> ids = device_ids(assets_);
  std::istringstream lines(*text);
  std::string line;
  std::getline(lines, line);
  int known = 0;
  while (std::getline(lines, line)) {
    if (line.empty() || line.front() == '"') continue;  // quoted rows describe a whole system
    const std::string written = line.substr(0, line.find(','));
    const std::string rest = line.substr(line.find(',') + 1);
    const std::string canonical = rest.substr(0, rest.find(','));
    const auto [expected, expected_note] = resolve(canonical);
    if (expected == "error" || canonical.find('+') != std::string::npos || canonical == "h800") continue;
    const auto [id, note] = resolve(written);
    if (note.find("names two devices") != std::string::npos) continue;
    if (describes_a_system(written)) continue;
    ++known;
    const bool variant = expected_note.find(id) != std::string::npos || note.find(expected) != std::string::npos;
    const bool unlabelled = written.find("H100/H800") != std::string::npos || written.find("not stated") == 0;
    EXPECT_TRUE(id == expected || variant || unlabelled)
        << written << " → " << id << " " << note << ", not " << expected;
  }
  EXPECT_GT(known, 60);
}

TEST(NameKey, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("h100", "h100"), 0U);
  EXPECT_EQ(edit_distance("h100", "h200"), 1U);
  EXPECT_EQ(edit_distance("h010", "h100"), 1U) << "neighbours swapped";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(NameKey, MemorySizes) {
  EXPECT_EQ(split_memory("H100 80GB HBM3")->gigabytes, 80);
  EXPECT_EQ(split_memory("RTX 4090 24 GiB")->gigabytes, 24);
  EXPECT_FALSE(split_memory("RTX 4090"));
  EXPECT_FALSE(split_memory("A10G"));
  EXPECT_FALSE(split_memory("100GbE"));
}

TEST(FindDevice, NamesOfCloudInstances) {
  const Assets assets = Assets::open().value();
  for (const auto& [instance, id] : {std::pair{"p5.48xlarge", "h100-sxm"},
                                     {"p5en.48xlarge", "h200"},
                                     {"a2-ultragpu-8g", "a100-sxm-80"},
                                     {"g5.xlarge", "a10g"},
                                     {"Standard_NC24ads_A100_v4", "a100-pcie-80"},
                                     {"p6-b200.48xlarge", "b200"}}) {
    const auto found = find_device(assets, instance);
    ASSERT_TRUE(found.has_value()) << instance;
    EXPECT_EQ(found->device.id, id) << instance;
  }
}

}  // namespace
}  // namespace corridor::hardware
