// SPDX-License-Identifier: Apache-2.0
// A Document as JSON: dotted keys become nested objects, in document order.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "corridor/report/document.h"

namespace corridor::report {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const Value& value) {
  return std::visit(
      [](const auto& data) -> Json {
        using Data = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<Data, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Data, double>) {
          return number(data);
        } else {
          return data;
        }
      },
      value.data);
}

std::vector<std::string> path_of(std::string_view key) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (at <= key.size()) {
    const std::size_t end = std::min(key.find('.', at), key.size());
    parts.emplace_back(key.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// Builds the tree and notes every path that could not be given to its owner.
class Writer {
 public:
  explicit Writer(const std::string& schema) { root_["schema"] = schema; }

  void add(const Field& field) {
    set(field.key, to_json(field.value));
    if (!field.note.empty()) set(field.key + "_note", field.note);
  }
  void add(const FieldGroup& group) {
    for (const Field& field : group.fields) add(field);
  }
  void add(const Table& table) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
      Json object = Json::object();
      for (std::size_t i = 0; i < table.columns.size(); ++i) {
        Json* place = &object;
        for (const std::string& part : path_of(table.columns[i].key)) {
          if (!place->is_object())
            *place = Json::object();  // a column inside another column's value: the later one wins
          place = &(*place)[part];
        }
        *place = i < row.size() ? to_json(row[i]) : Json(nullptr);
      }
      rows.push_back(std::move(object));
    }
    set(table.key, std::move(rows));
  }
  void add(const Paragraph& paragraph) {
    if (lists_.contains(paragraph.key)) {
      find(paragraph.key)->push_back(paragraph.text);
    } else if (set(paragraph.key, Json::array({paragraph.text}))) {
      lists_.insert(paragraph.key);
      taken_.erase(paragraph.key);
    }
  }
  void add(const RooflinePlot& plot) {
    Json bandwidths = Json::array();
    for (const auto& roof : plot.bandwidths) {
      bandwidths.push_back(
          {{"name", roof.name}, {"bytes_per_s", number(roof.bytes_per_s)}, {"reachable", roof.reachable}});
    }
    Json peaks = Json::array();
    for (const auto& peak : plot.peaks) {
      peaks.push_back({{"name", peak.name}, {"flop_per_s", number(peak.flop_per_s)}, {"in_use", peak.in_use}});
    }
    Json points = Json::array();
    for (const auto& point : plot.points) {
      points.push_back({{"name", point.name},
                        {"series", point.series},
                        {"intensity_flop_per_byte", number(point.intensity)},
                        {"flop_per_s", number(point.flop_per_s)},
                        {"share", number(point.share)}});
    }
    Json object = Json::object();
    object["roofs"] = {{"bandwidths", std::move(bandwidths)}, {"peaks", std::move(peaks)}};
    object["points"] = std::move(points);
    set(plot.key, std::move(object));
  }
  void add(const StackedBar& bar) {
    for (const auto& part : bar.parts) set(bar.key + "." + part.key, number(part.value));
    const auto is_total = [](const StackedBar::Part& part) { return part.key == "total"; };
    if (bar.total && std::none_of(bar.parts.begin(), bar.parts.end(), is_total)) {
      set(bar.key + ".total", number(*bar.total));
    }
  }
  void add(const LinePlot& plot) {
    Json series = Json::array();
    for (const auto& line : plot.series) {
      Json x = Json::array();
      Json y = Json::array();
      for (const double value : line.x) x.push_back(number(value));
      for (const double value : line.y) y.push_back(number(value));
      series.push_back({{"name", line.name}, {"x", std::move(x)}, {"y", std::move(y)}});
    }
    Json object = Json::object();
    object["x_label"] = plot.x_label;
    object["y_label"] = plot.y_label;
    object["series"] = std::move(series);
    set(plot.key, std::move(object));
  }
  void add(const ScatterPlot& plot) {
    Json series = Json::array();
    for (const auto& cloud : plot.series) {
      series.push_back({{"name", cloud.name}, {"points", std::min(cloud.x.size(), cloud.y.size())}});
    }
    Json object = Json::object();
    object["x_label"] = plot.x_label;
    object["y_label"] = plot.y_label;
    object["series"] = std::move(series);
    set(plot.key, std::move(object));
  }

  void add(const StateRows& block) {
    Json states = Json::array();
    for (const auto& state : block.states) {
      states.push_back({{"letter", std::string(1, state.letter)}, {"label", state.label}});
    }
    Json rows = Json::array();
    for (const auto& row : block.rows) {
      std::string samples;
      for (const std::uint8_t i : row.samples) samples += i < block.states.size() ? block.states[i].letter : ' ';
      rows.push_back({{"name", row.name}, {"samples", std::move(samples)}});
    }
    Json object = Json::object();
    object["x_label"] = block.x_label;
    object["x_per_sample"] = number(block.x_per_sample);
    object["states"] = std::move(states);
    object["rows"] = std::move(rows);
    set(block.key, std::move(object));
  }

  [[nodiscard]] std::string text() const { return root_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }
  [[nodiscard]] const std::vector<std::string>& duplicates() const { return duplicates_; }

 private:
  /// The place of a dotted key, made on the way; null (and noted) when it lies inside a finished value.
  Json* find(const std::string& key) {
    Json* place = &root_;
    std::string walked;
    for (const std::string& part : path_of(key)) {
      const bool finished = !walked.empty() && taken_.contains(walked);
      if (finished || !(place->is_object() || place->is_null())) {
        duplicates_.push_back(key);
        return nullptr;
      }
      place = &(*place)[part];
      walked += walked.empty() ? part : "." + part;
    }
    return place;
  }
  /// Gives `key` its value; false (and noted) when the path already has an owner.
  bool set(const std::string& key, Json value) {
    // A null that was set is told from a place just made by `taken_`.
    const bool owned = taken_.contains(key) || lists_.contains(key);
    if (owned) duplicates_.push_back(key);
    Json* place = owned ? nullptr : find(key);
    if (place == nullptr) return false;
    if (!place->is_null()) {
      duplicates_.push_back(key);
      return false;
    }
    taken_.insert(key);
    *place = std::move(value);
    return true;
  }

  Json root_ = Json::object();
  std::set<std::string> taken_{"schema"};  ///< keys that hold a finished value
  std::set<std::string> lists_;            ///< keys that hold paragraphs
  std::vector<std::string> duplicates_;
};

Writer write(const Document& document) {
  Writer writer(document.schema);
  for (const Block& block : document.blocks) {
    std::visit([&](const auto& content) { writer.add(content); }, block);
  }
  return writer;
}

}  // namespace

std::string render_json(const Document& document) {
  return write(document).text();
}

std::vector<std::string> duplicate_keys(const Document& document) {
  return write(document).duplicates();
}

}  // namespace corridor::report
