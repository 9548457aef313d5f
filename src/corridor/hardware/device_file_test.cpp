// SPDX-License-Identifier: Apache-2.0
// The reader of device files: every fault is refused with its file, its line and what to do.
#include "corridor/hardware/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "corridor/base/file.h"
#include "corridor/hardware/device_head.h"

namespace corridor::hardware {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const head =
    "id = \"x\"\n"
    "name = \"NVIDIA X\"\n"
    "vendor = \"NVIDIA\"\n"
    "kind = \"gpu\"\n"
    "memory_type = \"HBM3\"\n";

/// A whole file whose [memory] bandwidth (line 9) is the given inline table.
std::string with_bandwidth(const std::string& fact) {
  return std::string(head) + "[sources]\nsheet = \"X datasheet, https://example.com/x.pdf\"\n[memory]\n" +
         "bandwidth_bytes_per_s = " + fact + "\n";
}

std::string fact(const std::string& value, const std::string& unit = "\"B/s\"", const std::string& source = "\"sheet\"",
                 const std::string& basis = "\"vendor\"", const std::string& date = "\"2026-11-29\"") {
  return "{ value = " + value + ", unit = " + unit + ", source = " + source + ", basis = " + basis +
         ", date = " + date + " }";
}

std::string error_of(const std::string& text) {
  const Result<Device> device = parse_device(text, "devices/x.toml");
  return device ? "no error" : device.error().line();
}

TEST(DeviceFile, ReadsAMinimalDevice) {
  const Result<Device> device = parse_device(with_bandwidth(fact("3.35e12")), "devices/x.toml");
  ASSERT_TRUE(device) << device.error().line();
  EXPECT_EQ(device->id, "x");
  EXPECT_EQ(device->memory_bandwidth->value, units::BytesPerSecond{3.35e12});
  EXPECT_EQ(device->memory_bandwidth->source, "X datasheet, https://example.com/x.pdf") << "the key is resolved";
  EXPECT_EQ(device->memory_bandwidth->basis, Basis::vendor);
  ASSERT_EQ(device->ladder.size(), 1U) << "main memory is the last rung";
  EXPECT_EQ(device->ladder[0].name, "HBM3");
  EXPECT_EQ(device->default_engine, "vllm");
  EXPECT_FALSE(device->memory_capacity);
}

struct Fault {
  std::string fact;
  std::string says;
};

TEST(DeviceFile, RefusesABadNumberAtItsLine) {
  const std::vector<Fault> faults = {
      {"3.35e12", "is a bare value"},
      {"{ value = 3.35e12, source = \"sheet\", basis = \"vendor\", date = \"2026-11-29\" }",
       "has no unit; add unit = \"B/s\""},
      {fact("3.35e12", "\"GB/s\""), "has unit \"GB/s\"; convert the value and write unit = \"B/s\""},
      {fact("3.35e12", "7"), "unit is not a text"},
      {fact("-1.0"), "is negative"},
      {fact("0"), "is zero"},
      {fact("nan"), "is not a number"},
      {fact("inf"), "is infinite"},
      {fact("1e30"), "outside"},
      {fact("3.35"), "check that the value is in B/s"},
      {fact("\"3.35e12\""), "value is not a number"},
      {fact("true"), "value is not a number"},
      {fact("[1, 2]"), "value is not a number"},
      {fact("3.35e12", "\"B/s\"", "\"sheet\"", "\"guess\""), "unknown basis \"guess\""},
      {fact("3.35e12", "\"B/s\"", "\"sheet\"", "\"vendor\"", "\"29.11.2026\""), "bad date"},
      {fact("3.35e12", "\"B/s\"", "\"sheet\"", "\"vendor\"", "\"2026-02-30\""), "bad date"},
      {fact("3.35e12", "\"B/s\"", "\"sheet\"", "\"vendor\"", "\"2026-13-01\""), "bad date"},
      {"{ value = 3.35e12, unit = \"B/s\", source = \"sheet\", basis = \"vendor\" }", "has no date"},
      {"{ value = 3.35e12, unit = \"B/s\", source = \"sheet\", date = \"2026-11-29\" }", "has no basis"},
      {"{ unit = \"B/s\", source = \"sheet\", basis = \"vendor\", date = \"2026-11-29\" }", "has no value"},
      {"{ value = 3.35e12, unit = \"B/s\", basis = \"vendor\", date = \"2026-11-29\" }", "has no source"},
      {"{ value = 3.35e12, unit = \"B/s\", source = \"sheet\", basis = \"vendor\", date = \"2026-11-29\", extra = 1 }",
       "unknown key \"extra\""},
  };
  for (const Fault& fault : faults) {
    const std::string error = error_of(with_bandwidth(fault.fact));
    EXPECT_THAT(error, StartsWith("devices/x.toml:9: memory.bandwidth_bytes_per_s")) << fault.fact;
    EXPECT_THAT(error, HasSubstr(fault.says)) << fault.fact;
  }
}

TEST(DeviceFile, RefusesASourceThatCannotBeFoundAgain) {
  for (const char* source : {"", "internet", "datasheet", "the datasheet of NVIDIA", "vendor document, table 3",
                             "Wikipedia", "measured by me on my own computer", "a b"}) {
    const std::string error = error_of(with_bandwidth(fact("3.35e12", "\"B/s\"", "\"" + std::string(source) + "\"")));
    EXPECT_THAT(error, StartsWith("devices/x.toml:9: ")) << source;
    EXPECT_THAT(error, HasSubstr("source")) << source;
  }
  for (const char* source :
       {"NVIDIA H100 datasheet, https://www.nvidia.com/h100", "openxla/xla specs/h100.txtpb @4336d12",
        "Luo et al., arXiv 2402.13499, table 4", "guru3d.com review, page 4"}) {
    EXPECT_EQ(error_of(with_bandwidth(fact("3.35e12", "\"B/s\"", "\"" + std::string(source) + "\""))), "no error")
        << source;
  }
}

TEST(DeviceFile, ChecksTheSourceTable) {
  EXPECT_THAT(error_of(with_bandwidth(fact("1e12", "\"B/s\"", "\"other-key\""))),
              HasSubstr("names source \"other-key\", which [sources] does not hold"));
  EXPECT_THAT(error_of(std::string(head) + "[sources]\nsheet = \"datasheet\"\n"),
              StartsWith("devices/x.toml:7: sources.sheet"));
  EXPECT_THAT(error_of(std::string(head) + "[sources]\n\"Bad Key\" = \"https://example.com/x\"\n"),
              HasSubstr("is not a source key"));
}

TEST(DeviceFile, RefusesUnknownKeysAndWrongShapes) {
  const std::string good = with_bandwidth(fact("1e12"));
  EXPECT_THAT(error_of("colour = \"green\"\n" + good), StartsWith("devices/x.toml:1: unknown key \"colour\""));
  EXPECT_THAT(error_of(good + "speed = 1\n"), HasSubstr("unknown key \"memory.speed\""));
  EXPECT_THAT(error_of(good + "[peaks]\nbf16 = 1\n"), StartsWith("devices/x.toml:11: unknown key \"peaks.bf16\""));
  EXPECT_THAT(error_of(good + "[peaks]\nint8_flop_per_s = 1\n"), HasSubstr("unknown key \"peaks.int8_flop_per_s\""));
  EXPECT_THAT(error_of(good + "[sm]\nwarps = 1\n"), HasSubstr("known keys: count,"));
  EXPECT_THAT(error_of(good + "[sm]\ncount = " + fact("1.5", "\"count\"")), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("general = 1\n" + good), HasSubstr("general is not a table"));
  EXPECT_THAT(error_of("ladder = 1\n" + good), HasSubstr("ladder is not a list"));
  EXPECT_THAT(error_of(good + "[[ladder]]\nreach = \"thread\"\n"), HasSubstr("a ladder level has no name"));
  EXPECT_THAT(error_of(good + "[link]\n"), HasSubstr("link.kind is missing"));
}

TEST(DeviceFile, RequiresTheHeadAndTheBandwidth) {
  EXPECT_THAT(error_of(""), HasSubstr("id is missing"));
  EXPECT_THAT(error_of("id = 3\n"), StartsWith("devices/x.toml:1: id is not a text"));
  EXPECT_THAT(error_of("id = \"X Y\"\nname = \"n\"\nvendor = \"v\"\nmemory_type = \"m\"\nkind = \"gpu\"\n"),
              HasSubstr("is not usable"));
  EXPECT_THAT(error_of("id = \"x\"\nname = \"n\"\nvendor = \"v\"\nmemory_type = \"m\"\nkind = \"toaster\"\n"),
              StartsWith("devices/x.toml:5: unknown kind \"toaster\""));
  EXPECT_THAT(error_of(head), HasSubstr("[memory] is missing"));
  EXPECT_THAT(error_of(std::string(head) + "[memory]\n"), HasSubstr("bandwidth_bytes_per_s is missing"));
  EXPECT_THAT(error_of("id = \"x\"\nname = \"a\\u001bb\"\n"), HasSubstr("control character"));
}

TEST(DeviceFile, ReportsTomlErrorsWithTheirLine) {
  EXPECT_THAT(error_of("id = \"x\"\nname = \"unclosed\n"), StartsWith("devices/x.toml:2"));
  EXPECT_THAT(error_of("id = \"x\"\nid = \"y\"\n"), StartsWith("devices/x.toml:2"));
  EXPECT_THAT(error_of("id = \"x\"\n [}y]\n"), StartsWith("devices/x.toml:2: '[' is not followed by a table name"));
  EXPECT_THAT(error_of("id = \"x\"\n[["), StartsWith("devices/x.toml:2: "));
  for (const char* text : {"a = [[[}", "a = [1, }", "a = [\n}", "a = }", "a = {b = ,c = 1}"}) {
    EXPECT_THAT(error_of(text), HasSubstr("a value is missing")) << text;
  }
  EXPECT_THAT(error_of("# \u2013\nid = \"\u2013\"\nname = 9\u01ff9\n"),
              StartsWith("devices/x.toml:3: a character outside ASCII stands outside quotes"));
  EXPECT_THAT(error_of(std::string(2U << 20U, '#')), HasSubstr("too large"));
}

TEST(DeviceHead, StopsAtTheFirstTable) {
  const std::string text = "id = \"x\"\nname = \"n\"\naliases = [\"a\", \"b\"]\n[memory]\nthis is = not [ toml\n";
  EXPECT_EQ(head_of(text).find('['), text.find('['));
  const Result<DeviceHead> parsed = parse_device_head(text, "x.toml");
  ASSERT_TRUE(parsed) << parsed.error().line();
  EXPECT_EQ(parsed->aliases, (std::vector<std::string>{"a", "b"}));
}

TEST(DeviceHead, QuickReaderGivesUpOnWhatItCannotRead) {
  EXPECT_TRUE(scan_device_head("id = \"x\"\nname = \"n\" # note\naliases = []\n"));
  EXPECT_EQ(
      scan_device_head("# c\n  id=\"x\"\n\tname =\"n\"\naliases = [ \"a\" , \"b\", ]\n[t]\nid = 1\n")->aliases.size(),
      2U);
  for (const char* text : {"", "id = \"x\"", "id = 'x'\nname = \"n\"", "id = \"x\"\nname = \"a\\\"b\"",
                           "id = \"x\"\nname = \"n\"\naliases = [\n\"a\"]", "id = \"x\"\nid = \"y\"\nname = \"n\"",
                           "id = \"\"\"x\"\"\"\nname = \"n\"", "id = \"x\"\nname = \"n\" 3",
                           "id = \"x\"\nname = \"n\"\naliases = [\"a\" \"b\"]", "id = \"x\nname = \"n\""}) {
    EXPECT_FALSE(scan_device_head(text)) << text;
  }
}

TEST(DeviceFile, SurvivesTheFuzzCorpus) {
  const std::string folder = std::string(CORRIDOR_SOURCE_DIR) + "/fuzz/corpus/device";
  const std::vector<std::string> names = folder_entries(folder);
  ASSERT_GE(names.size(), 12U) << folder;
  for (const std::string& file : names) {
    const Result<std::string> text = read_text_file(folder + "/" + file);
    ASSERT_TRUE(text) << text.error().line();
    const Result<Device> device = parse_device(*text, file);
    if (file.starts_with("good")) {
      EXPECT_TRUE(device) << device.error().line();
    } else {
      ASSERT_FALSE(device) << file << " should be refused";
      EXPECT_THAT(device.error().where, StartsWith(file));
    }
  }
}

}  // namespace
}  // namespace corridor::hardware
