// Where the ranks of a launch run.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// A rank, by what its machine and its cores are called.
struct RankPlace {
  std::string machine, cores;
};

// Ranks that follow each other and run alike are one line: "0-3: host 0, cores 0-1". Machines are numbered as
// they come, and not named.
std::vector<std::string> places_in_words(const std::vector<RankPlace>&);

// Those of all ranks: of the first one, none of the others. All ask, once.
std::vector<std::string> places_of_all(int rank, int world);

// The cores on which this process may run: "0-1,4".
std::string cores_of_this_process();

}  // namespace plumb
