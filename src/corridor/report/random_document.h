// SPDX-License-Identifier: Apache-2.0
// Random documents for the property tests: hostile text, extreme numbers, every kind of block; the seed repeats them.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "corridor/report/document.h"

namespace corridor::report {

class RandomDocument {
 public:
  explicit RandomDocument(unsigned seed) : random_(seed) {}

  Document make() {
    Document document{"corridor/test/1", text(), {}};
    const std::size_t blocks = below(8);
    for (std::size_t i = 0; i < blocks; ++i) document.blocks.push_back(block("k" + std::to_string(i)));
    return document;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  std::string text() {
    static const std::array<std::string, 14> pieces{
        "a", "word", "<script>", "&\"'", "带宽", "\n", " ", "\xff", "\x1b[2J", "µ", "  ", "0", "]]>", "\xf0\x9f\x98"};
    std::string out;
    const std::size_t length = below(10) == 0 ? 200 : below(12);
    for (std::size_t i = 0; i < length; ++i) out += pieces[below(pieces.size())];
    return out;
  }

  double number() {
    static const std::array<double, 10> special{0,
                                                -0.0,
                                                1,
                                                -5,
                                                std::numeric_limits<double>::quiet_NaN(),
                                                std::numeric_limits<double>::infinity(),
                                                -std::numeric_limits<double>::infinity(),
                                                std::numeric_limits<double>::max(),
                                                std::numeric_limits<double>::denorm_min(),
                                                std::numeric_limits<double>::lowest()};
    if (below(3) == 0) return special[below(special.size())];
    return std::pow(10.0, static_cast<double>(below(40)) - 15) * (1 + static_cast<double>(below(9)));
  }

  Unit unit() { return static_cast<Unit>(below(static_cast<std::size_t>(Unit::hertz) + 1)); }

  Value value() {
    switch (below(5)) {
      case 0:
        return {std::monostate{}, unit()};
      case 1:
        return {below(2) == 0, unit()};
      case 2:
        return {static_cast<std::int64_t>(random_()), unit()};
      case 3:
        return {text(), Unit::none};
      default:
        return {number(), unit()};
    }
  }

  Block block(const std::string& key) {
    switch (below(8)) {
      case 0: {
        FieldGroup group{text(), {}};
        for (std::size_t i = below(5); i > 0; --i) {
          group.fields.push_back({key + ".f" + std::to_string(i), text(), value(), text()});
        }
        return group;
      }
      case 1:
        return table(key);
      case 2:
        return Paragraph{key, text(), static_cast<Paragraph::Style>(below(4))};
      case 3:
        return roofline(key);
      case 4: {
        StackedBar bar{key, text(), unit(), {}, {}};
        for (std::size_t i = below(11); i > 0; --i) bar.parts.push_back({"p" + std::to_string(i), text(), number()});
        if (below(2) == 0) bar.total = number();
        return bar;
      }
      case 5: {
        ScatterPlot plot{key, text(), text(), text(), {}};
        for (std::size_t i = below(10); i > 0; --i) plot.series.push_back({text(), {number(), number()}, {number()}});
        return plot;
      }
      case 6: {
        StateRows out{key, text(), text(), number(), {}, {}};
        for (std::size_t i = below(9); i > 0; --i) out.states.push_back({"IM W"[below(4)], text()});
        for (std::size_t i = below(40); i > 0; --i) {
          StateRows::Row row{text(), {}};
          for (std::size_t k = below(300); k > 0; --k) row.samples.push_back(static_cast<std::uint8_t>(below(10)));
          out.rows.push_back(std::move(row));
        }
        return out;
      }
      default: {
        LinePlot plot{key, text(), text(), text(), below(2) == 0, below(2) == 0, {}};
        for (std::size_t i = below(4); i > 0; --i) {
          LinePlot::Series series{text(), {}, {}};
          for (std::size_t k = below(60); k > 0; --k) series.x.push_back(number());
          for (std::size_t k = below(60); k > 0; --k) series.y.push_back(number());
          plot.series.push_back(std::move(series));
        }
        return plot;
      }
    }
  }

  Table table(const std::string& key) {
    Table out{key, text(), {}, {}, below(4)};
    const std::size_t columns = below(14);
    for (std::size_t i = 0; i < columns; ++i) {
      out.columns.push_back({"c" + std::to_string(i), text(), unit(), below(2) == 0});
    }
    for (std::size_t row = below(6); row > 0; --row) {
      std::vector<Value> cells;
      for (std::size_t i = 0; i < columns; ++i) cells.push_back(value());
      out.rows.push_back(std::move(cells));
    }
    return out;
  }

  RooflinePlot roofline(const std::string& key) {
    RooflinePlot plot{key, text(), {}, {}, {}};
    for (std::size_t i = below(4); i > 0; --i) plot.bandwidths.push_back({text(), number(), below(2) == 0});
    for (std::size_t i = below(4); i > 0; --i) plot.peaks.push_back({text(), number(), below(2) == 0});
    for (std::size_t i = below(30); i > 0; --i) plot.points.push_back({text(), text(), number(), number(), number()});
    return plot;
  }

  std::mt19937_64 random_;
};

inline Document random_document(unsigned seed) {
  return RandomDocument(seed).make();
}

}  // namespace corridor::report
