// Faults planted in modules that XLA partitioned: those that move a result must be refuted, no other may be.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// In every program of dumps at or below the folders that is proven. Prints a table; the number of faults that
// were lost and of alarms that were false, over `draws` draws of every right program too. Throws BadInput.
std::int64_t liars_in_modules(const std::vector<std::string>& folders, const std::vector<std::string>& only,
                              int draws);

}  // namespace plumb
