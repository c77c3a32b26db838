// Starts a program of several ranks and carries the protocol to them. README.md says how.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/launch/carry.h"
#include "adapters/launch/command.h"
#include "adapters/launch/listen.h"
#include "adapters/launch/only_rank.h"

namespace plumb::launch {
namespace {

void on_signal(int signal) {
  if (signal == SIGCHLD)
    a_child_ended = 1;
  else
    told_to_end = signal;
}

// A job that failed is ended once its verdict is said.
void converse(Relay& relay) try {
  for (std::string line; next_line(relay, line);) {
    say_line(relay, answer(relay, line));
    if (relay.over) stop(relay, at_once);
    if (can_read_on(relay) && !watch(relay)) break;
  }
  stop(relay, of_themselves);
} catch (const Ended&) {
  stop(relay, at_once);
  if (!told_to_end) return;
  ::signal(told_to_end, SIG_DFL);  // whoever waits for this program sees what ended it
  ::raise(told_to_end);
} catch (...) {
  stop(relay, of_themselves);
  throw;
}

// A rank is an open file of the launcher, and so is whatever it began with.
void make_ready(int ranks) {
  constexpr rlim_t besides = 24;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
    files.rlim_cur = files.rlim_max, ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < static_cast<rlim_t>(ranks) + besides)
    throw std::invalid_argument(
        fmt::format("plumb-launch: {} ranks need {} open files, and the limit is {}: ulimit -Hn", ranks,
                    ranks + besides, files.rlim_max));
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGCHLD, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // a write says it
}

}  // namespace
}  // namespace plumb::launch

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments{argv + 1, argv + argc};
  const auto ours = std::ranges::find(arguments, "--");
  if (std::find(arguments.begin(), ours, "--help") != ours ||
      std::find(arguments.begin(), ours, "-h") != ours) {
    fmt::print("{}", plumb::launch::help());
    return 0;
  }
  plumb::launch::Relay relay{plumb::launch::parse(arguments)};
  plumb::launch::look_for_program(relay.asked);
  if (relay.asked.check) {
    plumb::launch::look_for_slurm(relay.asked);
    if (!relay.asked.interface.empty()) ::close(plumb::launch::listen_on(relay.asked.interface).socket);
    return 0;
  }
  relay.requests = plumb::launch::descriptor("PLUMB_REQUESTS");
  relay.replies = plumb::launch::descriptor("PLUMB_REPLIES");
  plumb::launch::make_ready(relay.asked.ranks);
  relay.inherited = plumb::launch::leave_to(relay.asked, relay.requests, relay.replies);
  plumb::launch::converse(relay);
  return 0;
} catch (const std::invalid_argument& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
} catch (const std::exception& e) {
  fmt::print(stderr, "plumb-launch: {}\n", e.what());
  return 1;
}
