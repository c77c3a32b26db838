// Waiting for a reply: a deadline that the messages `phase` and `alive` move.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/backend/child.h"
#include "harness/backend/process.h"

namespace plumb {

struct Waiting {
  std::string phase;
  Deadlines deadlines;
  Clock::time_point since, deadline;
  int extensions = 0;  // of this phase
  double word = 5;     // after so many seconds of it the wait is said next

  Waiting(std::string phase, const Deadlines&);

  // Whether the message is one that comes before a reply. One that is late, with the id of an earlier
  // request, changes nothing. Throws Malformed.
  bool hear(const nlohmann::json& message, std::int64_t id);

  // Whether the deadline has passed. A reply that is here already counts all the same.
  bool over() const;

  double seconds() const;  // since the phase began
  double left() const;     // until the deadline, never negative
};

}  // namespace plumb
