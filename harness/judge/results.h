// The verdict of any case, several results and quantized operands too.
#pragma once

#include "harness/judge/judge.h"

namespace plumb {

// What judge() says of a case of one result, for any case: several results one after the other (each fact
// says of which), operands that are quantized as the values that their codes mean.
Verdict judge(const WantedAll&, const Outcome&, const Read&, const Declared&);

}  // namespace plumb
