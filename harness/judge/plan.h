// A plan that was never run (data=none): would it compute the case?
#pragma once

#include "adapters/protocol/outcome.h"
#include "harness/judge/verdict.h"
#include "reference/words/op.h"

namespace plumb {

// Facts on a plan: `misplaced` where it names a layout that is none; `wrong` where some device multiplies
// elements that do not belong together, where an element of the result lacks a term or has it twice when it
// lies as the plan says, where another reduction is taken than the one that is due, or before the operands
// have met, where less is moved than the layouts need, or where the collectives that are left do not make of
// that result what the case asks; `mistrusted` where it says too little to be wrong. Of a product that is a
// reshard of each operand to where they are multiplied, one of the parts that are made there to the layout
// that the plan says, and one from there through the chain; of a reshard the claim says the layouts.
//   operands [k] met as f32[8@x], f32[8@x], all-reduce over x    each term once
//   the same without the all-reduce                              0:4 of 8 terms
//   operands met as f32[8], f32[8], all-reduce over x            every term twice
//   the same, said to lie as f32[8]+x or f32[8@x] after it       no collective makes that
//   reshard f32[8]+x -> f32[8], no all-reduce over x             no sum
std::vector<Fact> plan_facts(const Case&, const Outcome&);

}  // namespace plumb
