#include "adapters/launch/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "adapters/launch/hang.h"
#include "adapters/launch/listen.h"
#include "adapters/launch/lost.h"
#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"
#include "adapters/protocol/open_request.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/skim.h"

namespace plumb::launch {
namespace {

using nlohmann::json;

// A library that finds nobody who started it begins a world of its own.
constexpr const char* by_whom =
    "was the program started by launcher own, by another library's mpiexec, or by srun without --mpi=pmix?";

constexpr std::size_t longest_join = 4096;
constexpr std::chrono::milliseconds to_answer{1000};
constexpr Clock::duration shortest_moment = std::chrono::milliseconds(2),
                          longest_moment = std::chrono::milliseconds(100);

// The seat of whoever's first line knows the token; nobody else gets one.
std::optional<std::size_t> seat_of(Hub& hub, const std::string& text) {
  const json join = parse_json(text);
  if (text_or(join, "type") != "join" || text_or(join, "token") != hub.token) return std::nullopt;
  const std::int64_t rank = integer_or(join, "rank", -1), world = integer_or(join, "world", 0);
  const auto ranks = std::ssize(hub.seats);
  const std::string host = text_or(join, "host");
  if (rank < 0 || rank >= ranks) {
    hub.complaint = fmt::format("a process on {} says that it is rank {} of {}, and {} were asked for", host,
                                rank, world, ranks);
    return std::nullopt;
  }
  Seat& seat = hub.seats[rank];
  if (seat.where.joined) {
    hub.complaint =
        fmt::format("two processes say that they are rank {} (of a world of {}): {}", rank, world, by_whom);
    return std::nullopt;
  }
  seat.where.joined = seat.where.answers = true;
  seat.where.host = host, seat.where.device = text_or(join, "device");
  seat.where.pid = integer_or(join, "pid", 0);
  seat.elsewhere = text_or(join, "machine") != this_machine();
  return static_cast<std::size_t>(rank);
}

void interrupt(Hub& hub, Seat& seat, const std::string& line) {
  if (seat.wire.socket < 0 || seat.gone) return;
  post_first(seat.wire, {line + "\n"});
  seat.gone = !send_posts(seat.wire, hub.arena);
}

void answer_those_who_wait(Hub& hub) {
  for (Seat& seat : hub.seats)
    if (const auto found = seat.wants ? hub.kept.find(*seat.wants) : hub.kept.end();
        found != hub.kept.end()) {
      seat.wants.reset();
      interrupt(hub, seat, fmt::format(R"({{"type":"answer","value":{}}})", dump(json(found->second))));
    }
  if (!std::ranges::all_of(hub.seats, &Seat::fenced)) return;
  for (Seat& seat : hub.seats) {
    seat.fenced = false;
    interrupt(hub, seat, R"({"type":"answer","value":""})");
  }
}

// What ranks tell each other; false where it is something else.
bool share(Hub& hub, Seat& seat, const json& message, const std::string& type) {
  if (type == "put")
    hub.kept[text_or(message, "key")] = text_or(message, "value");
  else if (type == "get")
    seat.wants = text_or(message, "key");
  else if (type == "fence")
    seat.fenced = true;
  else
    return false;
  hub.sharing = true;
  answer_those_who_wait(hub);
  return true;
}

// The bytes behind this line are of the arena.
void expect_bytes(Hub& hub, std::size_t rank, const json& message) {
  Seat& seat = hub.seats[rank];
  const std::int64_t at = integer_or(message, "at", -1), bytes = integer_or(message, "bytes", -1);
  seat.at = static_cast<std::uint64_t>(at), seat.bytes = static_cast<std::uint64_t>(bytes);
  const bool inside = at >= 0 && bytes >= 0 && hub.arena >= 0 && !seat.reply && seat.at >= hub.free &&
                      seat.at <= hub.end && seat.bytes <= hub.end - seat.at;
  if (!inside)
    hub.complaint = fmt::format("rank {} (host {}) sent {} bytes for {} of the arena, which are not its own",
                                rank, seat.where.host, bytes, at);
}

void take_reply(Hub& hub, std::size_t rank, const std::string& text, std::shared_ptr<const json> reply) {
  Seat& seat = hub.seats[rank];
  if (seat.reply) hub.complaint = who(seat, rank) + " replied more than once to one request";
  seat.reply = std::move(reply), seat.reply_text = text;
  seat.where.replied = true;
}

void hear(Hub& hub, std::size_t rank, const std::string& text) {
  Seat& seat = hub.seats[rank];
  const auto said = [&](const Seat& other) { return other.reply && other.reply_text == text; };
  if (const auto same = std::ranges::find_if(hub.seats, said); same != hub.seats.end())
    return take_reply(hub, rank, text, same->reply);
  json message = parse_json(text);
  const std::string type = text_or(message, "type");
  if (type == "at") {
    seat.where.answers = true;
    seat.where.inside = truth_or(message, "inside", false);
    seat.where.entered = integer_or(message, "entered", 0);
    seat.where.at = text_or(message, "at");
  } else if (type == "world") {
    if (const auto size = integer_or(message, "size", 0); size != std::ssize(hub.seats))
      hub.complaint = fmt::format("rank {} (host {}) is in a world of {}, and {} were asked for: {}", rank,
                                  seat.where.host, size, hub.seats.size(), by_whom);
  } else if (type == "phase" || type == "alive") {
    if (rank == 0 && hub.forward) hub.forward(text);
  } else if (type == "told to end") {
    seat.told = true;
  } else if (type == "struck") {
    seat.struck = true;
  } else if (type == "can read") {
    seat.reads = true;
  } else if (type == "bytes") {
    expect_bytes(hub, rank, message);
  } else if (!share(hub, seat, message, type)) {
    take_reply(hub, rank, text,
               std::make_shared<const json>(message.is_object() ? std::move(message) : json::object()));
  }
}

// What a rank has sent so far.
void hear_all(Hub& hub, std::size_t rank) {
  Seat& seat = hub.seats[rank];
  while (hub.complaint.empty()) {
    if (seat.bytes > 0) {
      const std::uint64_t taken = take_bytes(seat.wire, hub.arena, seat.at, seat.bytes);
      seat.at += taken, seat.bytes -= taken;
      if (seat.bytes > 0) return;
    }
    const auto line = next_line(seat.wire);
    if (!line && seat.wire.heard.size() >= hub.longest)
      hub.complaint =
          fmt::format("rank {} (host {}) sent {} bytes without an end of a line, and at most {} are read",
                      rank, seat.where.host, seat.wire.heard.size(), hub.longest);
    if (!line) return;
    hear(hub, rank, *line);
  }
}

void welcome(Hub& hub) {
  const int socket = ::accept4(hub.listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0 && errno == EMFILE && !hub.strangers.empty()) {  // who came first and is silent makes room
    ::close(hub.strangers.front().socket);
    hub.strangers.erase(hub.strangers.begin());
  }
  if (socket < 0) return;
  const int at_once = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);  // of a unix socket it is refused
  hub.strangers.push_back({socket});
}

void meet(Hub& hub, Wire& stranger) {
  const bool there = receive(stranger);
  const auto line = next_line(stranger);
  if (!line && there && stranger.heard.size() <= longest_join) return;
  const auto rank = line ? seat_of(hub, *line) : std::nullopt;
  if (!rank) {
    ::close(std::exchange(stranger.socket, -1));
    return;
  }
  watch_end(hub, stranger.socket, *rank);
  hub.seats[*rank].wire = std::exchange(stranger, {});
  hear_all(hub, *rank);
}

void attend(Hub& hub, std::size_t rank, short happened) {
  Seat& seat = hub.seats[rank];
  if (happened & ~POLLOUT) {
    const bool ended = happened & ~(POLLIN | POLLOUT);  // and what came before is all there
    do seat.gone = !receive(seat.wire);
    while (ended && !seat.gone);
    hear_all(hub, rank);
  }
  if (happened & POLLOUT && !seat.gone) seat.gone = !send_posts(seat.wire, hub.arena);
}

void see_losses(Hub& hub) {
  for (const std::int64_t r : new_ends(hub))
    if (!hub.seats[r].gone) attend(hub, r, POLLRDHUP);
  find_lost(hub);
}

// What is waited for: the words of all, or where one rank is awaited its own, and that another has gone.
std::vector<pollfd> watched(const Hub& hub, std::optional<std::size_t> awaited) {
  std::vector<pollfd> fds{
      {hub.listener, POLLIN, 0}
  };
  for (const Wire& wire : hub.strangers) fds.push_back({wire.socket, POLLIN, 0});
  for (std::size_t r = 0; r < hub.seats.size(); ++r) {
    const Seat& seat = hub.seats[r];
    const short comes = !awaited || awaited == r ? POLLIN | POLLRDHUP : POLLRDHUP;
    fds.push_back({seat.gone ? -1 : seat.wire.socket,
                   static_cast<short>(seat.wire.posts.empty() ? comes : comes | POLLOUT), 0});
  }
  return fds;
}

// How many of them something happened to; -1 where a signal came.
int wait(std::vector<pollfd>& fds, Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const int woken = ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
  if (woken < 0 && errno != EINTR) fail("waiting for ranks");
  return woken;
}

// The last rank that has not replied, the first one last of all, which says when its run begins. None where
// ranks wait for each other's words, or send what they wrote.
std::optional<std::size_t> last_to_reply(const Hub& hub) {
  if (hub.sharing || std::ranges::any_of(hub.seats, &Seat::elsewhere)) return {};
  for (std::size_t r = hub.seats.size(); r-- > 0;)
    if (!hub.seats[r].reply) return r;
  return {};
}

void take_in(Hub& hub, const std::vector<pollfd>& fds) {
  const std::size_t strangers = hub.strangers.size();
  for (std::size_t i = 0; i < strangers; ++i)
    if (fds[1 + i].revents) meet(hub, hub.strangers[i]);
  for (std::size_t r = 0; r < hub.seats.size(); ++r)
    if (const short happened = fds[1 + strangers + r].revents) attend(hub, r, happened);
  see_losses(hub);
  std::erase_if(hub.strangers, [](const Wire& wire) { return wire.socket < 0; });
  if (fds[0].revents) welcome(hub);
}

// What a rank elsewhere needs before a request: a copy of the arena of this size, and the operands in pieces
// between which it can be asked where it is.
std::vector<Posted> copied(const Skimmed& request) {
  constexpr std::int64_t piece = 1 << 20;
  std::vector<Posted> posts{
      {fmt::format("{{\"type\":\"arena\",\"size\":{},\"free\":{}}}\n",
                   std::max<std::int64_t>(request.arena, 0), std::max<std::int64_t>(request.free, 0))}};
  for (const Skimmed::Operand& o : request.operands)
    for (std::int64_t at = 0; at < o.bytes; at += piece) {
      const std::int64_t bytes = std::min(piece, o.bytes - at);
      posts.push_back({fmt::format("{{\"type\":\"bytes\",\"at\":{},\"bytes\":{}}}\n", o.offset + at, bytes),
                       static_cast<std::uint64_t>(o.offset + at), static_cast<std::uint64_t>(bytes)});
    }
  return posts;
}

void open_arena(Hub& hub, const std::string& hello) {
  const std::string path = text(field(parse_message(hello), "arena"), "arena");
  hub.arena = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (hub.arena < 0) fail("opening the arena");
}

}  // namespace

