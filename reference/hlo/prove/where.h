// Where a refuted module went wrong.
#pragma once

#include <optional>
#include <string>

#include "reference/hlo/prove/prove.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// The first instruction of the program, as it was after propagation, whose value, laid out as it should be,
// comes about nowhere in AFTER, nor anything that was computed from it; where there is none, the one that
// makes the first wrong result. And what AFTER's devices tell each other there.
struct Place {
  std::string instruction;  // "dot_general.84"
  std::string source;       // "train.py:44 block"; empty where the dump does not say
  std::string op_name;      // "jit(step)/bsm,mhd->bshd/dot_general"
  std::string there;        // "%all-reduce.4 = ..."; empty where nothing is told
};

// Nothing where the module after propagation is not at hand, or no result is wrong.
std::optional<Place> locate(const Subject&, const Proof&, const Pulse& = {});

}  // namespace plumb::hlo
