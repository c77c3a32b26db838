// What the trace of a plan must carry to where it is needed.
#pragma once

#include <optional>

#include "harness/judge/verdict.h"
#include "harness/trace/multiplied.h"

namespace plumb {

Fact not_the_case(const std::string& why);  // `wrong`, of a plan

// Of a plan whose layouts and sums are those of the case: `wrong` where less is moved than its layouts need,
// in all or to one device; where a device is brought nothing of an element that it needs (reachability.h);
// where a sum carries fewer bytes than the blocks that are made of it; where a collective is impossible;
// where no reading of the trace, executed, makes the result (executed.h). `mistrusted` where nobody knows
// what moved, or there is too much to execute.
std::optional<Fact> carries_reshard(const Case&, const Outcome&);
std::optional<Fact> carries_product(const Case&, const Outcome&, const Layouts&);

// The same of a product by execution alone, and of its operands on their way to where they meet
// (multiplied.h).
std::optional<Fact> makes_product(const Case&, const Outcome&, const Layouts&);
std::optional<Fact> operands_meet(const Case&, const Outcome& on_the_way, const Layouts&);

}  // namespace plumb
