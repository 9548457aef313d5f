// SPDX-License-Identifier: Apache-2.0
// Read, write, copy, triad and multiply-add loops in Highway, compiled once for each instruction set.
#include "corridor/measure/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "corridor/measure/cpu/kernels.cpp"
#include <hwy/foreach_target.h>  // includes this file once for each target
// Highway must come after it.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#ifndef CORRIDOR_MEASURE_CPU_KERNELS_ONCE
#define CORRIDOR_MEASURE_CPU_KERNELS_ONCE
namespace corridor::measure {
/// Highway's name of an instruction set → the name people use.
inline std::string_view common_name(std::string_view target) {
  if (target.substr(0, 4) == "AVX3") return "avx512";
  if (target == "AVX2") return "avx2";
  if (target == "NEON") return "neon";
  return target;
}
}  // namespace corridor::measure
#endif

HWY_BEFORE_NAMESPACE();
namespace corridor::measure {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t unroll = 8;  // vectors of one turn; eight 64-byte loads are half a block

/// `ask(place, bytes)` is called before each stretch is loaded.
template <class Ask>
HWY_INLINE std::uint64_t sum_words(const std::uint64_t* data, std::size_t words, const Ask& ask) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i < words; i += unroll * n) {
    ask(data + i, unroll * n * sizeof(std::uint64_t));
    s0 = hn::Add(s0, hn::Load(d, data + i));
    s1 = hn::Add(s1, hn::Load(d, data + i + n));
    s2 = hn::Add(s2, hn::Load(d, data + i + 2 * n));
    s3 = hn::Add(s3, hn::Load(d, data + i + 3 * n));
    s4 = hn::Add(s4, hn::Load(d, data + i + 4 * n));
    s5 = hn::Add(s5, hn::Load(d, data + i + 5 * n));
    s6 = hn::Add(s6, hn::Load(d, data + i + 6 * n));
    s7 = hn::Add(s7, hn::Load(d, data + i + 7 * n));
  }
  const auto low = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto high = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

/// The compiler has to load `v`, and that is all.
template <class V>
HWY_INLINE void only_load(const V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  asm volatile("" : : "v"(v.raw));
#else
  asm volatile("" : : "r"(hn::GetLane(v)));
#endif
}

/// Adding up what comes from the first cache takes longer than loading it.
template <class Ask>
HWY_INLINE void load_words(const std::uint64_t* data, std::size_t words, const Ask& ask) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i < words; i += unroll * n) {
    ask(data + i, unroll * n * sizeof(std::uint64_t));
    only_load(hn::Load(d, data + i));
    only_load(hn::Load(d, data + i + n));
    only_load(hn::Load(d, data + i + 2 * n));
    only_load(hn::Load(d, data + i + 3 * n));
    only_load(hn::Load(d, data + i + 4 * n));
    only_load(hn::Load(d, data + i + 5 * n));
    only_load(hn::Load(d, data + i + 6 * n));
    only_load(hn::Load(d, data + i + 7 * n));
  }
}

/// Four quarters side by side, two vectors of each at a turn.
std::uint64_t sum_quarters(const std::uint64_t* data, std::size_t words) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d);
  const std::size_t quarter = words / 4;
  const std::uint64_t* const a = data;
  const std::uint64_t* const b = a + quarter;
  const std::uint64_t* const c = b + quarter;
  const std::uint64_t* const e = c + quarter;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  for (std::size_t i = 0; i < quarter; i += 2 * n) {
    s0 = hn::Add(s0, hn::Load(d, a + i));
    s1 = hn::Add(s1, hn::Load(d, a + i + n));
    s2 = hn::Add(s2, hn::Load(d, b + i));
    s3 = hn::Add(s3, hn::Load(d, b + i + n));
    s4 = hn::Add(s4, hn::Load(d, c + i));
    s5 = hn::Add(s5, hn::Load(d, c + i + n));
    s6 = hn::Add(s6, hn::Load(d, e + i));
    s7 = hn::Add(s7, hn::Load(d, e + i + n));
  }
  const auto low = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  const auto high = hn::Add(hn::Add(s4, s5), hn::Add(s6, s7));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(low, high)));
}

