// What asking a backend for one case can come to.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "adapters/protocol/serve.h"

namespace plumb {

// No reply in time. The program and all it started are killed.
struct Hung {
  std::string phase;  // start, compile, run
  double seconds = 0;
  std::string last_words;
  std::vector<std::string> processes{};  // as process_tree() shows them, before they were killed
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
