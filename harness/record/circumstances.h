// What changes how fast a case is, beside the machine.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace plumb {

// environment(), `scheduling`, the class and priority by which this process has a core; and `variables`: those of the process's that are known to change speed, by an allow-list. A
// path in a value is said to be one, and no more.
nlohmann::json circumstances();

// Of these alone those of the list, from NAME=VALUE pairs.
std::map<std::string, std::string> telling(const std::vector<std::string>& variables);

// What differs of two members of records, "cores 4, now 2": of the machine, not of the build. What one of
// both does not say is left out, but for a variable.
std::vector<std::string> differing(const nlohmann::json& then, const nlohmann::json& now);

// At which the processors of this machine run now, on average; 0 where it does not say.
double megahertz();

// How many processes of this machine wanted a processor, on average over the last minute; -1 where it does
// not say.
double load_average();

// Nanoseconds from one look at a clock of this machine to the next at least: what is shorter it does not see.
double clock_step();

}  // namespace plumb
