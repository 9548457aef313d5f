// SPDX-License-Identifier: Apache-2.0
// Latency plus bytes; libraries change their protocol with size, engines bring kernels of their own for small buffers.
#include "corridor/roofline/collective_time.h"

#include <algorithm>
#include <vector>

namespace corridor::roofline {
namespace {

using graph::Collective;
using graph::Op;
using units::Bytes;
using units::BytesPerSecond;
using units::Seconds;

/// The smallest measured group that holds `ranks`, else the largest measured.
const AllReduceConstants& for_ranks(const std::vector<AllReduceConstants>& measured, double ranks) {
  for (const AllReduceConstants& c : measured) {
    if (c.ranks >= ranks) return c;
  }
  return measured.back();
}

/// A library sends small buffers in a protocol of low latency and low rate and large ones in one of high latency and
/// full rate, and takes the faster.
Seconds protocol_time(const TransferConstants& c, double traffic, double steps, BytesPerSecond rate) {
  const Bytes bytes{traffic};
  const Seconds latency{c.latency_s + c.step_latency_s * std::max(0.0, steps - 1)};
  const Seconds small = bytes / (rate * c.small_fraction);
  const Seconds large = Seconds{c.large_latency_s} + bytes / (rate * c.bandwidth_fraction);
  return latency + std::min(small, large);
}

/// Devices joined by PCI Express alone have no kernel of the engines' own beyond two ranks.
bool has_direct_link(const hardware::Device& device) {
  return device.link.bandwidth_per_direction.has_value() && device.link.kind.find("PCIe") == std::string::npos;
}

const TransferConstants& of_kind(const KernelConstants& constants, Collective collective) {
  switch (collective) {
    case Collective::all_gather:
      return constants.all_gather;
    case Collective::all_to_all:
      return constants.all_to_all;
    default:
      return constants.send_recv;
  }
}

Seconds all_reduce_time(const Op& op, const TimingContext& context, BytesPerSecond rate) {
  const KernelConstants& constants = context.constants;
  const AllReduceConstants& c = for_ranks(constants.all_reduce, op.ranks);
  const double n = op.ranks;
  const double bytes = op.payload.value();
  const double ring = 2 * (n - 1) / n;
  // What one launch from the host adds to a captured one.
  const double eager = context.graphs ? 0 : std::max(0.0, c.latency_eager_s - c.latency_graph_s);
  const bool direct = has_direct_link(context.device);
  const bool own_kernel = !context.library_all_reduce && (direct || n <= 2);
  if (!own_kernel || bytes > constants.custom_all_reduce_max_bytes) {
    const TransferConstants& library = direct ? c.ring : constants.pcie;
    return Seconds{eager} + protocol_time(library, bytes * ring, 2 * (n - 1), rate);
  }
  const double latency = (context.fused_all_reduce ? c.latency_fused_s : c.latency_graph_s) + eager;
  if (bytes <= c.one_shot_max_bytes) return Seconds{latency} + op.payload * (n - 1) / (rate * c.bandwidth_fraction);
  return Seconds{latency + c.two_shot_extra_s} + op.payload * ring / (rate * c.two_shot_bandwidth_fraction);
}

/// Bytes that leave one device, as a multiple of the payload.
double traffic_factor(Collective collective, double ranks) {
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::all_gather:
      return ranks - 1;  // the payload is one rank's part
    case Collective::all_to_all:
      return (ranks - 1) / ranks;
    case Collective::send_recv:
      return 1;
    case Collective::none:
      break;
  }
  return 0;
}

BytesPerSecond link_rate(const Op& op, const TimingContext& context) {
  const hardware::Device& device = context.device;
  if (op.crosses_node) return BytesPerSecond{context.constants.network_bytes_per_s};
  if (device.link.bandwidth_per_direction) return device.link.bandwidth_per_direction->value;
  if (device.pcie.bandwidth_per_direction) return device.pcie.bandwidth_per_direction->value;
  return BytesPerSecond{context.constants.network_bytes_per_s};
}

}  // namespace

void time_collective(const Op& op, const TimingContext& context, OpTime& time) {
  const KernelConstants& constants = context.constants;
  const BytesPerSecond rate = link_rate(op, context);
  const double factor = traffic_factor(op.collective, op.ranks);
  const double traffic = op.payload.value() * factor;
  // No algorithm moves less than (n−1)/n of the buffer over a device's link; reduction in the switch comes close.
  const double least = op.collective == Collective::all_reduce ? factor / 2 : factor;
  time.limit_link = op.payload * least / rate;
  const double steps = op.collective == Collective::send_recv ? 1 : op.ranks - 1;
  if (op.crosses_node) {
    time.transfer = protocol_time(constants.network, traffic, steps, rate);
  } else if (op.collective == Collective::all_reduce) {
    time.transfer = all_reduce_time(op, context, rate);
  } else if (!has_direct_link(context.device)) {
    time.transfer = protocol_time(constants.pcie, traffic, steps, rate);
  } else {
    time.transfer = protocol_time(of_kind(constants, op.collective), traffic, steps, rate);
  }
  time.expected = time.transfer;
  time.bound = Bound::interconnect;
}

}  // namespace corridor::roofline
