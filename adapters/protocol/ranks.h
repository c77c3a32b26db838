// One rank of several that plumb-launch started (plumb_ranks.h, for C++).
#pragma once

#include <optional>
#include <string>

namespace plumb {

struct Seat {
  int rank = 0, world = 1;  // as whoever started the process says
};

// Connects where there is a launcher; nothing where there is none. Throws std::runtime_error where it cannot
// be reached.
std::optional<Seat> take_seat();

// What the library says once it has started.
void say_world(int size);

// Around what may wait for other ranks; `what` is what the others are said to wait in: "all-gather 3 over x".
void entering(const std::string& what);
void leaving();

// The next request, nothing once there are no more; and a reply.
std::optional<std::string> next_request();
void send_reply(std::string);

}  // namespace plumb
