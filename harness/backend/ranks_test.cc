// Programs of several ranks, behind plumb-launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"
#include "harness/backend/testing/remains.h"

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

TEST(Ranks, FindTheLauncherThroughAnInterfaceOrAFile) {
  for (const Faults& options : {
           Faults{"--interface", "localhost"                                                              },
           Faults{"--interface", "127.0.0.1"                                                              },
           Faults{"--launcher",  "env -u PLUMB_TOKEN PLUMB_LAUNCH=file:{file} PLUMB_RANK={rank} {program}"}
  }) {
    Process process(ranks({}, options));
    expect<Outcome>(process.run(all(), operands()));
  }
}

TEST(Ranks, AProgramInCNeedsOneHeader) {
  Command command = ranks({});
  command.argv.back() = PLUMB_VENDOR;
  Process process(command);
  EXPECT_EQ(expect<Unsupported>(process.run(all(), operands())).reason, "it is an example");
  EXPECT_EQ(process.hello()->name, "vendor");
}

// Making ready has one deadline, the run another: together they may take longer than either.
TEST(Ranks, TheWatchBeginsAnewWithTheRun) {
  Process process(ranks({"slow", "0"}), {.start = 60, .compile = 7, .run = 7});
  EXPECT_GT(expect<Outcome>(process.run(all(), operands())).compile_seconds, 3);
}

// What an answer is, and what it says.
std::string said(const Answer& answer) {
  if (const auto* hung = std::get_if<Hung>(&answer)) return "hung: " + hung->what;
  if (const auto* crashed = std::get_if<Crashed>(&answer))
    return "crashed: " + crashed->what + " | " + crashed->last_words;
  if (const auto* reneged = std::get_if<Reneged>(&answer)) return "reneged: " + reneged->message;
  return std::holds_alternative<Outcome>(answer) ? "outcome" : "something else";
}

// One rank, which reads its requests itself.
Command one(const Faults& faults) {
  Command command{
      "ranks", {PLUMB_LAUNCH, "--ranks", "1", "--", PLUMB_RANK},
       { },
       5
  };
  command.argv.insert(command.argv.end(), faults.begin(), faults.end());
  return command;
}

Case alone(const std::string& more = "") { return gather(more, 1); }

TEST(Ranks, AFaultOfAnOnlyOneHasItsVerdict) {
  const struct {
    const char *fault, *says;
  } rows[] = {
      {"sleep",  "hung: rank 0 \\(host .*\\) has not replied, and waits for nobody"                    },
      {"stop",   "hung: rank 0 \\(host .*\\) does not answer"                                          },
      {"die",    "crashed: rank 0 \\(host .*\\) was killed by signal 6 .*"            },
      {"kill",   "crashed: rank 0 \\(host .*, pid [0-9]+\\) was killed by signal 9 .*"},
      {"exit",   "crashed: rank 0 \\(host .*, pid [0-9]+\\) exited with code 0 .*"    },
      {"throws", "reneged: no room for it"                                                             },
  };
  for (const auto& [fault, says] : rows) {
    Process process(one({fault, "0", "7"}), {.start = 60, .compile = 4, .run = 4});
    for (float first : {0.f, 100.f}) {
      const Outcome o = expect<Outcome>(process.run(alone(), operands(first)));
      ASSERT_EQ(o.blocks.size(), 1U);
      EXPECT_EQ(process.read(o.blocks[0]), operands(first)[0].bytes);
    }
    EXPECT_THAT(said(process.run(alone(" seed=7"), operands())), MatchesRegex(says)) << fault;
    expect<Outcome>(process.run(alone(), operands()));  // by a new launch
    expect<Outcome>(process.run(alone(), operands()));
  }
}

TEST(Ranks, AnOnlyOneThatIsStruckBetweenRequestsIsSeenByTheNext) {
  const struct {
    int signal;
    const char* says;
  } rows[] = {
      {SIGKILL, "crashed: rank 0 \\(host .*\\) was killed by signal 9 .*"},
      {SIGSTOP, "hung: rank 0 \\(host .*\\) does not answer"                              },
  };
  for (const auto& [signal, says] : rows) {
    Process process(one({"none", "0", "7", "an-only-rank"}), {.start = 60, .compile = 4, .run = 4});
    for (int i = 0; i < 3; ++i) expect<Outcome>(process.run(alone(), operands()));
    const std::vector<pid_t> both = running("an-only-rank");
    ASSERT_EQ(both.size(), 2U);
    ::kill(both.back(), signal);
    EXPECT_THAT(said(process.run(alone(), operands())), MatchesRegex(says));
    expect<Outcome>(process.run(alone(), operands()));
  }
}

