// Does every device hold exactly the right bits, where it should, and say so truthfully?
#pragma once

#include "harness/judge/verdict.h"
#include "harness/judge/wanted.h"

namespace plumb {

// All facts found, the deciding one first. A free result is judged as claimed; where nothing is claimed,
// by the slices that its blocks say they are. Why a result is wrong, what it cost and what reruns gave is
// not asked here: diagnose() and examine() add it.
Verdict judge(const Wanted&, const Outcome&, const Read&, const Declared&);

}  // namespace plumb
