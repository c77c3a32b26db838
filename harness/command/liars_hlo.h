// Faults planted in modules that XLA partitioned: those that move a result must be refuted, no other may be.
#pragma once

#include <string>
#include <vector>

namespace plumb {

struct ModuleLiars {
  std::vector<std::string> folders;  // every program of dumps at or below them that is proven
  std::vector<std::string> only;     // faults; none: all
  int draws = 40;                    // of every right program, without a false alarm
  std::string keep;                  // a file that programs and faulty modules are appended to
};

// Prints a line for each fault of each program as it is done with, and a table; the number of faults that were lost and of
// alarms that were false. Throws BadInput.
std::int64_t liars_in_modules(const ModuleLiars&);

}  // namespace plumb
