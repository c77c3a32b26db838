// Reductions that one element alone decides: of a maximum, whether a result would be another without the
// largest. A device that is not told what the others hold keeps the largest of its own: where that decides
// alike on all of them nobody sees it.
#pragma once

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/prove/picked.h"
#include "reference/hlo/prove/subject.h"

namespace plumb::hlo {

// Of reductions of BEFORE that keep an element of each line those that several devices may make together: by
// the module after propagation, where one such as it is there and has a layout.
std::set<const Instruction*> shared_out(const Subject&, const Pickings& before);

// What a reduction of one array by a maximum, a minimum, `or` or `and` holds where it leaves out, of each
// line, the element that it keeps. Nothing where no result of it is another then.
std::optional<Array<Twin>> without_kept(Pairs&, Opcode, const Instruction&,
                                        const std::vector<Value<Twin>>& operands, const Value<Twin>& held);

// Arguments for it: along some dimensions of each array all slices are the same but one.
void draw_alone(const Module&, std::vector<Bounds>&, int tried);

}  // namespace plumb::hlo
