// Reductions that a part of what is reduced decides alone: of a maximum, whether a result would be another
// without the largest. A device that is not told what the others hold keeps the largest of its own: where
// that decides alike on all of them nobody sees it.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "reference/hlo/prove/bounds.h"
#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/prove/subject.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// Of BEFORE the reductions by a maximum, a minimum, `or` or `and`, and by a sum that is only compared, which
// several devices may make together, and by what each is: the program's own all-reduces; of others those that
// are cut in the module after propagation, where one such as it is there.
using Shared = std::map<const Instruction*, Opcode>;
Shared shared_out(const Subject&, const std::set<const Instruction*>& free_of_parameters);

// What a reduction holds where it leaves out, of each line, the element that it keeps; of a sum the half
// where the largest is. Nothing where no result of it is another then.
struct Reduced {
  Opcode by;
  const Instruction& is;
  const std::vector<Value<Twin>>& operands;
  std::int64_t devices = 1;
};
std::optional<Array<Twin>> without_part(Pairs&, const Reduced&);

// Arguments for it: along some dimensions of each array all slices are the same but one.
void draw_alone(const Module&, std::vector<Bounds>&, int tried);

}  // namespace plumb::hlo
