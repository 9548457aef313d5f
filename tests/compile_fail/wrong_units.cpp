// SPDX-License-Identifier: Apache-2.0
// Snippets of which CASE 0 must compile and every other one must not; ctest gives CASE on the command line.
#include "corridor/units/units.h"

namespace corridor::units {

#if CASE == 0
Seconds right() {
  return Bytes{140e9} / BytesPerSecond{3.35e12};
}
Bytes sum() {
  return Bytes{1} + BytesPerSecond{2} * Seconds{3};
}
FlopsPerByte ridge() {
  return FlopsPerSecond{989.4e12} / BytesPerSecond{3.35e12};
}
double ratio() {
  return Seconds{1} / Seconds{2};
}
bool less() {
  return Bytes{1} < Bytes{2};
}
#elif CASE == 1
Seconds bytes_over_flop_rate_is_no_time() {
  return Bytes{1} / FlopsPerSecond{1};
}
#elif CASE == 2
auto bytes_plus_flops() {
  return Bytes{1} + Flops{1};
}
#elif CASE == 3
Bytes a_bare_number_is_no_size() {
  return 140e9;
}
#elif CASE == 4
double a_time_is_no_bare_number() {
  return Seconds{1};
}
#elif CASE == 5
bool bytes_are_not_compared_with_flops() {
  return Bytes{1} < Flops{1};
}
#elif CASE == 6
auto a_bare_number_is_not_added() {
  return Seconds{1} + 0.5;
}
#endif

}  // namespace corridor::units
