// SPDX-License-Identifier: Apache-2.0
// Loads and stores of every space, and conversions of addresses.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "corridor/ptx/functional/handlers.h"
#include "corridor/ptx/functional/memory_access.h"

namespace corridor::ptx {
namespace {

using Shape = LaneAddresses::Shape;

const std::uint32_t* slots_of(const Exec& x, const Op& op) {
  return op.count == 1 ? &op.d : x.block->program().slots.data() + op.extra;
}

template <class T>
T value_at(const std::uint8_t* p) {
  T out;
  std::memcpy(&out, p, sizeof out);
  return out;
}

/// Lanes of one element: `step` bytes from lane to lane at `base`, or where `host` says.
template <class Element, class Row>
void take_lanes(Row* row, const HostLanes& host, Shape shape, std::uint32_t first, std::uint32_t step,
                std::uint32_t offset, std::uint32_t mask) {
  const auto widen = [](Element e) { return static_cast<Row>(static_cast<std::make_signed_t<Row>>(e)); };
  if (host.base != nullptr && shape == Shape::uniform) {
    const Row value = widen(value_at<Element>(host.base + offset));
    if (mask == all_lanes) {
      std::fill_n(row, 32, value);
    } else {
      for (std::uint32_t lane = 0; lane < 32; ++lane) row[lane] = ((mask >> lane) & 1) != 0 ? value : row[lane];
    }
    return;
  }
  if (host.base != nullptr) {
    const std::uint8_t* const base = host.base + offset;
    if (mask == all_lanes && sizeof(Element) == sizeof(Row) && step == sizeof(Row)) {
      std::memcpy(row, base, 32 * sizeof(Row));
      return;
    }
    if (mask == all_lanes) {
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        row[lane] = widen(value_at<Element>(base + std::size_t{lane} * step));
      return;
    }
    for (; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
      row[lane] = widen(value_at<Element>(base + std::size_t{lane - first} * step));
    }
    return;
  }
  if (mask == all_lanes) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) row[lane] = widen(value_at<Element>(host.of[lane] + offset));
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    row[lane] = widen(value_at<Element>(host.of[lane] + offset));
  }
}

template <class Element, class Row>
void put_lanes(const Row* row, const HostLanes& host, Shape shape, std::uint32_t first, std::uint32_t step,
               std::uint32_t offset, std::uint32_t mask) {
  if (host.base != nullptr && shape == Shape::row && mask == all_lanes && sizeof(Element) == sizeof(Row) &&
      step == sizeof(Row)) {
    std::memcpy(host.base + offset, row, 32 * sizeof(Row));
    return;
  }
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const auto value = static_cast<Element>(row[lane]);
    std::uint8_t* const to = host.base == nullptr      ? host.of[lane]
                             : shape == Shape::uniform ? host.base
                                                       : host.base + std::size_t{lane - first} * step;
    std::memcpy(to + offset, &value, sizeof value);
  }
}

template <class Row>
void take_element(Row* row, const Op& op, const HostLanes& host, const LaneAddresses& a, std::uint32_t offset,
                  std::uint32_t mask) {
  const std::uint32_t step = std::uint32_t{op.bytes} * op.count;
  const bool sign = (op.flags & access::sign) != 0;
  switch (op.bytes) {
    case 1:
      return sign ? take_lanes<std::int8_t>(row, host, a.shape, a.first_lane, step, offset, mask)
                  : take_lanes<std::uint8_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    case 2:
      return sign ? take_lanes<std::int16_t>(row, host, a.shape, a.first_lane, step, offset, mask)
                  : take_lanes<std::uint16_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    case 4:
      return sign ? take_lanes<std::int32_t>(row, host, a.shape, a.first_lane, step, offset, mask)
                  : take_lanes<std::uint32_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    default:
      if constexpr (sizeof(Row) == 8) take_lanes<std::uint64_t>(row, host, a.shape, a.first_lane, step, offset, mask);
  }
}

template <class Row>
void put_element(const Row* row, const Op& op, const HostLanes& host, const LaneAddresses& a, std::uint32_t offset,
                 std::uint32_t mask) {
  const std::uint32_t step = std::uint32_t{op.bytes} * op.count;
  switch (op.bytes) {
    case 1:
      return put_lanes<std::uint8_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    case 2:
      return put_lanes<std::uint16_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    case 4:
      return put_lanes<std::uint32_t>(row, host, a.shape, a.first_lane, step, offset, mask);
    default:
      if constexpr (sizeof(Row) == 8) put_lanes<std::uint64_t>(row, host, a.shape, a.first_lane, step, offset, mask);
  }
}

