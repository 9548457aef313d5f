// SPDX-License-Identifier: Apache-2.0
// Comparisons and choices: setp, set, selp, slct, testp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/compare.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

#ifndef CORRIDOR_PTX_COMPARE_FLAGS
#define CORRIDOR_PTX_COMPARE_FLAGS
namespace corridor::ptx::compare_flags {
inline constexpr std::uint16_t combine_mask = 3, negate = 4;
}  // namespace corridor::ptx::compare_flags
#endif

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

// How a row is read for comparing.
template <class T>
struct Plain {
  using Row = RowOf<T>;
  static HWY_INLINE T read(Row v) { return from_row<T>(v); }
};
struct Flushed {
  using Row = std::uint32_t;
  static HWY_INLINE float read(Row v) { return flushed(from_row<float>(v)); }
};
template <class H, bool ftz>
struct Half {
  using Row = std::uint32_t;
  static HWY_INLINE float read(Row v) { return H::wide(ftz && (v & H::exponent) == 0 ? v & 0x8000 : v); }
};

/// True when one of the two is not a number.
template <class T>
HWY_INLINE bool unordered(T a, T b) {
  return !(a < b) && !(a >= b);
}

template <Compare compare, class T>
HWY_INLINE bool holds(T a, T b) {
  switch (compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a < b || a > b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return !(a < b || a > b);
    case Compare::neu:
      return a != b;
    case Compare::ltu:
      return !(a >= b);
    case Compare::leu:
      return !(a > b);
    case Compare::gtu:
      return !(a <= b);
    case Compare::geu:
      return !(a < b);
    case Compare::num:
      return !unordered(a, b);
    default:
      return unordered(a, b);
  }
}

template <class Read, Compare compare>
HWY_INLINE std::uint32_t compared(const Exec& x, const Op& op) {
  const auto* const a = reinterpret_cast<const typename Read::Row*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const typename Read::Row*>(x.frame + op.b);
  alignas(64) std::uint8_t hit[32];
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    hit[lane] = static_cast<std::uint8_t>(holds<compare>(Read::read(a[lane]), Read::read(b[lane])));
  }
  return bits_of_bytes(hit);
}

HWY_INLINE std::uint32_t combined(std::uint32_t value, std::uint32_t c, std::uint16_t flags) {
  switch (flags & compare_flags::combine_mask) {
    case 1:
      return value & c;
    case 2:
      return value | c;
    case 3:
      return value ^ c;
    default:
      return value;
  }
}

/// setp p|q, a, b, c: p = (a ? b) op c; q = !(a ? b) op c. q lies at op.extra.
template <class Read, Compare compare>
void set_predicates(Exec& x, const Op& op) {
  const std::uint32_t value = compared<Read, compare>(x, op);
  if ((op.flags & compare_flags::combine_mask) == 0 && op.extra == unused_predicate_slot) {
    return set_predicate(x, op.d, value);
  }
  const std::uint32_t c = predicate(x, op.c) ^ ((op.flags & compare_flags::negate) != 0 ? all_lanes : 0);
  set_predicate(x, op.d, combined(value, c, op.flags));
  set_predicate(x, op.extra, combined(~value, c, op.flags));
}

/// set d, a, b, c: all ones or 1.0 where it holds; the value for "true" lies in op.offset.
template <class Read, Compare compare>
void set_row(Exec& x, const Op& op) {
  const std::uint32_t value = compared<Read, compare>(x, op);
  const std::uint32_t c = predicate(x, op.c) ^ ((op.flags & compare_flags::negate) != 0 ? all_lanes : 0);
  const std::uint32_t hit = combined(value, c, op.flags);
  const auto yes = static_cast<std::uint32_t>(op.offset);
  std::uint32_t* const d = row32(x, op.d);
  CORRIDOR_EACH_LANE
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t result = ((hit >> lane) & 1) != 0 ? yes : 0;
    d[lane] = ((x.mask >> lane) & 1) != 0 ? result : d[lane];
  }
}

template <class Read, bool row>
Handler floats(Compare compare) {
#define CORRIDOR_COMPARE(name) \
  case Compare::name:          \
    return row ? &set_row<Read, Compare::name> : &set_predicates<Read, Compare::name>;
  switch (compare) {
    CORRIDOR_COMPARE(eq)
    CORRIDOR_COMPARE(ne)
    CORRIDOR_COMPARE(lt)
    CORRIDOR_COMPARE(le)
    CORRIDOR_COMPARE(gt)
    CORRIDOR_COMPARE(ge)
    CORRIDOR_COMPARE(equ)
    CORRIDOR_COMPARE(neu)
    CORRIDOR_COMPARE(ltu)
    CORRIDOR_COMPARE(leu)
    CORRIDOR_COMPARE(gtu)
    CORRIDOR_COMPARE(geu)
    CORRIDOR_COMPARE(num)
    CORRIDOR_COMPARE(nan)
    default:
      return nullptr;
  }
}
template <class T, bool row>
Handler integers(Compare compare) {
  using Read = Plain<T>;
  switch (compare) {
    CORRIDOR_COMPARE(eq)
    CORRIDOR_COMPARE(ne)
    CORRIDOR_COMPARE(lt)
    CORRIDOR_COMPARE(le)
    CORRIDOR_COMPARE(gt)
    CORRIDOR_COMPARE(ge)
    default:
      return nullptr;
  }
}
#undef CORRIDOR_COMPARE

