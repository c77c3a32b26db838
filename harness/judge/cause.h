// Which sums were left unfinished? Private to the judge.
#pragma once

#include "harness/judge/values.h"

namespace plumb {

// Tries every set of axes over which the case adds: if each device holds exactly what it would hold
// had the sum over these axes been left unfinished, says so. Empty where none explains every device to the
// bit. The full diagnosis has its place here.
std::vector<Explanation> cause(const Wanted&, const std::vector<Held>&);
std::int64_t causes_tried(const Case&);  // at most

}  // namespace plumb
