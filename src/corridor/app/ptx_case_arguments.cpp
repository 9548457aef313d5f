// SPDX-License-Identifier: Apache-2.0
// Parses the words for arguments, encodes scalars, makes and fills buffers.
#include "corridor/app/ptx_case_arguments.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "corridor/base/file.h"
#include "corridor/base/nearest.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using ptx::Type;

constexpr const char* type_words = "f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64";
constexpr const char* fill_words = "zero, none, ramp, rand, rand=BELOW, const=VALUE, cycle, file=PATH";

std::optional<Type> value_type(std::string_view word) {
  if (word.size() >= 2 && word.front() == 'i') return ptx::type_from("s" + std::string(word.substr(1)));
  return ptx::type_from(word);
}

std::vector<std::string> split(const std::string& text, char by, std::size_t most) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (parts.size() + 1 < most) {
    const std::size_t end = text.find(by, at);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  parts.push_back(text.substr(at));
  return parts;
}

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::optional<double> plain_number(const std::string& text) {
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0' || std::isnan(value)) return std::nullopt;
  return value;
}

Result<int> take_fill(const std::string& word, PtxArgument& out, const std::string& where) {
  using Fill = PtxArgument::Fill;
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string given = equals == std::string::npos ? "" : word.substr(equals + 1);
  static const std::pair<const char*, Fill> fills[] = {
      {"zero", Fill::zero},      {"none", Fill::none},   {"ramp", Fill::ramp}, {"rand", Fill::random},
      {"const", Fill::constant}, {"cycle", Fill::cycle}, {"file", Fill::file}};
  const auto* found =
      std::find_if(std::begin(fills), std::end(fills), [&](const auto& each) { return name == each.first; });
  if (found == std::end(fills)) {
    return fail(shown_word(name, 40) + " is no way to fill a buffer", where,
                fmt::format("the ways are {}", fill_words));
  }
  out.fill = found->second;
  if (out.fill == Fill::file) {
    if (given.empty()) return fail("no file is named", where, "write file=PATH");
    out.file = given;
    return 0;
  }
  if (out.fill == Fill::ramp) out.fill_number = 1;
  if (given.empty() && out.fill != Fill::constant) return 0;
  const std::optional<double> number = plain_number(given);
  if (!number) return fail(shown_word(given, 40) + " is not a number", where, "write " + name + "=NUMBER");
  out.fill_number = *number;
  return 0;
}

Result<PtxArgument> parse_buffer(const std::string& word, PtxArgument out, const std::string& where) {
  const std::vector<std::string> parts = split(word, ':', 4);
  out.is_buffer = true;
  if (parts.size() < 3)
    return fail("a buffer has a type and a length", where, "write buf:f32:1024 or buf:f32:1024:ramp");
  const std::optional<Type> type = value_type(parts[1]);
  const bool known = type && *type != Type::pred && *type != Type::b128 && ptx::bytes_of(*type) > 0;
  if (!known || ptx::bytes_of(*type) > 8) {
    return fail(shown_word(parts[1], 40) + " is no type of a buffer", where, fmt::format("give one of {}", type_words));
  }
  out.type = *type;
  const Result<double> count = units::parse_count(parts[2]);
  constexpr double most = 1e15;
  if (!count || *count < 1 || *count != std::floor(*count) || *count > most) {
    return fail(shown_word(parts[2], 40) + " is no length", where,
                "give a whole number of values, for example 1024 or 1M");
  }
  out.count = static_cast<std::uint64_t>(*count);
  if (parts.size() == 4) {
    if (const Result<int> filled = take_fill(parts[3], out, where); !filled) return tl::unexpected(filled.error());
  }
  return out;
}

Result<std::uint32_t> texture_side(const std::string& word, const std::string& where) {
  const Result<double> side = units::parse_count(word);
  constexpr double most = 65536;
  if (!side || *side < 1 || *side != std::floor(*side) || *side > most) {
    return fail(shown_word(word, 40) + " is no size of a texture", where, "write 64x32 texels, each at most 65536");
  }
  return static_cast<std::uint32_t>(*side);
}

