// Which way a program went: branches, loops, and what it decides by comparing floats. A proof says nothing of
// a way that no draw took.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// What a module decides by comparing, while it runs: of a `compare` whether it holds, and whether all or some
// of many predicates do; of a `minimum`, `maximum` or `clamp` of floats which operand an element is, and of a
// reduction by one of these whether it is the initial value. Where no parameter is read nothing is decided,
// nor where a number is compared with itself, but whether a float is none: `x != x`.
struct Answers {
  std::set<const Instruction*> compares, choices;

  void note(Pairs&, const Instruction&, const std::vector<Value<Twin>>& operands, const Value<Twin>& held,
            Paths&) const;
};
Answers answers_of(const Module&, const std::set<const Instruction*>& free_of_parameters);

// One that could be gone: the number of a branch, 1 of a loop, of a comparison its answer, of a choice the
// operand. By a `scalar` a program decides what becomes of whole arrays: whether a gradient is clipped, say.
// Of an `array`, and within a reduction or a sort, each element is a draw. What indexes is drawn below what
// it indexes, so that most comparisons of integers have one answer. No draw has what is `no_number`.
struct Way {
  enum Kind : std::uint8_t { scalar, array, integers, no_number };
  const Instruction* at = nullptr;
  std::int64_t answer = 0;
  Kind kind = scalar;
};
std::vector<Way> untaken(const Module&, const Paths&);
bool went(const Paths&, const Way&);
std::string print(const Way&);  // "%cond.3 branch 1", "%while.2", "%lt.4 false", "%min.5 operand 1"

// Those that reductions, scatters, sorts and maps call, for elements.
std::set<const Computation*> of_elements(const Module&);

}  // namespace plumb::hlo
