// SPDX-License-Identifier: Apache-2.0
// What every command prints: one tree of labelled values that the terminal, JSON and HTML renderers share.
//
// A view fills a Document once; a number stands in it once, with its unit and its JSON key, so the three renderings
// cannot disagree. Sample, as the terminal shows it:
//
//   Llama-3.1-70B, bf16, on 1 × H100 SXM
//   Verdict: memory wall. …
//
//   Decode, one step                     limit      expected (low – high)
//     time                               41.8 ms    55.1 ms (50.2 – 61.9)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace corridor::report {

/// What a number measures; decides how it prints. JSON always carries the SI number: `gib` holds bytes and prints GiB,
/// `percent` holds a fraction (0.48 prints "48 %").
enum class Unit {
  none,
  seconds,
  bytes,
  gib,
  flops,
  bytes_per_second,
  flops_per_second,
  flop_per_byte,
  tokens_per_second,
  tokens,
  count,
  percent,
  watts,
  hertz
};

struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string> data;  ///< monostate: null, prints "–"
  Unit unit = Unit::none;
};

/// One named value. `key` is its dotted JSON path ("decode.limit_s"). Never empty.
struct Field {
  std::string key;
  std::string label;  ///< for people; empty = JSON only
  Value value;
  std::string note;  ///< short, after the value ("default: batch 1"); JSON "<key>_note" when non-empty
};

/// A block of labelled values under one heading.
struct FieldGroup {
  std::string title;
  std::vector<Field> fields;
};

struct Column {
  std::string key;    ///< JSON key in each row object; dots make nested objects
  std::string label;  ///< heading; empty = JSON only
  Unit unit = Unit::none;
  bool align_left = false;
};

/// Rows of values. JSON: array of objects at `key`.
struct Table {
  std::string key;
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  ///< each as long as `columns`
  std::size_t terminal_rows = 0;         ///< show at most this many on a terminal (0 = all), saying how many are left
};

/// A sentence. JSON: appended to the array at `key` ("verdict", "assumptions", "warnings", "sources").
struct Paragraph {
  enum class Style { plain, verdict, warning, detail };
  std::string key;
  std::string text;
  Style style = Style::plain;
};

/// Roofs and points in log-log axes: intensity against FLOP/s. HTML: SVG; terminal: nothing (its facts are in tables);
/// JSON: object at `key` with `roofs` (bandwidths, peaks) and `points`.
struct RooflinePlot {
  struct Bandwidth {
    std::string name;
    double bytes_per_s = 0;
    bool reachable = false;
  };
  struct Peak {
    std::string name;
    double flop_per_s = 0;
    bool in_use = false;
  };
  struct Point {
    std::string name;
    std::string series;
    double intensity = 0;
    double flop_per_s = 0;
    double share = 0;
  };
  std::string key;
  std::string title;
  std::vector<Bandwidth> bandwidths;
  std::vector<Peak> peaks;
  std::vector<Point> points;  ///< share: part of the step's time, 0..1, drawn as the point's area
};

/// One quantity cut into parts that add up (the step budget; memory). Terminal: a bar of blocks with a legend; HTML:
/// SVG.
struct StackedBar {
  struct Part {
    std::string key;
    std::string label;
    double value = 0;
  };
  std::string key;  ///< JSON object at this path: part key → value
  std::string title;
  Unit unit = Unit::seconds;
  std::vector<Part> parts;
  std::optional<double> total;  ///< e.g. capacity; the rest is drawn empty
};

/// Curves over one axis (sweeps, trends). JSON: object at `key` with x_label, y_label and a list of series, each with
/// name, x and y. Terminal: a chart of characters.
struct LinePlot {
  struct Series {
    std::string name;
    std::vector<double> x, y;
  };
  std::string key, title, x_label, y_label;
  bool log_x = false, log_y = false;
  std::vector<Series> series;
};

/// Many points of two numbers of one kind against each other, in log-log axes with the line on which they agree and the
/// lines at twice and half. HTML: SVG; terminal: nothing (its facts are in tables); JSON: object at `key` with the name
/// and the number of points of each series.
struct ScatterPlot {
  struct Series {
    std::string name;
    std::vector<double> x, y;
  };
  std::string key, title, x_label, y_label;
  std::vector<Series> series;
};

/// Who is in which state when: one row a thing, one sample a cell. Terminal: letters; HTML: SVG; JSON: object at `key`
/// with the states and each row as a text of letters.
struct StateRows {
  struct State {
    char letter = ' ';  ///< a space is nothing: not drawn and not in the legend
    std::string label;
    bool always = false;  ///< a cell that stands for several samples shows it when one of them has it
  };
  struct Row {
    std::string name;
    std::vector<std::uint8_t> samples;  ///< indices into `states`
  };
  std::string key, title, x_label;
  double x_per_sample = 1;
  std::vector<State> states;
  std::vector<Row> rows;
};

using Block = std::variant<FieldGroup, Table, Paragraph, RooflinePlot, StackedBar, LinePlot, ScatterPlot, StateRows>;

struct Document {
  std::string schema;  ///< "corridor/prediction/1"
  std::string title;   ///< first line on the terminal, <title> and <h1> in HTML
  std::vector<Block> blocks;
};

/// Plain text, at most `columns` wide, colour codes only when `colour`.
struct TerminalStyle {
  bool colour = false;
  int columns = 80;
};
[[nodiscard]] std::string render_terminal(const Document& document, const TerminalStyle& style = {});
/// Pretty JSON, keys in document order, numbers with 17 significant digits at most (shortest that reads back).
[[nodiscard]] std::string render_json(const Document& document);
/// One self-contained page: no script needed, no network, printable, readable on a phone.
[[nodiscard]] std::string render_html(const Document& document);

/// "41.8 ms", "–", "1,024": how the terminal and HTML print a value. NaN and infinity print "–".
[[nodiscard]] std::string print(const Value& value);

/// JSON paths that two blocks of one document both claim, or that lie inside another's value; empty in a sound
/// document. render_json keeps the first value of such a path and leaves the later ones out.
[[nodiscard]] std::vector<std::string> duplicate_keys(const Document& document);

}  // namespace corridor::report