bool take_texture_option(const std::string& word, ptx::Texture& out) {
  using Edge = ptx::Texture::Edge;
  static const std::pair<const char*, Edge> edges[] = {
      {"clamp", Edge::clamp}, {"wrap", Edge::wrap}, {"mirror", Edge::mirror}, {"border", Edge::border}};
  static const std::pair<const char*, bool ptx::Texture::*> switches[] = {
      {"linear", &ptx::Texture::linear}, {"normalized", &ptx::Texture::normalized}, {"unit", &ptx::Texture::unit}};
  for (const auto& [name, edge] : edges) {
    if (word != name) continue;
    out.edge = edge;
    return true;
  }
  for (const auto& [name, member] : switches) {
    if (word != name) continue;
    out.*member = true;
    return true;
  }
  return false;
}

/// tex1d:TYPE[xCHANNELS]:WIDTH[:fill and options], tex2d:…:WIDTHxHEIGHT: a buffer, and how it is read.
Result<PtxArgument> parse_texture(const std::string& word, PtxArgument out, const std::string& where) {
  const std::vector<std::string> parts = split(word, ':', 12);
  const bool flat = parts[0] == "tex1d";
  if (parts.size() < 3) {
    return fail("a texture has a type and a size", where, "write tex2d:f32:64x32:ramp or tex1d:f32:256:rand:linear");
  }
  ptx::Texture texture;
  const std::vector<std::string> type = split(parts[1], 'x', 2), sides = split(parts[2], 'x', 2);
  if (type.size() == 2) {
    if (type[1] != "2" && type[1] != "4")
      return fail(shown_word(parts[1], 40) + " is no type of texels", where, "write f32, f32x2 or f32x4");
    texture.channels = type[1] == "2" ? 2 : 4;
  }
  if (sides.size() != (flat ? 1U : 2U)) {
    return fail(shown_word(parts[2], 40) + " is no size of a texture", where,
                flat ? "write tex1d:f32:256" : "write tex2d:f32:64x32");
  }
  const Result<std::uint32_t> width = texture_side(sides[0], where);
  if (!width) return tl::unexpected(width.error());
  texture.width = *width;
  if (!flat) {
    const Result<std::uint32_t> height = texture_side(sides[1], where);
    if (!height) return tl::unexpected(height.error());
    texture.height = *height;
  }
  const std::uint64_t values = std::uint64_t{texture.width} * std::max(texture.height, 1U) * texture.channels;
  std::string buffer = fmt::format("buf:{}:{}", type[0], values);
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (!take_texture_option(parts[i], texture)) buffer += ":" + parts[i];
  }
  Result<PtxArgument> made = parse_buffer(buffer, std::move(out), where);
  if (!made) return made;
  texture.type = made->type;
  made->texture = texture;
  return made;
}

/// A mixing function of 64 bits (Steele, Lea and Flood's splitmix64).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

double random_value(const PtxArgument& a, std::uint64_t bits) {
  const double unit = static_cast<double>(bits >> 11U) * 0x1p-53;
  if (is_float(a.type)) return unit * (a.fill_number > 0 ? a.fill_number : 1);
  if (a.fill_number > 0) return std::floor(unit * a.fill_number);
  return static_cast<double>(bits >> 32U);
}

double fill_value(const PtxArgument& a, std::size_t place, std::uint64_t i) {
  switch (a.fill) {
    case PtxArgument::Fill::ramp:
      return a.fill_number * static_cast<double>(i);
    case PtxArgument::Fill::random:
      return random_value(a, mixed(i + (static_cast<std::uint64_t>(place) << 40U)));
    case PtxArgument::Fill::constant:
      return a.fill_number;
    default:
      return 0;
  }
}

/// One cycle through all places, in an order that nothing foresees (Sattolo's shuffle).
Result<int> write_cycle(const PtxArgument& a, std::uint64_t address, ptx::DeviceMemory& memory) {
  constexpr std::uint64_t most = 1U << 26U;
  if (is_float(a.type) || ptx::bytes_of(a.type) < 4 || a.count > most) {
    return fail("a cycle needs whole numbers of 32 or 64 bits, at most 64M of them", a.name,
                "write buf:u32:65536:cycle");
  }
  std::vector<std::uint32_t> order(a.count);
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::uint64_t i = a.count - 1; i > 0; --i) std::swap(order[i], order[mixed(i) % i]);
  const std::size_t size = ptx::bytes_of(a.type);
  std::vector<std::byte> bytes(order.size() * size);
  for (std::size_t i = 0; i < order.size(); ++i) put_value(a.type, order[i], bytes.data() + i * size);
  if (const Result<void> ok = memory.write(address, bytes); !ok) return tl::unexpected(ok.error());
  return 0;
}

