// SPDX-License-Identifier: Apache-2.0
// Directives of a function beside its instructions: limits for the compiler, source places, pragmas.
#include <limits>

#include "corridor/ptx/syntax/body_reader.h"
#include "corridor/ptx/syntax/variable.h"

namespace corridor::ptx {
namespace {

/// "256" or "16, 16, 1": their product.
bool read_product(TokenReader& reader, std::optional<std::uint32_t>& out) {
  std::uint64_t product = 1;
  do {
    std::uint32_t count = 0;
    if (!reader.expect_count(count, "a number of threads, blocks or registers")) return false;
    product *= count;
    if (product > std::numeric_limits<std::uint32_t>::max()) {
      return reader.error("a product of more than 32 bits", "write at most 1024 threads a block");
    }
  } while (reader.take(','));
  out = static_cast<std::uint32_t>(product);
  return true;
}

}  // namespace

bool read_performance_directive(TokenReader& reader, Function& function, bool& is_one) {
  is_one = reader.token().kind == Token::Kind::dot;
  if (!is_one) return true;
  const std::string_view word = reader.token().text;
  std::optional<std::uint32_t> ignored;
  std::optional<std::uint32_t>* value = nullptr;
  if (word == "maxntid") value = &function.max_threads;
  if (word == "reqntid") value = &function.required_threads;
  if (word == "minnctapersm") value = &function.min_blocks_per_sm;
  if (word == "maxnreg") value = &function.max_registers;
  if (word == "reqnctapercluster") value = &function.cluster_blocks;
  if (word == "maxclusterrank" || word == "maxnctapersm" || word == "abi_preserve" || word == "abi_preserve_control") {
    value = &ignored;
  }
  if (value != nullptr) {
    reader.advance();
    return read_product(reader, *value);
  }
  if (word == "explicitcluster" || word == "blocksareclusters" || word == "noreturn" || word == "unique") {
    reader.advance();
    return true;
  }
  if (word == "pragma") {
    reader.advance();
    return skip_pragma(reader);
  }
  if (word == "attribute") {
    reader.advance();
    return skip_attribute(reader);
  }
  return reader.expected("'{' or a directive of a function");
}

bool skip_pragma(TokenReader& reader) {
  do {
    if (reader.token().kind != Token::Kind::string) return reader.expected("a string");
    reader.advance();
  } while (reader.take(','));
  return reader.expect(';');
}

bool read_location(TokenReader& reader, SourceLine& out) {
  std::uint32_t column = 0;
  if (!reader.expect_count(out.file, "a file number") || !reader.expect_count(out.line, "a line number") ||
      !reader.expect_count(column, "a column")) {
    return false;
  }
  while (reader.take(',')) {
    std::string_view word;
    if (!reader.expect_word(word, "function_name or inlined_at")) return false;
    if (word == "inlined_at") {
      SourceLine caller;
      if (!reader.expect_count(caller.file, "a file number") || !reader.expect_count(caller.line, "a line number") ||
          !reader.expect_count(column, "a column")) {
        return false;
      }
      continue;
    }
    if (word != "function_name")
      return reader.error("an unknown part of .loc", "function_name and inlined_at are known");
    std::string_view label;
    if (!reader.expect_word(label, "a label")) return false;
    std::uint64_t offset = 0;
    if (reader.token().is('+') && !reader.integer(offset, "an offset")) return false;
  }
  return true;
}

}  // namespace corridor::ptx
