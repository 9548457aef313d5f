// SPDX-License-Identifier: Apache-2.0
// Two rates and a device: the smallest diagnosis there is.
#include <fmt/format.h>

#include "corridor/diagnose/diagnosis.h"
#include "corridor/units/text.h"

namespace corridor::diagnose {
namespace {

// Good kernels reach 60 to 90 % of a roof (PREDICTORS 2d, NEEDS 0.2): above this a roof is what limits.
constexpr double near_a_roof = 0.6;
constexpr double above_physics = 1.03;

}  // namespace

std::string meter_sentence(double meter) {
  return fmt::format(
      "The meter reads {:.0f} %: it is the share of time in which some kernel was resident. It tells nothing about "
      "how many bytes or FLOPs that kernel moved.",
      meter * 100);
}

Result<RateDiagnosis> diagnose_rates(const hardware::Device& device, hardware::ComputeType type, double bytes_per_s,
                                     double flop_per_s, std::optional<double> meter) {
  const auto& bandwidth = device.memory_bandwidth;
  const auto& peak = device.peak(type);
  if (!bandwidth || !peak) {
    return fail("bandwidth or " + std::string(hardware::name(type)) + " peak is not known", device.id,
                "use a device file that states it");
  }
  RateDiagnosis d;
  d.type = type;
  d.rates = {bytes_per_s, flop_per_s, bytes_per_s / bandwidth->value.value(), flop_per_s / peak->value.value(), meter};
  d.intensity_flop_per_byte = bytes_per_s > 0 ? flop_per_s / bytes_per_s : 0;
  d.ridge_flop_per_byte = (peak->value / bandwidth->value).value();
  if (*d.rates.mbu > above_physics || *d.rates.mfu > above_physics) {
    return fail(
        fmt::format("{} and {} are {:.0f} % and {:.0f} % of what {} can do",
                    units::print(units::BytesPerSecond{bytes_per_s}), units::print(units::FlopsPerSecond{flop_per_s}),
                    *d.rates.mbu * 100, *d.rates.mfu * 100, device.id),
        "--bytes-per-s, --flop-per-s", "check the unit, the device and whether the rates are of one device");
  }
  const std::string shares = fmt::format("{:.0f} % of the bandwidth (MBU) and {:.0f} % of the {} peak (MFU)",
                                         *d.rates.mbu * 100, *d.rates.mfu * 100, hardware::name(type));
  const bool memory = *d.rates.mbu >= near_a_roof;
  const bool compute = *d.rates.mfu >= near_a_roof;
  if (memory && *d.rates.mbu >= *d.rates.mfu) {
    d.outcome = RateDiagnosis::Outcome::memory;
    d.sentence = "Memory wall: " + shares + ". More arithmetic would cost nothing.";
    d.remedies = {"move fewer bytes: quantise weights and cache, fuse passes, FlashAttention",
                  "use each byte more often: larger batch, speculative decoding, tiling",
                  "a device with more bandwidth"};
  } else if (compute) {
    d.outcome = RateDiagnosis::Outcome::compute;
    d.sentence = "Compute wall: " + shares + ". Fewer bytes would change nothing.";
    d.remedies = {"a narrower arithmetic type that the device has (fp8, fp4)",
                  "less work: prefix cache, fewer tokens, sparser models",
                  "more devices, or one with a higher dense peak"};
  } else {
    d.outcome = RateDiagnosis::Outcome::both_low;
    d.sentence =
        "Neither wall: " + shares + ". The device waits: launches, the host, transfers, or too little work at once.";
    d.remedies = {"graph capture and fusion: fewer launches",
                  "more work in each launch: larger batch, fewer and larger kernels",
                  "look at the host: time between kernels, synchronisation, data loading"};
  }
  return d;
}

}  // namespace corridor::diagnose
