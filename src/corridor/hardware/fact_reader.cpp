// SPDX-License-Identifier: Apache-2.0
// The checks of one number of a device file: value, unit, source, basis, date, note.
#include "corridor/hardware/fact_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "corridor/base/lower.h"

namespace corridor::hardware {
namespace {

constexpr std::size_t longest_text = 2000;
constexpr std::size_t shortest_source = 12;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// True when some word looks like a place: a path "owner/file" or a domain "site.tld".
bool has_address(std::string_view text) {
  if (text.find("://") != std::string_view::npos) return true;
  const std::string small = lower(text);
  if (small.find("arxiv") != std::string::npos || small.find("doi:") != std::string::npos) return true;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const bool between_words = is_letter(text[i + 1]) && (is_letter(text[i - 1]) || is_digit(text[i - 1]));
    if ((text[i] == '/' || text[i] == '.') && between_words) return true;
  }
  return false;
}

/// A [sources] key: lower-case letters, digits, '-' and '_'.
bool looks_like_key(std::string_view text) {
  return !text.empty() && text.size() <= 40 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
  });
}

std::optional<Basis> basis_from(std::string_view text) {
  for (const Basis basis : {Basis::vendor, Basis::measured, Basis::derived, Basis::assumed}) {
    if (name(basis) == text) return basis;
  }
  return std::nullopt;
}

int number_in(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

bool is_iso_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  for (const std::size_t i : {0U, 1U, 2U, 3U, 5U, 6U, 8U, 9U}) {
    if (!is_digit(text[i])) return false;
  }
  const int year = number_in(text.substr(0, 4));
  const int month = number_in(text.substr(5, 2));
  const int day = number_in(text.substr(8, 2));
  constexpr std::array<int, 13> days = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  if (year < 1990 || year > 2100 || month < 1 || month > 12) return false;
  return day >= 1 && day <= days[static_cast<std::size_t>(month)] + (month == 2 && leap ? 1 : 0);
}

Result<double> read_value(const toml::node& node, std::string_view path, const NumberRule& rule,
                          const std::string& where) {
  if (!node.is_number()) {
    return fail(fmt::format("{} value is not a number", path), where, "write a plain number, e.g. value = 1.5e12");
  }
  // An integer beyond 2^53 has no exact double, which toml++ refuses to convert; the nearest one is good enough here.
  const double value = node.is_integer() ? static_cast<double>(node.value<std::int64_t>().value_or(0))
                                         : node.value<double>().value_or(std::nan(""));
  if (std::isnan(value)) return fail(fmt::format("{} is not a number (nan)", path), where, "leave the key out");
  if (std::isinf(value)) return fail(fmt::format("{} is infinite", path), where, "leave the key out");
  if (value < 0) return fail(fmt::format("{} is negative ({:g})", path, value), where, "give a value above zero");
  if (value == 0) return fail(fmt::format("{} is zero", path), where, "leave the key out when the value is unknown");
  if (value < rule.smallest || value > rule.largest) {
    return fail(fmt::format("{} is {:g} {}, outside {:g} to {:g}", path, value, rule.unit, rule.smallest, rule.largest),
                where, fmt::format("check that the value is in {}", rule.unit));
  }
  if (rule.whole && value != std::floor(value)) {
    return fail(fmt::format("{} is {:g}, not a whole number", path, value), where);
  }
  return value;
}

Result<std::string> read_source(const toml::node& node, std::string_view path, const SourceTable& sources,
                                const std::string& file) {
  Result<std::string> text = read_text(node, fmt::format("{} source", path), file);
  if (!text) return text;
  if (const auto found = sources.find(*text); found != sources.end()) return found->second;
  if (looks_like_key(*text) && text->size() >= 2 && text->find('.') == std::string::npos && !sources.empty()) {
    return fail(fmt::format("{} names source \"{}\", which [sources] does not hold", path, *text), at(file, node),
                fmt::format("add {} = \"…\" to [sources]", *text));
  }
  if (const std::string fault = source_fault(*text); !fault.empty()) {
    return fail(fmt::format("{} source {}", path, fault), at(file, node),
                "give a URL, a repository path with its commit, or a document with its address");
  }
  return text;
}

/// The member of a fact, or the error that it is missing.
Result<const toml::node*> member(const toml::table& fact, std::string_view key, std::string_view path,
                                 std::string_view fix, const std::string& file) {
  if (const toml::node* node = fact.get(key)) return node;
  return fail(fmt::format("{} has no {}", path, key), at(file, fact), std::string(fix));
}

Result<std::size_t> check_unit(const toml::table& fact, std::string_view path, const NumberRule& rule,
                               const std::string& file) {
  const Result<const toml::node*> node = member(fact, "unit", path, fmt::format("add unit = \"{}\"", rule.unit), file);
  if (!node) return tl::unexpected(node.error());
  const Result<std::string> unit = read_text(**node, fmt::format("{} unit", path), file);
  if (!unit) return tl::unexpected(unit.error());
  if (*unit != rule.unit) {
    return fail(fmt::format("{} has unit \"{}\"", path, *unit), at(file, **node),
                fmt::format("convert the value and write unit = \"{}\"", rule.unit));
  }
  return unit->size();
}