// One that is only slow to come answers the launcher, and then reads itself again.
TEST(Ranks, AnOnlyOneThatComesLateToARequestAnswersIt) {
  Process process(one({"none", "0", "7", "a-late-rank"}));
  expect<Outcome>(process.run(alone(), operands()));
  const pid_t rank = running("a-late-rank").back();
  for (int i = 0; i < 2; ++i) {
    ::kill(rank, SIGSTOP);
    std::thread later(
        [rank] { std::this_thread::sleep_for(std::chrono::seconds(2)), ::kill(rank, SIGCONT); });
    const Answer answer = process.run(alone(), operands());
    later.join();
    expect<Outcome>(answer);
    expect<Outcome>(process.run(alone(), operands()));
  }
}

// A folder of scripts that goes away with the tests.
struct Scripts {
  std::filesystem::path folder = testing::TempDir() + "launchers." + std::to_string(::getpid());
  int number = 0;
  Scripts() { std::filesystem::create_directories(folder); }
  ~Scripts() { std::filesystem::remove_all(folder); }
};

// A launcher that runs these lines of bash, with the program as its arguments.
std::string shell(const std::string& lines) {
  static Scripts scripts;
  const std::string script = scripts.folder / std::to_string(++scripts.number);
  std::ofstream(script) << lines << "\n";
  return "/bin/bash " + script + " {program}";
}

// Those of a seed are of one case, and the case before it and the next one, by a new launch, have outcomes.
TEST(Ranks, EveryFaultHasItsVerdictAndNothingIsLeft) {
  const std::string four = "for i in 1 2 3 4; do \"$@\" & done; wait";
  // As mpiexec does it.
  const std::string kills_the_others =
      "for i in 0 1 2 3; do PLUMB_WORLD=4 PLUMB_RANK=$i \"$@\" & done; wait -n; sleep 0.2; kill $(jobs -p); "
      "exit 7";
  const std::string kills_at_once =
      "for i in 0 1 2 3; do PLUMB_WORLD=4 PLUMB_RANK=$i \"$@\" & done; wait -n; kill -KILL $(jobs -p); wait; "
      "exit 9";
  const struct {
    Faults options, faults;
    const char* says;
  } rows[] = {
  // clang-format off
      {{},                                         {"none"},          "outcome"},
      {{},                                         {"stranger", "2"}, "outcome"},
      {{"--interface", "lo"},                      {"none"},          "outcome"},
      {{},                                         {"shares", "2"},   "outcome"},
      {{},                                         {"lends", "2"},    "hung: rank 2 has not joined"},
      {{},                                         {"keeps", "2"},    "crashed: rank 2 \\(host .*, pid [0-9]+\\) was killed by signal 9 \\(Killed\\) \\| .*"},
      {{},                                         {"absent", "2"},   "hung: rank 2 has not joined"},
      {{},                                         {"early", "2"},    "crashed: rank 2 exited with code 3 \\| .*"},
      {{},                                         {"unborn", "2"},   "crashed: rank 2 was killed by signal 9 \\(Killed\\) \\| .*"},
      {{},                                         {"unjoined", "2"}, "crashed: rank 2 exited with code 3 \\| .*"},
      {{},                                         {"followed", "2"}, "crashed: rank 2 exited with code 3(; rank 0 \\(host .*, pid [0-9]+\\) exited with code 4)? \\| .*"},  // whether it is waited for or not
      {{"--launcher", shell(kills_at_once)},       {"unjoined", "2"}, "crashed: rank 2 has not joined; rank [013] \\(host .*, pid [0-9]+\\) has ended, then .*; /bin/bash exited with code 9 \\| .*"},
      {{},                                         {"sleep", "2", "7"},    "hung: rank 2 \\(host .*\\) has not entered all-gather 2 over x \\(the last it left is all-gather 1 over x\\); 0, 1, 3 wait in it"},
      {{},                                         {"stop", "2", "7"},     "hung: rank 2 \\(host .*\\) does not answer; 0, 1, 3 wait in all-gather 2 over x"},
      {{},                                         {"late", "2", "7"},     "hung: rank 2 \\(host .*\\) has not replied \\(it waits in all-reduce 3 over x\\); 0, 1, 3 have replied"},
      {{},                                         {"die", "2", "7"},      "crashed: rank 2 \\(host .*, pid [0-9]+\\) was killed by signal 6 \\(Aborted\\) \\| .*"},
      {{},                                         {"kill", "0", "7"},     "crashed: rank 0 \\(host .*, pid [0-9]+\\) was killed by signal 9 \\(Killed\\) \\| .*"},
      {{"--launcher", shell(kills_the_others)},    {"kill", "2", "7"},     "crashed: rank 2 \\(host .*, pid [0-9]+\\) has died; /bin/bash exited with code 7 \\| .*"},
      {{"--launcher", shell(kills_the_others)},    {"forks", "2", "7"},    "crashed: rank 2 \\(host .*, pid [0-9]+\\) has died; /bin/bash exited with code 7 \\| .*"},
      {{},                                         {"exit", "2", "7"},     "crashed: rank 2 \\(host .*, pid [0-9]+\\) exited with code 0 \\| .*"},
      {{},                                         {"throws", "2", "7"},   "reneged: rank 2 \\(host .*, pid [0-9]+\\): no room for it"},
      {{},                                         {"throws", "0", "7"},   "reneged: rank 0 \\(host .*, pid [0-9]+\\): no room for it"},
      {{},                                         {"differs", "2", "7"},  "reneged: rank 2 \\(host .*\\) made another plan than rank 0"},
      {{},                                         {"alone", "2"},    "crashed: rank 2 \\(host .*\\) is in a world of 1, and 4 were asked for: was the program started by launcher own, by another library's mpiexec, or by srun without --mpi=pmix\\? \\| .*"},
      {{"--launcher", shell(four)},                {"none"},          "crashed: (two processes say that they are rank 0 \\(of a world of 1\\)|rank 0 \\(host .*\\) is in a world of 1, and 4 were asked for): was the program started by launcher own, by another library's mpiexec, or by srun without --mpi=pmix\\? \\| .*"},  // whichever is seen first
      {{"--launcher", shell("PLUMB_RANK=7 \"$@\"")}, {"none"},        "crashed: a process on .* says that it is rank 7 of 1, and 4 were asked for \\| .*"},
      {{"--launcher", shell("echo mpiexec has detected an attempt to run as root >&2; exit 1")}, {"none"}, "crashed: /bin/bash exited with code 1 \\| mpiexec has detected an attempt to run as root"},
      {{"--launcher", shell("exit 0")},            {"none"},          "crashed: /bin/bash exited with code 0, and not all have joined: a rank joins by plumb_ranks.h \\| "},
      {{"--launcher", "/bin/true {rank} {program}"}, {"none"},        "crashed: rank [0-3] exited with code 0, and not all have joined: a rank joins by plumb_ranks.h \\| "},
      {{},                                         {"foretells", "2", "7"}, "crashed: rank 2 \\(host .*, pid [0-9]+\\) replied to request 99, and 2 was asked \\| "},
  // clang-format on
  };
  for (const auto& [options, faults, says] : rows) {
    const bool joins = faults[0] != "absent" && faults[0] != "lends", of_a_case = faults.size() == 3;
    const Remains remains;
    {
      Process process(ranks(faults, options), {.start = joins ? 60. : 6., .compile = 60, .run = 4});
      if (of_a_case) expect<Outcome>(process.run(all(), operands()));
      const Answer answer = process.run(all(of_a_case ? " seed=7" : ""), operands());
      EXPECT_THAT(said(answer), MatchesRegex(says)) << faults[0];
      if (const Hung* hung = std::get_if<Hung>(&answer); hung && joins) {
        EXPECT_EQ(hung->ranks.size(), 1U) << faults[0];
        EXPECT_EQ(hung->processes.size(), 4U) << faults[0];
      }
      if (of_a_case) expect<Outcome>(process.run(all(), operands()));
    }
    EXPECT_THAT(remains.now(), testing::IsEmpty()) << faults[0];
  }
}

