// What devices hold when they have multiplied their blocks. Private to the judge.
#pragma once

#include "harness/judge/executed.h"
#include "harness/judge/plan_moves.h"

namespace plumb {

// From what each device makes of its blocks of the operands to the result of the case: the letters of the
// result as the operands have them, the sum of the terms that it has of the others.
Execution multiplied(const Case&, const Einsum&, const Layouts&);

// Why no dealing out of the collectives brings the operands together and makes the result: those before the
// first sum belong to one operand or to the result, the others to the result. As not_made().
std::optional<std::string> product_not_made(const Case&, const Layouts&, std::span<const Collective>);

}  // namespace plumb
