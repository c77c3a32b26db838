// Eight doubles at once, on whatever the processor has.
#pragma once

#include <cstdint>
#include <cstring>

#include "reference/words/clones.h"

namespace plumb {

typedef double Lanes __attribute__((vector_size(64)));
typedef std::int64_t Words __attribute__((vector_size(64)));  // their bits, and the masks of comparisons

PLUMB_INLINE void read(Lanes& lanes, const double* p) { std::memcpy(&lanes, p, sizeof(Lanes)); }

}  // namespace plumb
