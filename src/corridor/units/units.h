// SPDX-License-Identifier: Apache-2.0
// Typed quantities: a number that knows its dimension, so that bytes ÷ (bytes/s) is a time and nothing else compiles.
//
//   Seconds t = Bytes{140e9} / BytesPerSecond{3.35e12};   // 41.8 ms
//   Seconds bad = Bytes{1} / FlopsPerSecond{1};           // does not compile
//
// The exponents are those of (second, byte, FLOP). Values are SI: 1 GB = 1e9 bytes.
#pragma once

#include <compare>

namespace corridor::units {

template <int SecondExp, int ByteExp, int FlopExp>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double in_si_units) : value_(in_si_units) {}

  /// The number in SI base units (s, B, FLOP and their products).
  [[nodiscard]] constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.value_ / k}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0;
};

template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator*(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  return Quantity<S1 + S2, B1 + B2, F1 + F2>{a.value() * b.value()};
}
template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator/(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  return Quantity<S1 - S2, B1 - B2, F1 - F2>{a.value() / b.value()};
}

using Seconds = Quantity<1, 0, 0>;
using Hertz = Quantity<-1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using FlopsPerByte = Quantity<0, -1, 1>;

}  // namespace corridor::units
