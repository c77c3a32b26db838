// Messages that a program wrote otherwise than the page says.
#pragma once

#include <string>

#include "harness/backend/child.h"

namespace plumb {

// What of a message that never came as a line of its own among the replies: it has no newline, or was
// printed. "" where there is none. A program that still runs may be amid a line that is no message yet.
std::string astray(const Child&, bool runs);

}  // namespace plumb
