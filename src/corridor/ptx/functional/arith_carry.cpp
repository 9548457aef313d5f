// SPDX-License-Identifier: Apache-2.0
// Sums over several words: add.cc, addc, sub.cc, subc, mad.cc and madc, whose carry lies in a slot of the frame.
#include <type_traits>

#include "corridor/ptx/functional/form.h"
#include "corridor/ptx/functional/wide_integer.h"

namespace corridor::ptx {
namespace {

enum class Chain : std::uint8_t { add, sub, low, high, high_signed };

template <class T, Chain kind>
Wide<T> step(T a, T b, T c, T carry) {
  using S = std::make_signed_t<T>;
  constexpr int bits = static_cast<int>(8 * sizeof(T));
  if constexpr (kind == Chain::add) return Wide<T>{a} + b + carry;
  if constexpr (kind == Chain::sub) return Wide<T>{a} - b - carry;
  if constexpr (kind == Chain::low) return Wide<T>{static_cast<T>(a * b)} + c + carry;
  if constexpr (kind == Chain::high) return Wide<T>{static_cast<T>((Wide<T>{a} * b) >> bits)} + c + carry;
  const auto product = static_cast<Wide<S>>(static_cast<S>(a)) * static_cast<S>(b);
  return Wide<T>{static_cast<T>(product >> bits)} + c + carry;
}

template <class T, Chain kind, bool carry_in, bool carry_out>
void chain(Exec& x, const Op& op) {
  const auto* const a = reinterpret_cast<const T*>(x.frame + op.a);
  const auto* const b = reinterpret_cast<const T*>(x.frame + op.b);
  const auto* const c = reinterpret_cast<const T*>(x.frame + op.c);
  auto* const d = reinterpret_cast<T*>(x.frame + op.d);
  const std::uint32_t carry = predicate(x, carry_slot);
  std::uint32_t out = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((x.mask >> lane) & 1) == 0) continue;
    const T third = kind == Chain::add || kind == Chain::sub ? T{0} : c[lane];
    const Wide<T> sum = step<T, kind>(a[lane], b[lane], third, carry_in ? T{(carry >> lane) & 1} : T{0});
    d[lane] = static_cast<T>(sum);
    out |= static_cast<std::uint32_t>((sum >> (8 * sizeof(T))) & 1) << lane;
  }
  if (carry_out) set_predicate(x, carry_slot, out);
}

template <Chain kind>
Picked pick_chain(const Form& form, bool carry_in) {
  using U = std::uint32_t;
  using L = std::uint64_t;
  const Width w = width_of(form.type());
  const bool wide = w == Width::row64;
  if (bytes_of(form.type()) < 4) return {};
  Handler run = wide ? &chain<L, kind, false, true> : &chain<U, kind, false, true>;
  if (carry_in) {
    if (form.carry) {
      run = wide ? &chain<L, kind, true, true> : &chain<U, kind, true, true>;
    } else {
      run = wide ? &chain<L, kind, true, false> : &chain<U, kind, true, false>;
    }
  }
  return {run, w, w, w, kind == Chain::add || kind == Chain::sub ? Width::none : w};
}

}  // namespace

Picked pick_carry(const Form& form) {
  const bool carry_in = form.is("addc") || form.is("subc") || form.is("madc");
  if (!carry_in && !form.carry) return {};
  if (form.is("add") || form.is("addc")) return pick_chain<Chain::add>(form, carry_in);
  if (form.is("sub") || form.is("subc")) return pick_chain<Chain::sub>(form, carry_in);
  if (!form.is("mad") && !form.is("madc")) return {};
  if (form.low) return pick_chain<Chain::low>(form, carry_in);
  const bool is_signed = form.type() == Type::s32 || form.type() == Type::s64;
  return is_signed ? pick_chain<Chain::high_signed>(form, carry_in) : pick_chain<Chain::high>(form, carry_in);
}

}  // namespace corridor::ptx
