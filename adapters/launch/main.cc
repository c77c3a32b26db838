// Starts a program of several ranks and carries the protocol to them. README.md says how.
#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "adapters/launch/command.h"
#include "adapters/launch/hub.h"
#include "adapters/launch/inherit.h"
#include "adapters/launch/job.h"
#include "adapters/launch/segments.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "adapters/protocol/skim.h"

namespace plumb::launch {
namespace {

using nlohmann::json;

volatile sig_atomic_t told_to_end = 0, a_child_ended = 0;
void on_signal(int signal) { (signal == SIGCHLD ? a_child_ended : told_to_end) = 1; }

struct Ended {};  // by a signal

constexpr std::chrono::milliseconds at_once{0}, of_themselves{3000};

// A request failed, and with it the job.
struct Failure {
  json reply;
};

Failure failure(const char* type, const std::string& message) {
  return {
      {{"type", type}, {"message", message}}
  };
}

struct Relay {
  Asked asked;
  int requests = -1, replies = -1;
  std::string buffer{}, hello{};
  std::string unsaid{};  // what is passed on, while a reply may come with it
  bool greeted = false;  // ranks have said hello
  Hub hub{};
  Job job{};
  bool running = false;
  bool over = false;                         // the last request failed, and the job with it
  Clock::time_point deadline{};              // of the request that is asked
  std::optional<Clock::time_point> waits{};  // the next request, since then, and nobody came for it
  double seconds = 0;                        // of the phase, and how often they began anew
  int extensions = 0;
  double run_seconds = 0;               // of its phase `run`, once it says so
  std::vector<std::string> segments{};  // that ranks of this machine share, by their files
  Left left{};                          // to the only rank that is started here: it may read requests itself
};

void say_unsaid(Relay& relay) {
  const std::string lines = std::exchange(relay.unsaid, {});
  for (std::size_t at = 0; at < lines.size();) {
    const ssize_t n = ::write(relay.replies, lines.data() + at, lines.size() - at);
    if (n > 0) at += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) throw Ended{};
  }
}

void write_line(Relay& relay, const std::string& text) {
  relay.unsaid += text + "\n";
  say_unsaid(relay);
}

bool read_line(Relay& relay, std::string& line) {
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

// The ranks have so long to end by themselves once nobody listens to them.
void stop(Relay& relay, std::chrono::milliseconds patience) {
  if (!relay.running) return;
  relay.running = false;
  close_hub(relay.hub);
  end(relay.job, patience);
  relay.job = {};
  for (const std::string& path : std::exchange(relay.segments, {})) ::unlink(path.c_str());
}

// What more there is to say of an end before all ranks had joined. Throws std::invalid_argument where they
// cannot use their options.
std::string too_early(const Relay& relay, const std::string& end) {
  if (!relay.hub.lost.empty() ||
      std::ranges::all_of(relay.hub.seats, [](const Seat& s) { return s.where.joined; }))
    return "";
  if (!relay.greeted && end.ends_with("exited with code 2"))
    throw std::invalid_argument(fmt::format("plumb-launch: {}: it cannot use what it was given", end));
  return end.ends_with("exited with code 0") ? ", and not all have joined: a rank joins by plumb_ranks.h"
                                             : "";
}

// Whether something happened to the job after which it cannot answer.
void look_after(Relay& relay) {
  if (told_to_end) throw Ended{};
  Hub& hub = relay.hub;
  if (!hub.complaint.empty()) throw failure("crashed", hub.complaint);
  std::string end;
  if (a_child_ended) a_child_ended = 0, end = ended(relay.job);
  if (hub.lost.empty() && end.empty()) return;
  // A process and its connection end one after the other; of several ranks mpiexec ends last.
  const auto seen = Clock::now();
  const auto moment = [&] { return seen + std::chrono::seconds(hub.lost.empty() ? 1 : 3); };
  for (; (hub.lost.empty() || end.empty()) && Clock::now() < moment(); end = ended(relay.job))
    step(hub, std::min(moment(), Clock::now() + std::chrono::milliseconds(10)));
  const std::string died = who_died(hub);
  const std::string what = died + (died.empty() || end.empty() ? "" : "; ") + end + too_early(relay, end);
  throw failure("crashed", what);
}

// What is left before the ranks are asked where they are.
Clock::time_point before(double seconds, Clock::time_point begun = Clock::now()) {
  constexpr double year = 365.0 * 86400;
  const double left = seconds <= 0 ? year : std::min(until_asked(seconds), year);
  return begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left));
}

