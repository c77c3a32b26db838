// Ranks whose clocks are several, as on several machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adapters/protocol/sight.h"
#include "adapters/rank/calls.h"

namespace plumb {

using Now = std::function<std::int64_t()>;

// How one number gets from one member of a team to another; who receives waits for it.
struct Mail {
  std::function<void(std::size_t to, std::int64_t number)> send;
  std::function<std::int64_t(std::size_t from)> receive;
};

// Each rank of a team in turn asks the first one what its clock says, some times; nothing comes of it on the
// first.
std::vector<Ping> ask_first(const Team& all, const Now&, const Mail&);

// A clock that is so far ahead of this machine's, and gains, on one rank: whether it is noticed. Of
// RANK:AHEAD:DRIFT, in nanoseconds and nanoseconds a second; none on other ranks.
Now planted_clock(const std::string& text, int rank);

}  // namespace plumb