template <bool row>
Handler comparing(Type type, bool ftz, Compare compare) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return integers<std::uint16_t, row>(compare);
    case Type::s16:
      return integers<std::int16_t, row>(compare);
    case Type::b32:
    case Type::u32:
      return integers<std::uint32_t, row>(compare);
    case Type::s32:
      return integers<std::int32_t, row>(compare);
    case Type::b64:
    case Type::u64:
      return integers<std::uint64_t, row>(compare);
    case Type::s64:
      return integers<std::int64_t, row>(compare);
    case Type::f32:
      return ftz ? floats<Flushed, row>(compare) : floats<Plain<float>, row>(compare);
    case Type::f64:
      return floats<Plain<double>, row>(compare);
    case Type::f16:
      return ftz ? floats<Half<F16, true>, row>(compare) : floats<Half<F16, false>, row>(compare);
    case Type::bf16:
      return floats<Half<BF16, false>, row>(compare);
    default:
      return nullptr;
  }
}

template <class T>
void choose(Exec& x, const Op& op) {
  const auto* const a = reinterpret_cast<const T*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const T*>(x.frame + op.b);
  auto* const d = reinterpret_cast<T*>(x.frame + op.d);
  const std::uint32_t p = predicate(x, op.c) ^ ((op.flags & compare_flags::negate) != 0 ? all_lanes : 0);
  const std::uint32_t take_a = p & x.mask, take_b = ~p & x.mask;
  CORRIDOR_EACH_LANE
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const T kept = ((take_b >> lane) & 1) != 0 ? b[lane] : d[lane];
    d[lane] = ((take_a >> lane) & 1) != 0 ? a[lane] : kept;
  }
}

/// slct d, a, b, c: a where c ≥ 0 (NaN is not).
template <class T, class Test, bool ftz>
struct SelectBySign {
  using D = T;
  using A = T;
  using B = T;
  using C = Test;
  static HWY_INLINE T of(T a, T b, C c) {
    if constexpr (ftz) c = flushed(c);
    return c >= C{0} ? a : b;
  }
};
template <class T>
Picked pick_slct(const Form& form) {
  if (form.type() == Type::s32) return pick3<SelectBySign<T, std::int32_t, false>>();
  if (form.type() != Type::f32) return {};
  return form.ftz ? pick3<SelectBySign<T, float, true>>() : pick3<SelectBySign<T, float, false>>();
}

enum class Property : std::uint8_t { finite, infinite, number, notanumber, normal, subnormal };
template <class Bits, Property property>
void test_property(Exec& x, const Op& op) {
  constexpr Bits exponent = sizeof(Bits) == 8 ? static_cast<Bits>(0x7FF0000000000000ULL) : Bits{0x7F800000U};
  const auto* const a = reinterpret_cast<const Bits*>(x.frame + op.a);
  std::uint32_t out = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const Bits magnitude = static_cast<Bits>(a[lane] << 1) >> 1, e = magnitude & exponent;
    bool hit = false;
    if (property == Property::finite) hit = e != exponent;
    if (property == Property::infinite) hit = magnitude == exponent;
    if (property == Property::number) hit = magnitude <= exponent;
    if (property == Property::notanumber) hit = magnitude > exponent;
    if (property == Property::normal) hit = e != 0 && e != exponent;
    if (property == Property::subnormal) hit = e == 0 && magnitude != 0;
    out |= static_cast<std::uint32_t>(hit) << lane;
  }
  set_predicate(x, op.d, out);
}
template <Property property>
Picked pick_property(const Form& form) {
  if (form.type() == Type::f64) return {&test_property<std::uint64_t, property>, Width::pred, Width::row64};
  if (form.type() != Type::f32) return {};
  return {&test_property<std::uint32_t, property>, Width::pred, Width::row32};
}
Picked pick_testp(const Form& form) {
  if (form.has("finite")) return pick_property<Property::finite>(form);
  if (form.has("infinite")) return pick_property<Property::infinite>(form);
  if (form.has("number")) return pick_property<Property::number>(form);
  if (form.has("notanumber")) return pick_property<Property::notanumber>(form);
  if (form.has("normal")) return pick_property<Property::normal>(form);
  if (form.has("subnormal")) return pick_property<Property::subnormal>(form);
  return {};
}

Picked pick_compare_here(const Form& form) {
  const Width w = width_of(form.type());
  const auto combine = static_cast<std::uint16_t>(form.combine);
  if (form.is("setp")) {
    const Handler run = comparing<false>(form.type(), form.ftz, form.compare);
    return {run, Width::pred, w, w, form.combine == Combine::none ? Width::none : Width::pred, combine};
  }
  if (form.is("set")) {
    if (form.type_count != 2 || width_of(form.types[0]) != Width::row32) return {};
    const Handler run = comparing<true>(form.type(), form.ftz, form.compare);
    return {run, Width::row32, w, w, form.combine == Combine::none ? Width::none : Width::pred, combine};
  }
  if (form.is("selp")) {
    if (w == Width::row64) return {&choose<std::uint64_t>, w, w, w, Width::pred};
    return {w == Width::row32 ? &choose<std::uint32_t> : nullptr, w, w, w, Width::pred};
  }
  if (form.is("slct")) {
    if (form.type_count != 2) return {};
    const std::size_t bytes = bytes_of(form.types[0]);
    return bytes == 8   ? pick_slct<std::uint64_t>(form)
           : bytes == 4 ? pick_slct<std::uint32_t>(form)
           : bytes == 2 ? pick_slct<std::uint16_t>(form)
                        : Picked{};
  }
  if (form.is("testp")) return pick_testp(form);
  return {};
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_compare_here);
Picked pick_compare(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_compare_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
