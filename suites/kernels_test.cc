// The kernels of adapters/cuda, as this processor works them, against exact arithmetic: element by element.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "adapters/cuda/device.h"
#include "adapters/cuda/inverse.h"
#include "reference/exact/exact.h"

namespace plumb {
namespace {

constexpr std::int64_t kElements = 2000;

std::vector<DType> floats() {
  std::vector<DType> all;
  for (const Format& f : formats())
    if (!f.integer && f.dtype != DType::e8m0) all.push_back(f.dtype);
  return all;
}

// Finite elements of any magnitude, or of similar ones, which round when they are added.
Tensor drawn(DType dtype, std::int64_t parts, std::mt19937_64& random) {
  Tensor t = zeros(dtype, {parts, kElements});
  const int bytes = format(dtype).bytes;
  for (std::int64_t i = 0; i < parts * kElements; ++i) {
    std::uint64_t bits = encode(dtype, std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5,
                                                  static_cast<int>(random() % 5)));
    if (random() % 2 == 0) do
        bits = random();
      while (bits &= ~0ull >> (64 - 8 * bytes), !finite(dtype, bits));
    store(dtype, t.bytes.data() + i * bytes, bits);
  }
  return t;
}

Tensor part(const Tensor& parts, std::int64_t i) {
  const auto each = static_cast<std::ptrdiff_t>(kElements * format(parts.dtype).bytes);
  return {
      parts.dtype, {1,                              kElements                           },
       {parts.bytes.begin() + i * each, parts.bytes.begin() + (i + 1) * each}
  };
}

Tensor converted(const Tensor& t, DType dtype) {
  Tensor to = sum_parts(t, dtype);
  to.shape = {1, kElements};
  return to;
}

Tensor added(const Tensor& a, const Tensor& b) {
  Tensor both{
      a.dtype, {2, kElements},
       a.bytes
  };
  both.bytes.insert(both.bytes.end(), b.bytes.begin(), b.bytes.end());
  Tensor sum = sum_parts(both, a.dtype);
  sum.shape = {1, kElements};
  return sum;
}

// The place of the first element that has other bits; -1. NaNs are one, and so are zeros.
std::int64_t differs(const Tensor& got, const Tensor& want) {
  for (std::int64_t i = 0; i < kElements; ++i) {
    const double a = value(got, i), b = value(want, i);
    if (a != b && !(std::isnan(a) && std::isnan(b))) return i;
  }
  return -1;
}

TEST(Kernels, RecastIsExactRounding) {
  std::mt19937_64 random(1);
  for (DType from : floats())
    for (DType to : floats()) {
      const Tensor given = drawn(from, 1, random);
      Tensor got = zeros(to, {1, kElements});
      cuda::this_processor().hands.recast({from, to}, given.bytes.data(), got.bytes.data(), kElements);
      EXPECT_EQ(differs(got, converted(given, to)), -1) << format(from).name << " to " << format(to).name;
    }
}

TEST(Kernels, RecastDividesAsExactMeans) {
  std::mt19937_64 random(2);
  for (DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (std::int64_t n : {2, 3, 7}) {
      const Tensor given = drawn(dtype, 1, random);
      Tensor got = zeros(dtype, {1, kElements});
      cuda::this_processor().hands.recast({dtype, dtype, static_cast<double>(n)}, given.bytes.data(),
                                          got.bytes.data(), kElements);
      EXPECT_EQ(differs(got, mean_parts(given, n, dtype)), -1) << format(dtype).name << " by " << n;
    }
}

// What exact arithmetic says of an order: each meeting rounded to acc, each sending to the wire and back.
struct Exactly {
  const Tensor& parts;
  DType wire;
  std::int64_t n = parts.shape[0];

  Tensor sent(const Tensor& t) const { return converted(converted(t, wire), t.dtype); }
  Tensor direct(std::int64_t own) const {
    Tensor sum = own < 0 ? sent(part(parts, 0)) : part(parts, own);
    for (std::int64_t k = own < 0 ? 1 : 0; k < n; ++k)
      if (k != own) sum = added(sum, sent(part(parts, k)));
    return sum;
  }
  Tensor ring(std::int64_t last) const {
    Tensor sum = part(parts, (last + 1) % n);
    for (std::int64_t k = 2; k <= n; ++k) sum = added(part(parts, (last + k) % n), sent(sum));
    return sum;
  }
  Tensor tree(std::int64_t first, std::int64_t count) const {
    if (count == 1) return part(parts, first);
    std::int64_t half = 1;
    while (2 * half < count) half *= 2;
    return added(tree(first, half), sent(tree(first + half, count - half)));
  }
};

Tensor moved(const Tensor& parts, DType wire, cuda::Order order, int own) {
  const auto n = static_cast<int>(parts.shape[0]), width = format(parts.dtype).bytes;
  const cuda::Piece piece{0, 0, 1, n, own};
  std::vector<std::int64_t> numbers{kElements, 0, width};
  for (std::int64_t k = 0; k < n; ++k) numbers.insert(numbers.end(), {k * kElements * width, width});
  Tensor got = zeros(parts.dtype, {1, kElements});
  cuda::this_processor().move({&piece, numbers.data(), 1, kElements, parts.bytes.data(), got.bytes.data(),
                               parts.dtype, wire, cuda::Meeting::add, order});
  return got;
}

TEST(Kernels, EachOrderAddsUpAsItSays) {
  std::mt19937_64 random(3);
  for (DType acc : {DType::f32, DType::bf16, DType::f16, DType::f64})
    for (DType wire : {acc, DType::bf16, DType::f8e5m2})
      for (int n : {1, 2, 3, 5, 7, 8}) {
        if (!holds(acc, wire)) continue;  // what was sent would be rounded once more
        const Tensor parts = drawn(acc, n, random);
        const Exactly exactly{parts, wire};
        const std::string what = std::string(format(acc).name) + " by " + std::string(format(wire).name) +
                                 " of " + std::to_string(n);
        for (int own : {-1, 0, n - 1})
          EXPECT_EQ(differs(moved(parts, wire, cuda::Order::direct, own), exactly.direct(own)), -1)
              << what << " own " << own;
        for (int own = 0; own < n; ++own)
          EXPECT_EQ(differs(moved(parts, wire, cuda::Order::ring, own), exactly.ring(own)), -1)
              << what << " own " << own;
        EXPECT_EQ(differs(moved(parts, wire, cuda::Order::tree, -1), exactly.tree(0, n)), -1) << what;
      }
}

// Where all receive, the shares of a ring end at one member after the other.
TEST(Kernels, RingOfAllEndsEachShareElsewhere) {
  std::mt19937_64 random(4);
  const Tensor parts = drawn(DType::bf16, 4, random);
  const Tensor got = moved(parts, DType::bf16, cuda::Order::ring, -1);
  const Exactly exactly{parts, DType::bf16};
  for (std::int64_t share = 0; share < 4; ++share) {
    const Tensor want = exactly.ring(share);
    for (std::int64_t i = share * kElements / 4; i < (share + 1) * kElements / 4; ++i)
      ASSERT_TRUE(value(got, i) == value(want, i) || std::isnan(value(want, i))) << share << ": " << i;
  }
}

TEST(Kernels, LargestIsExact) {
  std::mt19937_64 random(5);
  const Tensor parts = drawn(DType::bf16, 5, random);
  const std::vector<std::int64_t> numbers{
      kElements, 0, 2, 0, 2, kElements * 2, 2, kElements * 4, 2, kElements * 6, 2, kElements * 8, 2};
  for (const auto& [meeting, extreme] : {
           std::pair{cuda::Meeting::larger,  Extreme::largest },
           {cuda::Meeting::smaller, Extreme::smallest}
  })
    for (cuda::Order order : {cuda::Order::direct, cuda::Order::ring, cuda::Order::tree}) {
      const cuda::Piece piece{0, 0, 1, 5, -1};
      Tensor got = zeros(DType::bf16, {1, kElements});
      cuda::this_processor().move({&piece, numbers.data(), 1, kElements, parts.bytes.data(), got.bytes.data(),
                                   DType::bf16, DType::bf16, meeting, order});
      EXPECT_EQ(differs(got, extreme_parts(parts, extreme)), -1);
    }
}

// n / d by one multiplication, for every divisor near a power of two and every number near a multiple.
TEST(Kernels, AnInverseDivides) {
  std::vector<std::int64_t> divisors;
  for (int bit = 0; bit < 31; ++bit)
    for (std::int64_t near = -3; near <= 3; ++near)
      if (const std::int64_t d = (std::int64_t{1} << bit) + near; d > 0 && d < cuda::kNarrow)
        divisors.push_back(d);
  std::mt19937_64 random(7);
  for (int drawn = 0; drawn < 1000; ++drawn)
    divisors.push_back(1 + static_cast<std::int64_t>(random() >> (34 + random() % 30)) % (cuda::kNarrow - 1));
  for (const std::int64_t d : divisors) {
    const cuda::Inverse by = cuda::inverse_of(d);
    const std::int64_t most = (cuda::kNarrow - 1) / d;
    for (const std::int64_t q : {std::int64_t{0}, std::int64_t{1}, most / 2, most - 1, most})
      for (const std::int64_t n : {q * d - 1, q * d, q * d + d / 2, q * d + d - 1}) {
        if (n < 0 || n >= cuda::kNarrow) continue;
        ASSERT_EQ(cuda::quotient(n, by), n / d) << n << " / " << d;
      }
  }
}

}  // namespace
}  // namespace plumb
