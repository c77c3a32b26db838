// The socket to which every rank connects: who has joined, what they say, and what they tell each other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/launch/hang.h"
#include "adapters/launch/wire.h"

namespace plumb::launch {

using Clock = std::chrono::steady_clock;

// What is known of one rank.
struct Seat {
  Wire wire;
  Whereabouts where;
  bool elsewhere = false;           // on another machine: it has a copy of the arena
  std::uint64_t at = 0, bytes = 0;  // of the arena: they come next
  bool fenced = false;
  std::optional<std::string> wants;             // the key for which it waits
  std::shared_ptr<const nlohmann::json> reply;  // to the request that is asked; those of equal texts are one
  std::string reply_text;
  bool told = false;    // to end, by whoever started it
  bool struck = false;  // told to end by another
  bool reads = false;   // it can read requests itself (open_request.h)
  bool gone = false;    // its connection has ended
};

constexpr std::size_t longest_message = std::size_t{256} << 20;  // as plumb hears it

struct Hub {
  int listener = -1;
  std::string address, token;
  std::string file;             // says both, a line each, and this user alone can read it
  std::vector<Wire> strangers;  // who has not said the token yet
  std::vector<Seat> seats;
  int watch = -1;                  // of the kernel, which keeps in which order connections end
  std::vector<std::int64_t> ends;  // whose have, in this order
  std::vector<std::int64_t> lost;  // who were struck, else of these who were not told to end
  bool told = false;               // some were told to end before any had gone: the end comes from above
  std::string complaint;           // about the job as a whole: its ranks cannot work together
  std::function<void(const std::string&)> forward;  // what rank 0 says before its reply
  std::map<std::string, std::string> kept;          // what ranks tell each other
  bool sharing = false;                             // they do, since they were asked last
  Clock::time_point asked{};
  int arena = -1;                         // the file, where some rank cannot open it
  std::uint64_t free = 0, end = 0;        // what of it is the ranks' to write
  std::size_t longest = longest_message;  // line of a rank
};

// Listens on a unix socket in TMPDIR, or where an interface is named on a port of it. Throws
// std::system_error, and std::invalid_argument where there is no such interface.
Hub open_hub(int ranks, const std::string& interface);
void close_hub(Hub&);

// Takes in what comes until the time is over or something came.
void step(Hub&, Clock::time_point until);

// The same while replies are due: what another says than the last to reply is no reason to wake, and is taken
// in with the reply of that one or a moment later, which grows from 2 to 100 ms.
void await_replies(Hub&, Clock::time_point until);

// A request to every rank that is there, whose earlier replies are forgotten; to those elsewhere also what of
// the arena they need.
void ask_all(Hub&, const std::string& request);

// Tells the only rank to read requests itself from now on.
void read_on(Hub&);

// Asks all ranks where they are, and waits a moment for their answers.
void ask_where(Hub&);

// Whether a rank waited in vain until its own deadline, and where it did.
bool gave_up(const Seat&);
Whereabouts gave_up_at(const Seat&);

std::string who(const Seat&, std::size_t rank);  // rank 2 (host b, pid 4121)

// The processes of the ranks on this machine.
std::vector<pid_t> ranks_here(const Hub&);

}  // namespace plumb::launch
