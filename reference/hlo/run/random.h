// Random bits as XLA's expander makes them of a state of u64 words, the first of which is the key.
#pragma once

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// Of Philox (4x32, ten rounds) two words or three, of ThreeFry (2x32, twenty rounds) two.
enum class Generator : std::uint8_t { philox, three_fry };

// rng_default is what CPUs and GPUs take: Philox.
Generator generator_named(const std::string& algorithm);

struct Bits {
  Integers state, bits;  // the state behind them
};
// As many as an array of these extents has, of an integer type. Throws Misfit.
Bits random_bits(Generator, const Integers& state, const Shape& shape);

}  // namespace plumb::hlo