Result<int> write_file(const PtxArgument& a, std::uint64_t address, ptx::DeviceMemory& memory) {
  const Result<MappedFile> file = MappedFile::open(a.file);
  if (!file) return tl::unexpected(file.error());
  const std::string_view text = file->text();
  const std::uint64_t wanted = a.count * ptx::bytes_of(a.type);
  if (text.size() != wanted) {
    return fail(fmt::format("has {} bytes, the buffer {}", text.size(), wanted), a.file,
                fmt::format("give a file of {} raw values of {}", a.count, ptx::name_of(a.type)));
  }
  if (const Result<void> ok = memory.write(address, std::as_bytes(std::span(text.data(), text.size()))); !ok) {
    return tl::unexpected(ok.error());
  }
  return 0;
}

Result<int> write_values(const PtxArgument& a, std::size_t place, std::uint64_t address, ptx::DeviceMemory& memory) {
  constexpr std::uint64_t at_once = 1U << 16U;
  const std::size_t size = ptx::bytes_of(a.type);
  std::vector<std::byte> bytes;
  for (std::uint64_t first = 0; first < a.count; first += at_once) {
    const std::uint64_t count = std::min(at_once, a.count - first);
    bytes.assign(count * size, std::byte{0});
    if (a.fill != PtxArgument::Fill::zero) {
      for (std::uint64_t i = 0; i < count; ++i) {
        put_value(a.type, fill_value(a, place, first + i), bytes.data() + i * size);
      }
    }
    if (const Result<void> ok = memory.write(address + first * size, bytes); !ok) return tl::unexpected(ok.error());
  }
  return 0;
}

Result<std::vector<std::byte>> hex_bytes(const std::string& text, const std::string& where) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    char* end = nullptr;
    const std::string pair = text.substr(i, 2);
    const unsigned long value = std::strtoul(pair.c_str(), &end, 16);
    if (*end != '\0' || pair[0] == '-' || pair[0] == '+') return fail(pair + " is no byte in hex", where);
    out.push_back(static_cast<std::byte>(value));
  }
  if (text.size() % 2 != 0 || out.empty())
    return fail("has no whole bytes", where, "write two digits a byte: hex:0102");
  return out;
}

/// Whole numbers of 64 bits exactly, with sign and any base of C.
std::optional<std::uint64_t> exact_whole(const std::string& text) {
  if (text.empty() || text.find_first_of(" \t\n") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const bool negative = text.front() == '-';
  const std::uint64_t value =
      negative ? static_cast<std::uint64_t>(std::strtoll(text.c_str(), &end, 0)) : std::strtoull(text.c_str(), &end, 0);
  if (errno != 0 || *end != '\0' || end == text.c_str()) return std::nullopt;
  return value;
}

bool fits(std::uint64_t bits, bool negative, Type type) {
  const std::size_t size = ptx::bytes_of(type);
  if (size >= 8) return true;
  const std::uint64_t most = (std::uint64_t{1} << (8 * size)) - 1;
  return negative ? static_cast<std::int64_t>(bits) >= -(std::int64_t{1} << (8 * size - 1)) : bits <= most;
}

Type type_of_bytes(std::uint64_t bytes) {
  return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : bytes == 8 ? Type::b64 : Type::none;
}

Result<std::vector<std::byte>> scalar_bytes(const std::string& value, Type type, const std::string& where) {
  if (type == Type::f16x2 || type == Type::bf16x2) {
    Result<std::vector<std::byte>> half = scalar_bytes(value, type == Type::f16x2 ? Type::f16 : Type::bf16, where);
    if (half) half->insert(half->end(), {(*half)[0], (*half)[1]});
    return half;
  }
  std::vector<std::byte> out(ptx::bytes_of(type));
  if (out.empty() || out.size() > 8) {
    return fail("a value of this type cannot be given as a number", where, "give its bytes: hex:0011…");
  }
  if (is_float(type)) {
    const std::optional<double> number = plain_number(value);
    if (!number) return fail(shown_word(value, 40) + " is not a number", where, "give one, for example 2.5");
    put_value(type, *number, out.data());
    return out;
  }
  std::optional<std::uint64_t> whole = exact_whole(value);
  if (const Result<double> count = units::parse_count(value); !whole && count && *count == std::floor(*count)) {
    constexpr double exact = 9007199254740992.0;                     // 2^53
    if (*count < exact) whole = static_cast<std::uint64_t>(*count);  // 1M
  }
  if (!whole) return fail(shown_word(value, 40) + " is not a whole number", where, "give one, for example 5");
  if (!fits(*whole, value.front() == '-', type)) {
    return fail(fmt::format("{} does not fit into {} bits", shown_word(value, 40), 8 * out.size()), where);
  }
  std::memcpy(out.data(), &*whole, out.size());
  return out;
}

}  // namespace

