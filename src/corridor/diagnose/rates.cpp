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

Result<int> check_rates(const hardware::Device& device, hardware::ComputeType type, std::optional<double> bytes_per_s,
                        std::optional<double> flop_per_s) {
  const auto& bandwidth = device.memory_bandwidth;
  const auto& peak = device.peak(type);
  const double mbu = bytes_per_s && bandwidth ? *bytes_per_s / bandwidth->value.value() : 0;
  const double mfu = flop_per_s && peak ? *flop_per_s / peak->value.value() : 0;
  if (mbu <= above_physics && mfu <= above_physics) return 0;
  std::string given, shares, flags;
  const auto add = [&](const std::string& rate, double share, const char* flag) {
    given += (given.empty() ? "" : " and ") + rate;
    shares += (shares.empty() ? "" : " and ") + fmt::format("{} %", units::print_number(share * 100));
    flags += (flags.empty() ? "" : ", ") + std::string(flag);
  };
  if (bytes_per_s) add(units::print(units::BytesPerSecond{*bytes_per_s}), mbu, "--bytes-per-s");
  if (flop_per_s) add(units::print(units::FlopsPerSecond{*flop_per_s}), mfu, "--flop-per-s");
  return fail(given + (bytes_per_s && flop_per_s ? " are " : " is ") + shares + " of what " + device.id + " can do",
              flags, "check the unit, the device and whether the rates are of one device");
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
  d.rates.bytes_per_s = bytes_per_s;
  d.rates.flop_per_s = flop_per_s;
  d.rates.mbu = bytes_per_s / bandwidth->value.value();
  d.rates.mfu = flop_per_s / peak->value.value();
  d.rates.meter = meter;
  d.intensity_flop_per_byte = bytes_per_s > 0 ? flop_per_s / bytes_per_s : 0;
  d.ridge_flop_per_byte = (peak->value / bandwidth->value).value();
  if (Result<int> ok = check_rates(device, type, bytes_per_s, flop_per_s); !ok) return tl::unexpected(ok.error());
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
