// Counter-based hashing: a value from (key, index), the same on every machine.
#pragma once

#include <cstdint>

namespace plumb {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / the golden ratio, odd

// A bijection of 64 bits in which every input bit reaches every output bit. Constants: Stafford's
// variant 13 of the finaliser of MurmurHash3, as in SplitMix64.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A second value from one that is mixed already, under another key: half the price of mix().
constexpr std::uint64_t remix(std::uint64_t mixed, std::uint64_t key) {
  mixed += key;
  mixed = (mixed ^ (mixed >> 32)) * 0xd6e8feb86659fd93;
  return mixed ^ (mixed >> 32);
}

// What the random numbers of one case are for: no two purposes share any.
constexpr std::uint64_t key(std::uint64_t seed, std::uint64_t operand, std::uint64_t purpose) {
  return mix(mix(seed + kGolden) + kGolden * (operand + 1) + purpose * 0xd1342543de82ef95);
}

// From [0, n), n > 0, by the high bits of `random`; uneven by less than n / 2^64.
constexpr std::int64_t below(std::uint64_t random, std::int64_t n) {
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(random) * static_cast<std::uint64_t>(n)) >>
                                   64);
}

// The same of an n up to 2^32, by products that loops make several of at once.
constexpr std::int64_t below_short(std::uint64_t random, std::int64_t n) {
  const std::uint64_t most = static_cast<std::uint64_t>(n), low = random & 0xffffffff;
  return static_cast<std::int64_t>(((random >> 32) * most + (low * most >> 32)) >> 32);
}

// -1 or 1, by the low bit.
constexpr std::int64_t sign_of(std::uint64_t random) { return 1 - 2 * static_cast<std::int64_t>(random & 1); }

}  // namespace plumb
