// The only rank of a launch, which reads its requests itself (open_request.h).
#pragma once

#include <optional>
#include <string>

#include "adapters/protocol/channel.h"
#include "adapters/protocol/open_request.h"

namespace plumb {

struct Direct {
  OpenRequest* request = nullptr;
  Channel channel;
};

// Nothing where the launcher offers none.
std::optional<Direct> direct_channel();

// No line once there are no more, or the last one was given up: whoever gives up makes room for a new launch.
// Taken back: the next one comes from the launcher.
struct Heard {
  std::optional<std::string> line{};
  bool taken_back = false;
};
Heard read_line(Direct&);

// Does not return where the launcher has replied already.
void write_line(Direct&, const std::string&);

}  // namespace plumb
