// What was said, for authors of backends.
#pragma once

#include <string_view>

namespace plumb {

// Where PLUMB_TRANSCRIPT names a file, every line of the protocol is appended to it with its direction
// before it: "->" to the backend, "<-" from it. Throws std::system_error where it cannot be written.
class Transcript {
 public:
  Transcript();
  ~Transcript();
  Transcript(const Transcript&) = delete;
  void add(std::string_view direction, std::string_view line);

 private:
  int file_ = -1;
};

}  // namespace plumb
