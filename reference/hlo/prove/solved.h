// What a parameter must be where what is made of it is to be so.
#pragma once

#include <memory>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// A number that is made of a parameter's: of what was made before it, and one of `others`, which stand first
// where it is `second`.
struct Made {
  std::shared_ptr<const Made> before;  // null: the parameter itself
  std::int64_t parameter = 0;
  Opcode opcode = Opcode::copy;
  Type type = Type::s32;
  Integers others{};
  bool second = false;
};
using Chain = std::shared_ptr<const Made>;

// What the parameter may be where the last of the chain is one of `wanted`; where that lies between two
// numbers, both. Empty where nothing of the kind is known.
Integers solved(const Chain&, const Integers& wanted);

// Ascending, each once; of many some, evenly, the ends among them.
Integers few(Integers all, std::size_t most = 64);

}  // namespace plumb::hlo
