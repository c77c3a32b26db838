// The data of a case: an element's value from (case, operand, part, index), the same bits on every
// machine. README.md says what each fill is for.
#pragma once

#include <optional>
#include <string>

#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// Which data lines have: another number since a line has others. 1: of lines that say no seed, those of seed
// 0.
inline constexpr int data_generation = 2;

// Operand `i` of the case, whole. One with unfinished axes has a leading dimension for its parts.
Tensor fill(const Case&, int operand);

// The elements of `slice` of part `p` of an operand, dense: what one device makes for itself.
// Law: fill_slice is what cut() takes from fill(). Who needs many slices prepares a Recipe (recipe.h).
Tensor fill_slice(const Case&, int operand, std::int64_t p, const Slice& slice);

// Significant bits that a backend must keep of a product's operands, and of its sums while it adds: with
// fewer some result changes. 0 where the data do not tell.
struct Shown {
  int operand[2] = {0, 0}, sum = 0;
};

// Why bits must be equal, or that they need not be.
struct Certificate {
  enum class Scope : std::uint8_t {
    any_split,   // every partial sum of any split and order is exact in acc and wire
    this_split,  // exact for sums split where the operands are split, any order
    none         // no exact fill exists, or rounding data were asked for: the bound judges
  };
  Scope scope = Scope::any_split;
  std::string text;                 // the derivation, with its numbers: bits needed <= bits available
  std::optional<Shown> shown = {};  // of the exact data of a product in floating point
};
Certificate certificate(const Case&);

// Whether the data of a product show fewer bits than its operands have, so that narrower ones may pass.
bool shows_less(const Case&, const Shown&);

// The element of the first operand that carries `bits`, by its index in the whole array: where a misplaced
// element came from. -1 where the data are not one-to-one (fill is not provenance, or there are more
// elements than patterns) or no element carries them.
std::int64_t origin(const Case&, std::uint64_t bits);

}  // namespace plumb
