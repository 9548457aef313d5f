// SPDX-License-Identifier: Apache-2.0
// cvt: between integers, floating-point formats and widths.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/ptx/functional/convert.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// It must come after.
#include "corridor/ptx/functional/numbers_inl.h"

HWY_BEFORE_NAMESPACE();
namespace corridor::ptx {
namespace HWY_NAMESPACE {

using Word = std::uint32_t;

inline bool is_integer(Type type) {
  switch (type) {
    case Type::u8:
    case Type::u16:
    case Type::u32:
    case Type::u64:
    case Type::s8:
    case Type::s16:
    case Type::s32:
    case Type::s64:
    case Type::b8:
    case Type::b16:
    case Type::b32:
    case Type::b64:
      return true;
    default:
      return false;
  }
}
inline bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

/// The low 64 − shift bits of a word, extended by zeros or by their sign.
template <bool with_sign>
HWY_INLINE std::uint64_t extended(std::uint64_t v, unsigned shift) {
  if constexpr (with_sign) return static_cast<std::uint64_t>(static_cast<std::int64_t>(v << shift) >> shift);
  return (v << shift) >> shift;
}
/// An integer of type T (64 − narrow bits) for a register of 64 − wide bits.
template <class Row, bool with_sign>
HWY_INLINE Row fitted(std::uint64_t v, unsigned narrow, unsigned wide) {
  return static_cast<Row>(extended<false>(extended<with_sign>(v, narrow), wide));
}

// Op.bytes: 64 − bits of the source; count: 64 − bits of the destination type; flags: 64 − bits of the register.
template <class From, class To, bool from_sign, bool to_sign, bool sat>
void integer_to_integer(Exec& x, const Op& op) {
  const unsigned source = op.bytes, target = op.count, wide = op.flags;
  const std::int64_t top = static_cast<std::int64_t>((~std::uint64_t{0} >> target) >> (to_sign ? 1 : 0));
  const std::int64_t bottom = to_sign ? -top - 1 : 0;
  const auto* const a = reinterpret_cast<const From*>(x.frame + op.a);
  auto* const d = reinterpret_cast<To*>(x.frame + op.d);
  alignas(64) To out[32];
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    std::uint64_t v = extended<from_sign>(a[lane], source);
    if constexpr (sat) {
      const auto s = static_cast<std::int64_t>(v);
      if (from_sign) {
        v = static_cast<std::uint64_t>(s < bottom ? bottom : (to_sign || target != 0) && s > top ? top : s);
      } else {
        v = v > (~std::uint64_t{0} >> target >> (to_sign ? 1 : 0)) ? static_cast<std::uint64_t>(top) : v;
      }
    }
    out[lane] = fitted<To, to_sign>(v, target, wide);
  }
  keep_lanes(d, out, x.mask);
}

// The general way has three steps over the lanes: read exactly as double, round to an integral value, make the result
// under the rounding mode of the host. Op::extra says which of each.
using Reader = void (*)(const Exec&, const Op&, double*);
using Maker = void (*)(const double*, const Op&, void*);

template <class Source>
void read_lanes(const Exec& x, const Op& op, double* out) {
  const auto* const a = reinterpret_cast<const typename Source::Row*>(x.frame + op.a);
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) out[lane] = Source::read(a[lane]);
}
template <bool ftz>
struct FromF32 {
  using Row = Word;
  static HWY_INLINE double read(Word v) { return static_cast<double>(flush_if<ftz>(bits_as<float>(v))); }
};
struct FromF64 {
  using Row = std::uint64_t;
  static HWY_INLINE double read(std::uint64_t v) { return bits_as<double>(v); }
};
template <class H>
struct FromHalf {
  using Row = Word;
  static HWY_INLINE double read(Word v) { return static_cast<double>(H::wide(v & 0xFFFF)); }
};
/// An integer of up to 64 bits as a double that rounds to fewer bits as the integer itself would.
HWY_INLINE double sticky(std::uint64_t v, bool negative) {
  const std::uint64_t size = negative ? 0 - v : v;
  const std::uint64_t cut = (size & ~0xFFFULL) | ((size & 0xFFF) != 0 ? 0x800 : 0);
  const auto out = static_cast<double>(size < (std::uint64_t{1} << 53) ? size : cut);
  return negative ? -out : out;
}
template <class From, bool sign, bool exact>
void read_integers(const Exec& x, const Op& op, double* out) {
  const auto* const a = reinterpret_cast<const From*>(x.frame + op.a);
  const unsigned shift = op.bytes;
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    const std::uint64_t v = extended<sign>(a[lane], shift);
    if constexpr (sizeof(From) == 4) {
      out[lane] = static_cast<double>(static_cast<std::int64_t>(v));
    } else if constexpr (exact) {
      out[lane] = sticky(v, sign && static_cast<std::int64_t>(v) < 0);
    } else {  // to f64: one rounding, by the host
      out[lane] = sign ? static_cast<double>(static_cast<std::int64_t>(v)) : static_cast<double>(v);
    }
  }
}

