// Is the result right, and if not, why?
#pragma once

#include "harness/judge/verdict.h"
#include "harness/judge/wanted.h"

namespace plumb {

// The verdict of judge(), and why where values are wrong: the causes are tried in turn (cause.h, then
// scale_causes.h), and the first fact on values is given those that explain every device to the bit. What
// passes by a bound is wrong where a cause gives it to the bit, and not by chance: a sum left unfinished may
// lie within a wide bound, but large results do not meet it so.
Verdict diagnose(const WantedAll&, const Outcome&, const Read&, const Declared&);

}  // namespace plumb
