// What asking a backend for one case can come to.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "adapters/protocol/serve.h"

namespace plumb {

// No reply in time: the program and all it started are killed. Or it says itself of what it hangs, and goes
// on.
struct Hung {
  std::string phase;  // start, compile, run
  double seconds = 0;
  std::string last_words;
  // As process_tree() shows them, before they were killed; the rest, too, as it says.
  std::vector<std::string> processes{};
  std::string what{};                 // empty where it said nothing
  std::vector<std::int64_t> ranks{};  // for which the others wait
};

// The program or a process of its own died.
struct Crashed {
  std::string what;   // "killed by signal 11 (Segmentation fault)"
  std::string phase;  // start, compile, run
  std::string last_words;
};

// It replied with something that is not on the protocol's page.
struct OffPage {
  std::string what;   // "the reply: ..."
  std::string phase;  // start, compile, run
  std::string last_words;
};

using Answer = std::variant<Outcome, Unsupported, Reneged, Refused, Hung, Crashed, OffPage>;

}  // namespace plumb
