// SPDX-License-Identifier: Apache-2.0
// Reads ranges and lists; every value is checked before a list is made of it.
#include "corridor/app/sweep_axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "corridor/units/text.h"

namespace corridor::app {
namespace {

constexpr std::array<std::string_view, 10> axis_names = {"batch", "concurrency", "context", "input",  "output",
                                                         "tp",    "weights",     "kv",      "device", "engine"};
constexpr std::int64_t every_number_up_to = 16;  // a range of at most this many numbers is taken whole
constexpr std::size_t most_names = 1000;

bool takes_numbers(AxisKind kind) {
  return kind <= AxisKind::tp;
}

/// The largest value that `corridor predict` takes for this flag.
std::int64_t largest(AxisKind kind) {
  if (kind == AxisKind::tp) return 65536;
  return kind == AxisKind::batch || kind == AxisKind::concurrency ? 10'000'000 : 100'000'000;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return parts;
}

/// Reads the numbers of one axis; remembers how it was written for its errors.
class NumberReader {
 public:
  NumberReader(SweepAxis& axis, std::string where) : axis_(axis), where_(std::move(where)) {}

  Result<int> add(const std::string& part) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      const Result<std::int64_t> one = whole(part);
      if (!one) return tl::unexpected(one.error());
      axis_.values.push_back(static_cast<double>(*one));
      return 0;
    }
    const std::size_t mark = part.find_first_of(":*", dots + 2);
    const Result<std::int64_t> low = whole(part.substr(0, dots));
    if (!low) return tl::unexpected(low.error());
    const Result<std::int64_t> high = whole(part.substr(dots + 2, mark == std::string::npos ? mark : mark - dots - 2));
    if (!high) return tl::unexpected(high.error());
    if (*low > *high) return fail(fmt::format("the range {} is reversed", part), where_, "give the smaller end first");
    if (mark == std::string::npos) return own_spacing(*low, *high);
    const std::string rest = part.substr(mark + 1);
    return part[mark] == ':' ? stepped(*low, *high, rest) : geometric(*low, *high, rest);
  }

 private:
  Result<std::int64_t> whole(const std::string& part) const {
    const std::string text = trimmed(part);
    const bool digits = !text.empty() && text.size() <= 12 && text.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      return fail(fmt::format("\"{}\" is not a whole number", text.substr(0, 40)), where_,
                  "write 1..512, 1..512:32, 1..512*1.5 or 1,2,4");
    }
    const std::int64_t value = std::stoll(text);
    if (value < 1 || value > largest(axis_.kind)) {
      return fail(fmt::format("{} is out of range", value), where_, fmt::format("give 1 to {}", largest(axis_.kind)));
    }
    return value;
  }

  Result<int> own_spacing(std::int64_t low, std::int64_t high) {
    const bool powers = axis_.kind == AxisKind::tp;
    axis_.own_spacing = axis_.between();
    if (!powers && high - low < every_number_up_to) return stepped(low, high, "1");
    axis_.values.push_back(static_cast<double>(low));
    for (std::int64_t power = 1; power < high; power *= 2) {
      if (power > low) axis_.values.push_back(static_cast<double>(power));
    }
    axis_.values.push_back(static_cast<double>(high));
    return 0;
  }

  Result<int> stepped(std::int64_t low, std::int64_t high, const std::string& text) {
    const Result<std::int64_t> step = whole(text);
    if (!step) return tl::unexpected(step.error());
    const auto count = static_cast<std::size_t>((high - low) / *step + 2);
    if (Result<int> ok = check_count(count); !ok) return ok;
    for (std::int64_t value = low; value < high; value += *step) axis_.values.push_back(static_cast<double>(value));
    axis_.values.push_back(static_cast<double>(high));
    return 0;
  }

  Result<int> geometric(std::int64_t low, std::int64_t high, const std::string& text) {
    const Result<double> factor = units::parse_count(text);
    // Closer to 1 every number is taken anyway, and the loop would not end in time.
    constexpr double least_factor = 1.000001;
    if (!factor || !(*factor >= least_factor)) {
      return fail(fmt::format("\"{}\" is not a factor", text.substr(0, 40)), where_,
                  "give a number above 1, as in *1.5");
    }
    const double end = static_cast<double>(high);
    for (double value = static_cast<double>(low); value < end;) {
      axis_.values.push_back(value);
      if (Result<int> ok = check_count(axis_.values.size() + 1); !ok) return ok;
      // The next whole number at least, so that a small factor cannot stand still.
      value = std::max(value + 1, std::round(value * *factor));
    }
    axis_.values.push_back(end);
    return 0;
  }

  Result<int> check_count(std::size_t count) const {
    if (axis_.values.size() + count <= most_sweep_points + 1) return 0;
    return fail(fmt::format("more than {} values", most_sweep_points), where_, "use a larger step");
  }

  SweepAxis& axis_;
  std::string where_;
};

