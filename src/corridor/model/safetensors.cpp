// SPDX-License-Identifier: Apache-2.0
// Reads the header of a safetensors file: eight bytes of length, then JSON, with every bound checked.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "corridor/model/readers.h"

namespace corridor::model {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_header = 100'000'000;  // the format's own limit
constexpr double most_elements = 1e15;
constexpr std::size_t most_dimensions = 16;

struct TypeSize {
  std::string_view name;
  double bytes;
};
constexpr std::array<TypeSize, 24> type_sizes{{
    {"F64", 8},        {"I64", 8},        {"U64", 8},       {"F32", 4},         {"I32", 4},         {"U32", 4},
    {"F16", 2},        {"BF16", 2},       {"I16", 2},       {"U16", 2},         {"F8_E4M3", 1},     {"F8_E5M2", 1},
    {"F8_E8M0", 1},    {"I8", 1},         {"U8", 1},        {"BOOL", 1},        {"F4", 0.5},        {"F4_E2M1", 0.5},
    {"F6_E2M3", 0.75}, {"F6_E3M2", 0.75}, {"F8_E4M3FN", 1}, {"F8_E4M3FNUZ", 1}, {"F8_E5M2FNUZ", 1}, {"C64", 8},
}};

double type_size(std::string_view name) {
  for (const TypeSize& type : type_sizes) {
    if (type.name == name) return type.bytes;
  }
  return 0;
}

std::string short_name(const std::string& name) {
  return name.size() > 80 ? name.substr(0, 80) + "…" : name;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

/// A whole number from 0 to 1e15, or nothing.
std::optional<std::int64_t> whole(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const double number = value.get<double>();
  if (!(number >= 0 && number <= most_elements)) return std::nullopt;
  return value.get<std::int64_t>();
}

/// The header's JSON. A key that occurs twice and nesting beyond what the format has are refused while parsing.
Result<json> parse_header(std::string_view text, const std::string& where) {
  std::set<std::string> names;
  std::string twice;
  bool deep = false;
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    deep = deep || depth > 4;
    return depth <= 4;
  };
  json header;
  try {
    header = json::parse(text, watch, true);
  } catch (const json::exception&) {
    return fail("the header is not valid JSON", where, "the file is damaged or no safetensors file; fetch it again");
  }
  if (!twice.empty()) return fail("tensor " + short_name(twice) + " is listed twice", where, "the file is damaged");
  if (deep || !header.is_object()) return fail("the header has not the safetensors form", where, "the file is damaged");
  return header;
}

struct Placed {
  StoredTensor tensor;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Result<Placed> read_tensor(const std::string& name, const json& entry, const std::string& where) {
  const auto bad = [&](const char* what) {
    return fail(fmt::format("tensor {}: {}", short_name(name), what), where, "the file is damaged; fetch it again");
  };
  if (!entry.is_object()) return bad("is no object");
  const auto type = entry.find("dtype");
  const auto shape = entry.find("shape");
  const auto offsets = entry.find("data_offsets");
  if (type == entry.end() || !type->is_string()) return bad("has no dtype");
  if (shape == entry.end() || !shape->is_array() || shape->size() > most_dimensions) return bad("has no proper shape");
  if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2) return bad("has no data_offsets");
  Placed out;
  out.tensor.name = name;
  out.tensor.type = type->get<std::string>();
  out.tensor.elements = 1;
  for (const json& size : *shape) {
    const auto number = whole(size);
    if (!number) return bad("a size in its shape is no whole number from 0 to 1e15");
    out.tensor.shape.push_back(*number);
    out.tensor.elements *= static_cast<double>(*number);
  }
  if (!(out.tensor.elements <= most_elements)) return bad("has more than 1e15 elements");
  const auto begin = whole((*offsets)[0]);
  const auto end = whole((*offsets)[1]);
  if (!begin || !end || *end < *begin) return bad("has data_offsets that are no range");
  out.begin = *begin;
  out.end = *end;
  out.tensor.bytes = static_cast<double>(*end - *begin);
  const double size = type_size(out.tensor.type);
  if (size > 0 && std::ceil(out.tensor.elements * size) != out.tensor.bytes)
    return bad("its shape and its bytes disagree");
  return out;
}

}  // namespace

Result<std::vector<StoredTensor>> read_safetensors_header(std::string_view file, const std::string& where) {
  if (file.size() < 8) return fail("too short for a safetensors file", where, "the file is cut short; fetch it again");
  const std::uint64_t length = little_endian(file);
  if (length > largest_header) {
    return fail(fmt::format("the header claims {} bytes", length), where,
                "no safetensors file, or damaged: 100 MB is the limit");
  }
  if (length > file.size() - 8) return fail("the header is cut short", where, "fetch the file again");
  const Result<json> header = parse_header(file.substr(8, static_cast<std::size_t>(length)), where);
  if (!header) return tl::unexpected<Error>(header.error());
  const auto data = static_cast<std::int64_t>(file.size() - 8 - static_cast<std::size_t>(length));
  std::vector<Placed> placed;
  for (const auto& [name, entry] : header->items()) {
    if (name == "__metadata__") continue;
    Result<Placed> tensor = read_tensor(name, entry, where);
    if (!tensor) return tl::unexpected<Error>(tensor.error());
    if (tensor->end > data) {
      return fail(fmt::format("tensor {} ends at byte {} of {} bytes of data", short_name(name), tensor->end, data),
                  where, "the file is cut short; fetch it again");
    }
    placed.push_back(std::move(*tensor));
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::vector<StoredTensor> out;
  std::int64_t last = 0;
  for (Placed& one : placed) {
    if (one.begin < last)
      return fail("tensor " + short_name(one.tensor.name) + " overlaps another", where, "the file is damaged");
    last = std::max(last, one.end);
    out.push_back(std::move(one.tensor));
  }
  return out;
}

}  // namespace corridor::model
