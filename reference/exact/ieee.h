// The floating-point mode that every proof here rests on.
#pragma once

#include <cfenv>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace plumb {

// While it lives: rounding to nearest, and subnormals are neither flushed nor read as zero, whatever a
// library (one linked with -ffast-math, say) has set before.
struct IeeeMode {
#if defined(__SSE2__)
  unsigned before = _mm_getcsr();
  static constexpr unsigned kModes = 0xe040;  // flush, rounding control, denormals are zero
  IeeeMode() {
    if (before & kModes) _mm_setcsr(before & ~kModes);
  }
  ~IeeeMode() {
    if (before & kModes) _mm_setcsr(before);
  }
#else
  std::fenv_t before;
  IeeeMode() { std::fegetenv(&before), std::fesetenv(FE_DFL_ENV); }
  ~IeeeMode() { std::fesetenv(&before); }
#endif
  IeeeMode(const IeeeMode&) = delete;
  IeeeMode& operator=(const IeeeMode&) = delete;
};

}  // namespace plumb