Result<PtxArgument> parse_ptx_argument(const std::string& word, std::size_t place) {
  PtxArgument out;
  std::string text = word;
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && is_name(word.substr(0, equals))) {
    out.name = word.substr(0, equals);
    text = word.substr(equals + 1);
  } else {
    out.name = std::to_string(place);
  }
  const std::string where = "--arg " + shown_word(word);
  if (text.starts_with("buf:") || text == "buf") return parse_buffer(text, std::move(out), where);
  if (text.starts_with("tex1d:") || text.starts_with("tex2d:")) return parse_texture(text, std::move(out), where);
  const std::size_t colon = text.find(':');
  out.value = colon == std::string::npos ? text : text.substr(colon + 1);
  if (out.value.empty()) return fail("has no value", where, "write i32:5, f32:2.5 or buf:f32:1024");
  if (colon == std::string::npos) return out;
  const std::string type = text.substr(0, colon);
  if (type == "hex") {
    out.value = text;
    return out;
  }
  const std::optional<Type> known = value_type(type);
  if (!known || ptx::bytes_of(*known) == 0) {
    return fail(shown_word(type, 40) + " is no type", where,
                fmt::format("give one of {}, f16x2, hex, or buf:…", type_words));
  }
  out.type = *known;
  return out;
}

Result<std::vector<std::byte>> encode_scalar(const PtxArgument& argument, const ptx::Variable& parameter) {
  const std::string where = "--arg " + argument.name;
  Result<std::vector<std::byte>> bytes;
  if (argument.value.starts_with("hex:")) {
    bytes = hex_bytes(argument.value.substr(4), where);
  } else {
    const bool one_value = parameter.dimensions.empty();
    const Type own = one_value ? parameter.type : type_of_bytes(parameter.bytes);
    bytes = scalar_bytes(argument.value, argument.type == Type::none ? own : argument.type, where);
  }
  if (bytes && bytes->size() != parameter.bytes) {
    return fail(
        fmt::format("has {} bytes, the parameter {} of the kernel {}", bytes->size(), parameter.name, parameter.bytes),
        where, "give the type of the parameter; corridor ptx inspect lists them");
  }
  return bytes;
}

Result<std::uint64_t> make_buffer(const PtxArgument& argument, std::size_t place, ptx::DeviceMemory& memory) {
  Result<std::uint64_t> address = memory.allocate(argument.count * ptx::bytes_of(argument.type), argument.name);
  if (!address || argument.fill == PtxArgument::Fill::none) return address;
  const Result<int> written = argument.fill == PtxArgument::Fill::cycle ? write_cycle(argument, *address, memory)
                              : argument.fill == PtxArgument::Fill::file
                                  ? write_file(argument, *address, memory)
                                  : write_values(argument, place, *address, memory);
  if (!written) return tl::unexpected(written.error());
  return address;
}

Result<std::uint64_t> make_texture(const PtxArgument& argument, std::uint64_t buffer, ptx::DeviceMemory& memory) {
  ptx::Texture texture = argument.texture.value_or(ptx::Texture{});
  texture.address = buffer;
  return memory.add_texture(texture);
}

}  // namespace corridor::app