Result<Basis> read_basis(const toml::table& fact, std::string_view path, const std::string& file) {
  const char* choices = "write basis = \"vendor\", \"measured\", \"derived\" or \"assumed\"";
  const Result<const toml::node*> node = member(fact, "basis", path, choices, file);
  if (!node) return tl::unexpected(node.error());
  const Result<std::string> text = read_text(**node, fmt::format("{} basis", path), file);
  if (!text) return tl::unexpected(text.error());
  if (const std::optional<Basis> basis = basis_from(*text)) return *basis;
  return fail(fmt::format("{} has unknown basis \"{}\"", path, *text), at(file, **node), choices);
}

Result<std::string> read_date(const toml::table& fact, std::string_view path, const std::string& file) {
  const char* fix = "write date = \"YYYY-MM-DD\", the day the source was read";
  const Result<const toml::node*> node = member(fact, "date", path, fix, file);
  if (!node) return tl::unexpected(node.error());
  const Result<std::string> text = read_text(**node, fmt::format("{} date", path), file);
  if (!text) return tl::unexpected(text.error());
  if (!is_iso_date(*text)) return fail(fmt::format("{} has bad date \"{}\"", path, *text), at(file, **node), fix);
  return *text;
}

Result<std::size_t> check_keys(const toml::table& fact, std::string_view path, const std::string& file) {
  for (const auto& [key, node] : fact) {
    const std::string_view k = key.str();
    if (k == "value" || k == "unit" || k == "source" || k == "basis" || k == "date" || k == "note") continue;
    return fail(fmt::format("{} has unknown key \"{}\"", path, k), at(file, node),
                "keys are value, unit, source, basis, date, note");
  }
  return fact.size();
}

}  // namespace

std::string at(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

Result<std::string> read_text(const toml::node& node, std::string_view path, const std::string& file,
                              bool may_be_empty) {
  const std::optional<std::string> text = node.value_exact<std::string>();
  if (!text) return fail(fmt::format("{} is not a text", path), at(file, node), "put it in double quotes");
  if (text->size() > longest_text) {
    return fail(fmt::format("{} is {} bytes long", path, text->size()), at(file, node), "keep it under 2,000 bytes");
  }
  for (const char c : *text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return fail(fmt::format("{} holds a control character", path), at(file, node), "write plain text on one line");
    }
  }
  if (!may_be_empty && trimmed(*text).empty()) return fail(fmt::format("{} is empty", path), at(file, node));
  return *text;
}

std::string source_fault(std::string_view source) {
  const std::string_view text = trimmed(source);
  if (text.empty()) return "is empty";
  // Files that `corridor measure` writes name the machine, not an address.
  if (text.starts_with("corridor measure ") && text.size() >= 24) return {};
  if (text.size() < shortest_source || !has_address(text)) {
    return fmt::format("\"{}\" is not specific enough to find the number again", text.substr(0, 60));
  }
  return {};
}

Result<SourceTable> read_sources(const toml::table& table, const std::string& file) {
  SourceTable sources;
  for (const auto& [key, node] : table) {
    const std::string path = fmt::format("sources.{}", key.str());
    if (!looks_like_key(key.str())) {
      return fail(fmt::format("{} is not a source key", path), at(file, node),
                  "use lower-case letters, digits, '-', '_'");
    }
    Result<std::string> text = read_text(node, path, file, true);
    if (!text) return tl::unexpected(text.error());
    if (const std::string fault = source_fault(*text); !fault.empty()) {
      return fail(fmt::format("{} {}", path, fault), at(file, node),
                  "give a URL, a repository path with its commit, or a document with its address");
    }
    sources.emplace(std::string(key.str()), std::move(*text));
  }
  return sources;
}

Result<Fact<double>> read_fact(const toml::node& node, std::string_view path, const NumberRule& rule,
                               const SourceTable& sources, const std::string& file) {
  const toml::table* fact = node.as_table();
  if (fact == nullptr) {
    return fail(fmt::format("{} is a bare value", path), at(file, node),
                fmt::format("write {{ value = …, unit = \"{}\", source = …, basis = …, date = … }}", rule.unit));
  }
  if (auto checked = check_keys(*fact, path, file); !checked) return tl::unexpected(checked.error());
  const auto value_node = member(*fact, "value", path, "add value = …", file);
  if (!value_node) return tl::unexpected(value_node.error());
  if (auto checked = check_unit(*fact, path, rule, file); !checked) return tl::unexpected(checked.error());
  const auto value = read_value(**value_node, path, rule, at(file, **value_node));
  if (!value) return tl::unexpected(value.error());
  const auto source_node = member(*fact, "source", path, "say where the number was read", file);
  if (!source_node) return tl::unexpected(source_node.error());
  auto source = read_source(**source_node, path, sources, file);
  if (!source) return tl::unexpected(source.error());
  const auto basis = read_basis(*fact, path, file);
  if (!basis) return tl::unexpected(basis.error());
  auto date = read_date(*fact, path, file);
  if (!date) return tl::unexpected(date.error());
  Fact<double> out{*value, *basis, std::move(*source), std::move(*date), {}};
  if (const toml::node* note = fact->get("note")) {
    Result<std::string> text = read_text(*note, fmt::format("{} note", path), file, true);
    if (!text) return tl::unexpected(text.error());
    out.note = std::move(*text);
  }
  return out;
}

}  // namespace corridor::hardware
