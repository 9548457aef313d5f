// SPDX-License-Identifier: Apache-2.0
// Quantities as people write and read them: "3.35 TB/s", "141 GB", "80 GiB", "42 ms".
#pragma once

#include <string>
#include <string_view>

#include "corridor/base/result.h"
#include "corridor/units/units.h"

namespace corridor::units {

/// Parsers accept a number, optional space and a unit ("42ms", "1.3 s", "80 GiB", "3.35 TB/s", "989.4 TFLOP/s").
/// A bare number, NaN, infinity, a negative value or the wrong dimension is an error that names the accepted units.
[[nodiscard]] Result<Seconds> parse_seconds(std::string_view text);
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Result<BytesPerSecond> parse_bytes_per_second(std::string_view text);
[[nodiscard]] Result<FlopsPerSecond> parse_flops_per_second(std::string_view text);
[[nodiscard]] Result<Flops> parse_flops(std::string_view text);
/// A plain count with an optional decimal suffix K, M, B (or G), T: "70B" is 70e9, "1.1B" is 1.1e9, "512" is 512.
[[nodiscard]] Result<double> parse_count(std::string_view text);

/// Printers keep three significant figures and choose the prefix: 41.8 ms, 140 GB, 3.35 TB/s, 989 TFLOP/s.
[[nodiscard]] std::string print(Seconds);
[[nodiscard]] std::string print(Hertz);
[[nodiscard]] std::string print(Bytes);
[[nodiscard]] std::string print(Flops);
[[nodiscard]] std::string print(BytesPerSecond);
[[nodiscard]] std::string print(FlopsPerSecond);
[[nodiscard]] std::string print(FlopsPerByte);
[[nodiscard]] std::string print_gib(Bytes);  ///< "79.6 GiB": memory beside engine logs
/// Three significant figures without a unit, with a decimal suffix from a million up: 1024, 23.9, 70.6B.
[[nodiscard]] std::string print_count(double);
/// Three significant figures, plain ("295", "1.02", "0.0313", "41800").
[[nodiscard]] std::string print_number(double);

}  // namespace corridor::units
