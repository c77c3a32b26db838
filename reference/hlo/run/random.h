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

// The state behind them, and the bits.
template <typename Number>
std::vector<Array<Number>> random_bits(const Instruction& i, const Array<Number>& state) {
  require(state.type == Type::u64 && state.dims.size() == 1 && i.shape.parts.size() == 2, "a state of words");
  const Generator generator = generator_named(get<std::string>(i, Key::algorithm));
  std::vector<Array<Number>> result = {
      {Type::u64,             state.dims,            state.lanes, {}, {}},
      {i.shape.parts[1].type, i.shape.parts[1].dims, state.lanes, {}, {}}
  };
  for (std::int64_t lane = 0; lane < state.lanes; ++lane) {
    const auto at = state.integers.begin() + lane * state.dims[0];
    const Bits next = random_bits(generator, Integers(at, at + state.dims[0]), Shape(i.shape.parts[1]));
    result[0].integers.insert(result[0].integers.end(), next.state.begin(), next.state.end());
    result[1].integers.insert(result[1].integers.end(), next.bits.begin(), next.bits.end());
  }
  return result;
}

}  // namespace plumb::hlo
