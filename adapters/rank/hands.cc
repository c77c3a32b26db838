#include "adapters/rank/hands.h"

#include <algorithm>
#include <array>

namespace plumb {
namespace {

void recast_here(const Recast& how, const std::byte* from, std::byte* to, std::int64_t count) {
  std::array<double, 256> values;
  const int in = format(how.from).bytes, out = format(how.to).bytes;
  for (std::int64_t i = 0; i < count; i += std::ssize(values)) {
    const std::int64_t n = std::min<std::int64_t>(std::ssize(values), count - i);
    decode(how.from, from + i * in, n, values.data());
    if (how.divisor != 1)
      for (std::int64_t k = 0; k < n; ++k) values[k] /= how.divisor;
    if (how.most != 0)
      for (std::int64_t k = 0; k < n; ++k) values[k] = std::clamp(values[k], -how.most, how.most - 1);
    encode(how.to, values.data(), n, to + i * out);
  }
}

}  // namespace

const Hands& own_hands() {
  static const Hands hands{memory_of_this_device(), recast_here};
  return hands;
}

}  // namespace plumb
