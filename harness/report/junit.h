// Verdicts as JUnit XML.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/judge/verdict.h"

namespace plumb {

struct JunitCase {
  std::string suite, backend, line;
  Status status = Status::unrun;
  std::string facts;  // and the command that repeats it
  double seconds = 0;
};

// A <testsuite> for each suite and backend. A finding is a <failure>; a backend that hung,
// crashed or was malformed, an <error>; what it does not support, and what a waiver names, <skipped>.
void write_junit(std::ostream&, const std::vector<JunitCase>&);

}  // namespace plumb
