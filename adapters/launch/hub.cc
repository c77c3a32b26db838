#include "adapters/launch/hub.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "adapters/protocol/fields.h"
#include "adapters/protocol/json.h"

namespace plumb::launch {
namespace {

using nlohmann::json;

constexpr std::size_t longest_join = 4096;
constexpr std::chrono::milliseconds to_answer{500};

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

std::string new_token() {
  std::array<unsigned char, 16> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    fail("making a token");
  return fmt::format("{:02x}", fmt::join(random, ""));
}

std::string listen_here(int& listener) {
  const char* folder = std::getenv("TMPDIR");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("{}/ranks.{}", folder && *folder ? folder : "/tmp", ::getpid());
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail("listening in TMPDIR");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlink(path.c_str());
  listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || ::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    fail("listening for ranks");
  return "unix:" + path;
}

std::string listen_on(const std::string& interface, int& listener) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM, hints.ai_flags = AI_PASSIVE;
  if (const int error = ::getaddrinfo(interface.c_str(), "0", &hints, &found); error != 0)
    throw std::runtime_error(fmt::format("--interface {}: {}", interface, ::gai_strerror(error)));
  listener = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound = listener >= 0 && ::bind(listener, found->ai_addr, found->ai_addrlen) == 0;
  ::freeaddrinfo(found);
  sockaddr_storage got{};
  socklen_t size = sizeof got;
  std::array<char, 32> port{};
  if (!bound || ::getsockname(listener, reinterpret_cast<sockaddr*>(&got), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&got), size, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    fail("listening for ranks");
  return fmt::format("tcp:{}:{}", interface, port.data());
}

// Whole lines of a connection; false where it has ended.
bool read_lines(Line& line, const std::function<void(const std::string&)>& take) {
  std::array<char, 1 << 16> chunk;
  const ssize_t n = ::recv(line.socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
  if (n > 0) line.buffer.append(chunk.data(), static_cast<std::size_t>(n));
  for (std::size_t end; (end = line.buffer.find('\n')) != line.buffer.npos;) {
    const std::string one = line.buffer.substr(0, end);
    line.buffer.erase(0, end + 1);
    take(one);
  }
  return true;
}

// A first line that knows the token takes a seat; whoever says anything else is shown out.
bool seated(Hub& hub, Line& stranger, const std::string& text) {
  const json join = parse_json(text);
  if (!join.is_object() || join.value("type", "") != "join" || join.value("token", "") != hub.token)
    return false;
  const std::int64_t rank = join.value("rank", std::int64_t{-1}),
                     world = join.value("world", std::int64_t{0});
  const auto ranks = std::ssize(hub.seats);
  const std::string host = join.value("host", "");
  if (rank < 0 || rank >= ranks) {
    hub.complaint = fmt::format("a process on {} says that it is rank {} of {}, and {} were asked for", host,
                                rank, world, ranks);
    return false;
  }
  Seat& seat = hub.seats[rank];
  if (seat.where.joined) {
    hub.complaint = fmt::format(
        "two processes say that they are rank {} (of a world of {}): was the program started by another "
        "library's mpiexec, or by srun without --mpi=pmix?",
        rank, world);
    return false;
  }
  seat.line = {std::exchange(stranger.socket, -1), {}};
  seat.where.joined = seat.where.answers = true;
  seat.where.host = host;
  seat.where.pid = join.value("pid", std::int64_t{0});
  return true;
}

void hear(Hub& hub, std::size_t rank, const std::string& text) {
  Seat& seat = hub.seats[rank];
  const json message = parse_json(text);
  const std::string type = message.is_object() ? message.value("type", "") : "";
  if (type == "at") {
    seat.where.answers = true;
    seat.where.inside = message.value("inside", false);
    seat.where.entered = message.value("entered", std::int64_t{0});
    seat.where.at = message.value("at", "");
  } else if (type == "world") {
    if (const auto size = message.value("size", std::int64_t{0}); size != std::ssize(hub.seats))
      hub.complaint = fmt::format(
          "rank {} (host {}) is in a world of {}, and {} were asked for: was the program started by another "
          "library's mpiexec, or by srun without --mpi=pmix?",
          rank, seat.where.host, size, hub.seats.size());
  } else if (type == "phase" || type == "alive") {
    if (rank == 0 && hub.forward) hub.forward(text);
  } else {
    seat.reply = message, seat.reply_text = text;
    seat.where.replied = true;
  }
}

void welcome(Hub& hub) {
  const int socket = ::accept4(hub.listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket >= 0) hub.strangers.push_back({socket});
}

void meet(Hub& hub, Line& stranger) {
  bool first = true, stays = true;
  std::vector<std::string> rest;
  std::size_t rank = 0;
  const bool there = read_lines(stranger, [&](const std::string& text) {
    if (!first) return rest.push_back(text);
    first = false;
    const int socket = stranger.socket;
    stays = seated(hub, stranger, text);
    for (std::size_t r = 0; stays && r < hub.seats.size(); ++r)
      if (hub.seats[r].line.socket == socket) rank = r;
  });
  if (!first && stays) {
    hub.seats[rank].line.buffer = std::exchange(stranger.buffer, "");
    for (const std::string& text : rest) hear(hub, rank, text);
  } else if (!there || !stays || stranger.buffer.size() > longest_join) {
    ::close(std::exchange(stranger.socket, -1));
  }
}

}  // namespace

Hub open_hub(int ranks, const std::string& interface) {
  Hub hub;
  hub.token = new_token();
  hub.seats.resize(ranks);
  hub.address = interface.empty() ? listen_here(hub.listener) : listen_on(interface, hub.listener);
  if (::listen(hub.listener, 1024) != 0) fail("listening for ranks");
  return hub;
}

void close_hub(Hub& hub) {
  for (Line& line : hub.strangers) ::close(line.socket);
  for (Seat& seat : hub.seats)
    if (seat.line.socket >= 0) ::close(seat.line.socket);
  if (hub.listener >= 0) ::close(hub.listener);
  if (hub.address.starts_with("unix:")) ::unlink(hub.address.c_str() + 5);
  hub = {};
}

void step(Hub& hub, Clock::time_point until) {
  std::vector<pollfd> fds{
      {hub.listener, POLLIN, 0}
  };
  for (const Line& line : hub.strangers) fds.push_back({line.socket, POLLIN, 0});
  for (const Seat& seat : hub.seats) fds.push_back({seat.gone ? -1 : seat.line.socket, POLLIN, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  if (::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000))) <= 0) return;
  const std::size_t strangers = hub.strangers.size();
  for (std::size_t i = 0; i < strangers; ++i)
    if (fds[1 + i].revents) meet(hub, hub.strangers[i]);
  for (std::size_t r = 0; r < hub.seats.size(); ++r) {
    Seat& seat = hub.seats[r];
    if (fds[1 + strangers + r].revents)
      seat.gone = !read_lines(seat.line, [&](const std::string& text) { hear(hub, r, text); });
  }
  std::erase_if(hub.strangers, [](const Line& line) { return line.socket < 0; });
  if (fds[0].revents) welcome(hub);
}

void tell_all(Hub& hub, const std::string& line) {
  const std::string whole = line + "\n";
  for (Seat& seat : hub.seats)
    for (std::size_t at = 0; at < whole.size() && seat.line.socket >= 0 && !seat.gone;) {
      const ssize_t n = ::send(seat.line.socket, whole.data() + at, whole.size() - at, MSG_NOSIGNAL);
      if (n > 0) at += static_cast<std::size_t>(n);
      if (n < 0 && errno != EINTR) seat.gone = true;
    }
}

void ask_where(Hub& hub) {
  for (Seat& seat : hub.seats) seat.where.answers = false;
  tell_all(hub, R"({"type":"where"})");
  const auto until = Clock::now() + to_answer;
  const auto waiting = [&] {
    return std::ranges::any_of(hub.seats,
                               [](const Seat& s) { return s.where.joined && !s.gone && !s.where.answers; });
  };
  while (waiting() && Clock::now() < until) step(hub, until);
}

}  // namespace plumb::launch
