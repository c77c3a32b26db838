// A rank for tests: every device returns the whole operand, after all ranks have met at the launcher. Its
// arguments are a fault and the rank that has it, and the seed of the case on which (0: on any):
//   idle                none: all return at once
//   die, kill, exit     before the others are met: by a failed check, by SIGKILL, with code 0
//   forks               by SIGKILL, and what it has forked lives on
//   aborts, returns     kills the others, after it has said that it ends; as it exits
//   stop, sleep, late   is stopped; sleeps, before it enters; enters another call
//   stubborn            sleeps, and does not end when it is told to
//   throws, differs     cannot do it; says another layout
//   foretells           says that it is done with request 99
//   says                says that, as the fourth argument has it, in the place of its reply
//   slow                takes three seconds to make ready, and three to run
//   absent              never joins;  stranger: somebody else connects first
//   alone               its library says that it is in a world of 1
//   early, unborn       ends before it joins, with code 3; by SIGKILL
//   unjoined            ends before it joins, with code 3, once all others have joined
//   followed            the same, and then another ends, with code 4
//   unusable            all end before they join, with code 2
//   astray              sends bytes for the operands
//   half                writes the first half of its block
//   shares              leaves memory under a name
//   keeps, lends        the same before it joins, and ends by SIGKILL before it says hello; never joins
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/protocol/json.h"
#include "adapters/protocol/plumb_ranks.h"
#include "adapters/protocol/ranks.h"
#include "adapters/protocol/serve.h"

namespace {

struct Fault {
  std::string what;
  int rank = -1;
  std::uint64_t seed = 0;
  std::string words{};
};

// As whoever starts ranks does when one ends.
std::vector<pid_t> others;
void kill_others() {
  for (pid_t pid : others) ::kill(pid, SIGKILL);
}

std::string key(int rank) { return "process of " + std::to_string(rank); }

struct Echo : plumb::Backend {
  plumb::Seat seat;
  Fault fault;

  bool has(const char* what) const { return fault.what == what && fault.rank == seat.rank; }
  void know_others() const {
    for (int rank = seat.world; rank-- > 0;)
      if (rank != seat.rank) others.push_back(std::stoi(plumb::get_shared(key(rank))));
  }
  bool on(const plumb::Case& c) const { return fault.seed == 0 || c.seed == fault.seed; }

