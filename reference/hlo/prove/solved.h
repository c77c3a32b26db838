// What a parameter must be where what is made of it is to be so.
#pragma once

#include <memory>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// A number that is made of a parameter's: of what was made before it, and one of `others`, which stand first
// where it is `second`, and where they are `fixed` are made of no parameter.
struct Made {
  std::shared_ptr<const Made> before;  // null: the parameter itself
  std::int64_t parameter = 0;
  Opcode opcode = Opcode::copy;
  Type type = Type::s32;
  Integers others{};
  bool second = false, fixed = false;
};
using Chain = std::shared_ptr<const Made>;

// What the parameter may be where the last of the chain is one of `wanted`; where that lies between two
// numbers, both. Empty where nothing of the kind is known.
Integers solved(const Chain&, const Integers& wanted);

// All numbers from `low` to `high`. `held`: what a chain ends in is among them whatever the parameter is, for
// it is a remainder, or clipped, on the way.
struct Span {
  std::int64_t low = 0, high = 0;
  bool held = false;
};

// Between which numbers the parameter is drawn where the last of the chain is to be all that is wanted: 0 to
// 1023 where t / 64 is 0 to 15; of a remainder four periods, or as many as reach 1023; beyond both ends of
// what is clipped.
Span drawn_for(const Chain&, Span wanted);

// Ascending, each once; of many some, evenly, the ends among them.
Integers few(Integers all, std::size_t most = 64);

}  // namespace plumb::hlo