[[noreturn]] void hangs(Relay& relay) {
  ask_where(relay.hub);
  std::vector<Whereabouts> all;
  for (const Seat& seat : relay.hub.seats) all.push_back(gave_up(seat) ? gave_up_at(seat) : seat.where);
  const Hang hang = hang_of(all);
  throw Failure{
      {{"type", "hung"}, {"message", hang.message}, {"ranks", hang.ranks}, {"processes", hang.processes}}
  };
}

template <class Done>
void wait_until(Relay& relay, void (*listen)(Hub&, Clock::time_point), Done&& done) {
  while (!done()) {
    listen(relay.hub, std::min(relay.deadline, Clock::now() + std::chrono::milliseconds(100)));
    if (done()) return;
    say_unsaid(relay), look_after(relay);
    if (Clock::now() >= relay.deadline) hangs(relay);
  }
}

// A rank that is not the first is done with this request, and with no other.
void compare_ids(const Seat& seat, std::size_t rank, std::int64_t id) {
  if (const std::int64_t said = integer_or(*seat.reply, "id", -1);
      said != id && text_or(*seat.reply, "type") == "done")
    throw failure("crashed",
                  fmt::format("{} replied to request {}, and {} was asked", who(seat, rank), said, id));
}

// What a rank that is not the first says, where it is no echo of what the first says.
void compare(const Seat& first, const Seat& seat, std::size_t rank) {
  const std::string type = text_or(*seat.reply, "type"), of_first = text_or(*first.reply, "type");
  const std::string plans = text_or(*seat.reply, "says"), of_plans = text_or(*first.reply, "says");
  if (type != "done" && type != of_first)
    throw failure("reneged",
                  fmt::format("{}: {}", who(seat, rank),
                              text_or(*seat.reply, "message", text_or(*seat.reply, "reason", type))));
  if (!plans.empty() && !of_plans.empty() && plans != of_plans)
    throw failure("reneged", who(seat, rank) + " made another plan than rank 0");
}

// Sends a request of this number to all ranks; the reply of the first, once all have replied.
std::string ask(Relay& relay, const std::string& line, std::int64_t id) {
  Hub& hub = relay.hub;
  const Seat& first = hub.seats[0];
  std::vector<bool> seen(hub.seats.size()), agrees(hub.seats.size());
  ask_all(hub, line);
  wait_until(relay, await_replies, [&] {
    if (std::ranges::any_of(hub.seats, gave_up)) hangs(relay);
    bool all = first.reply != nullptr;
    // The others may wait for one that has given up, and the job is over.
    if (all && text_or(*first.reply, "type") == "reneged") return true;
    for (std::size_t r = 1; r < hub.seats.size(); ++r) {
      const Seat& seat = hub.seats[r];
      all &= seat.reply != nullptr;
      if (!seat.reply || agrees[r]) continue;
      if (!seen[r]) compare_ids(seat, r, id);
      if (first.reply) compare(first, seat, r);
      if (!seen[r] && text_or(*seat.reply, "type") == "reneged")
        throw failure("reneged", fmt::format("{}: {}", who(seat, r), text_or(*seat.reply, "message")));
      seen[r] = true, agrees[r] = first.reply != nullptr;
    }
    return all;
  });
  const std::string type = text_or(*first.reply, "type");
  relay.over = type == "hung" || type == "crashed" || type == "reneged";
  return hub.seats[0].reply_text;
}

// What the first rank says before its reply is passed on; when its run begins, its time does, and where it is
// alive, anew.
void pass_on(Relay& relay, const std::string& line) {
  relay.unsaid += line + "\n";
  const json message = parse_json(line);
  const bool runs = text_or(message, "phase") == "run" && relay.run_seconds > 0;
  if (runs) relay.seconds = relay.run_seconds, relay.extensions = 0;
  const bool anew = text_or(message, "type") == "alive" && relay.extensions++ < most_extensions;
  if (runs || anew) relay.deadline = before(relay.seconds);
}

void launch(Relay& relay) {
  relay.hub = open_hub(relay.asked.ranks, relay.asked.interface);
  relay.hub.forward = [&relay](const std::string& line) { pass_on(relay, line); };
  relay.running = true;
  Variables variables{
      {"PLUMB_LAUNCH", relay.hub.address},
      {"PLUMB_TOKEN",  relay.hub.token  }
  };
  if (relay.left.request) new (relay.left.request) OpenRequest;
  variables.insert(variables.end(), relay.left.variables.begin(), relay.left.variables.end());
  relay.job = start(relay.asked, variables, relay.hub.file);
  wait_until(relay, step, [&] {
    return std::ranges::all_of(relay.hub.seats, [](const Seat& s) { return s.where.joined; });
  });
}

