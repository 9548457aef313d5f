// SPDX-License-Identifier: Apache-2.0
// Reads buffers of the simulated device back and compares them.
#include "corridor/app/ptx_case_check.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "corridor/app/ptx_case_arguments.h"
#include "corridor/base/file.h"
#include "corridor/base/nearest.h"

namespace corridor::app {
namespace {

Result<std::vector<std::byte>> bytes_of_buffer(const PtxBuffer& buffer, const ptx::DeviceMemory& memory,
                                               std::uint64_t values) {
  std::vector<std::byte> bytes(values * ptx::bytes_of(buffer.type));
  if (const Result<void> ok = memory.read(buffer.address, bytes); !ok) return tl::unexpected(ok.error());
  return bytes;
}

bool is_text(const std::string& file) {
  return file.ends_with(".txt") || file.ends_with(".csv") || file.ends_with(".json");
}

/// Numbers apart by spaces, commas and brackets, as values of the type.
Result<std::vector<std::byte>> numbers_of(std::string_view text, const PtxBuffer& buffer, const std::string& file) {
  std::vector<std::byte> out;
  const std::size_t size = ptx::bytes_of(buffer.type);
  constexpr std::string_view between = " \t\r\n,;[]";
  for (std::size_t at = text.find_first_not_of(between); at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    const std::string word(text.substr(at, end - at));
    char* rest = nullptr;
    const double number = std::strtod(word.c_str(), &rest);
    if (*rest != '\0') return fail(shown_word(word, 40) + " is not a number", file);
    out.resize(out.size() + size);
    put_value(buffer.type, number, out.data() + out.size() - size);
    if (!is_float(buffer.type) && std::fabs(number) > 9007199254740992.0) {  // a double no longer tells neighbours
      const std::uint64_t exact = word.front() == '-'
                                      ? static_cast<std::uint64_t>(std::strtoll(word.c_str(), nullptr, 10))
                                      : std::strtoull(word.c_str(), nullptr, 10);
      std::memcpy(out.data() + out.size() - size, &exact, size);
    }
    at = text.find_first_not_of(between, end);
  }
  return out;
}

}  // namespace

Result<int> look_at(PtxBuffer& buffer, const ptx::DeviceMemory& memory) {
  constexpr std::uint64_t shown = 4;
  const Result<std::vector<std::byte>> bytes = bytes_of_buffer(buffer, memory, std::min(shown, buffer.count));
  if (!bytes) return tl::unexpected(bytes.error());
  const std::size_t size = ptx::bytes_of(buffer.type);
  for (std::size_t at = 0; at < bytes->size(); at += size)
    buffer.first.push_back(value_of(buffer.type, bytes->data() + at));
  return 0;
}

Result<int> dump_buffer(const PtxBuffer& buffer, const std::string& file, const ptx::DeviceMemory& memory) {
  const Result<std::vector<std::byte>> bytes = bytes_of_buffer(buffer, memory, buffer.count);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto written = write_text_file(file, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!written) return tl::unexpected(written.error());
  return 0;
}

Result<PtxCheck> compare_buffer(const PtxBuffer& buffer, const std::string& file, double tolerance,
                                const ptx::DeviceMemory& memory) {
  const Result<MappedFile> mapped = MappedFile::open(file);
  if (!mapped) return tl::unexpected(mapped.error());
  Result<std::vector<std::byte>> wanted = std::vector<std::byte>{};
  if (is_text(file)) {
    wanted = numbers_of(mapped->text(), buffer, file);
  } else {
    const auto raw = std::as_bytes(std::span(mapped->text().data(), mapped->text().size()));
    wanted->assign(raw.begin(), raw.end());
  }
  if (!wanted) return tl::unexpected(wanted.error());
  const std::size_t size = ptx::bytes_of(buffer.type);
  if (wanted->size() != buffer.count * size) {
    return fail(
        fmt::format("has {} bytes of values, the buffer {} has {}", wanted->size(), buffer.name, buffer.count * size),
        file, fmt::format("give {} values of {}", buffer.count, ptx::name_of(buffer.type)));
  }
  const Result<std::vector<std::byte>> got = bytes_of_buffer(buffer, memory, buffer.count);
  if (!got) return tl::unexpected(got.error());
  PtxCheck out{buffer.name, file, buffer.count, 0, 0, {}};
  for (std::uint64_t i = 0; i < buffer.count; ++i) {
    const std::byte* a = got->data() + i * size;
    const std::byte* b = wanted->data() + i * size;
    if (std::memcmp(a, b, size) == 0) continue;
    const double have = value_of(buffer.type, a), want = value_of(buffer.type, b);
    if (std::isnan(have) && std::isnan(want)) continue;
    const double error = std::fabs(have - want) / std::max(1.0, std::fabs(want));
    if (!(error <= out.largest_error)) out.largest_error = error;
    if (error <= tolerance && tolerance > 0) continue;
    if (out.different++ == 0) out.first_difference = fmt::format("[{}] is {:.9g}, expected {:.9g}", i, have, want);
  }
  return out;
}

}  // namespace corridor::app
