#include "adapters/protocol/places.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "adapters/protocol/ranks.h"

namespace plumb {
namespace {

std::string range_in_words(std::size_t first, std::size_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string key_of(int rank) { return fmt::format("place {}", rank); }

}  // namespace

std::vector<std::string> places_in_words(const std::vector<RankPlace>& all) {
  std::vector<std::string> lines, machines;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last + 1) {
    const auto& [machine, cores] = all[first];
    for (last = first; last + 1 < all.size();) {
      if (all[last + 1].machine != machine || all[last + 1].cores != cores) break;
      ++last;
    }
    const auto known = std::ranges::find(machines, machine);
    const auto host = known - machines.begin();
    if (known == machines.end()) machines.push_back(machine);
    lines.push_back(fmt::format("{}: host {}, cores {}", range_in_words(first, last), host, cores));
  }
  return lines;
}

std::string cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return "any";
  std::string text;
  for (std::size_t first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    std::size_t last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += (text.empty() ? "" : ",") + range_in_words(first, last);
    first = last;
  }
  return text;
}

std::vector<std::string> places_of_all(int rank, int world) {
  put_shared(key_of(rank), cores_of_this_process() + " " + this_machine());
  if (rank > 0) return {};
  std::vector<RankPlace> all;
  for (int r = 0; r < world; ++r) {
    const std::string said = get_shared(key_of(r));
    const std::size_t space = std::min(said.find(' '), said.size());
    all.push_back({said.substr(space), said.substr(0, space)});
  }
  return places_in_words(all);
}

}  // namespace plumb
