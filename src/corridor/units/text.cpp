// SPDX-License-Identifier: Apache-2.0
// Reads and prints quantities; strict on input, three significant figures on output.
#include "corridor/units/text.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "corridor/base/lower.h"

namespace corridor::units {
namespace {

/// The decimal prefixes, smallest first, with the power of ten they stand for.
struct Prefix {
  std::string_view symbol;
  double factor;
};
constexpr std::array<Prefix, 7> large_prefixes{
    {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}}};
constexpr std::array<Prefix, 7> binary_prefixes{{{"", 1},
                                                 {"Ki", 1024.0},
                                                 {"Mi", 1048576.0},
                                                 {"Gi", 1073741824.0},
                                                 {"Ti", 1099511627776.0},
                                                 {"Pi", 1125899906842624.0},
                                                 {"Ei", 1152921504606846976.0}}};
constexpr std::array<Prefix, 5> time_prefixes{{{"p", 1e-12}, {"n", 1e-9}, {"µ", 1e-6}, {"m", 1e-3}, {"", 1}}};

/// What a parser tells a person who wrote something else.
struct Wanted {
  std::string_view what;      ///< "a time"
  std::string_view accepted;  ///< "ns, us, ms, s"
  std::string_view example;   ///< "42 ms"
};

constexpr std::size_t quoted_characters = 40;

/// The input as it may stand in a message: short, on one line, without control characters.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, quoted_characters)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  // A cut inside a UTF-8 character would leave half of it behind.
  if (text.size() > quoted_characters) {
    while (out.size() > 1 && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U) out.pop_back();
    if (static_cast<unsigned char>(out.back()) >= 0xC0U) out.pop_back();
    out += "...";
  }
  return out + "'";
}

bool is_space(char c) {
  return c == ' ' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// Length of the plain decimal number `text` starts with, sign and exponent included; 0 when there is none.
/// "5EB" is 5 exabytes: an 'e' counts as an exponent only when digits follow.
std::size_t number_length(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '+' || text[0] == '-') ? 1 : 0;
  const std::size_t first = at;
  at = skip_digits(text, at);
  std::size_t digits = at - first;
  if (at < text.size() && text[at] == '.') {
    const std::size_t after = skip_digits(text, at + 1);
    digits += after - at - 1;
    at = after;
  }
  if (digits == 0) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t after = skip_digits(text, exponent);
    if (after > exponent) at = after;
  }
  return at;
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view problem, const Wanted& wanted) {
  return fail(
      fmt::format("{} {}", quoted(text), problem), {},
      fmt::format("give {} as a number and one of {}, for example {}", wanted.what, wanted.accepted, wanted.example));
}

/// The leading number and the unit after it.
struct Split {
  double number = 0;
  std::string_view unit;
};

Result<Split> split(std::string_view text, const Wanted& wanted) {
  const std::string_view body = trimmed(text);
  if (body.empty()) return refuse(text, "is empty", wanted);
  const std::size_t length = number_length(body);
  if (length == 0) return refuse(text, "does not start with a number", wanted);
  const std::string number(body.substr(0, length));
  const double value = std::strtod(number.c_str(), nullptr);
  if (!std::isfinite(value)) return refuse(text, "is too large a number", wanted);
  if (value < 0) return refuse(text, "is negative", wanted);
  return Split{value + 0.0, trimmed(body.substr(length))};
}

/// Factor of `unit` or nothing; one such function a dimension.
using FactorOf = double (*)(std::string_view unit);
constexpr double unknown_unit = 0;

Result<double> parse(std::string_view text, FactorOf factor_of, const Wanted& wanted) {
  const auto parts = split(text, wanted);
  if (!parts) return tl::unexpected(parts.error());
  if (parts->unit.empty()) return refuse(text, "has no unit", wanted);
  const double factor = factor_of(parts->unit);
  if (factor == unknown_unit) {
    return refuse(text, fmt::format("has the unit {}, which is not known here", quoted(parts->unit)), wanted);
  }
  const double value = parts->number * factor;
  if (!std::isfinite(value)) return refuse(text, "is too large a number", wanted);
  return value;
}

