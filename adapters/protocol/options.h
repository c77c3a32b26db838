// The options that a backend was given.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace plumb {

// PLUMB_OPTIONS as pairs; empty where unset.
std::vector<std::pair<std::string, std::string>> options();

// Behind them those of a command line, --NAME VALUE. Throws std::invalid_argument where it says anything
// else.
std::vector<std::pair<std::string, std::string>> options_and(const std::vector<std::string>& arguments,
                                                             const std::string& backend);

// Of an option that is a number. Throws std::invalid_argument.
template <class Number>
Number option_number(const std::string& key, const std::string& value) {
  Number n{};
  const char* end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, n);
  if (error != std::errc{} || at != end || !(n >= 0))
    throw std::invalid_argument(key + "=" + value + ": expected a number that is not negative");
  return n;
}

}  // namespace plumb
