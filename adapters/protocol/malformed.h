// What is wrong with a message.
#pragma once

#include <stdexcept>

namespace plumb {

// A reply that is not on the page: what() says what was wrong with it.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace plumb
