#include "reference/check/digest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reference/fill/fill.h"
#include "reference/words/element.h"
#include "reference/words/enumerate.h"
#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Tensor data() { return fill(parse_case("on x=1: reshard bf16[6,10] -> bf16[6,10]"), 0); }

std::uint64_t digest_of(const Tensor& t, std::uint64_t seed = 3) {
  Slice all;
  for (std::int64_t size : t.shape) all.push_back({0, size});
  return digest_of(t.dtype, t.shape, all, t.bytes, seed);
}

// However it is cut, the shards add up to the array.
TEST(Digest, ShardsAddUp) {
  const Tensor whole = data();
  const Mesh mesh = parse_mesh("x=2,y=3");
  for (const Spec& spec : all_specs(mesh, DType::bf16, whole.shape, false))
    for (Rule rule : {Rule::flat, Rule::nested}) {
      std::vector<AxisId> splitting;
      for (const Dim& dim : spec.dims) splitting.insert(splitting.end(), dim.axes.begin(), dim.axes.end());
      std::uint64_t sum = 0;
      const auto shards = fibres(mesh, splitting);
      for (std::int64_t device : shards.front()) {
        const Slice slice = block(mesh, spec, rule, device);
        std::vector<std::byte> bytes(elements(slice) * 2);
        cut(whole.shape, slice, whole.bytes.data(), bytes.data(), 2);
        sum += digest_of(DType::bf16, whole.shape, slice, bytes, 3);
      }
      EXPECT_EQ(sum, digest_of(whole)) << print(mesh, spec);
    }
}

TEST(Digest, SeesEveryBitEveryPlaceAndEverySeed) {
  const Tensor whole = data();
  std::vector<std::uint64_t> all{digest_of(whole), digest_of(whole, 4)};
  for (std::size_t i = 0; i < whole.bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      Tensor other = whole;
      other.bytes[i] ^= std::byte{1} << bit;
      all.push_back(digest_of(other));
    }
  for (std::size_t i = 0; i < whole.bytes.size(); i += 2)
    for (std::size_t j = 0; j < i; j += 2) {  // no two elements of the data are alike
      Tensor other = whole;
      std::swap_ranges(other.bytes.begin() + i, other.bytes.begin() + i + 2, other.bytes.begin() + j);
      all.push_back(digest_of(other));
    }
  const auto count = all.size();
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  EXPECT_EQ(all.size(), count);
}

// Law: of two arrays whose values are equal the digests of the signs are equal where the bits are, and not
// where a zero has another sign; of what has none they are 0.
TEST(Digest, SignsAreThoseOfZerosAlone) {
  const std::vector<std::int64_t> shape{4, 6};
  const Slice all{
      {0, 4},
      {0, 6}
  };
  for (const Format& f : kFormats) {
    const std::uint64_t zero = signed_zero(f.dtype);
    EXPECT_EQ(zero == 0, f.integer || f.dtype == DType::e8m0) << f.name;
    std::vector<std::byte> bytes(24 * f.bytes);
    const auto signs = [&] { return digest_of_signs(f.dtype, shape, all, bytes, 3); };
    EXPECT_EQ(signs(), 0) << f.name;
    store(f.dtype, bytes.data(), 1);
    EXPECT_EQ(signs(), 0) << f.name;
    if (zero == 0) continue;
    std::vector<std::uint64_t> seen{0};
    for (std::int64_t i = 0; i < 24; ++i) {
      store(f.dtype, bytes.data() + i * f.bytes, zero);
      seen.push_back(signs());
      store(f.dtype, bytes.data() + i * f.bytes, 0);
    }
    std::ranges::sort(seen);
    EXPECT_TRUE(std::ranges::adjacent_find(seen) == seen.end()) << f.name;
  }
}

}  // namespace
}  // namespace plumb