void take(Exec& x, const Op& op, const HostLanes& host, const LaneAddresses& a, std::uint32_t mask) {
  const std::uint32_t* const slots = slots_of(x, op);
  for (std::uint32_t i = 0; i < op.count; ++i) {
    if ((op.flags & access::wide_rows) != 0) {
      take_element(row64(x, slots[i]), op, host, a, i * op.bytes, mask);
    } else {
      take_element(row32(x, slots[i]), op, host, a, i * op.bytes, mask);
    }
  }
}
void put(Exec& x, const Op& op, const HostLanes& host, const LaneAddresses& a, std::uint32_t mask) {
  const std::uint32_t* const slots = slots_of(x, op);
  for (std::uint32_t i = 0; i < op.count; ++i) {
    if ((op.flags & access::wide_rows) != 0) {
      put_element(row64(x, slots[i]), op, host, a, i * op.bytes, mask);
    } else {
      put_element(row32(x, slots[i]), op, host, a, i * op.bytes, mask);
    }
  }
}

std::uint32_t bytes_of_access(const Op& op) {
  return std::uint32_t{op.bytes} * op.count;
}

void addresses_of(const Exec& x, const Op& op, LaneAddresses& out) {
  static const LaneKernels& kernels = lane_kernels();
  kernels.addresses(x.frame + op.a, (op.flags & access::narrow_base) != 0, op.offset, x.mask, bytes_of_access(op), out);
}

/// A load into registers narrower than what is moved keeps the value's low part: 16-bit registers stay 16 bits wide.
using Reach = bool (*)(Exec&, const LaneAddresses&, std::uint32_t, std::uint32_t, Touch, std::uint16_t, HostLanes&);
template <Reach reach>
void load(Exec& x, const Op& op) {
  LaneAddresses a;
  HostLanes host;
  addresses_of(x, op, a);
  if (reach(x, a, x.mask, bytes_of_access(op), Touch::load, op.flags, host)) take(x, op, host, a, x.mask);
}
template <Reach reach>
void store(Exec& x, const Op& op) {
  LaneAddresses a;
  HostLanes host;
  addresses_of(x, op, a);
  if (reach(x, a, x.mask, bytes_of_access(op), Touch::store, op.flags, host)) put(x, op, host, a, x.mask);
}

/// Kernel parameters, by generic address.
bool reach_parameters(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes,
                      HostLanes& host) {
  const auto& parameters = x.block->launch().parameters;
  host.base = nullptr;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t at = address.of[lane];
    if (at >= parameters.size() || bytes > parameters.size() - at) {
      x.block->fault(
          x, Fault::Kind::out_of_bounds, lane,
          fmt::format("parameter address 0x{:x} is beyond the {} bytes of the parameters", at, parameters.size()), at,
          "parameters");
      return false;
    }
    host.of[lane] = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(parameters.data())) + at;
  }
  return true;
}

template <bool is_load>
void generic(Exec& x, const Op& op) {
  LaneAddresses all;
  addresses_of(x, op, all);
  constexpr Touch touch = is_load ? Touch::load : Touch::store;
  const auto window_of = [](std::uint64_t address) {
    return address >= shared_window && address < function_window ? address / shared_window : 0;
  };
  std::uint32_t left = x.mask;
  while (left != 0 && x.event == Event::none) {
    const std::uint64_t window = window_of(all.of[std::countr_zero(left)]);
    std::uint32_t lanes = left;
    if (window_of(all.least) != window || window_of(all.most) != window) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if (window_of(all.of[lane]) != window) lanes &= ~(1U << lane);
      }
    }
    left &= ~lanes;
    LaneAddresses a;
    static const LaneKernels& kernels = lane_kernels();
    const std::uint64_t start = window * shared_window;
    kernels.addresses(all.of, false, -static_cast<std::int64_t>(start), lanes, bytes_of_access(op), a);
    HostLanes host;
    bool reached = false;
    switch (window) {
      case 0:
        reached = reach_global(x, a, lanes, bytes_of_access(op), touch, op.flags, host);
        break;
      case 1:
        reached = reach_shared(x, a, lanes, bytes_of_access(op), touch, op.flags, host);
        break;
      case 2:
        reached = reach_local(x, a, lanes, bytes_of_access(op), touch, op.flags, host);
        break;
      default:
        if (is_load) {
          reached = reach_parameters(x, a, lanes, bytes_of_access(op), host);
        } else {
          x.block->fault(x, Fault::Kind::out_of_bounds, a.first_lane, "parameters of a kernel cannot be written",
                         a.least, "parameters");
        }
    }
    if (!reached) return;
    if (is_load) {
      take(x, op, host, a, lanes);
    } else {
      put(x, op, host, a, lanes);
    }
  }
}

}  // namespace

