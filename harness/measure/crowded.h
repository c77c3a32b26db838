// Ranks that share cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

// "4 ranks share 2 cores": of the first `ranks`, by what is said of where they run ("0-3: host 0, cores 0-1"), more
// may run on some cores of one host, and on no others, than these are. Then a time is also that of waiting for a
// core. Of several such the most ranks. Empty where each may have a core of its own, or nobody says.
std::string shared_cores(const std::vector<std::string>& places, std::int64_t ranks);

// The same of the ranks of a case; else of all that were started, which may keep a core busy while they have no part in it.
struct Sharing {
  std::string own, besides;  // one of them, or none
};
Sharing sharing(const std::vector<std::string>& places, std::int64_t ranks);

// "4 ranks share 2 cores", "4 ranks share 2 cores, and 2 take part"; empty where nobody does.
std::string sharing_in_words(const Sharing&);

}  // namespace plumb
