// Waiting for a reply: a deadline that the messages `phase` and `alive` move.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/backend/child.h"

namespace plumb {

// Seconds. A program that never says which phase it is in has `compile` for both.
struct Deadlines {
  double start = 120, compile = 120, run = 60;
};

// Told of a wait after 5 seconds of a phase, after 10, 20, and so on; `most`: after so many it is given up, as is known by now.
using Waits = std::function<void(const std::string& phase, double seconds, double most)>;

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
  double most() const;     // from then to the deadline
  double left() const;     // until the deadline, never negative
};

}  // namespace plumb