/// The first pass adds up, the others load.
template <class Ask>
HWY_INLINE std::uint64_t sum_and_load(const std::uint64_t* words, std::size_t count, std::size_t times,
                                      const Ask& ask) {
  const std::uint64_t sum = sum_words(words, count, ask);
  for (std::size_t pass = 1; pass < times; ++pass) load_words(words, count, ask);
  return sum;
}

/// `locality` as __builtin_prefetch counts: 3 into the first cache, 2 into the second, 0 past it.
template <int locality>
std::uint64_t sum_ahead(const std::uint64_t* words, std::size_t count, std::size_t times, std::size_t ahead) {
  constexpr std::size_t line = 64;
  return sum_and_load(words, count, times, [ahead](const std::uint64_t* place, std::size_t span) HWY_ATTR {
    const auto* next = reinterpret_cast<const char*>(place) + ahead;
    for (std::size_t k = 0; k < span; k += line) __builtin_prefetch(next + k, 0, locality);
  });
}

std::uint64_t read_again(const void* data, std::size_t bytes, const ReadWay& way, std::size_t times) {
  const auto* words = static_cast<const std::uint64_t*>(data);
  const std::size_t count = bytes / sizeof(std::uint64_t);
  if (times == 0) return 0;
  if (way.four_streams) {
    for (std::size_t pass = 1; pass < times; ++pass) asm volatile("" : : "r"(sum_quarters(words, count)));
    return sum_quarters(words, count);
  }
  switch (way.hint) {
    case ReadWay::Hint::near:
      return sum_ahead<3>(words, count, times, way.ahead);
    case ReadWay::Hint::far:
      return sum_ahead<2>(words, count, times, way.ahead);
    case ReadWay::Hint::once:
      return sum_ahead<0>(words, count, times, way.ahead);
    case ReadWay::Hint::none:
      break;
  }
  return sum_and_load(words, count, times, [](const std::uint64_t*, std::size_t) HWY_ATTR {});
}

std::uint64_t read(const void* data, std::size_t bytes, std::size_t ahead) {
  return read_again(data, bytes, {ahead > 0 ? ReadWay::Hint::near : ReadWay::Hint::none, ahead, false}, 1);
}

template <bool streaming, class D, class V>
HWY_INLINE void store(V value, D d, hn::TFromD<D>* place) {
  if constexpr (streaming) {
    hn::Stream(value, d, place);
  } else {
    hn::Store(value, d, place);
  }
}

template <bool streaming>
void write_words(std::uint64_t* data, std::size_t words, std::uint64_t word) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d);
  const auto value = hn::Set(d, word);
  for (std::size_t i = 0; i < words; i += 4 * n) {
    store<streaming>(value, d, data + i);
    store<streaming>(value, d, data + i + n);
    store<streaming>(value, d, data + i + 2 * n);
    store<streaming>(value, d, data + i + 3 * n);
  }
  if (streaming) hwy::FlushStream();
}

void write(void* data, std::size_t bytes, std::uint64_t word, Store how) {
  auto* words = static_cast<std::uint64_t*>(data);
  const std::size_t count = bytes / sizeof(std::uint64_t);
  how == Store::streaming ? write_words<true>(words, count, word) : write_words<false>(words, count, word);
}

template <bool streaming>
void copy_words(std::uint64_t* to, const std::uint64_t* from, std::size_t words) {
  const hn::ScalableTag<std::uint64_t> d;
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i < words; i += 4 * n) {
    const auto v0 = hn::Load(d, from + i), v1 = hn::Load(d, from + i + n);
    const auto v2 = hn::Load(d, from + i + 2 * n), v3 = hn::Load(d, from + i + 3 * n);
    store<streaming>(v0, d, to + i);
    store<streaming>(v1, d, to + i + n);
    store<streaming>(v2, d, to + i + 2 * n);
    store<streaming>(v3, d, to + i + 3 * n);
  }
  if (streaming) hwy::FlushStream();
}

void copy(void* to, const void* from, std::size_t bytes, Store how) {
  auto* target = static_cast<std::uint64_t*>(to);
  const auto* source = static_cast<const std::uint64_t*>(from);
  const std::size_t count = bytes / sizeof(std::uint64_t);
  how == Store::streaming ? copy_words<true>(target, source, count) : copy_words<false>(target, source, count);
}

