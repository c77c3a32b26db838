// The options that a backend was given.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plumb {

// PLUMB_OPTIONS as pairs; empty where unset.
std::vector<std::pair<std::string, std::string>> options();

// Behind them those of a command line, --NAME VALUE. Throws std::invalid_argument where it says anything
// else.
std::vector<std::pair<std::string, std::string>> options_and(const std::vector<std::string>& arguments,
                                                             const std::string& backend);

}  // namespace plumb
