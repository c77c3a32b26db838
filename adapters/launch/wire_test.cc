#include "adapters/launch/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace plumb::launch {
namespace {

using testing::ElementsAre;

// Two ends of a connection, and a file for an arena.
struct Both {
  Wire launcher, rank;
  int arena = ::memfd_create("arena", MFD_CLOEXEC);
  Both() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    launcher.socket = ends[0], rank.socket = ends[1];
  }
  ~Both() {
    for (int file : {launcher.socket, rank.socket, arena}) ::close(file);
  }
};

std::vector<std::string> lines(Wire& wire) {
  std::vector<std::string> all;
  while (const auto line = next_line(wire)) all.push_back(*line);
  return all;
}

TEST(Wire, LinesComeWholeAndInOrder) {
  Both both;
  both.launcher.posts = {{"one\ntw"}, {"o\nthr"}};
  ASSERT_TRUE(send_posts(both.launcher, both.arena));
  ASSERT_TRUE(receive(both.rank));
  EXPECT_THAT(lines(both.rank), ElementsAre("one", "two"));
  EXPECT_EQ(both.rank.heard, "thr");
}

// What was looked through for an end of a line is not looked through again, and bytes may lie before it.
TEST(Wire, ALineInPiecesIsFound) {
  Both both;
  const int copy = ::memfd_create("copy", MFD_CLOEXEC);
  for (const char* piece : {"ab", "c\ndefgh", "\n", "\n"}) {
    both.launcher.posts = {{piece}};
    ASSERT_TRUE(send_posts(both.launcher, both.arena) && receive(both.rank));
    if (std::string(piece) == "ab") {
      EXPECT_EQ(next_line(both.rank), std::nullopt);
    }
    if (std::string(piece) == "c\ndefgh") {
      EXPECT_THAT(lines(both.rank), ElementsAre("abc"));
      EXPECT_EQ(take_bytes(both.rank, copy, 0, 4), 4U);
    }
  }
  EXPECT_THAT(lines(both.rank), ElementsAre("h", ""));
  ::close(copy);
}

TEST(Wire, AnEndIsSeenByBoth) {
  Both both;
  ::shutdown(both.rank.socket, SHUT_RDWR);
  EXPECT_FALSE(receive(both.launcher));
  both.launcher.posts = {{"one\n"}};
  EXPECT_FALSE(send_posts(both.launcher, both.arena));
}

// Whoever does not listen holds nobody up, and a line that is put first stands between whole posts.
TEST(Wire, WhatCannotBeSentIsKept) {
  Both both;
  constexpr std::uint64_t size = 4 << 20;
  std::string bytes;
  for (std::uint64_t i = 0; i < size; ++i) bytes += static_cast<char>('a' + i % 23);
  ASSERT_EQ(::pwrite(both.arena, bytes.data(), size, 0), std::ssize(bytes));
  both.launcher.posts = {
      {"first\n",  0, size},
      {"second\n", 5, 7   }
  };
  ASSERT_TRUE(send_posts(both.launcher, both.arena));
  ASSERT_EQ(both.launcher.posts.size(), 2U);
  ASSERT_GT(both.launcher.sent, 0U);
  post_first(both.launcher, {"where\n"});
  const int copy = ::memfd_create("copy", MFD_CLOEXEC);
  const auto take = [&](std::uint64_t at, std::uint64_t left) {
    while (left > 0) {
      const std::uint64_t taken = take_bytes(both.rank, copy, at, left);
      at += taken, left -= taken;
      if (left > 0) {
        ASSERT_TRUE(send_posts(both.launcher, both.arena) && receive(both.rank));
      }
    }
  };
  ASSERT_TRUE(receive(both.rank));
  ASSERT_EQ(next_line(both.rank), "first");
  take(0, size);
  while (!both.launcher.posts.empty()) ASSERT_TRUE(send_posts(both.launcher, both.arena));
  ASSERT_TRUE(receive(both.rank));
  EXPECT_EQ(next_line(both.rank), "where");
  EXPECT_EQ(next_line(both.rank), "second");
  EXPECT_EQ(both.rank.heard, bytes.substr(5, 7));
  std::string got(size, ' ');
  ASSERT_EQ(::pread(copy, got.data(), size, 0), std::ssize(got));
  EXPECT_TRUE(got == bytes);
  ::close(copy);
}

}  // namespace
}  // namespace plumb::launch
