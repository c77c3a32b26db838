// Why bits must be equal.
#pragma once

#include <optional>
#include <string>

#include "reference/words/op.h"

namespace plumb {

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

}  // namespace plumb
