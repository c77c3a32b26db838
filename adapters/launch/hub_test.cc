#include "adapters/launch/hub.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "adapters/launch/lost.h"

namespace plumb::launch {
namespace {

// A hub, and whoever connects to it.
struct Door {
  Hub hub;
  explicit Door(int ranks = 1) : hub(open_hub(ranks, "")) {}
  std::vector<int> sockets;
  ~Door() {
    for (int socket : sockets) ::close(socket);
    close_hub(hub);
  }
};

int knock(Door& door) {
  const int socket = door.sockets.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, door.hub.address.c_str() + std::strlen("unix:"));
  EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

int come(Door& door) {
  const int socket = knock(door);
  step(door.hub, Clock::now());
  return socket;
}

void say(Door& door, int socket, const std::string& line) {
  ASSERT_EQ(::write(socket, (line + "\n").data(), line.size() + 1), std::ssize(line) + 1);
  step(door.hub, Clock::now());
}

constexpr const char* of_other_types[] = {
    "",
    "?",
    "1",
    "[]",
    R"({"type":1})",
    R"({"type":["join"]})",
    R"({"type":"join","token":1})",
    R"({"type":"at","inside":"yes","entered":[],"at":{}})",
    R"({"type":"world","size":"one"})",
    R"({"type":"bytes","at":-1,"bytes":"1"})",
    R"({"type":"put","key":1,"value":[]})",
    R"({"type":"get","key":{}})",
};

TEST(Hub, WhoeverDoesNotKnowTheTokenGetsNoSeatWhateverIsSaid) {
  Door door;
  for (const char* line : of_other_types) {
    say(door, come(door), line);
    EXPECT_FALSE(door.hub.seats[0].where.joined) << line;
    EXPECT_EQ(door.hub.complaint, "") << line;
  }
  const std::string join =
      fmt::format(R"({{"type":"join","token":"{}","rank":0,"world":1}})", door.hub.token);
  say(door, come(door), join);
  EXPECT_TRUE(door.hub.seats[0].where.joined);
}

TEST(Hub, ATokenWithoutARankGetsNoSeat) {
  Door door;
  say(door, come(door), fmt::format(R"({{"type":"join","token":"{}","rank":"0"}})", door.hub.token));
  EXPECT_FALSE(door.hub.seats[0].where.joined);
  EXPECT_THAT(door.hub.complaint, testing::HasSubstr("says that it is rank -1"));
}

// So many files may be open, while it lives.
struct OpenFiles {
  rlimit before{};
  explicit OpenFiles(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit now{most, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~OpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before); }
};

TEST(Hub, MoreRanksThanFilesThatMayBeOpenAreNotWaitedFor) {
  Door door;
  door.hub.seats.resize(60);
  const OpenFiles few(40);
  EXPECT_THROW(step(door.hub, Clock::now()), std::system_error);
}

TEST(Hub, WhoIsSilentMakesRoomForWhoComes) {
  Door door;
  for (int i = 0; i < 8; ++i) knock(door);
  const int next = ::dup(0);
  ::close(next);
  const OpenFiles few(static_cast<rlim_t>(next) + 3);
  for (int i = 0; i < 20; ++i) step(door.hub, Clock::now());
  EXPECT_LE(door.hub.strangers.size(), 3U);
  say(door, door.sockets.back(),
      fmt::format(R"({{"type":"join","token":"{}","rank":0,"world":1}})", door.hub.token));
  EXPECT_TRUE(door.hub.seats[0].where.joined);
}

// It comes to plumb as the reply that it is, or is complained of; the launcher stays.
TEST(Hub, ARankMayAnswerAnything) {
  for (const char* line : of_other_types) {
    Door door;
    const int rank = come(door);
    say(door, rank, fmt::format(R"({{"type":"join","token":"{}","rank":0,"world":1}})", door.hub.token));
    ASSERT_TRUE(door.hub.seats[0].where.joined);
    EXPECT_NO_THROW(say(door, rank, line)) << line;
  }
}

constexpr const char* joins = R"({{"type":"join","token":"{}","rank":{},"world":1}})";

TEST(Hub, BytesThatNoPlaceHasAreSaidAsTheyWere) {
  Door door;
  const int rank = come(door);
  say(door, rank, fmt::format(joins, door.hub.token, 0));
  say(door, rank, R"({"type":"bytes","at":-5,"bytes":-1})");
  EXPECT_THAT(door.hub.complaint,
              testing::HasSubstr("sent -1 bytes for -5 of the arena, which are not its own"));
}

TEST(Hub, ALineWithoutAnEndHasItsRank) {
  Door door;
  door.hub.longest = 1000;
  const int rank = come(door);
  say(door, rank, fmt::format(joins, door.hub.token, 0));
  say(door, rank, std::string(5000, 'x'));
  EXPECT_EQ(door.hub.complaint, "") << "it has an end";
  const std::string endless(1000, 'x');
  ASSERT_EQ(::write(rank, endless.data(), endless.size()), std::ssize(endless));
  step(door.hub, Clock::now());
  EXPECT_THAT(
      door.hub.complaint,
      testing::MatchesRegex("rank 0 \\(host .*\\) sent 1000 bytes without an end of a line, and at most "
                            "1000 are read"));
}

void all_join(Door& door) {
  const auto world = std::ssize(door.hub.seats);
  for (std::int64_t rank = 0; rank < world; ++rank)
    say(door, come(door),
        fmt::format(R"({{"type":"join","token":"{}","rank":{},"world":{}}})", door.hub.token, rank, world));
}

TEST(Hub, ASecondReplyToOneRequestHasItsRank) {
  const std::string done = R"({"type":"done","id":1})", other = R"({"type":"done","id":1,"says":"plan B"})";
  for (const std::string& second : {done, other}) {
    Door door(2);
    all_join(door);
    ask_all(door.hub, R"({"type":"run","id":1})");
    for (int rank : {0, 1}) say(door, door.sockets[rank], done);
    EXPECT_EQ(door.hub.complaint, "") << "of two ranks one each";
    say(door, door.sockets[1], second);
    EXPECT_THAT(door.hub.complaint,
                testing::MatchesRegex("rank 1 \\(.*\\) replied more than once to one request"));
  }
}

void write_line(int socket, const std::string& line) {
  ASSERT_EQ(::write(socket, (line + "\n").data(), line.size() + 1), std::ssize(line) + 1);
}

void leave(Door& door, int rank) { ::close(std::exchange(door.sockets[rank], -1)); }

// Whoever started the ranks ended the others for it, and all are seen to be gone at once.
TEST(Hub, WhoDiedIsTheOneThatEndedFirst) {
  for (const std::vector<int>& order : {
           std::vector{2, 0, 3, 1},
           {3, 2, 1, 0},
           {1, 3, 0, 2}
  }) {
    Door door(4);
    all_join(door);
    for (int rank : order) leave(door, rank);
    step(door.hub, Clock::now());
    EXPECT_THAT(door.hub.lost, testing::ElementsAreArray(order));
    std::vector<std::int64_t> others(order.begin() + 1, order.end());
    std::ranges::sort(others);
    EXPECT_THAT(who_died(door.hub), testing::MatchesRegex(fmt::format("rank {} \\(.*\\) has died, then {}",
                                                                      order[0], listed(others))));
  }
}

// Of three ranks each has joined or not, and of those that have each is told to end and ends, ends untold, or
// stays, in any order.
TEST(Hub, WhereSomeHaveNotJoinedTheyComeFirstAndNobodyElseHasDied) {
  enum { absent, stays, ends, told, ways };
  const auto all_of = [](int way, const std::vector<int>& how) {
    std::vector<std::int64_t> such;
    for (int rank = 0; rank < 3; ++rank)
      if (how[rank] == way) such.push_back(rank);
    return such;
  };
  for (int n = 0; n < ways * ways * ways; ++n) {
    const std::vector<int> how{n % ways, n / ways % ways, n / ways / ways};
    std::vector<int> order{0, 1, 2};
    do {
      Door door(3);
      std::vector<std::int64_t> untold;
      for (int rank = 0; rank < 3; ++rank) {
        const int socket = come(door);
        if (how[rank] != absent)
          say(door, socket,
              fmt::format(R"({{"type":"join","token":"{}","rank":{},"world":3}})", door.hub.token, rank));
      }
      for (int rank : order) {
        if (how[rank] == told) write_line(door.sockets[rank], R"({"type":"told to end"})");
        if (how[rank] == ends) untold.push_back(rank);
        if (how[rank] == ends || how[rank] == told) leave(door, rank);
      }
      step(door.hub, Clock::now());
      const std::string said = who_ended(door.hub);
      const auto without = all_of(absent, how);
      SCOPED_TRACE(fmt::format("{} in order {}: {}", fmt::join(how, " "), fmt::join(order, " "), said));
      EXPECT_EQ(said == "", without.size() == 3 || (without.empty() && door.hub.lost.empty()));
      if (without.empty() || without.size() == 3) continue;
      EXPECT_THAT(said, testing::MatchesRegex("ranks? " + listed(without) + " ha(s|ve) not joined(; .*)?"));
      EXPECT_THAT(said, testing::Not(testing::HasSubstr("died")));
      std::vector<std::int64_t> others = untold;
      std::string ends;
      if (!door.hub.told && !untold.empty()) {
        others.erase(others.begin()), std::ranges::sort(others);
        ends = fmt::format("; rank {} \\(.*\\) has ended{}", untold[0],
                           others.empty() ? "" : ", then " + listed(others));
      }
      EXPECT_THAT(said, testing::MatchesRegex(".* not joined" + ends));
    } while (std::ranges::next_permutation(order).found);
  }
}

// Whoever was struck has said so, and is known.
TEST(Hub, WhoWasStruckHasDiedBesideThoseThatHaveNotJoined) {
  Door door(3);
  for (int rank : {0, 1})
    say(door, come(door),
        fmt::format(R"({{"type":"join","token":"{}","rank":{},"world":3}})", door.hub.token, rank));
  write_line(door.sockets[1], R"({"type":"struck"})");
  for (int rank : {0, 1}) leave(door, rank);
  step(door.hub, Clock::now());
  EXPECT_THAT(who_ended(door.hub), testing::MatchesRegex("rank 1 \\(.*\\) has died; rank 2 has not joined"));
}

// They are told, and the first of them closes its connection as it says so.
TEST(Hub, WhereWhoEndedFirstWasToldNobodyHasDied) {
  Door door(3);
  all_join(door);
  const std::string told = R"({"type":"told to end"})"
                           "\n";
  ASSERT_EQ(::write(door.sockets[1], told.data(), told.size()), std::ssize(told));
  ASSERT_EQ(::shutdown(door.sockets[1], SHUT_WR), 0);
  for (int rank : {0, 1, 2}) leave(door, rank);
  step(door.hub, Clock::now());
  EXPECT_THAT(door.hub.lost, testing::IsEmpty());
  EXPECT_TRUE(door.hub.told);
}

// Seen at once: one died, and whoever started the ranks ended the others for it.
TEST(Hub, WhoWasToldToEndIsNotTheOneThatDied) {
  Door door(3);
  all_join(door);
  const std::string told = R"({"type":"told to end"})"
                           "\n";
  for (int rank : {0, 2}) ASSERT_EQ(::write(door.sockets[rank], told.data(), told.size()), std::ssize(told));
  for (int rank : {1, 0, 2}) leave(door, rank);
  step(door.hub, Clock::now());
  EXPECT_THAT(door.hub.lost, testing::ElementsAre(1));
}

// Of whoever starts the ranks some end one that is told to by a stranger as if it had died, and kill the
// others at once, who say nothing.
TEST(Hub, WhoWasStruckIsTheOneThatDied) {
  Door door(3);
  all_join(door);
  const std::string struck = R"({"type":"struck"})"
                             "\n";
  ASSERT_EQ(::write(door.sockets[1], struck.data(), struck.size()), std::ssize(struck));
  for (int& socket : door.sockets) ::close(std::exchange(socket, -1));
  step(door.hub, Clock::now());
  EXPECT_THAT(door.hub.lost, testing::ElementsAre(1));
}

// Whoever starts the ranks was told to end, tells them, and kills those who do not at once.
TEST(Hub, WhereSomeWereToldFirstNobodyHasDied) {
  Door door(3);
  all_join(door);
  say(door, door.sockets[1], R"({"type":"told to end"})");
  for (int& socket : door.sockets) ::close(std::exchange(socket, -1));
  step(door.hub, Clock::now());
  EXPECT_THAT(door.hub.lost, testing::IsEmpty());
}

// The last one of all is awaited.
TEST(Hub, WhatOneRankSaysWakesNobodyWhileAnotherIsToReply) {
  Door door{2};
  for (int rank = 0; rank < 2; ++rank) say(door, come(door), fmt::format(joins, door.hub.token, rank));
  for (Seat& seat : door.hub.seats) seat.elsewhere = false;
  std::string heard;
  door.hub.forward = [&](const std::string& line) { heard = line; };
  ask_all(door.hub, R"({"type":"run","id":1})");
  const std::string phase = R"({"type":"phase","id":1,"phase":"run"})",
                    result = R"({"type":"result","id":1})", done = R"({"type":"done","id":1})";
  write_line(door.sockets[0], phase);
  const auto begun = Clock::now();
  await_replies(door.hub, begun + std::chrono::minutes(1));
  EXPECT_GE(Clock::now() - begun, std::chrono::milliseconds(2));
  EXPECT_EQ(heard, phase) << "a moment later it is heard";
  write_line(door.sockets[0], result), write_line(door.sockets[1], done);
  await_replies(door.hub, Clock::now() + std::chrono::minutes(1));
  for (const Seat& seat : door.hub.seats) EXPECT_TRUE(seat.reply);
  EXPECT_EQ(door.hub.seats[0].reply_text, result);
}

TEST(Hub, WhoGoesIsSeenWhileAnotherIsToReply) {
  Door door{2};
  for (int rank = 0; rank < 2; ++rank) say(door, come(door), fmt::format(joins, door.hub.token, rank));
  for (Seat& seat : door.hub.seats) seat.elsewhere = false;
  ask_all(door.hub, R"({"type":"run","id":1})");
  door.hub.asked -= std::chrono::hours(1);  // moments are long by now
  ::close(std::exchange(door.sockets[0], -1));
  await_replies(door.hub, Clock::now() + std::chrono::minutes(1));
  EXPECT_THAT(door.hub.lost, testing::ElementsAre(0));
}

// What a rank tells the others, or asks of them, is heard at once, also while the first runs: they wait for
// it.
TEST(Hub, WhatARankTellsTheOthersIsHeardWhileTheFirstRuns) {
  Door door{2};
  for (int rank = 0; rank < 2; ++rank) say(door, come(door), fmt::format(joins, door.hub.token, rank));
  for (Seat& seat : door.hub.seats) seat.elsewhere = false;
  ask_all(door.hub, R"({"type":"bench","id":1})");
  say(door, door.sockets[0], R"({"type":"phase","id":1,"phase":"run"})");
  say(door, door.sockets[0], R"({"type":"alive"})");
  say(door, door.sockets[1], R"({"type":"put","key":"window","value":"1"})");
  EXPECT_EQ(door.hub.kept["window"], "1");
}

}  // namespace
}  // namespace plumb::launch
