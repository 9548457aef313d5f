// SPDX-License-Identifier: Apache-2.0
// How one value is shown to a person.
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "corridor/report/document.h"
#include "corridor/units/text.h"

namespace corridor::report {
namespace {

constexpr double grouped_below = 1e7;  ///< larger whole numbers print as 70.6B

std::string grouped(double whole) {
  std::string digits = fmt::format("{:.0f}", std::fabs(whole));
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return (whole < 0 ? "-" : "") + digits;
}

std::string print_whole_or_count(double value) {
  if (value == std::floor(value) && std::fabs(value) < grouped_below) return grouped(value);
  if (std::fabs(value) >= 1000 && std::fabs(value) < grouped_below) return grouped(std::round(value));
  return units::print_count(value);
}

/// A share: one decimal only below 10 %, so that 48 and 46 % compare at a glance.
std::string print_percent(double fraction) {
  const double percent = fraction * 100;
  const double size = std::fabs(percent);
  if (percent == 0) return "0 %";
  if (size < 0.05) return percent < 0 ? "> -0.1 %" : "< 0.1 %";
  if (size >= 1e6) return units::print_number(percent) + " %";
  return fmt::format("{:.{}f} %", percent, size < 9.95 ? 1 : 0);
}

std::string print_number_in(double value, Unit unit) {
  switch (unit) {
    case Unit::none:
      return units::print_number(value);
    case Unit::seconds:
      return units::print(units::Seconds{value});
    case Unit::bytes:
      return units::print(units::Bytes{value});
    case Unit::gib:
      return units::print_gib(units::Bytes{value});
    case Unit::flops:
      return units::print(units::Flops{value});
    case Unit::bytes_per_second:
      return units::print(units::BytesPerSecond{value});
    case Unit::flops_per_second:
      return units::print(units::FlopsPerSecond{value});
    case Unit::flop_per_byte:
      return units::print(units::FlopsPerByte{value});
    case Unit::tokens_per_second:
      return (std::fabs(value) < 1000 ? units::print_number(value) : print_whole_or_count(value)) + " tok/s";
    case Unit::tokens:
      return print_whole_or_count(value) + " tokens";
    case Unit::count:
      return print_whole_or_count(value);
    case Unit::percent:
      return print_percent(value);
    case Unit::watts:
      return units::print_number(value) + " W";
    case Unit::hertz:
      return units::print(units::Hertz{value});
  }
  return units::print_number(value);
}

}  // namespace

std::string print(const Value& value) {
  return std::visit(
      [&](const auto& data) -> std::string {
        using Data = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<Data, std::monostate>) {
          return "–";
        } else if constexpr (std::is_same_v<Data, bool>) {
          return data ? "yes" : "no";
        } else if constexpr (std::is_same_v<Data, std::string>) {
          return data;
        } else if constexpr (std::is_same_v<Data, std::int64_t>) {
          const auto number = static_cast<double>(data);
          return value.unit == Unit::none ? print_whole_or_count(number) : print_number_in(number, value.unit);
        } else {
          return std::isfinite(data) ? print_number_in(data, value.unit) : "–";
        }
      },
      value.data);
}

}  // namespace corridor::report