// Of a program of several processes of which the first alone joins.
TEST(Ranks, WhoDidNotJoinIsShownWhereItHangs) {
  Command command = one({"sleep", "0"});
  command.argv.insert(command.argv.begin() + 3,
                      {"--launcher", shell("sleep 600 & PLUMB_RANK=0 PLUMB_WORLD=1 \"$@\"")});
  Process process(command, {.start = 60, .compile = 4, .run = 4});
  const Hung hung = expect<Hung>(process.run(alone(), operands()));
  EXPECT_THAT(hung.what, MatchesRegex("rank 0 \\(host .*\\) has not replied, and waits for nobody"));
  EXPECT_THAT(hung.processes, testing::Contains(MatchesRegex(" *[0-9]+ sleep: waits in .*")));
}

TEST(Ranks, OneThatIsKilledAfterItsReplyIsSeenByTheNextCase) {
  Process process(ranks({"none", "2", "7", "to-be-killed-later"}));
  expect<Outcome>(process.run(all(), operands()));
  const std::vector<pid_t> all_of_them = running("to-be-killed-later");
  ASSERT_EQ(all_of_them.size(), 5U);
  ::kill(all_of_them.back(), SIGKILL);
  ASSERT_TRUE(soon([&] { return !alive(all_of_them.back()); }));
  EXPECT_THAT(said(process.run(all(), operands())), HasSubstr("was killed by signal 9 (Killed)"));
  expect<Outcome>(process.run(all(), operands()));
}

