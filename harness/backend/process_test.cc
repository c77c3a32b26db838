#include "harness/backend/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/backend/child.h"
#include "harness/backend/interrupt.h"
#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/fake.h"

namespace plumb {
namespace {

using testing::StartsWith;

TEST(Process, AnOutcomeComesBackWithItsBytes) {
  Process process(fake({}));
  for (float first : {0.f, 100.f, 200.f}) {
    const Outcome o = expect<Outcome>(process.run(gather(), operands(first)));
    ASSERT_EQ(o.blocks.size(), 2U);
    for (const Block& b : o.blocks) EXPECT_EQ(process.read(b), operands(first)[0].bytes);
    EXPECT_EQ(o.claims[0], "f32[8]");
    EXPECT_EQ(o.trace.at(0).moved, 32);
    EXPECT_EQ(o.received, 32);
    EXPECT_EQ(o.compile_seconds, 0.5);
    EXPECT_EQ(o.run_seconds, std::vector<double>{0.25});
  }
  EXPECT_EQ(process.hello()->name, "fake");
}

TEST(Process, AProgramThatDiesIsCrashedAndTheNextCaseHasANewOne) {
  const struct {
    Faults faults;
    const char* what;
  } rows[] = {
      {{"die", "11"},  "killed by signal 11 (Segmentation fault)"},
      {{"die", "6"},   "killed by signal 6 (Aborted)"            },
      {{"exit", "3"},  "exited with code 3"                      },
      {{"exit", "0"},  "exited with code 0"                      },
      {{"close", "1"}, "closed its channel"                      },
  };
  for (auto row : rows) {
    row.faults.insert(row.faults.end(), {"on", "7", "print", "oh no"});
    Process process(fake(row.faults));
    expect<Outcome>(process.run(gather(), operands()));
    const Crashed crashed = expect<Crashed>(process.run(gather(" seed=7"), operands()));
    EXPECT_EQ(crashed.what, row.what);
    EXPECT_EQ(crashed.phase, "compile");
    EXPECT_EQ(crashed.last_words, "oh no");
    expect<Outcome>(process.run(gather(), operands()));
  }
}

TEST(Process, AProgramMayOutliveTheCrashOfACase) {
  Process process(fake({"on", "7", "print", "oh no", "before", R"({"type":"phase","id":2,"phase":"run"})",
                        "say", R"-({"type":"crashed","id":2,"message":"killed by signal 6 (Aborted)"})-"}));
  const Outcome before = expect<Outcome>(process.run(gather(), operands()));
  const Crashed crashed = expect<Crashed>(process.run(gather(" seed=7"), operands()));
  EXPECT_EQ(crashed.what, "killed by signal 6 (Aborted)");
  EXPECT_EQ(crashed.phase, "run");
  EXPECT_EQ(crashed.last_words, "oh no");
  const Outcome after = expect<Outcome>(process.run(gather(), operands()));
  EXPECT_EQ(after.notes[0], before.notes[0]) << "another process";
}

TEST(Process, AProgramMaySayOfWhatItHangs) {
  Process process(fake({"on", "7", "print", "oh no", "before", R"({"type":"phase","id":2,"phase":"run"})",
                        "say", R"-({"type":"hung","id":2,"message":"rank 2 sleeps","ranks":[2]})-"}));
  const Outcome before = expect<Outcome>(process.run(gather(), operands()));
  const Hung hung = expect<Hung>(process.run(gather(" seed=7"), operands()));
  EXPECT_EQ(hung.what, "rank 2 sleeps");
  EXPECT_THAT(hung.ranks, testing::ElementsAre(2));
  EXPECT_EQ(hung.phase, "run");
  EXPECT_EQ(hung.last_words, "oh no");
  EXPECT_THAT(hung.processes, testing::ElementsAre(testing::HasSubstr("plumb-fake"))) << "as it says none";
  const Outcome after = expect<Outcome>(process.run(gather(), operands()));
  EXPECT_EQ(after.notes[0], before.notes[0]) << "another process";
}

// What is left of the deadline comes with the request.
TEST(Process, ARequestSaysHowManySecondsThereAre) {
  const std::string path = testing::TempDir() + "seconds." + std::to_string(::getpid());
  ::setenv("PLUMB_TRANSCRIPT", path.c_str(), 1);
  {
    Process process(fake({}), {.start = 31, .compile = 17, .run = 60});
    expect<Outcome>(process.run(gather(), operands()));
  }
  ::unsetenv("PLUMB_TRANSCRIPT");
  std::ifstream file(path);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  EXPECT_THAT(all, testing::HasSubstr(R"("mesh":{"axes":[["x",2]]},"seconds":31})"));
  EXPECT_THAT(all, testing::HasSubstr(R"("seconds":17,)"));
}

TEST(Process, AProgramThatDiesBetweenCasesIsStartedAgain) {
  Process process(fake({}));
  const Outcome o = expect<Outcome>(process.run(gather(), operands()));
  ::kill(std::stoi(o.notes[0]), SIGKILL);
  ASSERT_TRUE(soon([&] { return !alive(std::stoi(o.notes[0])); }));
  EXPECT_EQ(expect<Crashed>(process.run(gather(), operands())).what, "killed by signal 9 (Killed)");
  expect<Outcome>(process.run(gather(), operands()));
}

// Asked whether it takes a case, which it would the next time, it says why not once: to whoever asks then.
TEST(Process, WhatAStartThatFailedSaysIsNotLost) {
  const std::string mark = testing::TempDir() + "started." + std::to_string(::getpid());
  Command once = fake({});
  once.argv = {"/bin/sh", "-c", "mkdir " + mark + " 2>/dev/null && exit 3; exec " + once.argv[0]};
  for (const bool asked : {false, true}) {
    Process process(once);
    if (asked) {
      EXPECT_FALSE(process.takes(gather()));
      EXPECT_FALSE(process.takes(gather()));
    }
    EXPECT_EQ(expect<Crashed>(process.run(gather(), operands())).phase, "start");
    EXPECT_TRUE(process.takes(gather()));
    expect<Outcome>(process.run(gather(), operands()));
    std::filesystem::remove(mark);
  }
}

TEST(Process, ADeadlineIsKeptByPhase) {
  const Deadlines short_run{.start = 60, .compile = 60, .run = 0.2}, short_compile{60, 0.2, 60},
      short_start{0.2, 60, 60};
  const std::string running = R"({"type":"phase","id":1,"phase":"run"})";
  const struct {
    Faults faults;
    Deadlines deadlines;
    const char* phase;
  } rows[] = {
      {{"nap", "60"},                                          short_start,   "start"  },
      {{"sleep", "60", "print", "compiling"},                  short_compile, "compile"},
      {{"sleep", "60", "print", "running", "before", running}, short_run,     "run"    },
  };
  for (const auto& row : rows) {
    Process process(fake(row.faults), row.deadlines);
    const Hung hung = expect<Hung>(process.run(gather(), operands()));
    EXPECT_EQ(hung.phase, row.phase);
    EXPECT_GE(hung.seconds, 0.2);
    EXPECT_LT(hung.seconds, 30);
    if (hung.phase == "run") {  // printed before the phase was said
      EXPECT_EQ(hung.last_words, "running");
    }
  }
}

TEST(Process, AMessageThatItIsAliveStartsThePhaseAnewButNotForEver) {
  const Deadlines deadlines{60, 1, 60};
  Process busy(fake({"alive", "7"}), deadlines);  // 1.4 seconds
  expect<Outcome>(busy.run(gather(), operands()));
  Process stuck(fake({"alive", "600"}), deadlines);
  EXPECT_LT(expect<Hung>(stuck.run(gather(), operands())).seconds, 30);
}

TEST(Process, AWaitIsSaidAfterFiveSeconds) {
  std::vector<std::string> said;
  Process process(fake({"alive", "12", "sleep", "3"}), {}, [&](const std::string& phase, double seconds, double most) {
    said.push_back(phase);
    EXPECT_GE(seconds, 5);
    EXPECT_LT(seconds, 10);
    EXPECT_GT(most, 121) << "its words that it is alive moved the deadline";
  });
  expect<Outcome>(process.run(gather(), operands()));  // after 5.4 seconds
  EXPECT_THAT(said, testing::ElementsAre("compile"));
}

TEST(Process, AFloodOfMessagesThatChangeNothingMovesNoDeadline) {
  for (const char* text : {"{\"type\":\"alive\",\"id\":0}\n", "x"}) {
    Process process(fake({"flood", text}), {.start = 60, .compile = 0.2, .run = 60});
    EXPECT_LT(expect<Hung>(process.run(gather(), operands())).seconds, 4) << text;
  }
}

TEST(Process, OneProcessServesOneMeshSizeWhereItSaysSo) {
  const auto pids = [](Faults faults) {
    faults.insert(faults.end(), {"reply", R"([{"op":"remove","path":"/received"},
                                              {"op":"remove","path":"/trace/0/moved"}])"});
    Process process(fake(faults));
    std::vector<std::string> out;
    for (int devices : {2, 4, 4, 2}) {
      const auto answer = process.run(gather("", devices), operands());
      out.push_back(expect<Outcome>(answer).notes.at(0));
    }
    return out;
  };
  const auto any = pids({"hello", R"([{"op":"remove","path":"/devices"}])"});
  EXPECT_THAT(any, testing::Each(any[0]));
  const auto fixed = pids(
      {"hello",
       R"([{"op":"add","path":"/capabilities/mesh_fixed","value":true},{"op":"remove","path":"/devices"}])"});
  EXPECT_NE(fixed[0], fixed[1]);
  EXPECT_EQ(fixed[1], fixed[2]);
  EXPECT_NE(fixed[2], fixed[3]);
}

TEST(Process, AProgramThatDoesNotStartIsGivenUpAfterThreeTimes) {
  Process process({
      "none", {PLUMB_FAKE, "nap", "0", "hello", "broken"},
       { }
  });
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(expect<Crashed>(process.run(gather(), operands())).what, StartsWith("killed by signal 6"));
  EXPECT_THAT(expect<Crashed>(process.run(gather(), operands())).what,
              StartsWith("did not start 3 times in a row: killed by signal 6"));
  Process missing({"none", {"/no/such/program"}, {}});
  EXPECT_EQ(expect<Crashed>(missing.run(gather(), operands())).last_words, "the program cannot be executed");
  const std::string script = testing::TempDir() + "script." + std::to_string(::getpid());
  std::ofstream(script) << "print()\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  Process without_interpreter({"none", {script}, {}});
  EXPECT_THAT(expect<Crashed>(without_interpreter.run(gather(), operands())).last_words,
              testing::HasSubstr("a script begins with #!"));
  std::filesystem::remove(script);
}

TEST(Process, AReplyMayBeLongButNotTooLong) {
  Process process(fake({"long", std::to_string(64 << 20), "on", "1"}));
  EXPECT_GT(expect<Outcome>(process.run(gather(" seed=1"), operands())).notes[0].size(), 64U << 20);
  Process endless(fake({"long", std::to_string(longest_message)}));
  EXPECT_EQ(expect<OffPage>(endless.run(gather(), operands())).what, "the reply is longer than 256 MiB");
}

TEST(Process, LastWordsAreTheLastLinesAndUtf8) {
  std::string text = "\xff";
  for (int i = 0; i < 2000; ++i) text += "\nline " + std::to_string(i);
  Process process(fake({"print", text + " \xfe", "exit", "1"}));
  const std::string words = expect<Crashed>(process.run(gather(), operands())).last_words;
  EXPECT_THAT(words, testing::EndsWith("line 1998\nline 1999 \xef\xbf\xbd"));
  EXPECT_THAT(words, StartsWith("line "));
  EXPECT_LE(words.size(), 4100U);
}

// It is the user who named them, and no verdict on the backend; once it has started it is.
TEST(Process, AProgramThatCannotUseItsOptionsSaysSo) {
  const auto complaint = [](const char* script) -> std::string {
    Process process({
        "sh", {"/bin/sh", "-c", script},
         {{"plan", "none"}  }
    });
    try {
      process.run(gather(), operands());
    } catch (const BadInput& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint("echo no plan none >&2; exit 2"), "sh: no plan none");
  EXPECT_EQ(complaint("exit 2"), "sh: it exited with code 2, before hello and without a word");
  Process started(fake({"exit", "2"}));
  EXPECT_EQ(expect<Crashed>(started.run(gather(), operands())).what, "exited with code 2");
}

TEST(Process, OptionsReachTheProgram) {
  Command command{
      "sh", {"/bin/sh", "-c",    "echo $PLUMB_OPTIONS"},
       {{"plan", "ring"},         {"fault", "none"}}
  };
  Process process(command);
  EXPECT_EQ(expect<Crashed>(process.run(gather(), operands())).last_words,
            R"({"fault":"none","plan":"ring"})");
}

TEST(Process, ATranscriptHoldsEveryLine) {
  const std::string path = testing::TempDir() + "transcript." + std::to_string(::getpid());
  ::setenv("PLUMB_TRANSCRIPT", path.c_str(), 1);
  {
    Process process(fake({}));
    expect<Outcome>(process.run(gather(), operands()));
  }
  ::unsetenv("PLUMB_TRANSCRIPT");
  std::ifstream file(path);
  std::vector<std::string> starts;
  for (std::string line; std::getline(file, line);) starts.push_back(line.substr(0, line.find(',')));
  std::filesystem::remove(path);
  EXPECT_THAT(starts, testing::ElementsAre(R"(-> {"type":"hello")", StartsWith("<- {"), R"(-> {"type":"run")",
                                           StartsWith("<- {")));
}

}  // namespace
}  // namespace plumb
