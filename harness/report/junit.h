// Verdicts as JUnit XML.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/verdict.h"

namespace plumb {

struct JunitCase {
  std::string suite, backend, line;
  std::string_view element;  // failure, error, skipped; empty of a pass
  std::string type;          // the status
  std::string said;          // facts, last words, and the command that repeats it
  double seconds = 0;
};

// A finding is a <failure>; a backend that hung, crashed or was malformed, an <error>; what it does not
// support, and what a waiver names, <skipped>.
std::string_view junit_element(Status);

// A <testsuite> for each suite and backend, as Jenkins' schema junit-10.xsd has them: times of three
// decimals. A class is SUITE.BACKEND, the dots of a release as underscores, for a dot begins a new class.
// GitLab reads these (its page on unit test reports), which are all written where there is something to say:
//   testsuites time    testsuite name, time    testcase classname, name, time    failure, error, skipped: the
//   text
// Of `file`, `system-out` and `system-err` there is nothing: a case is a line, and its facts are the text.
void write_junit(std::ostream&, const std::vector<JunitCase>&);

}  // namespace plumb
