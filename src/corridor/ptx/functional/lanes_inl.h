// SPDX-License-Identifier: Apache-2.0
// Loops over the 32 lanes of a warp, compiled once for each instruction set (Highway includes this file several times).
#if defined(CORRIDOR_PTX_FUNCTIONAL_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CORRIDOR_PTX_FUNCTIONAL_LANES_INL_H
#undef CORRIDOR_PTX_FUNCTIONAL_LANES_INL_H
#else
#define CORRIDOR_PTX_FUNCTIONAL_LANES_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "corridor/ptx/functional/form.h"
#include "corridor/ptx/functional/op.h"

// The rows of two registers are the same or apart, so that lanes do not depend on each other.
#undef CORRIDOR_EACH_LANE
#if defined(__clang__)
#define CORRIDOR_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define CORRIDOR_EACH_LANE _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

template <class T>
using RowOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class To, class From>
HWY_INLINE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To out;
  __builtin_memcpy(&out, &value, sizeof out);
  return out;
}

/// A lane of a row as a value of type T, and back: narrow values are zero-extended.
template <class T>
HWY_INLINE T from_row(RowOf<T> lane) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return bits_as<T>(lane);
  } else {
    return static_cast<T>(lane);
  }
}
template <class T>
HWY_INLINE RowOf<T> to_row(T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return bits_as<RowOf<T>>(value);
  } else {
    return static_cast<RowOf<T>>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

template <class Row>
HWY_INLINE void keep_lanes(Row* out, const Row* value, std::uint32_t mask) {
  CORRIDOR_EACH_LANE
  for (std::uint32_t lane = 0; lane < 32; ++lane) out[lane] = ((mask >> lane) & 1) != 0 ? value[lane] : out[lane];
}

/// F gives the types D and A, B, C of its operands and `static D of(A, …)`.
template <class F>
void one_operand(Exec& x, const Op& op) {
  using D = typename F::D;
  using A = typename F::A;
  alignas(64) RowOf<D> scratch[32];
  auto* const d = reinterpret_cast<RowOf<D>*>(x.frame + op.d);
  RowOf<D>* const out = x.mask == all_lanes ? d : scratch;
  const auto* const a = reinterpret_cast<const RowOf<A>*>(x.frame + op.a);
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) out[lane] = to_row<D>(F::of(from_row<A>(a[lane])));
  if (x.mask != all_lanes) keep_lanes(d, scratch, x.mask);
}

template <class F>
void two_operands(Exec& x, const Op& op) {
  using D = typename F::D;
  using A = typename F::A;
  using B = typename F::B;
  alignas(64) RowOf<D> scratch[32];
  auto* const d = reinterpret_cast<RowOf<D>*>(x.frame + op.d);
  RowOf<D>* const out = x.mask == all_lanes ? d : scratch;
  const auto* const a = reinterpret_cast<const RowOf<A>*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const RowOf<B>*>(x.frame + op.b);
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) out[lane] = to_row<D>(F::of(from_row<A>(a[lane]), from_row<B>(b[lane])));
  if (x.mask != all_lanes) keep_lanes(d, scratch, x.mask);
}

template <class F>
void three_operands(Exec& x, const Op& op) {
  using D = typename F::D;
  using A = typename F::A;
  using B = typename F::B;
  using C = typename F::C;
  alignas(64) RowOf<D> scratch[32];
  auto* const d = reinterpret_cast<RowOf<D>*>(x.frame + op.d);
  RowOf<D>* const out = x.mask == all_lanes ? d : scratch;
  const auto* const a = reinterpret_cast<const RowOf<A>*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const RowOf<B>*>(x.frame + op.b);
  const auto* const c = reinterpret_cast<const RowOf<C>*>(x.frame + op.c);
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    out[lane] = to_row<D>(F::of(from_row<A>(a[lane]), from_row<B>(b[lane]), from_row<C>(c[lane])));
  }
  if (x.mask != all_lanes) keep_lanes(d, scratch, x.mask);
}

/// Bit l of the result is byte l.
[[maybe_unused]] HWY_INLINE std::uint32_t bits_of_bytes(const std::uint8_t* hit) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<std::uint8_t, 32> d;
  std::uint32_t out = 0;
  for (std::size_t first = 0; first < 32; first += hn::Lanes(d)) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::Load(d, hit + first), hn::Zero(d)), bits);
    std::uint32_t word = 0;
    __builtin_memcpy(&word, bits, sizeof word);
    out |= word << first;
  }
  return out;
}

template <class T>
constexpr Width slot_of() {
  return sizeof(T) == 8 ? Width::row64 : Width::row32;
}
template <class F>
Picked pick1() {
  return {&one_operand<F>, slot_of<typename F::D>(), slot_of<typename F::A>()};
}
template <class F>
Picked pick2() {
  return {&two_operands<F>, slot_of<typename F::D>(), slot_of<typename F::A>(), slot_of<typename F::B>()};
}
template <class F>
Picked pick3() {
  return {&three_operands<F>, slot_of<typename F::D>(), slot_of<typename F::A>(), slot_of<typename F::B>(),
          slot_of<typename F::C>()};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();
#endif  // include guard