void load_global(Exec& x, const Op& op) {
  load<reach_global>(x, op);
}
void load_shared(Exec& x, const Op& op) {
  load<reach_shared>(x, op);
}
void load_local(Exec& x, const Op& op) {
  load<reach_local>(x, op);
}
void load_generic(Exec& x, const Op& op) {
  generic<true>(x, op);
}
void store_global(Exec& x, const Op& op) {
  store<reach_global>(x, op);
}
void store_shared(Exec& x, const Op& op) {
  store<reach_shared>(x, op);
}
void store_local(Exec& x, const Op& op) {
  store<reach_local>(x, op);
}
void store_generic(Exec& x, const Op& op) {
  generic<false>(x, op);
}

void load_parameter(Exec& x, const Op& op) {
  const auto& parameters = x.block->launch().parameters;
  const std::uint32_t bytes = bytes_of_access(op);
  const auto at = static_cast<std::uint64_t>(op.offset);
  if (at >= parameters.size() || bytes > parameters.size() - at) {
    return x.block->fault(
        x, Fault::Kind::out_of_bounds, static_cast<std::uint32_t>(std::countr_zero(x.mask)),
        fmt::format("parameter byte {} is beyond the {} bytes of the parameters", at, parameters.size()), at,
        "parameters");
  }
  HostLanes host;
  host.base = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(parameters.data())) + at;
  LaneAddresses a;
  a.shape = Shape::uniform;
  take(x, op, host, a, x.mask);
}

void prefetch(Exec& /*x*/, const Op& /*op*/) {}

void to_generic(Exec& x, const Op& op) {
  const std::uint64_t* const a = row64(x, op.a);
  std::uint64_t* const d = row64(x, op.d);
  const auto add = static_cast<std::uint64_t>(op.offset);
  if (x.mask == all_lanes) {
    for (int lane = 0; lane < 32; ++lane) d[lane] = a[lane] + add;
    return;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) d[lane] = ((x.mask >> lane) & 1) != 0 ? a[lane] + add : d[lane];
}

void is_space(Exec& x, const Op& op) {
  const auto window = static_cast<std::uint64_t>(op.offset);
  std::uint32_t out = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint64_t a = row64(x, op.a)[lane];
    const bool special = a >= shared_window && a < function_window;
    const bool hit = window == 0 ? !special : a >= window && a - window < shared_window;
    out |= static_cast<std::uint32_t>(hit) << lane;
  }
  set_predicate(x, op.d, out);
}

void pack(Exec& x, const Op& op) {
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  const unsigned bits = 8U * op.bytes;
  const std::uint64_t ones = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  alignas(64) std::uint64_t out[32] = {};
  for (std::uint32_t i = 0; i < op.count; ++i) {
    const std::uint32_t* const part = row32(x, slots[i]);
    for (int lane = 0; lane < 32; ++lane) out[lane] |= (part[lane] & ones) << (i * bits);
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((x.mask >> lane) & 1) == 0) continue;
    if ((op.flags & access::wide_rows) != 0) {
      row64(x, op.d)[lane] = out[lane];
    } else {
      row32(x, op.d)[lane] = static_cast<std::uint32_t>(out[lane]);
    }
  }
}

void unpack(Exec& x, const Op& op) {
  const std::uint32_t* const slots = x.block->program().slots.data() + op.extra;
  const unsigned bits = 8U * op.bytes;
  const std::uint64_t ones = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  alignas(64) std::uint64_t in[32];
  for (int lane = 0; lane < 32; ++lane) {
    in[lane] = (op.flags & access::wide_rows) != 0 ? row64(x, op.a)[lane] : row32(x, op.a)[lane];
  }
  for (std::uint32_t i = 0; i < op.count; ++i) {
    std::uint32_t* const part = row32(x, slots[i]);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const auto v = static_cast<std::uint32_t>((in[lane] >> (i * bits)) & ones);
      part[lane] = ((x.mask >> lane) & 1) != 0 ? v : part[lane];
    }
  }
}

}  // namespace corridor::ptx
