// Freivalds' proof of products: C = A B where C r = A (B r) for a vector r drawn when C was there. Private to
// the room and to what proves on devices.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "reference/check/check.h"
#include "reference/check/rings.h"

namespace plumb {

// An array that is summed with weights: its slice, by how much the place of an element's sum and of its
// weight grows along each dimension, and how many sums there are.
struct Weighing {
  Slice slice;
  std::vector<std::int64_t> sum_steps, weight_steps;
  std::int64_t sums = 1;
};

// The sums of a block. Its elements have to be integers in its unit, below 2^53: where one is none, `bad` is
// the first of those, and the sums say nothing.
template <class Ring>
struct BlockSums {
  std::vector<typename Ring::Weight> sums;
  std::optional<std::int64_t> bad{};
  bool signs = true;  // whether a zero may have a sign: false where none has
};

// Who weighs: this processor, or a device in whose memory the block lies. An operand is made from its recipe,
// and means the sum of its parts.
template <class Ring>
struct Weigher {
  using Weights = std::vector<typename Ring::Weight>;
  std::function<Weights(int operand, const Weighing&, const Weights&)> operand;
  std::function<BlockSums<Ring>(const InPlace&, const Weighing&, const Weights&)> held;
  std::function<std::uint64_t(const InPlace&, std::int64_t element)> bits;
};
template <class Ring>
Weigher<Ring> weigher_here(const Prover&);

// How a block is reached where it lies: its elements compared one by one, and its sums.
struct Ways {
  std::function<Proof(const Prover&, const InPlace&)> elements;
  Weigher<PrimeField> prime;
  Weigher<WordLanes> words;
};

// A vector r, and A (B r): what the rows of a part of a block add up to.
template <class Ring>
struct AwaitedSums {
  std::vector<typename Ring::Weight> r, sums;
};

// What a block of a product has to add up to: nothing of it is looked at, so it need not be there.
//   prime   of exact data, in the integers modulo 2^61 - 1, which none of the numbers involved reaches: a row
//           with a wrong element passes for one r in 2^61 - 1
//   words   of integers that wrap there is no field: 64 vectors of words, each of which a wrong element, be
//   it
//           wrong in the highest bit alone, passes for half of all
struct Awaited {
  Slice slice;
  std::vector<AwaitedSums<PrimeField>> prime{};
  std::vector<AwaitedSums<WordLanes>> words{};
};
Awaited awaited(const Prover&, const Slice&, std::uint64_t seed, const Ways&);
Proof prove_product(const Prover&, const InPlace&, const Awaited&, const Ways&);

// The exponent of the unit of which an operand, or the result (2), is a multiple.
int unit_exponent(const Recipe&, int which);

inline constexpr double kMostUnits = 0x1p53;  // what the widest format counts to

}  // namespace plumb
