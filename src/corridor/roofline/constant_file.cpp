// SPDX-License-Identifier: Apache-2.0
// Reads files of constants with toml++; the only file of this module that includes it.
#include "corridor/roofline/constant_file.h"

#include <cmath>
#include <optional>

#include <toml++/toml.h>

#include "corridor/hardware/toml_guard.h"

namespace corridor::roofline {
namespace {

/// A source may be one word, explained once in the file's [sources].
Result<int> explain_sources(ConstantFile& out) {
  for (auto& [name, constant] : out.values) {
    const auto text = out.texts.find("sources." + constant.source);
    if (text != out.texts.end()) constant.source = text->second;
    if (constant.source.size() < 8) {
      return fail(name + " has no source", out.file + ":" + std::to_string(constant.line),
                  "say where the value comes from, or name an entry of [sources]");
    }
  }
  return 0;
}

class Reader {
 public:
  explicit Reader(ConstantFile& out) : out_(out) {}

  Result<int> read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
      if (const toml::table* inner = node.as_table()) {
        Result<int> ok = inner->contains("value") ? read_constant(*inner, name) : read_table(*inner, name);
        if (!ok) return ok;
      } else if (const toml::array* list = node.as_array()) {
        for (const toml::node& item : *list) {
          if (const auto text = item.value<std::string>()) out_.lists[name].push_back(*text);
        }
      } else if (const auto text = node.value<std::string>()) {
        out_.texts[name] = *text;
      } else {
        return error(node, name + " is a bare value", "write it as { value, unit, source, basis, date }");
      }
    }
    return 0;
  }

 private:
  static int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

  tl::unexpected<Error> error(const toml::node& node, std::string what, std::string fix) const {
    return fail(std::move(what), out_.file + ":" + std::to_string(line_of(node)), std::move(fix));
  }

  Result<int> read_constant(const toml::table& table, const std::string& name) {
    Constant constant;
    constant.line = line_of(table);
    const toml::node& value = *table.get("value");
    if (const auto flag = value.value_exact<bool>()) {
      constant.value = *flag ? 1 : 0;
    } else if (const auto number = value.value<double>(); number && std::isfinite(*number) && *number >= 0) {
      constant.value = *number;
    } else {
      return error(value, name + " is not a finite number of zero or more", "correct the value");
    }
    constant.source = table["source"].value_or(std::string());
    constant.basis = table["basis"].value_or(std::string());
    constant.unit = table["unit"].value_or(std::string());
    if (!table["unit"].is_string())
      return error(table, name + " has no unit", "add unit = \"…\" (\"1\" for a plain ratio)");
    if (constant.basis != "vendor" && constant.basis != "measured" && constant.basis != "derived" &&
        constant.basis != "assumed") {
      return error(table, name + " has basis \"" + constant.basis + "\"", "use vendor, measured, derived or assumed");
    }
    out_.values[name] = std::move(constant);
    return 0;
  }

  ConstantFile& out_;
};

}  // namespace

Result<double> ConstantFile::number(const std::string& key) const {
  const auto found = values.find(key);
  if (found == values.end()) return fail("has no " + key, file, "add it with value, unit, source, basis and date");
  return found->second.value;
}

void ConstantFile::overlay(const ConstantFile& other) {
  for (const auto& [key, constant] : other.values) values[key] = constant;
  file = other.file;
}

Result<ConstantFile> parse_constants(std::string_view toml_text, const std::string& file) {
  ConstantFile out;
  out.file = file;
  if (const std::optional<hardware::TextFault> fault = hardware::toml_fault(toml_text)) {
    return fail(fault->what, file + ":" + std::to_string(fault->line), fault->fix);
  }
  try {
    const toml::table parsed = toml::parse(toml_text, file);
    if (Result<int> ok = Reader(out).read_table(parsed, ""); !ok) return tl::unexpected(ok.error());
    if (Result<int> ok = explain_sources(out); !ok) return tl::unexpected(ok.error());
  } catch (const toml::parse_error& error) {
    return fail(std::string(error.description()), file + ":" + std::to_string(error.source().begin.line),
                "correct the TOML");
  }
  return out;
}

}  // namespace corridor::roofline
