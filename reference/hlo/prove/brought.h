// What comes to a result as a number, and not only by what is decided of it.
#pragma once

#include <set>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// The instructions of which a result is made, however they are computed on, called and carried by loops. A
// comparison, a sign or a rounding tells no more than on which side a number is: what nothing else reads only
// decides.
std::set<const Instruction*> brought_to_results(const Module&);

}  // namespace plumb::hlo
