// Digests of what replicas hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/words/spec.h"

namespace plumb {

// The sum over elements, modulo 2^64, of a hash of the bits and the index in the whole array: in any order,
// and the digests of the shards of an array add up to that of the array, however it is cut. Laws: equal bits
// at equal places have equal digests; one changed element is always seen, for the hash of an element is
// one-to-one in its bits; anything else is missed by one seed in 2^64.
std::uint64_t digest_of(DType, const std::vector<std::int64_t>& shape, const Slice&,
                        std::span<const std::byte> bytes, std::uint64_t seed);

// The same of the zeros alone that have a sign: where two blocks have equal values, equal ones say equal
// bits.
std::uint64_t digest_of_signs(DType, const std::vector<std::int64_t>& shape, const Slice&,
                              std::span<const std::byte> bytes, std::uint64_t seed);

}  // namespace plumb
