// How ranks behind plumb-launch end, and who is named for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"
#include "harness/backend/testing/remains.h"

namespace plumb {
namespace {

using testing::MatchesRegex;

// Four ranks, of which one has a fault.
Command four(const Faults& faults) {
  Command command{
      "ranks", {PLUMB_LAUNCH, "--ranks", "4", "--", PLUMB_RANK},
       { },
       5
  };
  command.argv.insert(command.argv.end(), faults.begin(), faults.end());
  return command;
}

// The job before takes longer to end than the next case has to be made ready.
TEST(RanksEnd, AHangAfterAHangHasTheSameName) {
  const Remains remains;
  {
    Process process(four({"stubborn", "2"}), {.start = 60, .compile = 1.8, .run = 4});
    for (int i = 0; i < 2; ++i)
      EXPECT_THAT(
          expect<Hung>(process.run(gather("", 4), operands())).what,
          MatchesRegex("rank 2 \\(host .*\\) has not entered all-gather 2 over x .*; 0, 1, 3 wait in it"));
  }
  EXPECT_THAT(remains.now(), testing::IsEmpty());
}

// While they wait for each other: whoever is told to end by a stranger is named, the others are not.
TEST(RanksEnd, WhoIsToldToEndByAStrangerHasDied) {
  for (const bool by_one : {true, false}) {
    Command command = four({"sleep", "0", "7", by_one ? "struck-by-own" : "struck-in-one"});
    // As an mpiexec that kills the others at once; it is killed itself in one case of two.
    const std::string kills =
        "for i in 0 1 2 3; do PLUMB_WORLD=4 PLUMB_RANK=$i \"$@\" & done; wait -n; kill -KILL $(jobs -p); "
        "exit 15";
    const std::string script = testing::TempDir() + "kills." + std::to_string(::getpid());
    std::ofstream(script) << kills << "\n";
    if (!by_one) {
      const std::vector<std::string> launcher{"--launcher", "/bin/bash " + script + " {program}"};
      command.argv.insert(command.argv.begin() + 3, launcher.begin(), launcher.end());
    }
    Process process(command);
    expect<Outcome>(process.run(gather("", 4), operands()));
    const std::vector<pid_t> all = running(command.argv.back());
    std::jthread killer([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ::kill(all.back(), SIGTERM);
    });
    const Crashed crashed = expect<Crashed>(process.run(gather(" seed=7", 4), operands()));
    EXPECT_THAT(crashed.what,
                MatchesRegex("rank [0-3] \\(host .*, pid " + std::to_string(all.back()) + "\\) " +
                             (by_one ? "was killed by signal 15 \\(Terminated\\)" : "has died; .*")));
    std::filesystem::remove(script);
  }
}

// One that ends all of them, or exits, is gone before those whom it ends, and who say nothing.
TEST(RanksEnd, WhoEndsTheOthersIsTheOneThatDied) {
  const std::string script = testing::TempDir() + "waits." + std::to_string(::getpid());
  std::ofstream(script)
      << "for i in 0 1 2 3; do PLUMB_WORLD=4 PLUMB_RANK=$i \"$@\" & done; wait -n; kill -KILL $(jobs -p); "
         "wait; exit 5\n";
  for (const char* ends : {"aborts", "returns"}) {
    Command command = four({ends, "2"});
    const std::vector<std::string> launcher{"--launcher", "/bin/bash " + script + " {program}"};
    command.argv.insert(command.argv.begin() + 3, launcher.begin(), launcher.end());
    Process process(command);
    EXPECT_THAT(expect<Crashed>(process.run(gather("", 4), operands())).what,
                MatchesRegex("rank 2 \\(host .*\\) has died.*"))
        << ends;
  }
  std::filesystem::remove(script);
}

// What a rank after the first may reply: that it is done, or what failed.
TEST(RanksEnd, WhatIsNoReplyIsSaidWithItsRank) {
  const struct {
    const char *line, *says;
  } rows[] = {
      {"hello world",                                           "replied \"hello world\", and a rank after"              },
      {"[1,2]",                                                 "replied \"[1,2]\", and a rank after"                    },
      {"null",                                                  "replied \"null\", and a rank after"                     },
      {"",                                                      "replied \"\", and a rank after"                         },
      {"\xff\xfe",                                              "replied \""                                             },
      {R"({"type":"hello","version":7})",                       "and a rank after the first is done, or says what failed"},
      {R"({"type":"result","id":1})",                           "and a rank after the first is done, or says what failed"},
      {R"({"type":"done"})",                                    "replied to request -1, and 1 was asked"                 },
      {R"({"type":"crashed","id":1,"message":"GPU fell off"})", "): GPU fell off"                                        },
      {R"({"type":"crashed","id":7,"message":"GPU fell off"})", "replied to request 7, and 1 was asked"                  },
      {R"({"type":"done","id":1,"says":"plan B"})",             "made another plan than rank 0"                          },
  };
  for (const auto& [line, says] : rows) {
    Process process(four({"says", "2", "0", line}));
    const Answer answer = process.run(gather("", 4), operands());
    const auto* crashed = std::get_if<Crashed>(&answer);
    const auto* reneged = std::get_if<Reneged>(&answer);
    ASSERT_TRUE(crashed || reneged) << line;
    const std::string what = crashed ? crashed->what : reneged->message;
    EXPECT_THAT(what, testing::StartsWith("rank 2 (host ")) << line;
    EXPECT_THAT(what, testing::HasSubstr(says)) << line;
    EXPECT_EQ(crashed != nullptr, !std::string(says).starts_with("made")) << line;
  }
}

// Whichever rank watches the others, its words and ranks are those of the case.
TEST(RanksEnd, WhoWatchesTheOthersSaysOfWhomItHangs) {
  for (const char* watchful : {"0", "2"}) {
    Process process(
        four({"says", watchful, "0",
              R"({"type":"hung","id":1,"message":"watchdog: rank 3 is late in ring 3","ranks":[3]})"}));
    const Hung hung = expect<Hung>(process.run(gather("", 4), operands()));
    EXPECT_EQ(hung.what, "watchdog: rank 3 is late in ring 3") << watchful;
    EXPECT_EQ(hung.ranks, std::vector<std::int64_t>{3}) << watchful;
    EXPECT_EQ(hung.processes.size(), 4U) << watchful;
  }
}

TEST(RanksEnd, AProgramOfSeveralFilesIsOneRank) {
  Command command = four({});
  command.argv.back() = PLUMB_PARTS;
  Process process(command, {.start = 60, .compile = 4, .run = 4});
  const Hung hung = expect<Hung>(process.run(gather("", 4), operands()));
  EXPECT_THAT(hung.what,
              MatchesRegex("rank 2 \\(host .*\\) has not entered all-gather 1 over x; 0, 1, 3 wait in it"));
  ASSERT_EQ(hung.processes.size(), 4U);
  EXPECT_THAT(hung.processes[1],
              testing::ContainsRegex(", device an H100, .. 0123456789.*: waits in all-gather 1"));
}

TEST(RanksEnd, ANumberThatIsNoneIsNoRank) {
  Command command = four({});
  command.argv.insert(command.argv.begin() + 3,
                      {"--launcher", "env PLUMB_RANK={rank}x PLUMB_WORLD={n} {program}"});
  Process process(command);
  EXPECT_THAT(expect<Crashed>(process.run(gather("", 4), operands())).what,
              testing::HasSubstr("says that it is rank -1 of 4, and 4 were asked for"));
}

TEST(RanksEnd, ALauncherThatIsToldToEndHasEndedBySignal) {
  const Remains remains;
  {
    Process process(four({"sleep", "2", "7", "a-launcher-told"}));
    expect<Outcome>(process.run(gather("", 4), operands()));
    const pid_t launcher = running("a-launcher-told").front();
    std::jthread killer([launcher] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ::kill(launcher, SIGTERM);
    });
    EXPECT_EQ(expect<Crashed>(process.run(gather(" seed=7", 4), operands())).what,
              "plumb-launch was killed by signal 15 (Terminated)");
  }
  EXPECT_THAT(remains.now(), testing::IsEmpty());
}

}  // namespace
}  // namespace plumb
