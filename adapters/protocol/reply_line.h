// A reply as a line of the protocol.
#pragma once

#include <string>

#include "adapters/protocol/serve.h"

namespace plumb {

// With its table in the arena, of which the harness is told.
std::string written(std::int64_t id, const Reply&, Arena&);
std::string written(std::int64_t id, const Outcome&, Arena&);

}  // namespace plumb
