// The integers modulo 2^61 - 1: a second number type for the same operations. Two multilinear programs
// that agree at uniformly random inputs agree for all, up to a chance of degree / 2^61.
#pragma once

#include <cstdint>
#include <span>

namespace plumb {

// A residue in [0, p), p = 2^61 - 1.
struct Residue {
  static constexpr std::uint64_t p = (1ull << 61) - 1;
  std::uint64_t value = 0;
  bool operator==(const Residue&) const = default;
};

// 2^61 = 1 modulo p: the bits from 61 on are added to those below.
constexpr Residue residue(unsigned __int128 x) {
  const auto low = static_cast<std::uint64_t>(x) & Residue::p, high = static_cast<std::uint64_t>(x >> 61);
  const std::uint64_t sum =
      low + (high & Residue::p) + (high >> 61) + (static_cast<std::uint64_t>(x >> 125) << 3);
  const std::uint64_t folded = (sum & Residue::p) + (sum >> 61);
  return {folded >= Residue::p ? folded - Residue::p : folded};
}

constexpr Residue residue(std::int64_t x) {
  constexpr auto zero = static_cast<__int128>(Residue::p) * Residue::p;  // modulo p; larger than any -x
  return residue(static_cast<unsigned __int128>(zero + x));
}

constexpr Residue operator+(Residue a, Residue b) {
  const std::uint64_t sum = a.value + b.value;
  return {sum >= Residue::p ? sum - Residue::p : sum};
}
constexpr Residue operator-(Residue a, Residue b) {
  return {a.value >= b.value ? a.value - b.value : a.value + Residue::p - b.value};
}
// Of less than 2^122, so that what is above bit 61 and what is below add up to less than 2 p.
constexpr Residue operator*(Residue a, Residue b) {
  const unsigned __int128 x = static_cast<unsigned __int128>(a.value) * b.value;
  const std::uint64_t sum = (static_cast<std::uint64_t>(x) & Residue::p) + static_cast<std::uint64_t>(x >> 61);
  return {sum >= Residue::p ? sum - Residue::p : sum};
}

}  // namespace plumb
