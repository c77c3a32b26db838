// Where ranks reach the launcher.
#pragma once

#include <string>

namespace plumb::launch {

struct Listener {
  int socket = -1;
  std::string address;  // unix:PATH, or tcp:HOST:PORT
};

// On a unix socket in TMPDIR: ranks of this machine alone. Throws std::system_error.
Listener listen_here();

// On a port of an interface (ib0), of a name or of an address of this machine. Throws std::invalid_argument
// where it has none such.
Listener listen_on(const std::string& interface);

}  // namespace plumb::launch
