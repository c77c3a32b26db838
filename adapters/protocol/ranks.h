// One rank of several that plumb-launch started (plumb_ranks.h, for C++).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapters/protocol/timing.h"

namespace plumb {

struct Seat {
  int rank = 0, world = 1;  // as whoever started the process says
};

// As whoever started the process says; 0 where nobody does.
int own_rank();

// All ranks are given something that they cannot use: the first says it, and the others give it a second, for
// whoever starts them ends the job with the first that ends, and forwards nothing more. The exit code, 2.
int cannot_use(const std::string& why);

// Connects where there is a launcher; nothing where there is none. Throws std::runtime_error where it cannot
// be reached.
std::optional<Seat> take_seat();

// What is done first when this process is told to end (SIGTERM): by a thread of its own, while the others go
// on.
void when_told_to_end(std::function<void()>);

// What the library says once it has started.
void say_world(int size);

// Around what may wait for other ranks; `what` is what the others are said to wait in: "all-gather 3 over x".
void entering(const std::string& what);
void leaving();

// The same of what is entered under a clock, whose words are known beforehand: "all-gather {} over x", with
// how many were entered since they were last forgotten.
int known(const std::string& what);
void forget_known();
void entering(int known);

// What was entered last and not left, in words; empty where nothing is.
std::string waits_in();

// When each of those was entered and left in a run, by the machine's clock.
std::vector<Turn> turns_in(const std::function<void()>& run);

// The next request, nothing once there are no more; and a reply.
std::optional<std::string> next_request();
void send_reply(std::string);

// Of a rank on another machine the copy of the arena, made anew for each request; empty where its file is
// here.
std::span<std::byte> copied_arena();

// Sends what was written there, before the reply: each rank its own blocks. Nothing where the file is here.
void send_written(std::size_t offset, std::size_t bytes);

// What the ranks of a launch tell each other through the launcher. Keys and values are ASCII without quotes,
// backslashes and control characters. Each throws std::runtime_error where the launcher is gone.
void put_shared(const std::string& key, const std::string& value);
std::string get_shared(const std::string& key);  // waits until somebody has put it
void meet_all();                                 // waits until every rank has come

// The same of two processes that can open each other's files in /proc.
std::string this_machine();

}  // namespace plumb