// With other processes than ours in /proc a rank cannot open the arena, as on another machine.
TEST(Ranks, WhoCannotOpenTheArenaHasACopy) {
  const std::string apart = "unshare --user --map-root-user --pid --fork --kill-child ";
  if (std::system((apart + "true 2>/dev/null").c_str()) != 0) GTEST_SKIP() << "unshare is not allowed here";
  for (const char* launcher : {"env PLUMB_RANK={rank} {program}", "{program}"}) {
    const std::string all_apart = apart + launcher,
                      one = shell("[ $PLUMB_RANK = 2 ] && exec " + apart + "\"$@\"; exec \"$@\"");
    Process process(
        ranks({"half", "1", "7"}, {"--launcher", launcher[0] == 'e' ? all_apart : one + " {rank}"}));
    const Case large = parse_case("on x=4: reshard f32[1048579@x] -> f32[1048579]");
    Tensor t = zeros(DType::f32, {1048579});
    for (std::size_t i = 0; i < t.bytes.size(); ++i) t.bytes[i] = static_cast<std::byte>(i % 251);
    const Outcome o = expect<Outcome>(process.run(large, {&t, 1}));
    ASSERT_EQ(o.blocks.size(), 4U);
    for (const Block& b : o.blocks) EXPECT_EQ(process.read(b), t.bytes);
    // What nobody wrote reads as ones.
    const Outcome half = expect<Outcome>(process.run(all(" seed=7"), operands()));
    ASSERT_EQ(half.blocks.size(), 4U);
    for (const Block& b : half.blocks) EXPECT_EQ(process.read(b)[16] == std::byte{0xff}, b.device == 1);
  }
  Process astray(ranks({"astray", "2"}, {"--launcher", apart + "env PLUMB_RANK={rank} {program}"}));
  EXPECT_THAT(
      said(astray.run(all(), operands())),
      MatchesRegex("crashed: rank 2 \\(host .*\\) sent 4 bytes for 0 of the arena, which are not its own.*"));
}

// Whoever is killed has a name, the launcher too.
TEST(Ranks, WhereTheLauncherIsKilledItIsSaid) {
  Process process(ranks({"sleep", "2", "7", "a-launcher-to-be-killed"}),
                  {.start = 60, .compile = 60, .run = 60});
  expect<Outcome>(process.run(all(), operands()));
  const pid_t launcher = running("a-launcher-to-be-killed").front();
  ::kill(launcher, SIGKILL);
  const Crashed crashed = expect<Crashed>(process.run(all(), operands()));
  EXPECT_EQ(crashed.what, "plumb-launch was killed by signal 9 (Killed)");
  expect<Outcome>(process.run(all(), operands()));
}

TEST(Ranks, AFolderThatIsNotThereIsBadInput) {
  for (const char* name : {"TMPDIR", "PLUMB_SHARED"}) {
    const Variable variable(name, "/nowhere");
    Process process(ranks({}));
    try {
      process.run(all(), operands());
      ADD_FAILURE() << name;
    } catch (const BadInput& e) {
      EXPECT_THAT(e.what(), HasSubstr(std::string(name) + "=/nowhere: No such file or directory"));
    }
  }
}

TEST(Ranks, WhatCannotBeStartedIsBadInput) {
  const struct {
    Faults argv;
    const char* says;
  } rows[] = {
      {{"--ranks", "none"},                                                                              "ranks: plumb-launch: --ranks: expected a number from 1 to 65536, not 'none'.*"},
      {{"--ranks", "4", "--", "./nothing"},                                                              "ranks: plumb-launch: no program './nothing'.*"                                },
      {{"--ranks", "4", "--", PLUMB_RANK, "unusable", "0"},
       "ranks: rank: no fault 'unusable'\nplumb-launch: rank [0-3] exited with code 2: it cannot use what it "
       "was given"                                                                                                                                                                      },
      {{"--ranks", "4", "--launcher", "env PLUMB_WORLD=4 {program}", "--", PLUMB_RANK, "unusable", "0"},
       "ranks: rank: no fault 'unusable'\nplumb-launch: env exited with code 2: it cannot use what it was "
       "given"                                                                                                                                                                          },
      {{"--ranks", "4", "--launcher", "mpirum {program}", "--", PLUMB_RANK},
       "ranks: plumb-launch: no program 'mpirum'.*"                                                                                                                                     },
      {{"--ranks", "4", "--interface", "ib77", "--", PLUMB_RANK},
       "ranks: plumb-launch: --interface ib77: .*"                                                                                                                                      },
  };
  for (const auto& [argv, says] : rows) {
    Command command{"ranks", {PLUMB_LAUNCH}, {}, 0};
    command.argv.insert(command.argv.end(), argv.begin(), argv.end());
    Process process(command);
    try {
      process.run(all(), operands());
      ADD_FAILURE() << says;
    } catch (const BadInput& e) {
      EXPECT_THAT(e.what(), MatchesRegex(says));
    }
  }
}

}  // namespace
}  // namespace plumb
