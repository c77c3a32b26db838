// Where ranks reach the launcher.
#pragma once

#include <string>

namespace plumb::launch {

struct Listener {
  int socket = -1;
  std::string address;  // unix:PATH, or tcp:HOST:PORT
};

// The folder that a variable of the environment names; "" where it is not set. Throws std::invalid_argument
// where it is none in which one may write.
std::string folder_named(const char* variable);

// What whoever joins has to know.
std::string new_token();

// A new file of this user's in PLUMB_SHARED, which other machines see, or in TMPDIR. Throws
// std::system_error.
std::string written(const std::string& text);

// On a unix socket in TMPDIR: ranks of this machine alone. Throws std::system_error.
Listener listen_here();

// On a port of an interface (ib0), of a name or of an address of this machine. Throws std::invalid_argument
// where it has none such.
Listener listen_on(const std::string& interface);

}  // namespace plumb::launch
