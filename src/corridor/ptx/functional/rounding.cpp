// SPDX-License-Identifier: Apache-2.0
// Runs a handler under a directed rounding mode of the host, so that every result is rounded as PTX says.
#include <cfenv>

#include "corridor/ptx/functional/handlers.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace corridor::ptx {
namespace {

#if defined(__x86_64__)
/// Vector and scalar arithmetic of x86-64 obey MXCSR alone, and setting it is quicker than fesetround.
template <unsigned mode>
class Directed {
 public:
  Directed() : old_(_mm_getcsr()) { set((old_ & ~0x6000U) | mode); }
  ~Directed() { set(old_); }
  Directed(const Directed&) = delete;
  Directed& operator=(const Directed&) = delete;

 private:
  static void set(unsigned value) { asm volatile("ldmxcsr %0" : : "m"(value) : "memory"); }
  unsigned old_;
};
constexpr unsigned towards_zero = 0x6000, down = 0x2000, up = 0x4000;
#else
template <int mode>
class Directed {
 public:
  Directed() { std::fesetround(mode); }
  ~Directed() { std::fesetround(FE_TONEAREST); }
  Directed(const Directed&) = delete;
  Directed& operator=(const Directed&) = delete;
};
constexpr int towards_zero = FE_TOWARDZERO, down = FE_DOWNWARD, up = FE_UPWARD;
#endif

}  // namespace

void run_rounded_rz(Exec& x, const Op& op) {
  const Directed<towards_zero> mode;
  op.inner(x, op);
}
void run_rounded_rm(Exec& x, const Op& op) {
  const Directed<down> mode;
  op.inner(x, op);
}
void run_rounded_rp(Exec& x, const Op& op) {
  const Directed<up> mode;
  op.inner(x, op);
}

}  // namespace corridor::ptx
