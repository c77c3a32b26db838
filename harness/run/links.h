// How long do the ranks of a case take, two by two?
#pragma once

#include <functional>

#include "harness/measure/links.h"
#include "harness/run/measured.h"

namespace plumb {

// Each pair sends the other as many bytes as the case has, both ways: alone, and while all pairs of its round
// do.
struct LinksTimed {
  std::vector<LinkTimes> alone, at_once;
  std::string failed;  // why there are none
  std::function<void(std::int64_t played, std::int64_t rounds)> seen = [](auto, auto) {};  // after each round
};

// Of every `every`-th round of a tournament. Throws Interrupted: what was timed by then stands in `so_far`.
void clock_links(const Case&, Subject&, std::int64_t every, LinksTimed& so_far);

Record record_of_links(const Case&, Subject&, const std::vector<LinkFigure>&);

}  // namespace plumb
