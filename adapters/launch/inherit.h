// The descriptors of the protocol: this program inherits them, and may leave them to its only rank.
#pragma once

#include <string>

#include "adapters/launch/job.h"
#include "adapters/protocol/open_request.h"

namespace plumb::launch {

// That of PLUMB_REQUESTS or PLUMB_REPLIES, which no child inherits. Throws std::invalid_argument.
int descriptor(const char* variable);

// What the only rank of `own` inherits, and a memory in which it says what it does with them.
struct Inherited {
  OpenRequest* request = nullptr;  // null: nothing is left to anybody
  Variables variables;
};
Inherited leave_to(const Asked&, int requests, int replies);

}  // namespace plumb::launch