std::string answer(Relay& relay, const std::string& line) {
  const Skimmed request = skim(line);
  const bool hello = request.type == "hello";
  relay.deadline = before(request.seconds, std::exchange(relay.waits, {}).value_or(Clock::now()));
  relay.seconds = request.seconds, relay.run_seconds = request.run_seconds, relay.extensions = 0;
  relay.over = false;
  try {
    if (hello) relay.hello = line, stop(relay, at_once);
    if (!relay.running) {
      const time_t begun = ::time(nullptr);
      launch(relay);
      const std::string said = ask(relay, relay.hello, 0);
      relay.greeted = true;
      relay.segments = segments_of(ranks_here(relay.hub), begun);
      if (hello) return said;
    }
    return ask(relay, line, request.id);
  } catch (Failure& f) {
    relay.over = true;
    if (!hello) f.reply["id"] = request.id;
    return dump(f.reply);
  }
}

bool can_read_on(const Relay& relay) {
  return relay.left.request && relay.running && relay.hub.seats[0].reads && relay.buffer.empty();
}

bool late(const OpenRequest& r) {
  return r.state == OpenRequest::open &&
         Clock::now() >= before(r.seconds, Clock::time_point(std::chrono::nanoseconds(r.begun)));
}

// Replies in the place of the rank that reads requests itself, where one is open and it has not begun to.
// What is not known is said by the end of this program.
bool judge(OpenRequest& r, Relay& relay, json reply) {
  std::int32_t open = OpenRequest::open;
  if (!r.state.compare_exchange_strong(open, OpenRequest::judged)) return false;
  reply["id"] = r.id.load();
  write_line(relay, dump(reply));
  return true;
}

bool is_over(const OpenRequest& r) {
  return r.state == OpenRequest::ended || r.state == OpenRequest::given_up;
}

// Whether no request is open. Where one waits to be read, the reply to the one before has arrived, though the
// rank may not have come to say so.
bool between_requests(const Relay& relay, std::int32_t state, int milliseconds) {
  pollfd there{relay.requests, POLLIN, 0};
  return state == OpenRequest::none ||
         (state == OpenRequest::replying && ::poll(&there, 1, milliseconds) > 0);
}

// A request for which the rank does not come, as one that is stopped, is asked as those of several ranks are.
struct Patience {
  std::optional<Clock::time_point> since{};
  bool is_over(const Relay& relay) {
    constexpr std::chrono::seconds patience{1};
    pollfd there{relay.requests, POLLIN, 0};
    std::int32_t state = relay.left.request->state;
    const bool waits = between_requests(relay, state, 0) && ::poll(&there, 1, 0) > 0;
    if (!waits) since.reset();
    if (waits && !since) since = Clock::now();
    return waits && Clock::now() - *since > patience &&
           relay.left.request->state.compare_exchange_strong(state, OpenRequest::taken_back);
  }
};

// Looks after the only rank while it reads requests itself. Whether there may be more of them after that.
bool watch(Relay& relay) {
  OpenRequest& r = *relay.left.request;
  Patience patience;
  r.state = OpenRequest::none;
  read_on(relay.hub);
  while (!is_over(r)) {
    bool lost = true;
    try {
      step(relay.hub, Clock::now() + std::chrono::milliseconds(100));
      if (!is_over(r)) look_after(relay);
      lost = false;
      if (patience.is_over(relay)) {
        relay.waits = patience.since;
        return true;
      }
      if (late(r)) hangs(relay);
    } catch (Failure& f) {
      if (judge(r, relay, f.reply)) break;
      constexpr int a_second = 1000;
      if (lost && between_requests(relay, r.state, a_second)) return true;  // the next request will see it
      if (lost && !is_over(r)) throw std::runtime_error(text_or(f.reply, "message"));
    }
  }
  const bool more = r.state != OpenRequest::ended;
  stop(relay, more ? at_once : of_themselves);
  return more;
}

// A job that failed is ended once its verdict is said.
void converse(Relay& relay) try {
  for (std::string line; read_line(relay, line);) {
    write_line(relay, answer(relay, line));
    if (relay.over) stop(relay, at_once);
    if (can_read_on(relay) && !watch(relay)) break;
  }
  stop(relay, of_themselves);
} catch (const Ended&) {
  stop(relay, at_once);
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
  if (relay.asked.check) return 0;
  relay.requests = plumb::launch::descriptor("PLUMB_REQUESTS");
  relay.replies = plumb::launch::descriptor("PLUMB_REPLIES");
  plumb::launch::make_ready(relay.asked.ranks);
  relay.left = plumb::launch::leave_to(relay.asked, relay.requests, relay.replies);
  plumb::launch::converse(relay);
  return 0;
} catch (const std::invalid_argument& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 2;
} catch (const std::exception& e) {
  fmt::print(stderr, "plumb-launch: {}\n", e.what());
  return 1;
}
