// Over which axes a case adds, what each device sees of its sums, and in which order a trace says they were
// made.
#pragma once

#include <optional>

#include "harness/judge/wanted.h"
#include "reference/rounding/reduction.h"

namespace plumb {

// The axes over which an operand is unfinished or a contracted dimension is split.
std::vector<AxisId> summed_axes(const Op&);

// The operands with what a device does not see of the chosen axes taken away: the other parts of an
// unfinished operand, the other pieces of a contracted dimension. Law: where adds_up() over the coordinates
// along the chosen axes what they mean adds up to the whole.
std::vector<Tensor> seen(const Wanted&, const std::vector<AxisId>& chosen, std::int64_t device);

// Whether every term is seen once: no axis cuts two contracted dimensions, or one dimension in one operand
// otherwise than in the other, or one where an operand is in parts along it, nor are both in parts along one.
bool adds_up(const Case&);

// How a case's one reduction was added up, where the trace says it of every collective that adds, one after
// the other, and these join all its parts. Nothing, any order that is, where one does not say it, where a
// send may have added, where other parts were added by other means, or where the case has several reductions.
std::optional<Order> order_said(const Case&, const Trace&);

// Whether nothing is added up though the result is in parts: a mean of what was whole all the way, of which
// every part is the value itself.
bool only_copied(const Case&);

}  // namespace plumb
