// Programs of several ranks, behind plumb-launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

// Four ranks; the options of the launcher, and the fault of a rank.
Command ranks(const Faults& faults, const Faults& options = {}) {
  Command command{
      "ranks", {PLUMB_LAUNCH, "--ranks", "4"},
       {   },
       5
  };
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.argv.insert(command.argv.end(), {"--", PLUMB_RANK});
  command.argv.insert(command.argv.end(), faults.begin(), faults.end());
  return command;
}

Case all(const std::string& more = "") { return gather(more, 4); }

TEST(Ranks, AnOutcomeComesFromAllOfThem) {
  Process process(ranks({}));
  for (float first : {0.f, 100.f}) {
    const Outcome o = expect<Outcome>(process.run(all(), operands(first)));
    ASSERT_EQ(o.blocks.size(), 4U);
    for (const Block& b : o.blocks) EXPECT_EQ(process.read(b), operands(first)[0].bytes);
  }
  EXPECT_EQ(process.hello()->name, "rank");
}

TEST(Ranks, JoinThroughAnInterfaceToo) {
  Process process(ranks({}, {"--interface", "localhost"}));
  expect<Outcome>(process.run(all(), operands()));
}

TEST(Ranks, AProgramInCNeedsOneHeader) {
  Command command = ranks({});
  command.argv.back() = PLUMB_VENDOR;
  Process process(command);
  EXPECT_EQ(expect<Unsupported>(process.run(all(), operands())).reason, "it is an example");
  EXPECT_EQ(process.hello()->name, "vendor");
}

TEST(Ranks, AHangNamesTheRankForWhichTheOthersWait) {
  const struct {
    const char *fault, *says;
  } rows[] = {
      {"sleep",
       "rank 2 \\(host .*\\) has not entered all-gather 2 over x \\(the last it left is all-gather 1 over "
       "x\\); 0, 1, 3 "
       "wait in it"                                                                              },
      {"stop",  "rank 2 \\(host .*\\) does not answer; 0, 1, 3 wait in all-gather 2 over x"      },
      {"late",  "ranks 0, 1, 3 \\(host .*\\) have not entered all-reduce 3 over x; 2 waits in it"},
  };
  for (const auto& [fault, says] : rows) {
    Process process(ranks({fault, "2", "7"}), {.start = 60, .compile = 4, .run = 60});
    expect<Outcome>(process.run(all(), operands()));
    const Hung hung = expect<Hung>(process.run(all(" seed=7"), operands()));
    EXPECT_THAT(hung.what, MatchesRegex(says)) << fault;
    EXPECT_EQ(hung.ranks.size(), std::string(fault) == "late" ? 3U : 1U) << fault;
    EXPECT_EQ(hung.processes.size(), 4U) << fault;
    expect<Outcome>(process.run(all(), operands()));  // by a new launch
  }
}

TEST(Ranks, ARankThatDiesIsNamed) {
  const struct {
    const char *fault, *says;
  } rows[] = {
      {"die",  "rank 2 was killed by signal 6 \\(Aborted\\)"},
      {"kill", "rank 2 was killed by signal 9 \\(Killed\\)" },
      {"exit", "rank 2 exited with code 0"                  },
  };
  for (const auto& [fault, says] : rows) {
    Process process(ranks({fault, "2", "7"}));
    expect<Outcome>(process.run(all(), operands()));
    const std::string what = expect<Crashed>(process.run(all(" seed=7"), operands())).what;
    EXPECT_THAT(what, MatchesRegex(std::string("rank 2 \\(host .*, pid [0-9]+\\) has died; ") + says));
    expect<Outcome>(process.run(all(), operands()));
  }
}

TEST(Ranks, OneThatCannotOrDisagreesIsNamed) {
  Process throws(ranks({"throws", "2", "7"}));
  expect<Outcome>(throws.run(all(), operands()));
  EXPECT_THAT(expect<Reneged>(throws.run(all(" seed=7"), operands())).message,
              MatchesRegex("rank 2 \\(host .*\\): no room for it"));
  expect<Outcome>(throws.run(all(), operands()));
  Process differs(ranks({"differs", "2", "7"}));
  EXPECT_THAT(expect<Reneged>(differs.run(all(" seed=7"), operands())).message,
              MatchesRegex("rank 2 \\(host .*\\) made another plan than rank 0"));
}

TEST(Ranks, OneThatNeverJoinsIsNamed) {
  Process process(ranks({"absent", "2"}), {.start = 2, .compile = 60, .run = 60});
  const Hung hung = expect<Hung>(process.run(all(), operands()));
  EXPECT_EQ(hung.what, "rank 2 has not joined");
  EXPECT_THAT(hung.ranks, testing::ElementsAre(2));
}

TEST(Ranks, AStrangerIsShownOut) {
  Process process(ranks({"stranger", "2"}));
  expect<Outcome>(process.run(all(), operands()));
}

TEST(Ranks, AWorldOfAnotherSizeIsNamed) {
  Process process(ranks({"alone", "2"}));
  EXPECT_THAT(expect<Crashed>(process.run(all(), operands())).what,
              HasSubstr("is in a world of 1, and 4 were asked for"));
  // Each task a world of one.
  const std::string script = testing::TempDir() + "tasks." + std::to_string(::getpid());
  std::ofstream(script) << "for i in 1 2 3 4; do \"$@\" & done; wait\n";
  Process tasks(ranks({}, {"--launcher", "/bin/sh " + script + " {program}"}));
  EXPECT_THAT(expect<Crashed>(tasks.run(all(), operands())).what, HasSubstr("a world of 1"));
  std::filesystem::remove(script);
}

TEST(Ranks, NothingIsLeftOfThem) {
  std::string folder;
  for (const char* fault : {"none", "stop", "sleep", "die"}) {
    {
      Process process(ranks({fault, "2", "7", "ranks-that-are-to-go"}),
                      {.start = 60, .compile = 2, .run = 60});
      expect<Outcome>(process.run(all(), operands()));
      EXPECT_EQ(running("ranks-that-are-to-go").size(), 5U);
      process.run(all(" seed=7"), operands());
    }
    EXPECT_THAT(running("ranks-that-are-to-go"), testing::IsEmpty()) << fault;
  }
}

TEST(Ranks, BadOptionsOfTheLauncherAreBadInput) {
  Process process({
      "ranks", {PLUMB_LAUNCH, "--ranks", "none"},
       {      },
       0
  });
  EXPECT_THROW(process.run(all(), operands()), BadInput);
}

}  // namespace
}  // namespace plumb
