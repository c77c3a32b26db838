// The fills that know an element by its index alone, as formulas of (part, index): one code for this
// processor and for a card. Each struct is what its fill works out once for an operand.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>

#include "reference/fill/hash.h"
#include "reference/fill/recipe.h"
#include "reference/words/element.h"

namespace plumb {

enum IndexKey : std::uint64_t { kElement = 1, kPart, kWinner };

constexpr std::uint64_t hashed(std::uint64_t base, std::int64_t index) {
  return mix(base + kGolden * static_cast<std::uint64_t>(index));
}

// The parts lie end to end.
struct ProvenanceAt {
  Provenance data;
  std::uint64_t base;
  std::int64_t elements;

  constexpr std::uint64_t bits(std::int64_t part, std::int64_t i) const {
    const std::int64_t index = part * elements + i;
    if (data.distinct) return pattern(data.patterns, permuted(data.order, static_cast<std::uint64_t>(index)));
    return pattern(data.patterns, below(hashed(base, index), static_cast<std::int64_t>(data.patterns.count)));
  }
};

// 64 coins have the variance 16; a uniform 16-bit number, in units of 2^16 coins, (1 - 2^-32) / 12.
struct NormalAt {
  std::uint64_t base;
  std::int64_t elements;
  double scale = 1.0 / (65536.0 * std::sqrt(16.0 + 4 * (1.0 - 0x1p-32) / 12.0));

  constexpr double value(std::int64_t part, std::int64_t i) const {
    const std::uint64_t h = hashed(base, part * elements + i), u = remix(h, base);
    const std::int64_t coins = __builtin_popcountll(h) - 32;
    const std::int64_t fine =
        static_cast<std::int64_t>((u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + (u >> 48)) -
        2 * 0xffff;
    return static_cast<double>(coins * 65536 + fine) * scale;
  }
};

struct AddendsAt {
  Shares shares;
  double unit;
  std::uint64_t base, parts;

  constexpr double value(std::int64_t part, std::int64_t i) const {
    const std::uint64_t h = hashed(base, i), u = remix(h, hashed(parts, part));
    return static_cast<double>(sign_of(u) * magnitude_of_part(shares, h, part, u)) * unit;
  }
};

// A number from [-most, top - 1] but zero, where -most < top <= most and top is not 0.
constexpr std::int64_t less_than(std::int64_t top, std::int64_t most, std::uint64_t random) {
  if (top < 0) return top - 1 - below(random, most + top);
  const std::int64_t n = below(random, most + top - 1) - most;
  return n < 0 ? n : n + 1;
}

struct ContestAt {
  std::int64_t contenders, most, octaves, beyond;  // -1 where integers have several magnitudes
  double unit;                                     // negative where the smallest wins
  std::uint64_t base, parts, turns;

  constexpr double value(std::int64_t part, std::int64_t i) const {
    const std::int64_t winner = (i + below(hashed(turns, i / contenders), contenders)) % contenders;
    const std::uint64_t h = hashed(base, i);
    if (beyond >= 0 && (h & 1) != 0) return past_zero(part == winner, remix(h, hashed(parts, part)));
    const bool negative = (h & 1) != 0 && most > 1;
    const std::int64_t top =
        negative ? -1 - below(remix(h, base), most - 1) : 1 + below(remix(h, base), most);
    const std::int64_t drawn = part == winner ? top : less_than(top, most, remix(h, hashed(parts, part)));
    return static_cast<double>(drawn << (octaves > 0 ? below(remix(h, turns), octaves + 1) : 0)) * unit;
  }
  constexpr double past_zero(bool wins, std::uint64_t random) const {
    const double one = unit < 0 ? -1 : 1, top = beyond > 0 ? -unit : 0;
    const auto numbers = beyond > 0 ? beyond : static_cast<std::int64_t>(unit * one);
    return wins ? top : top - one * static_cast<double>(1 + below(random, numbers));
  }
};

struct WrappingAt {
  Wrapping::Operand data;
  std::uint64_t base, parts;
  std::int64_t words;

  // The sign of an element is that of all its parts: they must not cancel to nothing.
  constexpr double value(std::int64_t part, std::int64_t i) const {
    const std::uint64_t h = hashed(base, i), u = remix(h, hashed(parts, part));
    if (!data.whole_range)
      return static_cast<double>(sign_of(h) * magnitude_of_part(data.shares, h, part, u));
    const std::int64_t word = 1 + below(u, words);
    return static_cast<double>((data.odd ? word | 1 : word) << data.shift);
  }
};

ProvenanceAt drawn_at(const Recipe&, const Provenance&, int operand);
NormalAt drawn_at(const Recipe&, const Normal&, int operand);
AddendsAt drawn_at(const Recipe&, const Addends&, int operand);
ContestAt drawn_at(const Recipe&, const Contest&, int operand);
WrappingAt drawn_at(const Recipe&, const Wrapping&, int operand);

// Nothing where an element hangs on more than its index.
using AtIndex = std::variant<ProvenanceAt, NormalAt, AddendsAt, ContestAt, WrappingAt>;
std::optional<AtIndex> drawn_at(const Recipe&, int operand);

template <class At>
constexpr std::uint64_t bits_at(const At& at, DType dtype, std::int64_t part, std::int64_t i) {
  if constexpr (requires { at.bits(part, i); })
    return at.bits(part, i);
  else
    return with_dtype(dtype, [&]<DType d>() -> std::uint64_t { return encode_one<d>(at.value(part, i)); });
}

}  // namespace plumb