double time_factor(std::string_view unit) {
  if (unit == "µs" || unit == "\u03bcs" || unit == "us") return 1e-6;
  if (unit == "min") return 60;
  if (unit == "h") return 3600;
  for (const Prefix& prefix : time_prefixes) {
    if (unit.size() == prefix.symbol.size() + 1 && unit.substr(0, prefix.symbol.size()) == prefix.symbol &&
        unit.back() == 's') {
      return prefix.factor;
    }
  }
  return unknown_unit;
}

/// Matches prefix + "b" in any case. "Gb" is left out: it is how people write gigabit.
double byte_factor(std::string_view unit) {
  if (unit.size() > 1 && unit.back() == 'b' && std::isupper(static_cast<unsigned char>(unit.front())) != 0) {
    return unknown_unit;
  }
  if (unit == "b") return unknown_unit;
  const std::string small = lower(unit);
  if (small == "byte" || small == "bytes") return 1;
  for (const auto& prefixes : {std::span<const Prefix>(large_prefixes), std::span<const Prefix>(binary_prefixes)}) {
    for (const Prefix& prefix : prefixes) {
      if (small == lower(prefix.symbol) + "b") return prefix.factor;
    }
  }
  return unknown_unit;
}

double byte_rate_factor(std::string_view unit) {
  if (unit.size() < 3 || unit.substr(unit.size() - 2) != "/s") return unknown_unit;
  return byte_factor(trimmed(unit.substr(0, unit.size() - 2)));
}

/// Prefix before `stem` in any case ("TFLOP", "tflop"); integer work is written with "OP".
double operation_factor(std::string_view unit) {
  const std::string small = lower(unit);
  for (const std::string_view stem : {"flop", "op"}) {
    for (const Prefix& prefix : large_prefixes) {
      if (small == lower(prefix.symbol) + std::string(stem)) return prefix.factor;
    }
  }
  return unknown_unit;
}

/// "FLOPs" is a plural; "FLOPS" is a rate and is refused here.
double flop_factor(std::string_view unit) {
  if (unit.size() > 1 && unit.back() == 's') unit.remove_suffix(1);
  return operation_factor(unit);
}

double flop_rate_factor(std::string_view unit) {
  if (unit.size() > 2 && unit.substr(unit.size() - 2) == "/s") {
    return operation_factor(trimmed(unit.substr(0, unit.size() - 2)));
  }
  if (unit.size() > 1 && unit.back() == 'S') return operation_factor(unit.substr(0, unit.size() - 1));
  return unknown_unit;
}

template <class Quantity>
Result<Quantity> typed(Result<double> value) {
  if (!value) return tl::unexpected(value.error());
  return Quantity{*value};
}

constexpr std::string_view unknown_text = "–";
constexpr double plain_above = 1e-6;  ///< smaller numbers print with an exponent
constexpr double plain_below = 1e15;  ///< larger ones too

/// Rounds to three significant figures.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr);
}

/// Picks the largest prefix that leaves at least 1 after rounding, so that 999.6 GB prints as 1.00 TB.
std::string with_prefix(double value, std::span<const Prefix> prefixes, std::string_view unit, bool whole_base) {
  if (!std::isfinite(value)) return std::string(unknown_text);
  const double size = std::fabs(rounded(value));
  const Prefix* chosen = nullptr;
  for (const Prefix& prefix : prefixes) {
    if (chosen == nullptr || size >= prefix.factor) chosen = &prefix;
    // A value of zero or one whole unit reads best without a prefix.
    if (value == 0 && prefix.factor == 1) chosen = &prefix;
  }
  const double scaled = value / chosen->factor;
  const bool whole = (whole_base && chosen->factor == 1 && scaled == std::floor(scaled)) || value == 0;
  const std::string number = whole ? fmt::format("{:.0f}", scaled) : print_number(scaled);
  return fmt::format("{} {}{}", number, chosen->symbol, unit);
}

}  // namespace

Result<Seconds> parse_seconds(std::string_view text) {
  return typed<Seconds>(parse(text, time_factor, {"a time", "ns, us, ms, s, min, h", "42 ms"}));
}

Result<Bytes> parse_bytes(std::string_view text) {
  return typed<Bytes>(parse(text, byte_factor, {"a size", "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB", "80 GiB"}));
}