Hub open_hub(int ranks, const std::string& interface) {
  Hub hub;
  hub.token = new_token();
  hub.seats.resize(ranks);
  const Listener listener = interface.empty() ? listen_here() : listen_on(interface);
  hub.listener = listener.socket, hub.address = listener.address;
  hub.watch = new_watch();
  hub.file = written(fmt::format("{}\n{}\n", hub.address, hub.token));
  return hub;
}

void close_hub(Hub& hub) {
  for (Wire& wire : hub.strangers) ::close(wire.socket);
  for (Seat& seat : hub.seats)
    if (seat.wire.socket >= 0) ::close(seat.wire.socket);
  for (int file : {hub.arena, hub.watch, hub.listener})
    if (file >= 0) ::close(file);
  if (hub.address.starts_with("unix:")) ::unlink(hub.address.c_str() + 5);
  if (!hub.file.empty()) ::unlink(hub.file.c_str());
  hub = {};
}

void step(Hub& hub, Clock::time_point until) {
  see_losses(hub);
  std::vector<pollfd> fds = watched(hub, {});
  if (wait(fds, until) > 0) take_in(hub, fds);
}

void await_replies(Hub& hub, Clock::time_point until) {
  const auto last = last_to_reply(hub);
  if (!last) return step(hub, until);
  see_losses(hub);
  const auto now = Clock::now();
  std::vector<pollfd> fds = watched(hub, last);
  if (wait(fds, std::min(until, now + std::clamp(now - hub.asked, shortest_moment, longest_moment))) < 0)
    return;
  step(hub, Clock::now());
}

