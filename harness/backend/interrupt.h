// Ctrl-C, as a value that every wait of the harness sees.
#pragma once

#include <exception>

namespace plumb {

// Thrown by a wait that was interrupted; on its way out the backends are killed. main() returns 130.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

// SIGINT, SIGTERM and SIGHUP call interrupt() from now on, in this process; a second one ends the program at once.
void catch_interrupts();

void interrupt();  // safe in a signal handler
bool interrupted();
int interrupt_descriptor();  // readable once interrupted; -1 where no signal is caught

}  // namespace plumb
