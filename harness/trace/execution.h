// What is executed: what devices begin with, what they are to have, and how many elements sums must give.
#pragma once

#include <string>
#include <vector>

#include "adapters/protocol/outcome.h"
#include "harness/trace/acts.h"
#include "harness/trace/atoms.h"
#include "harness/trace/cells.h"

namespace plumb {

// What a device begins with: a box of an array, each element of it the sum of these atoms.
struct Beginning {
  Slice slice;
  Atoms atoms;
};

// The axes over which `to` is unfinished along which its parts make it together, where it was `from` before:
// along one that is reduced otherwise, or newly averaged, some device holds all of it, and others what leaves
// it as it is. Of these the axes along which `from` was a sum of parts as well.
//   f32[8]+x -> f32[8]+x.y                                together x.y, stays x
//            -> f32[8]+max(y), f32[8]+avg(y)              neither
struct Ends {
  std::vector<AxisId> together, stays;
};
Ends ends(const Spec& from, const Spec& to);

// From what each device begins with to blocks of `to`, of which an element is the sum of `atoms`.
struct Execution {
  const Case& c;
  std::vector<Beginning> from;
  std::int64_t atoms = 1;
  const Spec& to;
  Ends ends{};
  bool idempotent = false;  // of a maximum or minimum: an atom may be taken twice
  bool keeps = false;       // a program, that forgets nothing it had and may mask what it adds
};
Execution execution(const Case&, const Spec& from, const Spec& to);

// An execution, the acts of its trace, and what can come from where.
struct LaidOut {
  const Execution& e;
  std::vector<Act> acts;
  Cells cells;
  std::vector<std::vector<Bits>> to;  // ways() of the acts
  std::vector<std::vector<Bits>> of;  // origins() of the acts
};

// A sum of fewer bytes than those who need it hold of it; empty where none is.
std::string sums_too_few(const LaidOut&);

}  // namespace plumb