Result<BytesPerSecond> parse_bytes_per_second(std::string_view text) {
  return typed<BytesPerSecond>(
      parse(text, byte_rate_factor, {"a bandwidth", "B/s, kB/s, MB/s, GB/s, TB/s, GiB/s", "3.35 TB/s"}));
}

Result<FlopsPerSecond> parse_flops_per_second(std::string_view text) {
  return typed<FlopsPerSecond>(
      parse(text, flop_rate_factor, {"a rate", "FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s, TOP/s", "989.4 TFLOP/s"}));
}

Result<Flops> parse_flops(std::string_view text) {
  return typed<Flops>(parse(text, flop_factor, {"work", "FLOP, MFLOP, GFLOP, TFLOP, PFLOP", "140 GFLOP"}));
}

Result<double> parse_count(std::string_view text) {
  static constexpr Wanted wanted{"a count", "the suffixes K, M, B (or G), T, or none", "70B"};
  const auto parts = split(text, wanted);
  if (!parts) return tl::unexpected(parts.error());
  if (parts->unit.empty()) return parts->number;
  static constexpr std::array<std::pair<std::string_view, double>, 5> suffixes{
      {{"k", 1e3}, {"m", 1e6}, {"b", 1e9}, {"g", 1e9}, {"t", 1e12}}};
  for (const auto& [suffix, factor] : suffixes) {
    if (lower(parts->unit) != suffix) continue;
    const double value = parts->number * factor;
    if (!std::isfinite(value)) return refuse(text, "is too large a number", wanted);
    return value;
  }
  return refuse(text, fmt::format("has the suffix {}, which is not known here", quoted(parts->unit)), wanted);
}

std::string print(Seconds value) {
  return with_prefix(value.value(), time_prefixes, "s", false);
}
std::string print(Hertz value) {
  return with_prefix(value.value(), large_prefixes, "Hz", false);
}
std::string print(Bytes value) {
  return with_prefix(value.value(), large_prefixes, "B", true);
}
std::string print(Flops value) {
  return with_prefix(value.value(), large_prefixes, "FLOP", true);
}
std::string print(BytesPerSecond value) {
  return with_prefix(value.value(), large_prefixes, "B/s", true);
}
std::string print(FlopsPerSecond value) {
  return with_prefix(value.value(), large_prefixes, "FLOP/s", true);
}

std::string print(FlopsPerByte value) {
  if (!std::isfinite(value.value())) return std::string(unknown_text);
  return print_number(value.value()) + " FLOP/B";
}

std::string print_gib(Bytes value) {
  if (!std::isfinite(value.value())) return std::string(unknown_text);
  return print_number(value.value() / binary_prefixes[3].factor) + " GiB";
}

std::string print_count(double value) {
  if (!std::isfinite(value)) return std::string(unknown_text);
  const double size = std::fabs(value);
  if (size < 1e6 && value == std::floor(value)) return fmt::format("{:.0f}", value + 0.0);
  if (size < 1e3) return print_number(value);
  if (std::round(size) < 1e6) return fmt::format("{:.0f}", value);
  static constexpr std::array<std::pair<std::string_view, double>, 3> suffixes{{{"T", 1e12}, {"B", 1e9}, {"M", 1e6}}};
  for (const auto& [suffix, factor] : suffixes) {
    if (std::fabs(rounded(value)) < factor) continue;
    std::string number = print_number(value / factor);
    if (number.find('e') == std::string::npos && number.find('.') != std::string::npos) {
      while (number.back() == '0') number.pop_back();
      if (number.back() == '.') number.pop_back();
    }
    return number + std::string(suffix);
  }
  return fmt::format("{:.0f}", value);
}

std::string print_number(double value) {
  if (!std::isfinite(value)) return std::string(unknown_text);
  if (value == 0) return "0";
  const double three = rounded(value);
  const double size = std::fabs(three);
  if (size < plain_above || size >= plain_below) return fmt::format("{:.2e}", value);
  const int decimals = 2 - static_cast<int>(std::floor(std::log10(size) + 1e-12));
  return fmt::format("{:.{}f}", three, decimals > 0 ? decimals : 0);
}

}  // namespace corridor::units
