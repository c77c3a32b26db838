// The data of a case: an element's value from (case, operand, part, index), the same bits on every
// machine. README.md says what each fill is for.
#pragma once

#include "reference/fill/certificate.h"
#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// Which data lines have: another number since a line has others. 1: of lines that say no seed, those of seed
// 0. 2: of products that a program cuts as it likes (parted_freely), those of no cut; of 3 also what had been
// alike, or averages that no format counts to, of 4 quantized products that none counts to, of 5 those of
// small shares, and factors of words that wrap alike.
inline constexpr int data_generation = 5;

// Operand `i` of the case, whole. One with unfinished axes has a leading dimension for its parts.
Tensor fill(const Case&, int operand);

// The elements of `slice` of part `p` of an operand, dense: what one device makes for itself.
// Law: fill_slice is what cut() takes from fill(). Who needs many slices prepares a Recipe (recipe.h).
Tensor fill_slice(const Case&, int operand, std::int64_t p, const Slice& slice);

// The element of the first operand that carries `bits`, by its index in the whole array: where a misplaced
// element came from. -1 where the data are not one-to-one (fill is not provenance, or there are more
// elements than patterns) or no element carries them.
std::int64_t origin(const Case&, std::uint64_t bits);

}  // namespace plumb
