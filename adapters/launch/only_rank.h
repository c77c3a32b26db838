// The only rank of a launch while it reads requests itself.
#pragma once

#include "adapters/launch/relay.h"

namespace plumb::launch {

// Whether there is one that can.
bool can_read_on(const Relay&);

// Looks after it. Whether there may be more requests after that.
bool watch(Relay&);

}  // namespace plumb::launch
