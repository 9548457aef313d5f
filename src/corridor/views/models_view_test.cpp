// SPDX-License-Identifier: Apache-2.0
// The Documents of `corridor models`: JSON keys, and 80 columns on a terminal.
#include "corridor/views/models_view.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace corridor::views {
namespace {

using nlohmann::json;

const Assets& data() {
  static const Result<Assets> assets = Assets::open();
  return *assets;
}

/// Widest line in characters (a UTF-8 sequence counts once).
std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t width = 0;
    for (const char c : line) width += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    widest = std::max(widest, width);
  }
  return widest;
}

TEST(ModelListDocument, OneObjectAModel) {
  const auto list = app::list_models(data());
  ASSERT_TRUE(list) << list.error().line();
  const report::Document document = model_list_document(*list);
  const json out = json::parse(report::render_json(document));
  EXPECT_EQ(out["schema"], "corridor/models/1");
  ASSERT_EQ(out["models"].size(), list->size());
  for (const char* key : {"id", "parameters", "active_parameters", "layers", "hidden", "kv_bytes_per_token", "kinds"}) {
    EXPECT_TRUE(out["models"][0].contains(key)) << key;
  }
  EXPECT_EQ(out["models"][0]["id"], list->front().id);
  EXPECT_DOUBLE_EQ(out["models"][0]["parameters"].get<double>(), list->front().parameters);
  EXPECT_LE(widest_line(report::render_terminal(document)), 80U);
}

TEST(ModelDocument, LayersMatricesBytesAndApproximations) {
  const auto detail = app::describe_model(data(), "deepseek-v4-flash");
  ASSERT_TRUE(detail) << detail.error().line();
  for (const bool explain : {false, true}) {
    const report::Document document = model_document(*detail, explain);
    const json out = json::parse(report::render_json(document));
    EXPECT_EQ(out["schema"], "corridor/model/1");
    EXPECT_EQ(out["layer_groups"].size(), detail->layers.size());
    EXPECT_EQ(out["matrices"].size(), detail->matrices.size());
    EXPECT_EQ(out["storage"].size(), detail->roles.size());
    EXPECT_EQ(out["approximations"].size(), detail->model.approximations.size());
    EXPECT_DOUBLE_EQ(out["kv_bytes_per_token"].get<double>(), detail->summary.kv_per_token.value());
    EXPECT_LE(widest_line(report::render_terminal(document)), 80U);
  }
}

}  // namespace
}  // namespace corridor::views
