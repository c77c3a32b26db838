// Of whom a job hangs, in one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::launch {

// What is known of a rank: what it said when it joined, and where it is, once it was asked.
struct Whereabouts {
  bool joined = false, answers = false, replied = false;
  std::string host, device;  // "": it has none, or did not say
  std::int64_t pid = 0;
  bool inside = false;       // of a call in which it waits for others
  std::int64_t entered = 0;  // calls so far
  std::string at;            // the last one
};

struct Hang {
  std::string message;
  std::vector<std::int64_t> ranks;     // for which the others wait; empty where nobody can be named
  std::vector<std::string> processes;  // a line for each rank, of very many the first ones
};

// The first that applies: who has not joined; who does not answer; who has neither replied nor waits, beside
// those who wait for it, in whichever group; who has replied without the one call in which all others wait,
// or, if more have, who waits in it; who waits in one call where more wait in the only other one. Where that
// does not tell, who waits where.
Hang hang_of(const std::vector<Whereabouts>&);

// "rank 2 has not joined"; "" where all have.
std::string not_joined(const std::vector<Whereabouts>&);

// "0, 1, 3 to 7"
std::string listed(const std::vector<std::int64_t>& ranks);

}  // namespace plumb::launch
