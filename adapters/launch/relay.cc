#include "adapters/launch/relay.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include "adapters/launch/wire.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/skim.h"

namespace plumb::launch {

volatile sig_atomic_t told_to_end = 0, a_child_ended = 0;

void say_unsaid(Relay& relay) {
  const std::string lines = std::exchange(relay.unsaid, {});
  for (std::size_t at = 0; at < lines.size();) {
    const ssize_t n = ::write(relay.replies, lines.data() + at, lines.size() - at);
    if (n > 0) at += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) throw Ended{};
  }
}

void say_line(Relay& relay, const std::string& text) {
  relay.unsaid += text + "\n";
  say_unsaid(relay);
}

bool next_line(Relay& relay, std::string& line) {
  std::array<char, 1 << 16> chunk;
  std::size_t end;
  while ((end = relay.buffer.find('\n')) == relay.buffer.npos) {
    const ssize_t n = ::read(relay.requests, chunk.data(), chunk.size());
    if (told_to_end) throw Ended{};
    if (n == 0) return false;
    if (n < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "reading a request");
    if (n > 0) relay.buffer.append(chunk.data(), static_cast<std::size_t>(n));
  }
  line = relay.buffer.substr(0, end);
  relay.buffer.erase(0, end + 1);
  return true;
}

Clock::time_point before(double seconds, Clock::time_point begun) {
  constexpr double year = 365.0 * 86400;
  const double left = seconds <= 0 ? year : std::min(until_asked(seconds), year);
  return begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left));
}

namespace {

// The next request waits for the end of the job before, which has no part of its time: its deadline begins
// anew, here and in plumb.
void hold_up(Relay& relay) {
  if (relay.held_up >= most_extensions) return;
  const std::string line = relay.buffer.substr(0, relay.buffer.find('\n'));
  say_line(relay, fmt::format(R"({{"type":"alive","id":{}}})", skim(line).id));
  ++relay.held_up, relay.held_up_at = Clock::now();
}

// Whoever is told to end, or finds that nobody listens, does so once the job has ended.
void look_for_request(Relay& relay, std::chrono::seconds since_it_was_said) {
  pollfd there{relay.requests, POLLIN, 0};
  if (told_to_end || (relay.held_up && Clock::now() < relay.held_up_at + since_it_was_said)) return;
  if (relay.buffer.empty() && ::poll(&there, 1, 0) <= 0) return;
  try {
    std::string line;
    if (!next_line(relay, line)) return;
    relay.buffer.insert(0, line + "\n");
    hold_up(relay);
  } catch (const Ended&) {
  }
}

}  // namespace

// Tasks of srun are nobody's descendants here, and have joined.
void see_segments(Relay& relay) {
  std::vector<pid_t> processes = descendants();
  std::ranges::copy(ranks_here(relay.hub), std::back_inserter(processes));
  look_for_segments(relay.segments, processes);
}

// Once its ranks have said hello a job has shared what it shares, and it is looked for at its end.
void see_new_segments(Relay& relay) {
  if (!relay.ready && Clock::now() >= relay.segments.again) see_segments(relay);
}

void stop(Relay& relay, std::chrono::milliseconds patience) {
  if (!relay.running) return;
  see_segments(relay);
  relay.running = false;
  close_hub(relay.hub);
  constexpr std::chrono::seconds now{0}, again{1};
  // A job that is not ready may share more until it is gone.
  end(relay.job, patience, [&relay, again] {
    if (!relay.ready) see_segments(relay);
    look_for_request(relay, again);
  });
  relay.job = {};
  remove_segments(relay.segments);
  if (relay.held_up) look_for_request(relay, now);
}

}  // namespace plumb::launch
