#include "reference/check/digest.h"

#include "reference/fill/hash.h"
#include "reference/words/element.h"
#include "reference/words/tensor.h"

namespace plumb {

namespace {

// Of all elements, or of the zeros that have a sign.
template <bool all>
std::uint64_t summed(DType dtype, const std::vector<std::int64_t>& shape, const Slice& slice,
                     std::span<const std::byte> bytes, std::uint64_t seed) {
  const int size = format(dtype).bytes;
  const std::uint64_t base = mix(seed + kGolden), zero = signed_zero(dtype);
  std::uint64_t sum = 0;
  each_run(shape, slice, [&](std::int64_t whole, std::int64_t part, std::int64_t count) {
    const std::byte* at = bytes.data() + part * size;
    for (std::int64_t i = 0; i < count; ++i)
      if (const std::uint64_t bits = load(dtype, at + i * size); all || bits == zero)
        sum += mix(mix(base + kGolden * static_cast<std::uint64_t>(whole + i)) ^ bits);
  });
  return sum;
}

}  // namespace

std::uint64_t digest_of(DType dtype, const std::vector<std::int64_t>& shape, const Slice& slice,
                        std::span<const std::byte> bytes, std::uint64_t seed) {
  return summed<true>(dtype, shape, slice, bytes, seed);
}

std::uint64_t digest_of_signs(DType dtype, const std::vector<std::int64_t>& shape, const Slice& slice,
                              std::span<const std::byte> bytes, std::uint64_t seed) {
  return signed_zero(dtype) == 0 ? 0 : summed<false>(dtype, shape, slice, bytes, seed);
}

}  // namespace plumb
