#include "reference/check/digest.h"

#include "reference/fill/hash.h"
#include "reference/words/tensor.h"

namespace plumb {

std::uint64_t digest_of(DType dtype, const std::vector<std::int64_t>& shape, const Slice& slice,
                        std::span<const std::byte> bytes, std::uint64_t seed) {
  const int size = format(dtype).bytes;
  const std::uint64_t base = mix(seed + kGolden);
  std::uint64_t sum = 0;
  each_run(shape, slice, [&](std::int64_t whole, std::int64_t part, std::int64_t count) {
    const std::byte* at = bytes.data() + part * size;
    for (std::int64_t i = 0; i < count; ++i)
      sum += mix(mix(base + kGolden * static_cast<std::uint64_t>(whole + i)) ^ load(dtype, at + i * size));
  });
  return sum;
}

}  // namespace plumb