// Targets without 64-bit floats (32-bit ARM) move the same bytes as 32-bit ones.
#if HWY_HAVE_FLOAT64
using TriadWord = double;
#else
using TriadWord = float;
#endif

template <bool streaming>
void triad_words(TriadWord* a, const TriadWord* b, const TriadWord* c, std::size_t count) {
  const hn::ScalableTag<TriadWord> d;
  const std::size_t n = hn::Lanes(d);
  const auto factor = hn::Set(d, TriadWord{3});
  for (std::size_t i = 0; i < count; i += 4 * n) {
    for (std::size_t k = 0; k < 4 * n; k += n) {
      store<streaming>(hn::MulAdd(factor, hn::Load(d, c + i + k), hn::Load(d, b + i + k)), d, a + i + k);
    }
  }
  if (streaming) hwy::FlushStream();
}

void triad(double* a, const double* b, const double* c, std::size_t bytes, Store how) {
  auto* to = reinterpret_cast<TriadWord*>(a);
  const auto* from = reinterpret_cast<const TriadWord*>(b);
  const auto* other = reinterpret_cast<const TriadWord*>(c);
  const std::size_t count = bytes / sizeof(TriadWord);
  how == Store::streaming ? triad_words<true>(to, from, other, count) : triad_words<false>(to, from, other, count);
}

// x ← x · shrink + push stays near push / (1 − shrink) = 1: no overflow, no denormal numbers. Twelve chains hide the
// latency of a multiply-add: four cycles on two units need eight, and sixteen registers hold twelve and two constants.
constexpr std::size_t chains = 12;

template <class T>
double multiply_add(std::size_t rounds) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, static_cast<T>(0.9990234375));
  const auto addend = hn::Set(d, static_cast<T>(0.0009765625));
  const auto start = [d](double k) HWY_ATTR { return hn::Set(d, static_cast<T>(1.0 + 0.01 * k)); };
  auto a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5);
  auto h = start(6), i = start(7), j = start(8), k = start(9), l = start(10), m = start(11);
  for (std::size_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, factor, addend);
    b = hn::MulAdd(b, factor, addend);
    c = hn::MulAdd(c, factor, addend);
    e = hn::MulAdd(e, factor, addend);
    f = hn::MulAdd(f, factor, addend);
    g = hn::MulAdd(g, factor, addend);
    h = hn::MulAdd(h, factor, addend);
    i = hn::MulAdd(i, factor, addend);
    j = hn::MulAdd(j, factor, addend);
    k = hn::MulAdd(k, factor, addend);
    l = hn::MulAdd(l, factor, addend);
    m = hn::MulAdd(m, factor, addend);
  }
  const auto first = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g));
  const auto second = hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m));
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second))));
}

template <class T>
double flop_per_round() {
  return 2.0 * static_cast<double>(chains * hn::Lanes(hn::ScalableTag<T>()));
}

Kernels kernels_of_target() {
  Kernels k;
  k.name = common_name(hwy::TargetName(HWY_TARGET));
  k.vector_bytes = hn::Lanes(hn::ScalableTag<std::uint8_t>());
  k.read = read;
  k.read_again = read_again;
  k.write = write;
  k.copy = copy;
  k.triad = triad;
#if HWY_HAVE_FLOAT64
  k.f64 = {hardware::ComputeType::fp64, k.name, multiply_add<double>, flop_per_round<double>()};
#endif
  k.f32 = {hardware::ComputeType::fp32, k.name, multiply_add<float>, flop_per_round<float>()};
  return k;
}

}  // namespace HWY_NAMESPACE
}  // namespace corridor::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace corridor::measure {

HWY_EXPORT(kernels_of_target);

const Kernels& best_kernels() {
  static const Kernels kernels = HWY_DYNAMIC_DISPATCH(kernels_of_target)();
  return kernels;
}

const Kernels& narrow_kernels() {
  static const Kernels kernels = HWY_STATIC_DISPATCH(kernels_of_target)();
  return kernels;
}

}  // namespace corridor::measure
#endif  // HWY_ONCE
