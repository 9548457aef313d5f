// SPDX-License-Identifier: Apache-2.0
// Initial values of variables: numbers, strings, addresses, nested braces.
#include "corridor/ptx/syntax/initializer.h"

#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace corridor::ptx {
namespace {

constexpr int deepest_braces = 16;
constexpr std::uint64_t largest_gaps = 4096;  // bytes that braces may leave open between the values of a variable

class InitializerReader {
 public:
  InitializerReader(TokenReader& reader, Variable& variable) : reader_(reader), variable_(variable) {}
  bool read();

 private:
  [[nodiscard]] std::uint64_t stride(std::size_t depth) const;
  bool group(std::size_t depth, std::uint64_t first);
  bool element(std::uint64_t offset);
  bool opaque_fields();
  bool address(std::uint64_t offset, std::uint64_t mask);
  bool address_name(Variable::Relocation& relocation);
  bool masked(const Variable::Relocation& whole, std::uint64_t mask);
  bool store_string(std::string_view text, std::uint64_t offset);
  bool store(std::uint64_t offset, std::uint64_t bits, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t element_bytes() const { return bytes_of(variable_.type); }
  TokenReader& reader_;
  Variable& variable_;
  std::uint64_t end_ = 0;   ///< of the last value
  std::uint64_t gaps_ = 0;  ///< bytes that were passed over
};

/// Bytes from one value of this depth to the next: depth 0 is the outermost dimension.
std::uint64_t InitializerReader::stride(std::size_t depth) const {
  std::uint64_t bytes = element_bytes();
  const std::size_t levels = variable_.dimensions.size() + (variable_.vector > 1 ? 1 : 0);
  if (depth + 1 >= levels) return bytes;
  bytes *= variable_.vector;
  for (std::size_t i = depth + 1; i < variable_.dimensions.size(); ++i) bytes *= variable_.dimensions[i];
  return bytes;
}

bool InitializerReader::read() {
  const bool is_array = !variable_.dimensions.empty() || variable_.vector > 1;
  if (element_bytes() == 0) return opaque_fields();
  if (reader_.token().kind == Token::Kind::string) {
    const std::string_view text = reader_.token().text;
    reader_.advance();
    if (!store_string(text, 0)) return false;
  } else if (reader_.take('{')) {
    if (!group(0, 0)) return false;
  } else if (is_array) {
    return reader_.expected("'{' before the values of an array");
  } else if (!element(0)) {
    return false;
  }
  if (!variable_.dimensions.empty() && variable_.dimensions[0] == 0) {
    const std::uint64_t step = variable_.dimensions.size() == 1 ? element_bytes() * variable_.vector : stride(0);
    variable_.dimensions[0] = step == 0 ? 0 : (end_ + step - 1) / step;
  }
  return true;
}

/// After '{': values or groups, to the closing brace.
bool InitializerReader::group(std::size_t depth, std::uint64_t first) {
  if (depth >= deepest_braces) return reader_.error("initial values are nested too deeply", "flatten them");
  const std::uint64_t step = stride(depth);
  std::uint64_t offset = first;
  if (reader_.take('}')) return true;
  do {
    if (reader_.token().kind == Token::Kind::string) {
      const std::string_view text = reader_.token().text;
      reader_.advance();
      if (!store_string(text, offset)) return false;
      offset += step;
    } else if (reader_.take('{')) {
      if (!group(depth + 1, offset)) return false;
      offset += step;
    } else {
      if (!element(offset)) return false;
      offset += element_bytes();
    }
  } while (reader_.take(','));
  return reader_.expect('}');
}

/// Of samplers and textures: {addr_mode_0 = wrap, filter_mode = linear}; read and left aside.
bool InitializerReader::opaque_fields() {
  if (!reader_.token().is('{')) return reader_.expected("'{'");
  return reader_.skip_block();
}

bool InitializerReader::element(std::uint64_t offset) {
  if (reader_.token().kind == Token::Kind::word && !reader_.token().is_word("WARP_SZ")) return address(offset, 0);
  const std::uint32_t line = reader_.token().line;
  Constant value;
  if (!reader_.constant(value)) return false;
  if (value.is_integer() && reader_.take('(')) {  // 0xFF00(name): one byte of an address
    return address(offset, value.bits) && reader_.expect(')');
  }
  if (value.kind == Constant::Kind::f64 && variable_.type == Type::f32) {
    double wide = 0;
    std::memcpy(&wide, &value.bits, sizeof wide);
    const auto narrow = static_cast<float>(wide);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    value.bits = bits;
  } else if (value.is_integer() && (variable_.type == Type::f32 || variable_.type == Type::f64)) {
    return reader_.error("an integer as initial value of a float", "write 0f… or 0d…, or a decimal point", line);
  }
  return store(offset, value.bits, element_bytes());
}

/// "name" or "generic(name)".
bool InitializerReader::address_name(Variable::Relocation& relocation) {
  std::string_view name;
  if (!reader_.expect_word(name, "the name of a variable or function")) return false;
  relocation.generic = name == "generic" && reader_.take('(');
  if (relocation.generic && !reader_.expect_word(name, "the name of a variable or function")) return false;
  relocation.name = name;
  return !relocation.generic || reader_.expect(')');
}

bool InitializerReader::address(std::uint64_t offset, std::uint64_t mask) {
  Variable::Relocation relocation;
  relocation.offset = offset;
  if (!address_name(relocation)) return false;
  if (reader_.token().is('+') || reader_.token().is('-')) {
    std::uint64_t addend = 0;
    if (!reader_.integer(addend, "what is added to an address")) return false;
    relocation.addend = static_cast<std::int64_t>(addend);
  }
  if (mask != 0) return masked(relocation, mask);
  if (element_bytes() != 4 && element_bytes() != 8) {
    return reader_.error("an address as initial value of " + variable_.name, "use a type of 4 or 8 bytes");
  }
  relocation.bytes = static_cast<std::uint32_t>(element_bytes());
  variable_.relocations.push_back(std::move(relocation));
  return store(offset, 0, element_bytes());
}

/// Compilers write an address in an array of bytes as 0xFF(a), 0xFF00(a) … one byte after the other: one relocation.
bool InitializerReader::masked(const Variable::Relocation& whole, std::uint64_t mask) {
  std::uint64_t byte = 0;
  while (byte < 8 && mask != std::uint64_t{0xFF} << (8 * byte)) ++byte;
  const bool continues = byte > 0 && byte < 8 && !variable_.relocations.empty() &&
                         variable_.relocations.back().name == whole.name &&
                         variable_.relocations.back().offset + byte == whole.offset;
  if (element_bytes() != 1 || (byte != 0 && !continues)) {
    return reader_.error("a part of an address that does not follow the parts before it",
                         "write 0xFF(name), 0xFF00(name) … in order");
  }
  if (byte == 0) {
    variable_.relocations.push_back(whole);
    variable_.relocations.back().bytes = 1;
  } else {
    variable_.relocations.back().bytes = static_cast<std::uint32_t>(byte + 1);
  }
  return store(whole.offset, 0, 1);
}

bool InitializerReader::store_string(std::string_view text, std::uint64_t offset) {
  if (element_bytes() != 1) return reader_.error("a string as initial value of " + variable_.name, "use .b8");
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      ++i;
      c = text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i] == '0' ? '\0' : text[i];
    }
    if (!store(offset++, static_cast<unsigned char>(c), 1)) return false;
  }
  return store(offset, 0, 1);
}

bool InitializerReader::store(std::uint64_t offset, std::uint64_t bits, std::uint64_t bytes) {
  const bool open_ended = !variable_.dimensions.empty() && variable_.dimensions[0] == 0;
  if (!open_ended && offset + bytes > variable_.bytes) {
    return reader_.error(variable_.name + " has more initial values than it holds", "make the array longer");
  }
  if (offset > variable_.initial.size()) gaps_ += offset - variable_.initial.size();
  if (gaps_ > largest_gaps) {
    return reader_.error("initial values of " + variable_.name + " leave a large gap", "write the zeros out");
  }
  if (offset + bytes > variable_.initial.size()) variable_.initial.resize(offset + bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    variable_.initial[offset + i] = i < 8 ? static_cast<std::uint8_t>(bits >> (8 * i)) : std::uint8_t{0};
  }
  end_ = offset + bytes;
  return true;
}

}  // namespace

bool read_initializer(TokenReader& reader, Variable& variable) {
  return InitializerReader(reader, variable).read();
}

}  // namespace corridor::ptx