template <Round round>
void integral(double* v) {
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) {
    if constexpr (round == Round::rni) v[lane] = __builtin_rint(v[lane]);
    if constexpr (round == Round::rzi) v[lane] = __builtin_trunc(v[lane]);
    if constexpr (round == Round::rmi) v[lane] = __builtin_floor(v[lane]);
    if constexpr (round == Round::rpi) v[lane] = __builtin_ceil(v[lane]);
  }
}

template <bool ftz, bool sat>
struct ToF32 {
  using Row = Word;
  static HWY_INLINE Word make(double v) {
    const float r = flush_if<ftz>(static_cast<float>(v));
    return bits_as<Word>(sat ? saturated(r) : canonical(r));
  }
};
template <bool sat>
struct ToF64 {
  using Row = std::uint64_t;
  static HWY_INLINE std::uint64_t make(double v) { return bits_as<std::uint64_t>(sat ? saturated(v) : canonical(v)); }
};
template <Round round, bool sat, bool relu>
struct ToF16 {
  using Row = Word;
  static HWY_INLINE Word make(double v) {
    if constexpr (relu) v = v < 0.0 ? 0.0 : v;
    const Word h = f16_of<round>(sat ? saturated(v) : v);
    return relu && (h & 0x8000) != 0 ? 0 : h;
  }
};
template <Round round, bool sat, bool relu>
struct ToBF16 {
  using Row = Word;
  static HWY_INLINE Word make(double v) {
    if constexpr (relu) v = v < 0.0 ? 0.0 : v;
    const Word h = bf16_of<round>(sat ? saturated(v) : v);
    return relu && (h & 0x8000) != 0 ? 0 : h;
  }
};
template <class Make>
void make_lanes(const double* v, const Op& /*op*/, void* out) {
  auto* const rows = static_cast<typename Make::Row*>(out);
  CORRIDOR_EACH_LANE
  for (int lane = 0; lane < 32; ++lane) rows[lane] = Make::make(v[lane]);
}
/// Saturates to the range; NaN becomes zero, or the top bit alone where a side has 64 bits (bit 8 of flags).
template <class To, bool to_sign>
void make_integers(const double* values, const Op& op, void* out) {
  const unsigned target = op.count, wide = op.flags & 0xFF;
  const int bits = 64 - static_cast<int>(target) - (to_sign ? 1 : 0);
  const std::uint64_t top = ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t bottom = to_sign ? ~top : 0;
  const double limit = bits == 64 ? 0x1p64 : bits == 63 ? 0x1p63 : static_cast<double>(top) + 1;
  const double least = to_sign ? -limit : 0.0;
  const std::uint64_t of_nan = (op.flags & 0x100) != 0 ? std::uint64_t{1} << (63 - target) : 0;
  auto* const rows = static_cast<To*>(out);
  for (int lane = 0; lane < 32; ++lane) {
    const double v = values[lane];
    const double inside = v >= limit || v < least || v != v ? 0.0 : v;
    std::uint64_t r =
        to_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(inside)) : static_cast<std::uint64_t>(inside);
    r = v >= limit ? top : v < least ? bottom : v != v ? of_nan : r;
    rows[lane] = fitted<To, to_sign>(r, target, wide);
  }
}

