#include "adapters/rank/hands.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace plumb {
namespace {

constexpr std::size_t kLine = 64;  // of the cache
constexpr std::size_t kHuge = std::size_t{2} << 20;

std::byte* allocate_here(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHuge ? kHuge : kLine;
  const std::size_t size = (bytes + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  if (memory && alignment == kHuge) madvise(memory, size, MADV_HUGEPAGE);
  return memory;
}

void copy_here(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

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
  static const Hands hands{allocate_here,
                           [](std::byte* p) { std::free(p); },
                           [](std::byte* at, int byte, std::size_t bytes) { std::memset(at, byte, bytes); },
                           copy_here,
                           copy_here,
                           recast_here};
  return hands;
}

}  // namespace plumb
