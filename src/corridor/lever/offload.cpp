// SPDX-License-Identifier: Apache-2.0
// Lever: weights or KV in the host's memory. It makes a model run that does not fit; it never makes one faster.
#include <fmt/format.h>

#include "corridor/lever/gain.h"
#include "corridor/lever/registry.h"
#include "corridor/units/text.h"

namespace corridor::lever {

LeverResult offload(const Situation& s) {
  LeverResult result = unavailable("offload", "offload to the host's memory", Metric::per_user, "");
  result.wall_after = roofline::Wall::interconnect;
  result.cost = "bytes on the host cross its link in every step";
  const hardware::Device& device = s.input.device;
  if (device.unified_memory || device.kind == hardware::DeviceKind::cpu) {
    result.note = "host and device share one memory";
    return result;
  }
  const auto& link = device.pcie.bandwidth_per_direction;
  const std::string rate = link ? units::print(link->value) : "an unknown rate";
  if (s.now.memory.fits) {
    result.note = link
                      ? fmt::format("everything fits, so it has no use: each GB moved to the host adds {} a step at {}",
                                    units::print(units::Bytes{1e9} / link->value), rate)
                      : "everything fits, so it has no use";
    return result;
  }
  const std::string missing = units::print(s.now.memory.shortfall);
  result.note = link
                    ? fmt::format(
                          "{} a device would cross the host link ({}) in each step: {} more than the {} of a step, "
                          "unless they are experts that few tokens use; more devices or fewer bits come first",
                          missing, rate, units::print(s.now.memory.shortfall / link->value),
                          units::print(s.now.decode.expected.mid))
                    : fmt::format("{} a device would cross the host link in each step; its rate is not known", missing);
  return result;
}

}  // namespace corridor::lever
