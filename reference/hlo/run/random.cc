#include "reference/hlo/run/random.h"

#include <algorithm>
#include <array>
#include <bit>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/maps.h"

// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011: the rounds, their constants and
// rotations.
namespace plumb::hlo {
namespace {

using Block = std::array<std::uint32_t, 4>;
using Couple = std::array<std::uint32_t, 2>;

Couple halves(std::uint64_t x) {
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)};
}
std::uint64_t joined(std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; }

Block philox(Block x, Couple key) {
  for (int round = 0; round < 10; ++round) {
    const Couple a = halves(0xD2511F53ull * x[0]), b = halves(0xCD9E8D57ull * x[2]);
    x = {b[1] ^ x[1] ^ key[0], b[0], a[1] ^ x[3] ^ key[1], a[0]};
    key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
  }
  return x;
}

Couple three_fry(Couple x, Couple key) {
  constexpr int kRotations[2][4] = {
      {13, 15, 26, 6 },
      {17, 29, 16, 24}
  };
  const std::uint32_t keys[3] = {key[0], key[1], 0x1BD11BDAu ^ key[0] ^ key[1]};
  x[0] += keys[0], x[1] += keys[1];
  for (std::uint32_t five = 0; five < 5; ++five) {
    for (const int rotation : kRotations[five % 2]) x[0] += x[1], x[1] = std::rotl(x[1], rotation) ^ x[0];
    x[0] += keys[(five + 1) % 3], x[1] += keys[(five + 2) % 3] + five + 1;
  }
  return x;
}

// A counter of 128 bits, from the lower word.
struct Counter {
  std::uint64_t low, high;
  Counter plus(std::uint64_t n) const { return {low + n, high + (low + n < low)}; }
};

Bits philox_bits(const Integers& state, const Shape& shape) {
  require(state.size() == 2 || state.size() == 3, "a state of two words or three");
  const auto word = [&](std::size_t n) { return static_cast<std::uint64_t>(state[n]); };
  const Counter begin{word(1), word(state.size() == 3 ? 2 : 0)};
  const std::int64_t words = row(shape.type).bits == 64 ? 2 : 1;
  const std::int64_t blocks = (elements(shape) * words + 3) / 4;
  Bits result{state, {}};
  for (std::int64_t n = 0; n < blocks; ++n) {
    const Counter at = begin.plus(static_cast<std::uint64_t>(n));
    const Couple low = halves(at.low), high = halves(at.high);
    const Block block = philox({low[0], low[1], high[0], high[1]}, halves(word(0)));
    for (std::size_t w = 0; w < 4; w += static_cast<std::size_t>(words))
      result.bits.push_back(
          static_cast<std::int64_t>(words == 2 ? joined(block[w], block[w + 1]) : block[w]));
  }
  result.bits.resize(static_cast<std::size_t>(elements(shape)));
  const Counter end = begin.plus(static_cast<std::uint64_t>(blocks));
  result.state[1] = static_cast<std::int64_t>(end.low);
  if (state.size() == 3) result.state[2] = static_cast<std::int64_t>(end.high);
  return result;
}

// The dimension along which the two words of a step lie side by side: the first that is even, else the first
// of the largest.
std::size_t paired(const Integers& dims) {
  const auto even = std::ranges::find_if(dims, [](std::int64_t n) { return n % 2 == 0; });
  return static_cast<std::size_t>((even != dims.end() ? even : std::ranges::max_element(dims)) -
                                  dims.begin());
}

Bits three_fry_bits(const Integers& state, const Shape& shape) {
  require(state.size() == 2, "a state of two words");
  const auto counter = static_cast<std::uint64_t>(state[1]);
  const auto step = [&](std::int64_t n) {
    return three_fry(halves(counter + static_cast<std::uint64_t>(n)),
                     halves(static_cast<std::uint64_t>(state[0])));
  };
  Bits result{state, {}};
  std::int64_t steps = elements(shape);
  if (row(shape.type).bits == 64) {
    for (std::int64_t n = 0; n < steps; ++n) {
      const Couple x = step(n);
      result.bits.push_back(static_cast<std::int64_t>(joined(x[0], x[1])));
    }
  } else {
    const Integers dims = shape.dims.empty() ? Integers{1} : shape.dims;
    const std::size_t d = paired(dims);
    Integers half = dims;
    half[d] = (half[d] + 1) / 2;
    const Integers strides = strides_of(half);
    each_index(dims, [&](const Integers& index) {
      std::int64_t n = 0;
      for (std::size_t k = 0; k < dims.size(); ++k) n += (k == d ? index[k] / 2 : index[k]) * strides[k];
      result.bits.push_back(step(n)[static_cast<std::size_t>(index[d] % 2)]);
    });
    steps = count(half);
  }
  result.state[1] = static_cast<std::int64_t>(counter + static_cast<std::uint64_t>(steps));
  return result;
}

}  // namespace

Generator generator_named(const std::string& algorithm) {
  require(algorithm == "rng_default" || algorithm == "rng_philox" || algorithm == "rng_three_fry",
          "algorithm= is rng_default, rng_philox or rng_three_fry");
  return algorithm == "rng_three_fry" ? Generator::three_fry : Generator::philox;
}

Bits random_bits(Generator generator, const Integers& state, const Shape& shape) {
  require(is_integer(shape.type), "bits of integers");
  Bits result = generator == Generator::philox ? philox_bits(state, shape) : three_fry_bits(state, shape);
  for (std::int64_t& x : result.bits) x = wrap(shape.type, x);
  return result;
}

}  // namespace plumb::hlo
