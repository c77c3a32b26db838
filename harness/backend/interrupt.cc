#include "harness/backend/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace plumb {

namespace {

std::atomic<bool> flag = false;

// Above the standard three: where the caller closed one of them it stays free for main() to see.
int event_descriptor() {
  const int first = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int above = ::fcntl(first, F_DUPFD_CLOEXEC, 3);
  ::close(first);
  return above;
}

int event = -1;

extern "C" void on_signal(int) { interrupt(); }

}  // namespace

void catch_interrupts() {
  if (event >= 0) ::close(event);  // of the process that this one was forked from
  event = event_descriptor();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup keeps its meaning
  }
}

void interrupt() {
  flag = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

bool interrupted() { return flag; }
int interrupt_descriptor() { return event; }

}  // namespace plumb
