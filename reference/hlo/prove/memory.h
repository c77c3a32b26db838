// What a proof costs.
#pragma once

#include "reference/hlo/prove/subject.h"

namespace plumb::hlo {

// The bytes that a proof holds at most, from shapes alone.
std::int64_t memory_needed(const Subject&);

}  // namespace plumb::hlo
