// SPDX-License-Identifier: Apache-2.0
// Formats what a kernel prints. Arguments lie in a buffer as the compiler lays them out: each at its own alignment.
#include "corridor/ptx/functional/print.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "corridor/ptx/functional/block_run.h"

namespace corridor::ptx {
namespace {

constexpr std::size_t most_printed = 1U << 20, longest_string = 4096;

/// Bytes at a generic address of one lane; false outside.
bool read_bytes(const Exec& x, std::uint32_t lane, std::uint64_t address, std::uint64_t bytes, void* out) {
  if (address >= local_window && address < parameter_window) {
    const std::uint64_t at = address - local_window;
    if (at >= x.warp->local_capacity || bytes > x.warp->local_capacity - at) return false;
    std::memcpy(out, x.warp->local.data() + std::size_t{lane} * x.warp->local_capacity + at, bytes);
    return true;
  }
  if (address >= shared_window && address < local_window) {
    const auto shared = x.block->shared();
    const std::uint64_t at = address - shared_window;
    if (at >= shared.size() || bytes > shared.size() - at) return false;
    std::memcpy(out, shared.data() + at, bytes);
    return true;
  }
  const Allocation* const a = x.block->launch().memory->find(address);
  if (a == nullptr || bytes > a->bytes - (address - a->address)) return false;
  std::memcpy(out, a->data.get() + (address - a->address), bytes);
  return true;
}

std::string read_string(const Exec& x, std::uint32_t lane, std::uint64_t address) {
  std::string out;
  char c = 0;
  while (out.size() < longest_string && read_bytes(x, lane, address + out.size(), 1, &c) && c != '\0') out += c;
  return out;
}

/// Where the local variables of the running function start.
std::size_t local_base(const Exec& x) {
  for (auto group = x.warp->groups.rbegin(); group != x.warp->groups.rend(); ++group) {
    if (group->mask == x.active) return x.warp->calls[group->call].local;
  }
  return 0;
}

/// The value that a lane passes as argument i.
std::uint64_t argument(const Exec& x, const Call& call, std::size_t i, std::uint32_t lane) {
  if (i >= call.arguments.size()) return 0;
  const Passed& p = call.arguments[i];
  std::uint64_t value = 0;
  const std::size_t bytes = std::min<std::size_t>(p.bytes, 8);
  if (p.in_row) {
    std::memcpy(&value, x.frame + p.caller + lane * (p.width == Width::row64 ? 8 : 4), p.width == Width::row64 ? 8 : 4);
    return value;
  }
  const std::size_t at = std::size_t{lane} * x.warp->local_capacity + local_base(x) + p.caller;
  if (at + bytes <= x.warp->local.size()) std::memcpy(&value, x.warp->local.data() + at, bytes);
  return value;
}

/// One conversion such as "%-8.3f": its length in the format, and its text.
class Formatter {
 public:
  Formatter(const Exec& x, std::uint32_t lane, std::uint64_t buffer) : x_(x), lane_(lane), buffer_(buffer) {}

  std::string all(const std::string& format) {
    std::string out;
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] != '%') {
        out += format[i++];
      } else if (i + 1 < format.size() && format[i + 1] == '%') {
        out += '%';
        i += 2;
      } else {
        i += one(format.substr(i), out);
      }
    }
    return out;
  }

 private:
  template <class T>
  T next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    (void)read_bytes(x_, lane_, buffer_ + at_, sizeof(T), &value);
    at_ += sizeof(T);
    return value;
  }

  std::size_t one(const std::string& rest, std::string& out) {
    std::size_t end = 1;
    std::string spec = "%";
    int limit = 0;
    for (; end < rest.size() && std::strchr("-+ #0123456789.*", rest[end]) != nullptr; ++end) {
      if (rest[end] == '*') {
        spec += std::to_string(std::clamp(next<std::int32_t>(), -200, 200));
      } else {
        spec += rest[end];
      }
      if (++limit > 16) return end;
    }
    // Widths beyond what a person reads are cut, so that a format cannot ask for gigabytes.
    if (spec.size() > 12) spec = "%";
    std::size_t digits = 0;
    for (const char c : spec) digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) spec = "%";
    int longs = 0;
    for (; end < rest.size() && std::strchr("hlLzjt", rest[end]) != nullptr; ++end) {
      longs += rest[end] == 'l' || rest[end] == 'z' || rest[end] == 'j' || rest[end] == 't' ? 1 : 0;
    }
    if (end >= rest.size()) return end;
    const char kind = rest[end++];
    char text[512] = {};
    switch (kind) {
      case 'd':
      case 'i':
        std::snprintf(
            text, sizeof text, (spec + "lld").c_str(),
            longs > 0 ? static_cast<long long>(next<std::int64_t>()) : static_cast<long long>(next<std::int32_t>()));
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        std::snprintf(text, sizeof text, (spec + "ll" + kind).c_str(),
                      longs > 0 ? static_cast<unsigned long long>(next<std::uint64_t>())
                                : static_cast<unsigned long long>(next<std::uint32_t>()));
        break;
      case 'c':
        std::snprintf(text, sizeof text, (spec + kind).c_str(), static_cast<int>(next<std::int32_t>() & 0x7F));
        break;
      case 'p':
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(next<std::uint64_t>()));
        break;
      case 's':
        out += read_string(x_, lane_, next<std::uint64_t>());
        return end;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        std::snprintf(text, sizeof text, (spec + kind).c_str(), next<double>());
        break;
      default:
        out += rest.substr(0, end);
        return end;
    }
    out += text;
    return end;
  }

  const Exec& x_;
  std::uint32_t lane_;
  std::uint64_t buffer_, at_ = 0;
};

}  // namespace

void print_formatted(Exec& x, const Call& call) {
  for (std::uint32_t left = x.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (x.block->printed.size() < most_printed) {
      const std::string format = read_string(x, lane, argument(x, call, 0, lane));
      x.block->printed += Formatter(x, lane, argument(x, call, 1, lane)).all(format);
    }
    for (const Passed& result : call.results) {
      const std::uint32_t value = 1;
      if (result.in_row) {
        row32(x, result.caller)[lane] = value;
        continue;
      }
      const std::size_t at = std::size_t{lane} * x.warp->local_capacity + local_base(x) + result.caller;
      std::memcpy(x.warp->local.data() + at, &value, std::min<std::size_t>(result.bytes, 4));
      if (x.block->checks()) std::memset(x.warp->local_written.data() + at, 1, std::min<std::size_t>(result.bytes, 4));
    }
  }
}

void report_assertion(Exec& x, const Call& call) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(x.mask));
  const std::string what = read_string(x, lane, argument(x, call, 0, lane));
  const std::string file = read_string(x, lane, argument(x, call, 1, lane));
  x.block->fault(
      x, Fault::Kind::trap, lane,
      fmt::format("assertion failed: {} ({}:{})", what, file, static_cast<std::uint32_t>(argument(x, call, 2, lane))));
}

}  // namespace corridor::ptx
