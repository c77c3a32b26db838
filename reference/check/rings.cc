#include "reference/check/rings.h"

#include <algorithm>

#include "reference/fill/hash.h"
#include "reference/words/clones.h"

namespace plumb {
namespace {

constexpr std::int64_t kUnfolded = 1 << 12;  // products that a sum takes

}  // namespace

PrimeField::Weight PrimeField::draw(std::uint64_t key, std::int64_t i) {
  std::uint64_t random = mix(key + kGolden * static_cast<std::uint64_t>(i));
  while (random >> 3 == Residue::p) random = mix(random + kGolden);
  return static_cast<Weight>(random >> 3);
}

PrimeField::Weight PrimeField::folded(Sum sum) {
  const Residue r = residue(static_cast<unsigned __int128>(sum < 0 ? -sum : sum));
  return static_cast<Weight>((sum < 0 ? Residue{} - r : r).value);
}

std::int64_t PrimeField::integer(Weight w) {
  return w > static_cast<Weight>(Residue::p / 2) ? w - static_cast<Weight>(Residue::p) : w;
}

void PrimeField::add(const std::int64_t* values, std::int64_t count, const Weight* weights,
                     std::int64_t weight_step, Sum* sums, std::int64_t sum_step) {
  if (sum_step != 0) {
    for (std::int64_t i = 0; i < count; ++i)
      sums[i * sum_step] += static_cast<Sum>(values[i]) * weights[i * weight_step];
    return;
  }
  for (std::int64_t begin = 0; begin < count; begin += kUnfolded) {
    const auto product = [&](std::int64_t i) {
      return static_cast<Sum>(values[i]) * weights[i * weight_step];
    };
    const std::int64_t end = std::min(count, begin + kUnfolded);
    Sum sum = 0, other = 0;  // neither waits for the other
    std::int64_t i = begin;
    for (; i + 1 < end; i += 2) sum += product(i), other += product(i + 1);
    for (; i < end; ++i) sum += product(i);
    *sums = folded(*sums + folded(sum + other));
  }
}

WordLanes::Weight WordLanes::draw(std::uint64_t key, std::int64_t i) {
  Weight w;
  std::uint64_t random = mix(key + kGolden * static_cast<std::uint64_t>(i));
  for (std::uint32_t& lane : w) lane = static_cast<std::uint32_t>((random = mix(random + kGolden)) >> 32);
  return w;
}

WordLanes::Weight WordLanes::plus(const Weight& a, const Weight& b) {
  Weight sum;
  for (std::size_t lane = 0; lane < sum.size(); ++lane) sum[lane] = a[lane] + b[lane];
  return sum;
}

bool WordLanes::equal(const Weight& a, const Weight& b, DType dtype) {
  const std::uint32_t word = ~std::uint32_t{0} >> (32 - 8 * format(dtype).bytes);
  std::uint32_t differing = 0;
  for (std::size_t lane = 0; lane < a.size(); ++lane) differing |= a[lane] ^ b[lane];
  return (differing & word) == 0;
}

PLUMB_CLONES void WordLanes::add(const std::int64_t* values, std::int64_t count, const Weight* weights,
                                 std::int64_t weight_step, Sum* sums, std::int64_t sum_step) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<std::uint32_t>(values[i]);
    const Weight& weight = weights[i * weight_step];
    Sum& sum = sums[i * sum_step];
    for (std::size_t lane = 0; lane < sum.size(); ++lane) sum[lane] += value * weight[lane];
  }
}

}  // namespace plumb
