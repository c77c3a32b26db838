// Which operand of a `select` came to a result. One that no draw takes there hides what is computed for it: a
// program that chooses so says nothing of it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/machine.h"

namespace plumb::hlo {

// What a run took of each select: bit 0 the operand where the predicate is false, bit 1 that where it is
// true; of an array some element. Of a minimum, a maximum or a clamp of integers, a bit for each operand. Of
// what runs other computations, what was taken within.
struct Taken {
  unsigned answers = 0;
  std::map<const Instruction*, Taken> within{};
};
using Chosen = std::map<const Instruction*, Taken>;

// The selects of a module whose predicate some parameter is read for, and what keeps an operand as they do,
// but those that reductions and sorts call for elements. `note` is told of each instruction once it has run.
struct Selects {
  const Module& module;
  std::set<const Instruction*> free_of_parameters;
  std::set<const Instruction*> all{};
  void note(const Instruction&, const std::vector<Value<Twin>>& operands, Chosen&) const;
};
Selects selects_of(const Module&, const std::set<const Instruction*>& free_of_parameters);

// Adds to `paths` what came to a result in a run that chose so, whatever else was computed: each instruction
// that computes, moves or adds up elements, and each select with the answers that took an operand there; each
// call of one computation by itself. By whole arrays: where one select masks element by element what another
// lets through, both count.
void note_reached(const Selects&, const Chosen&, Paths& paths);

// Selects that came to a result with one answer alone, though for the other something is moved or added up
// that came there in no draw, or a float is computed: this but where a comparison of integers had one answer,
// which is counted. As `paths` will have it, and in words, "%select.3 true in %call.1".
struct Hidden {
  std::pair<const Instruction*, std::int64_t> way;
  std::string text;
};
std::vector<Hidden> hidden(const Selects&, const Paths&);

}  // namespace plumb::hlo