constexpr Reader readers[] = {&read_lanes<FromF32<false>>,
                              &read_lanes<FromF32<true>>,
                              &read_lanes<FromF64>,
                              &read_lanes<FromHalf<F16>>,
                              &read_lanes<FromHalf<BF16>>,
                              &read_integers<Word, false, true>,
                              &read_integers<Word, true, true>,
                              &read_integers<std::uint64_t, false, true>,
                              &read_integers<std::uint64_t, true, true>,
                              &read_integers<std::uint64_t, false, false>,
                              &read_integers<std::uint64_t, true, false>};
template <template <Round, bool, bool> class Make, bool sat, bool relu, int index>
constexpr Maker half_maker = &make_lanes<Make<index == 0   ? Round::rn
                                              : index == 1 ? Round::rz
                                              : index == 2 ? Round::rm
                                                           : Round::rp,
                                              sat, relu>>;
#define CORRIDOR_HALF_MAKERS(Make, sat, relu)                                                     \
  half_maker<Make, sat, relu, 0>, half_maker<Make, sat, relu, 1>, half_maker<Make, sat, relu, 2>, \
      half_maker<Make, sat, relu, 3>
constexpr Maker makers[] = {&make_integers<Word, false>,
                            &make_integers<Word, true>,
                            &make_integers<std::uint64_t, false>,
                            &make_integers<std::uint64_t, true>,
                            &make_lanes<ToF64<false>>,
                            &make_lanes<ToF64<true>>,
                            &make_lanes<ToF32<false, false>>,
                            &make_lanes<ToF32<false, true>>,
                            &make_lanes<ToF32<true, false>>,
                            &make_lanes<ToF32<true, true>>,
                            CORRIDOR_HALF_MAKERS(ToF16, false, false),
                            CORRIDOR_HALF_MAKERS(ToF16, true, false),
                            CORRIDOR_HALF_MAKERS(ToF16, false, true),
                            CORRIDOR_HALF_MAKERS(ToBF16, false, false),
                            CORRIDOR_HALF_MAKERS(ToBF16, true, false),
                            CORRIDOR_HALF_MAKERS(ToBF16, false, true)};
#undef CORRIDOR_HALF_MAKERS

void convert(Exec& x, const Op& op) {
  alignas(64) double value[32];
  alignas(64) std::uint64_t out[32];
  readers[op.extra & 0xFF](x, op, value);
  switch (static_cast<Round>((op.extra >> 8) & 0xFF)) {
    case Round::rni:
      integral<Round::rni>(value);
      break;
    case Round::rzi:
      integral<Round::rzi>(value);
      break;
    case Round::rmi:
      integral<Round::rmi>(value);
      break;
    case Round::rpi:
      integral<Round::rpi>(value);
      break;
    default:
      break;
  }
  makers[(op.extra >> 16) & 0xFF](value, op, out);
  if ((op.extra >> 24) != 0) {
    keep_lanes(row64(x, op.d), out, x.mask);
  } else {
    keep_lanes(row32(x, op.d), reinterpret_cast<const Word*>(out), x.mask);
  }
}

/// Between two formats of up to 32 bits, the common ones, in one loop.
template <class Source, class Make>
struct Direct {
  using D = Word;
  using A = Word;
  static HWY_INLINE Word of(Word a) { return Make::make(Source::read(a)); }
};

/// Conversions that kernels make most, without the general way.
Picked pick_direct(const Form& form) {
  if (form.sat || form.relu || form.ftz || form.source_bits == 64 || form.destination_bits == 64) return {};
  const Type to = form.types[0], from = form.types[1];
  const bool nearest = form.round == Round::rn;
  if (to == Type::f32 && form.round == Round::none) {
    if (from == Type::f16) return pick1<Direct<FromHalf<F16>, ToF32<false, false>>>();
    if (from == Type::bf16) return pick1<Direct<FromHalf<BF16>, ToF32<false, false>>>();
  }
  if (from == Type::f32 && nearest) {
    if (to == Type::f16) return pick1<Direct<FromF32<false>, ToF16<Round::rn, false, false>>>();
    if (to == Type::bf16) return pick1<Direct<FromF32<false>, ToBF16<Round::rn, false, false>>>();
  }
  return {};
}

