#include "adapters/protocol/ranks.h"

#include <cstdlib>
#include <stdexcept>

#include "adapters/protocol/plumb_ranks.h"

namespace plumb {

std::optional<Seat> take_seat() {
  const char* where = std::getenv("PLUMB_LAUNCH");
  if (!where) return std::nullopt;
  const Seat seat{plumb_ranks_rank(), plumb_ranks_world()};
  if (plumb_ranks_join(seat.rank, seat.world, "") != 0)
    throw std::runtime_error(std::string("plumb-launch cannot be reached at ") + where);
  return seat;
}

void say_world(int size) { plumb_ranks_world_is(size); }

void entering(const std::string& what) { plumb_ranks_enter(what.c_str()); }
void leaving() { plumb_ranks_leave(); }

std::optional<std::string> next_request() {
  char* line = plumb_ranks_request();
  if (!line) return std::nullopt;
  std::string text = line;
  std::free(line);
  return text;
}

void send_reply(std::string line) { plumb_ranks_reply(line.c_str()); }

}  // namespace plumb
