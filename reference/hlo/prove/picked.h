// Reductions that keep one of what they are given. A partitioner fills padded ends with what is never kept;
// a wrong number there shows where all others are on its far side, and who of two that are equal is kept
// where several of the largest are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// What is kept: by `maximum` the largest, by `minimum` the least; by `or` and `and`, which predicates are.
struct Picking {
  Opcode opcode = Opcode::maximum;
  bool where = false;  // and where it stands, as of an argmax
};

// A number that was among those of which one is kept, and was made of nothing that is drawn.
struct Filler {
  Opcode opcode = Opcode::maximum;
  double number = 0;
  auto operator<=>(const Filler&) const = default;
};

// What a draw, or several, had of them. Of a minimum numbers are negated: then it is a maximum.
struct Picked {
  bool numbers = false;  // whether `fillers` are looked for: in draws without zeros
  std::map<const Instruction*, std::vector<double>> least;  // the least result: of windows, of each
  std::set<const Instruction*> tied;                        // where two that are equal were kept, of floats
  std::set<Filler> fillers;
};
void join(Picked& to, const Picked& from);

// Those of a module, but for what no parameter is read for.
struct Pickings {
  std::map<const Instruction*, Picking> all;
  void note(const Instruction&, const std::vector<Value<Twin>>& operands, const Value<Twin>& held,
            Picked&) const;
};
Pickings pickings_of(const Module&, const std::set<const Instruction*>& free_of_parameters);

// What draws should have of a reduction of BEFORE: two that are equal are kept, or all results below `limit`
// once (a minimum's: negated). So many draws are tried for it.
struct Pick {
  const Instruction* at = nullptr;
  Picking by;
  bool tie = false;
  double limit = 0;
  int tries = 0;
};
bool has(const Picked&, const Pick&);
// Two that are equal where it matters which is kept; results on the far side of what AFTER alone compares
// with; and of integers and predicates, whose fillers are not known, either sign.
std::vector<Pick> picks_of(const Pickings& before, const Picked& held, const Picked& after);
bool is_told(const Pick&);       // where no draw had it; of integers nothing is
std::string print(const Pick&);  // "%reduce.14 below 0", "%reduce.14 of two that are equal"

// Arguments for it: of arrays of floats slices along a dimension are one of three, of integers that index
// nothing all are far below zero or far above, by turns, and of predicates none or all hold.
void draw_slices(const Module&, std::vector<Bounds>&, int tried);

}  // namespace plumb::hlo
