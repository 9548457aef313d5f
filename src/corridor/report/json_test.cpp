// SPDX-License-Identifier: Apache-2.0
// The JSON rendering: nesting, order, exact numbers, nulls, and that any document parses.
#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "corridor/report/document.h"
#include "corridor/report/random_document.h"

namespace corridor::report {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ordered_json parsed(const Document& document) {
  return ordered_json::parse(render_json(document));
}

TEST(Json, SchemaComesFirstAndKeysNestInOrder) {
  Document document{"corridor/test/1", "T", {}};
  document.blocks.emplace_back(FieldGroup{"g",
                                          {{"decode.limit_s", "limit", {0.0418, Unit::seconds}, "peaks"},
                                           {"batch", "", {std::int64_t{1}}, ""},
                                           {"decode.bytes.weights", "w", {139e9, Unit::bytes}, ""}}});
  const ordered_json json = parsed(document);
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["schema"], "corridor/test/1");
  EXPECT_EQ(json["decode"]["limit_s"], 0.0418);
  EXPECT_EQ(json["decode"]["limit_s_note"], "peaks");
  EXPECT_EQ(json["decode"]["bytes"]["weights"], 139e9);
  EXPECT_EQ(json["batch"], 1);
  EXPECT_THAT(duplicate_keys(document), IsEmpty());
}

TEST(Json, DoublesReadBackExactly) {
  for (const double value : {0.1, 1.0 / 3, 6.02e23, 5e-324, 1.7976931348623157e308, 327680.0}) {
    const Document document{"s", "T", {FieldGroup{"", {{"v", "v", {value}, ""}}}}};
    EXPECT_EQ(parsed(document)["v"].get<double>(), value);
  }
}

TEST(Json, NonFiniteNumbersAreNull) {
  const double nan = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  Document document{"s", "T", {}};
  document.blocks.emplace_back(FieldGroup{"", {{"a", "a", {nan}, ""}, {"b", "b", {-inf}, ""}}});
  document.blocks.emplace_back(StackedBar{"bar", "", Unit::seconds, {{"p", "p", nan}}, inf});
  document.blocks.emplace_back(LinePlot{"line", "", "", "", false, false, {{"s", {nan}, {inf}}}});
  const ordered_json json = parsed(document);
  EXPECT_TRUE(json["a"].is_null() && json["b"].is_null() && json["bar"]["p"].is_null() &&
              json["bar"]["total"].is_null());
  EXPECT_TRUE(json["line"]["series"][0]["x"][0].is_null());
}

TEST(Json, BlocksHaveTheirShapes) {
  Document document{"s", "T", {}};
  document.blocks.emplace_back(Table{"rows", "", {{"a", ""}, {"b", "b"}}, {{Value{1.5}, Value{true}}, {Value{2.5}}}});
  document.blocks.emplace_back(Paragraph{"warnings", "one", Paragraph::Style::warning});
  document.blocks.emplace_back(
      RooflinePlot{"roof", "", {{"HBM", 3e12}}, {{"BF16", 1e15, true}}, {{"qkv", "d", 1, 2, .5}}});
  document.blocks.emplace_back(Paragraph{"warnings", "two", Paragraph::Style::warning});
  document.blocks.emplace_back(StackedBar{"bytes", "", Unit::bytes, {{"kv", "KV", 3}, {"weights", "W", 4}}, 9.0});
  const ordered_json json = parsed(document);
  EXPECT_EQ(json["rows"], ordered_json::parse(R"([{"a":1.5,"b":true},{"a":2.5,"b":null}])"));
  EXPECT_EQ(json["warnings"], ordered_json::parse(R"(["one","two"])"));
  EXPECT_EQ(json["bytes"], ordered_json::parse(R"({"kv":3.0,"weights":4.0,"total":9.0})"));
  EXPECT_EQ(json["roof"]["roofs"]["bandwidths"][0]["bytes_per_s"], 3e12);
  EXPECT_EQ(json["roof"]["points"][0]["series"], "d");
  EXPECT_THAT(duplicate_keys(document), IsEmpty());
}

TEST(Json, DuplicateAndOverlappingKeysAreFoundAndTheFirstIsKept) {
  Document document{"s", "T", {}};
  document.blocks.emplace_back(FieldGroup{"",
                                          {{"a", "", {1.0}, ""},
                                           {"a", "", {2.0}, ""},
                                           {"a.b", "", {3.0}, ""},
                                           {"c.d", "", {std::monostate{}}, ""},
                                           {"c.d", "", {4.0}, ""},
                                           {"c", "", {5.0}, ""},
                                           {"schema", "", {6.0}, ""}}});
  document.blocks.emplace_back(Paragraph{"a", "text"});
  EXPECT_THAT(duplicate_keys(document), ElementsAre("a", "a.b", "c.d", "c", "schema", "a"));
  const ordered_json json = parsed(document);
  EXPECT_EQ(json["a"], 1.0);
  EXPECT_TRUE(json["c"]["d"].is_null());
  EXPECT_EQ(json["schema"], "s");
}

TEST(Json, AnyDocumentParsesAndIsDeterministic) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Document document = random_document(seed);
    const std::string text = render_json(document);
    EXPECT_TRUE(ordered_json::accept(text)) << "seed " << seed;
    EXPECT_EQ(text, render_json(document));
    EXPECT_THAT(duplicate_keys(document), IsEmpty());
  }
}

}  // namespace
}  // namespace corridor::report