void ask_all(Hub& hub, const std::string& request) {
  hub.asked = Clock::now(), hub.sharing = false;
  const bool copies = std::ranges::any_of(hub.seats, &Seat::elsewhere);
  Skimmed skimmed;
  if (copies) skimmed = skim(request);
  if (copies && skimmed.type == "hello" && hub.arena < 0) open_arena(hub, request);
  const bool anew = copies && (skimmed.type == "hello" || skimmed.type == "run" || skimmed.type == "bench");
  if (anew) hub.free = static_cast<std::uint64_t>(std::max<std::int64_t>(skimmed.free, 0));
  if (anew) hub.end = static_cast<std::uint64_t>(std::max<std::int64_t>(skimmed.arena, 0));
  for (Seat& seat : hub.seats) {
    seat.reply.reset(), seat.where.replied = seat.where.inside = false;
    if (seat.wire.socket < 0 || seat.gone) continue;
    if (seat.elsewhere && anew) std::ranges::copy(copied(skimmed), std::back_inserter(seat.wire.posts));
    seat.wire.posts.push_back({request + "\n"});
    seat.gone = !send_posts(seat.wire, hub.arena);
  }
}

void read_on(Hub& hub) {
  Seat& only = hub.seats[0];
  only.reply.reset(), only.where.replied = only.where.inside = false;
  interrupt(hub, only, plumb::read_on);
}

void ask_where(Hub& hub) {
  for (Seat& seat : hub.seats) {
    seat.where.answers = false;
    interrupt(hub, seat, R"({"type":"where"})");
  }
  const auto until = Clock::now() + to_answer;
  const auto waiting = [&] {
    return std::ranges::any_of(hub.seats,
                               [](const Seat& s) { return s.where.joined && !s.gone && !s.where.answers; });
  };
  while (waiting() && Clock::now() < until) step(hub, until);
}

bool gave_up(const Seat& seat) { return seat.reply && text_or(*seat.reply, "type") == "hung"; }

Whereabouts gave_up_at(const Seat& seat) {
  Whereabouts where = seat.where;
  where.at = text_or(*seat.reply, "at");
  where.answers = true, where.replied = false, where.inside = !where.at.empty();
  return where;
}

std::string who(const Seat& seat, std::size_t rank) {
  return fmt::format("rank {} (host {}, pid {})", rank, seat.where.host, seat.where.pid);
}

std::vector<pid_t> ranks_here(const Hub& hub) {
  std::vector<pid_t> all;
  for (const Seat& seat : hub.seats)
    if (!seat.elsewhere) all.push_back(static_cast<pid_t>(seat.where.pid));
  return all;
}

}  // namespace plumb::launch