Result<int> read_names(const std::vector<std::string>& parts, const std::string& where, SweepAxis& axis) {
  if (parts.size() > most_names) return fail(fmt::format("more than {} names", most_names), where, "give fewer");
  for (const std::string& part : parts) {
    if (part.empty()) return fail("a name is missing", where, "separate names by one comma");
    if (part.find("..") != std::string::npos) return fail("names have no range", where, "separate names by commas");
    if (std::find(axis.names.begin(), axis.names.end(), part) != axis.names.end()) {
      return fail(part + " is given twice", where, "give each name once");
    }
    axis.values.push_back(static_cast<double>(axis.names.size()));
    axis.names.push_back(part);
  }
  return 0;
}

}  // namespace

std::string_view name(AxisKind kind) {
  return axis_names[static_cast<std::size_t>(kind)];
}

std::string SweepAxis::label(double value) const {
  if (has_numbers()) return fmt::format("{:.0f}", value);
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "";
}

void SweepAxis::put(double value, PredictRequest& request) const {
  const auto whole = static_cast<std::int64_t>(value);
  switch (kind) {
    case AxisKind::batch:
      request.batch = value;
      break;
    case AxisKind::concurrency:
      request.concurrency = value;
      break;
    case AxisKind::context:
      request.context = whole;
      break;
    case AxisKind::input:
      request.input = whole;
      break;
    case AxisKind::output:
      request.output = whole;
      break;
    case AxisKind::tp:
      request.tp = whole;
      break;
    case AxisKind::weights:
      request.weights = label(value);
      break;
    case AxisKind::kv:
      request.kv = label(value);
      break;
    case AxisKind::device:
      request.device = label(value);
      break;
    case AxisKind::engine:
      request.engine = label(value);
      break;
  }
}

Result<SweepAxis> parse_axis(std::string_view text) {
  const std::string where = "--over " + std::string(text.substr(0, 80));
  const std::size_t equals = text.find('=');
  const std::string word = trimmed(text.substr(0, std::min(equals, text.size())));
  const auto known = std::find(axis_names.begin(), axis_names.end(), word);
  if (known == axis_names.end()) {
    return fail(fmt::format("\"{}\" is no axis", word.substr(0, 40)), where,
                fmt::format("sweep over one of {}", fmt::join(axis_names, ", ")));
  }
  if (equals == std::string_view::npos || trimmed(text.substr(equals + 1)).empty()) {
    return fail("the axis has no values", where, "write for example batch=1..512 or weights=bf16,fp8");
  }
  SweepAxis axis;
  axis.kind = static_cast<AxisKind>(known - axis_names.begin());
  const std::vector<std::string> parts = parts_of(text.substr(equals + 1), ',');
  if (!takes_numbers(axis.kind)) {
    if (Result<int> ok = read_names(parts, where, axis); !ok) return tl::unexpected(ok.error());
    return axis;
  }
  NumberReader reader(axis, where);
  for (const std::string& part : parts) {
    if (Result<int> ok = reader.add(part); !ok) return tl::unexpected(ok.error());
  }
  std::sort(axis.values.begin(), axis.values.end());
  axis.values.erase(std::unique(axis.values.begin(), axis.values.end()), axis.values.end());
  return axis;
}

}  // namespace corridor::app
