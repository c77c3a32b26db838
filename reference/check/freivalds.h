// Freivalds' proof of products: C = A B where C r = A (B r) for a vector r drawn when C was there. Private to
// the room.
#pragma once

#include "reference/check/check.h"

namespace plumb {

// Of exact data, in the integers modulo 2^61 - 1, which none of the numbers involved reaches: a row with a
// wrong element passes for one r in 2^61 - 1.
Proof prove_product(const Prover&, const InPlace&, std::uint64_t seed);

// Of integers that wrap there is no field: 64 vectors of words, each of which a wrong element, be it wrong in
// the highest bit alone, passes for half of all.
Proof prove_wrapping(const Prover&, const InPlace&, std::uint64_t seed);

}  // namespace plumb
