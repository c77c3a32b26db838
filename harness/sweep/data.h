// Whether the cases of a sweep have the same data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// A digest of each whole operand.
using Digests = std::vector<std::uint64_t>;
Digests digests(const Case&);

// One line, of the cases of a sweep. Equal seeds do not make equal data: parts and recipes depend on how a
// case is split.
//   the same data on all 4 meshes (seed=0)
//   not the same data on all 4 meshes, though seed=0 is: of operand 1 there are 2
std::string data_in_words(std::uint64_t seed, const std::vector<Digests>&);

}  // namespace plumb
