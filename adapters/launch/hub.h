// The socket to which every rank connects.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/launch/hang.h"

namespace plumb::launch {

using Clock = std::chrono::steady_clock;

// A connection and what came over it that is no whole line yet.
struct Line {
  int socket = -1;
  std::string buffer{};
};

// What is known of one rank.
struct Seat {
  Line line;
  Whereabouts where;
  std::optional<nlohmann::json> reply;  // to the request that is asked
  std::string reply_text;
  bool gone = false;  // its connection has ended
};

struct Hub {
  int listener = -1;
  std::string address, token;
  std::vector<Line> strangers;  // who has not said the token yet
  std::vector<Seat> seats;
  std::string complaint;  // about the job as a whole: its ranks cannot work together
  std::function<void(const std::string&)> forward;  // what rank 0 says before its reply
};

// Listens on a unix socket in TMPDIR, or where an interface is named on a port of it. Throws
// std::system_error.
Hub open_hub(int ranks, const std::string& interface);
void close_hub(Hub&);

// Takes in what comes until the time is over or something came.
void step(Hub&, Clock::time_point until);

// The same line to every rank that is there.
void tell_all(Hub&, const std::string& line);

// Asks all ranks where they are, and waits a moment for their answers.
void ask_where(Hub&);

}  // namespace plumb::launch
