// A run request without what a C++ backend has no use for: it reads the line, not the case, which is most of
// the text and is not even scanned where it comes last.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/protocol/timing.h"

namespace plumb {

struct Skimmed {
  std::string type, line;
  std::int64_t id = -1, arena = -1, free = -1;
  double seconds = 0, run_seconds = 0;
  bool fills = false;      // no operand is sent
  std::uint64_t seed = 0;  // of a check
  bool first = false;      // of a check or fetch: of the first iteration that was timed
  Timing timing;           // of a bench or a limit
  std::string what;        // of a limit
  std::int64_t bytes = 0;  // of a limit
  struct Operand {
    std::int64_t offset = -1, bytes = -1;
    std::vector<std::int64_t> shape;
  };
  std::vector<Operand> operands;
};

// Any request; what is absent stays as above. Throws Malformed where the text that it reads is not JSON.
Skimmed skim(std::string_view request);

}  // namespace plumb