constexpr std::uint32_t no_step = 0xFF;
std::uint32_t reader_of(const Form& form, bool from_wide) {
  switch (form.types[1]) {
    case Type::f32:
      return form.ftz ? 1 : 0;
    case Type::f64:
      return 2;
    case Type::f16:
      return 3;
    case Type::bf16:
      return 4;
    default:
      break;
  }
  if (!is_integer(form.types[1])) return no_step;
  const std::uint32_t sign = is_signed(form.types[1]) ? 1 : 0;
  if (!from_wide) return 5 + sign;
  return (form.types[0] == Type::f64 ? 9 : 7) + sign;
}
std::uint32_t maker_of(const Form& form, bool to_wide) {
  const Type to = form.types[0];
  if (is_integer(to)) return (to_wide ? 2 : 0) + (is_signed(to) ? 1 : 0);
  if (to == Type::f64) return form.sat ? 5 : 4;
  if (to == Type::f32) return 6 + (form.sat ? 1 : 0) + (form.ftz ? 2 : 0);
  if (to != Type::f16 && to != Type::bf16) return no_step;
  std::uint32_t index = to == Type::f16 ? 10 : 22;
  index += form.sat ? 4 : form.relu ? 8 : 0;
  return index + (form.round == Round::rz ? 1 : form.round == Round::rm ? 2 : form.round == Round::rp ? 3 : 0);
}

template <bool from_sign, bool to_sign, bool sat>
Handler integers(bool from_wide, bool to_wide) {
  using L = std::uint64_t;
  if (from_wide) {
    return to_wide ? &integer_to_integer<L, L, from_sign, to_sign, sat>
                   : &integer_to_integer<L, Word, from_sign, to_sign, sat>;
  }
  return to_wide ? &integer_to_integer<Word, L, from_sign, to_sign, sat>
                 : &integer_to_integer<Word, Word, from_sign, to_sign, sat>;
}
template <bool sat>
Handler pick_integers(bool from_sign, bool to_sign, bool from_wide, bool to_wide) {
  if (from_sign) {
    return to_sign ? integers<true, true, sat>(from_wide, to_wide) : integers<true, false, sat>(from_wide, to_wide);
  }
  return to_sign ? integers<false, true, sat>(from_wide, to_wide) : integers<false, false, sat>(from_wide, to_wide);
}

Picked pick_convert_here(const Form& form) {
  if (form.type_count != 2) return {};
  const Type to = form.types[0], from = form.types[1];
  if (form.satfinite) return {};
  if (const Picked direct = pick_direct(form)) return direct;
  const bool from_wide = form.source_bits == 64, to_wide = form.destination_bits == 64;
  Picked picked{nullptr, to_wide ? Width::row64 : Width::row32, from_wide ? Width::row64 : Width::row32};
  if (is_integer(to) && is_integer(from)) {
    picked.run = form.sat ? pick_integers<true>(is_signed(from), is_signed(to), from_wide, to_wide)
                          : pick_integers<false>(is_signed(from), is_signed(to), from_wide, to_wide);
    return picked;
  }
  if (!is_integer(from) && from_wide != (from == Type::f64)) return {};
  if (!is_integer(to) && to_wide != (to == Type::f64)) return {};
  const std::uint32_t reader = reader_of(form, from_wide), maker = maker_of(form, to_wide);
  if (reader == no_step || maker == no_step) return {};
  const bool integral = form.round >= Round::rni;
  if (is_integer(to) && !integral) return {};
  picked.run = &convert;
  picked.extra = reader | (static_cast<std::uint32_t>(integral ? form.round : Round::none) << 8) | (maker << 16) |
                 (to_wide ? 1U << 24 : 0);
  return picked;
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::ptx
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::ptx {
HWY_EXPORT(pick_convert_here);
Picked pick_convert(const Form& form) {
  return HWY_DYNAMIC_DISPATCH(pick_convert_here)(form);
}
}  // namespace corridor::ptx
#endif  // HWY_ONCE