  void meet(const std::string& where) {
    plumb::entering(where);
    if (fault.what != "idle") plumb::meet_all();
    plumb::leaving();
  }
  void share() const {
    const char* mark = std::getenv("PLUMB_REMAINS");  // of the test that looks for it
    const std::string folder = mark ? mark : "/plumb-rank";
    const std::string name = folder.substr(folder.rfind('/')) + "." + std::to_string(::getpid());
    const int file = ::shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
    if (file < 0 || ::ftruncate(file, 4096) != 0 ||
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED)
      std::_Exit(9);
  }
  // Each knows the process of the next one.
  nlohmann::json hello(const plumb::Mesh&) override {
    if (has("shares")) share();
    if (has("keeps")) ::raise(SIGKILL);
    plumb::put_shared(key(seat.rank), std::to_string(::getpid()) + " of " + std::to_string(seat.rank));
    const int next = (seat.rank + 1) % seat.world;
    if (!plumb::get_shared(key(next)).ends_with(" of " + std::to_string(next))) std::_Exit(9);
    return {
        {"name", "rank"}
    };
  }
  void misbehave() const {
    if (has("die")) ::signal(SIGABRT, SIG_DFL), ::raise(SIGABRT);
    if (has("forks") && ::fork() == 0) ::sleep(600), std::_Exit(0);
    if (has("kill") || has("forks")) ::raise(SIGKILL);
    if (has("exit")) std::_Exit(0);
    if (has("aborts")) know_others(), plumb_ranks_end(), kill_others(), ::sleep(600);
    if (has("returns")) know_others(), std::exit(3);
    if (has("stop")) ::raise(SIGSTOP);
    if (has("stubborn")) plumb::when_told_to_end([] { ::sleep(600); });
    if (has("sleep") || has("stubborn")) ::sleep(600);
    if (has("astray")) plumb::send_written(0, 4);
    if (has("foretells")) plumb::send_reply(R"({"type":"done","id":99})");
    if (has("throws")) throw std::runtime_error("no room for it");
  }
  std::optional<plumb::Unsupported> prepare(const plumb::Request& request) override {
    if (has("slow") && on(request.c)) ::sleep(3);
    return {};
  }
  plumb::Reply run(const plumb::Request& request, plumb::Arena& arena) override {
    if (has("slow") && on(request.c)) ::sleep(3);
    meet("all-gather 1 over x");
    if (on(request.c)) misbehave();
    meet(has("late") && on(request.c) ? "all-to-all 2 over y" : "all-gather 2 over x");
    if (has("late") && on(request.c)) meet("all-reduce 3 over x");
    if (has("says") && on(request.c)) plumb::send_reply(fault.words), ::sleep(600);
    const plumb::Operand& operand = request.operands[0];
    plumb::Outcome o;
    for (std::int64_t d = 0; d < plumb::devices(request.c.mesh); ++d) {
      const auto to = arena.take(operand.bytes.size());
      if (d == seat.rank) {
        std::memcpy(to.data(), operand.bytes.data(),
                    has("half") && on(request.c) ? to.size() / 2 : to.size());
        plumb::send_written(arena.offset(to), to.size());
      }
      o.blocks.push_back({d, 0, arena.offset(to), to.size(), {{{{0, operand.shape[0]}}}}});
    }
    o.claims = {has("differs") && on(request.c) ? "f32[8@x]"
                                                : "f32[" + std::to_string(operand.shape[0]) + "]"};
    o.trace = {
        {.kind = "send", .moved = -1}
    };
    return o;
  }
};

void connect_as_a_stranger() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", std::getenv("PLUMB_LAUNCH") + 5);
  const int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  if (::connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::_Exit(9);
  const std::string join =
      "{\"type\":\"join\",\"token\":\"guess\",\"rank\":0,\"world\":4,\"host\":\"h\",\"pid\":1}\nmore";
  if (::send(s, join.data(), join.size(), 0) < 0) std::_Exit(9);
}

// In the folder of this launch: who has joined, or ends before it does, says its process there.
std::string mark(int rank) { return std::string(std::getenv("TMPDIR")) + "/process." + std::to_string(rank); }

void leave_mark(int rank) {
  std::ofstream(mark(rank) + ".new") << ::getpid() << std::endl;
  ::rename((mark(rank) + ".new").c_str(), mark(rank).c_str());
}

int process_of(int rank) {
  int pid = 0;
  while (!(std::ifstream(mark(rank)) >> pid)) ::usleep(1000);
  return pid;
}

void end_once_others_have_joined(int rank) {
  const int world = std::atoi(std::getenv("PLUMB_WORLD"));
  for (int other = 0; other < world; ++other)
    if (other != rank) process_of(other);
  leave_mark(rank);
  std::_Exit(3);
}

void end_after(int rank) {
  const std::string status = "/proc/" + std::to_string(process_of(rank)) + "/stat";
  std::string line;
  while (std::getline(std::ifstream(status), line) && line.find(") Z ") == line.npos) ::usleep(1000);
  std::_Exit(4);
}

}  // namespace

int main(int argc, char** argv) {
  Echo echo;
  if (argc > 2)
    echo.fault = {argv[1], std::atoi(argv[2]), argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0,
                  argc > 4 ? argv[4] : ""};
  const char* number = std::getenv("PLUMB_RANK");
  echo.seat.rank = number ? std::atoi(number) : 0;
  if (echo.has("keeps") || echo.has("lends")) echo.share();
  if (echo.has("absent") || echo.has("lends")) ::pause();
  if (echo.has("early")) return 3;
  if (echo.has("unborn")) ::raise(SIGKILL);
  const bool ends_late = echo.fault.what == "unjoined" || echo.fault.what == "followed";
  if (ends_late && echo.seat.rank == echo.fault.rank) end_once_others_have_joined(echo.seat.rank);
  if (echo.fault.what == "unusable") {
    if (echo.seat.rank == echo.fault.rank) std::fputs("rank: no fault 'unusable'\n", stderr);
    return 2;
  }
  std::atexit(kill_others);  // comes last
  if (echo.has("stranger")) connect_as_a_stranger();
  const auto seat = plumb::take_seat();
  if (!seat) return 2;
  echo.seat = *seat;
  if (ends_late) leave_mark(seat->rank);
  if (echo.fault.what == "followed" && seat->rank == 0) end_after(echo.fault.rank);
  plumb::say_world(echo.has("alone") ? 1 : seat->world);
  return plumb::serve_as_rank(echo, *seat);
}
