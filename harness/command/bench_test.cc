// What plumb bench says of clocks that are planted, and of what goes wrong under them. No time is measured
// here.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Bench, AnIterationTakesAsLongAsItsSlowestRankWhoIsNamed) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 100000,200000 lag 3000") + line + " --record r.jsonl");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 (100 %)"));
  const auto all = lines_of(folder.path / "r.jsonl");
  ASSERT_EQ(all.size(), 5U);
  for (const json& record : all) {
    const json& bench = record["bench"];
    EXPECT_EQ(record["status"], "pass");
    EXPECT_EQ(bench["nanoseconds"][0], 200000);
    EXPECT_EQ(bench["skew"][0], 3000);
    EXPECT_EQ(bench["slowest"][0], 1);
    EXPECT_EQ(bench["stop"], "interval");
  }
}

TEST(Bench, RecordsSayWhichRunTheyAreOf) {
  const Folder folder;
  run_tool(folder, fake("took 1000,1000") + line + " --iterations 8 --repetitions 2 --record r.jsonl");
  std::ifstream in(folder.path / "r.jsonl");
  std::vector<json> all;
  for (std::string one; std::getline(in, one);) all.push_back(parse_json(one));
  ASSERT_EQ(all.size(), 4U);
  for (const json& one : all) EXPECT_EQ(one["run"], all[0]["run"]);
  EXPECT_EQ(all[0]["cases"], 1);
  EXPECT_EQ(all[3]["unrun"], 0);
}

TEST(Bench, BusBandwidthIsHeldToTheLimitOfTheSameRun) {
  const Folder folder;
  // 32 bytes in 1024 ns and a factor of 1/2; the limit is 32 bytes in 1024 ns.
  const std::string timed = fake("took 1000,1024 sends 1024") + line;
  EXPECT_EQ(run_tool(folder, timed + " --require 'busbw>=0.45*limit'").code, 0);
  const Ran ran = run_tool(folder, timed + " --require 'busbw>=0.8*limit'");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("required is busbw>=0.8*limit; rank 1 was the slowest"));
}

// Each iteration takes 1 ns, and no clock is read as quickly.
TEST(Bench, WhatIsBelowOneStepOfTheClockMeetsNoDemand) {
  const Folder folder;
  for (const char* required : {"busbw>=1", "busbw>=1000", "median<=20"}) {
    const Ran ran = run_tool(folder, fake("took 1,1") + line + " --iterations 3 --require '" + required + "'");
    EXPECT_EQ(ran.code, 1) << required;
    EXPECT_THAT(ran.out, HasSubstr("\nUNSURE  ")) << required;
    EXPECT_THAT(ran.out, testing::ContainsRegex(std::string("is below one step of the clock, [^;]*; --batch K makes one iteration of K runs: required is "))) << required;
  }
}

// 32 bytes in 1024 ns and a factor of 1/2: of 32 sent in 400 ns nearly a fifth, of 32 sent in 2000 ns nearly
// all.
TEST(Bench, TheLimitIsTimedAsTheCaseIsAndPrinted) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1024 sends 400") + line + " --iterations 5");
  EXPECT_THAT(ran.out, HasSubstr("send 0.08 GB/s  19 % (19..19)"));
  const Ran beaten = run_tool(folder, fake("took 1000,1024 sends 3000") + line + " --iterations 5");
  EXPECT_THAT(beaten.out, HasSubstr("send 0.0106 GB/s  UNSURE (146..146)"));
}

TEST(Bench, TheControlIsTheLimitInTurnsAsLongAsAnIteration) {
  const Folder folder;
  // A turn is of four, of which one begins each millisecond and takes 1024 ns or some more.
  run_tool(folder,
           fake("took 4000,4096 sends 1024") + line + " --iterations 3 --repetitions 2 --record r.jsonl");
  const auto all = lines_of(folder.path / "r.jsonl");
  ASSERT_EQ(all.size(), 2U);
  for (const json& record : all)
    EXPECT_EQ(record["bench"]["control"], json::parse("[750257.5,750257,750256.5]"));
  run_tool(folder, fake("took 4000,4096") + line + " --iterations 3 --record without.jsonl");
  for (const json& record : lines_of(folder.path / "without.jsonl"))
    EXPECT_FALSE(record["bench"].contains("control")) << "it knows no limit";
}

// What it was asked before stays, and nothing is asked of a program that is gone.
TEST(Bench, WhoEndsBesideTheClockHasItsTimesAndNoControl) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 4000,4096 sends 1024 ends-in call") + line +
                                       " --iterations 3 --repetitions 2 --record r.jsonl");
  EXPECT_EQ(ran.code, 1) << ran.err;
  const auto all = lines_of(folder.path / "r.jsonl");
  ASSERT_EQ(all.size(), 2U);
  for (const json& record : all) {
    EXPECT_EQ(record["bench"]["nanoseconds"].size(), 3U);
    EXPECT_TRUE(record["bench"]["limits"].contains("send"));
    EXPECT_FALSE(record["bench"].contains("control"));
    EXPECT_THAT(record["bench"]["lost"].get<std::string>(), HasSubstr("call: crashed: exited with code 3"));
  }
  EXPECT_THAT(ran.out, HasSubstr("\nfailed  "));
  EXPECT_THAT(ran.out, HasSubstr("of repetition 1 not all limits are known: call: crashed: exited with code 3"));
  EXPECT_EQ(run_tool(folder, fake("took 4000,4096") + line + " --iterations 3 --repetitions 2").code, 0)
      << "who cannot say has not failed";
}

TEST(Bench, WhatIsWrongUnderTheClockHasNoTime) {
  const Folder folder;
  for (const char* spoiled : {"first", "last"}) {
    const Ran ran =
        run_tool(folder, fake(std::string("took 1000,1000 spoil ") + spoiled) + line + " --record w.jsonl");
    EXPECT_EQ(ran.code, 1) << spoiled;
    EXPECT_THAT(ran.out, HasSubstr("not timed  ")) << spoiled;
    EXPECT_THAT(ran.out, HasSubstr("wrong: ")) << spoiled;
    EXPECT_FALSE(lines_of(folder.path / "w.jsonl").back().contains("bench")) << spoiled;
  }
  const Ran ran = run_tool(folder, fake("took 1000,1000 spoil first") + line + " --clock");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("not timed  ")) << "as gpu-check reads it";
}

// A record whose second repetition was wrong.
TEST(Bench, WhatWasWrongInOneRepetitionHasNoTimeOfAnyAndIsAskedNoMore) {
  const Folder folder;
  const std::string honest = "took 1000,1000", flags = " --repetitions 2 --iterations 5 --record ";
  run_tool(folder, fake(honest) + line + flags + "r.jsonl");
  run_tool(folder, fake(honest + " spoil first") + line + flags + "w.jsonl");
  json wrong = lines_of(folder.path / "w.jsonl").back();
  wrong["backend"] = lines_of(folder.path / "r.jsonl").back()["backend"];
  const std::string timed = contents(folder.path / "r.jsonl");
  const std::size_t second = timed.find('\n', timed.find('\n') + 1) + 1;
  write(folder.path / "r.jsonl", timed.substr(0, second) + wrong.dump() + "\n");
  const Ran ran = run_tool(folder, fake(honest) + line + flags + "r.jsonl --resume");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("not timed  "));
  EXPECT_THAT(ran.out, HasSubstr("wrong: "));
  EXPECT_THAT(ran.out, Not(HasSubstr("median")));
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), 2U);
}

TEST(Bench, LateIterationsAreDroppedAndClocksApartHaveNoSkew) {
  const Folder folder;
  run_tool(folder,
           fake("took 1000,1000 late 1 apart 1") + line + " --sync window --iterations 8 --repetitions 1 --record r.jsonl");
  const json bench = lines_of(folder.path / "r.jsonl").at(0)["bench"];
  EXPECT_EQ(bench["nanoseconds"].size(), 7U);
  EXPECT_EQ(bench["late"], 1);
  EXPECT_FALSE(bench.contains("skew"));
}

// Whoever agreed on no time cannot come too late to it: what it says of few iterations would be what it likes to say.
TEST(Bench, WhoLeavesIterationsOutWhereNoTimeWasAgreedIsMalformed) {
  const Folder folder;
  for (const char* sync : {"barrier", "none"}) {
    const Ran ran = run_tool(folder, fake("took 1000,1000 withholds 1") + line + " --iterations 8 --repetitions 1 --sync " + sync);
    EXPECT_EQ(ran.code, 1) << sync;
    EXPECT_THAT(ran.out, HasSubstr("malformed: the reply: an iteration says -1, as of who comes late to an agreed time, and none was agreed")) << sync;
  }
}

// The ranks had not their cores while its first repetition was timed: the others are timed, and it is said.
TEST(Bench, ARepetitionThatWasLateThroughoutIsCountedAndTheCaseGoesOn) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 late -1 once " + (folder.path / "once").string()) + line +
                            " --sync window --record r.jsonl";
  const Ran ran = run_tool(folder, timed);
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("late  "));
  EXPECT_THAT(ran.out, HasSubstr("    1 of 5 repetitions has no times: every iteration was begun late\n"));
  const auto all = lines_of(folder.path / "r.jsonl");
  ASSERT_EQ(all.size(), 5U);
  EXPECT_TRUE(all[0]["bench"]["nanoseconds"].empty());
  EXPECT_GT(all[0]["bench"]["late"], 0);
  EXPECT_FALSE(all[0]["bench"].contains("limits")) << "nobody asks what bounds no time";
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(all[i]["bench"]["nanoseconds"].empty()) << i;
  EXPECT_EQ(run_tool(folder, timed + " --resume").code, 0);
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), 6U) << "what has no times is timed once more";
  std::filesystem::remove(folder.path / "once");
  EXPECT_EQ(run_tool(folder, timed + " --benchmark_format json").code, 0);
}

// A sum in place spoils its operand: each run of a batch but the first begins with what the one before left.
TEST(Bench, ABatchOfAnySizeIsRightWhateverARunDoesToItsOperands) {
  const Folder folder;
  for (const char* one : {"reshard f32[1024]+x -> f32[1024]", "reshard f32[1024]+x -> f32[1024@x]",
                          "reshard f32[1024@x] -> f32[1024]"})
    for (const char* plan : {"local,plan=direct", "local,plan=calls", "local,plan=ring"})
      for (int batch : {1, 2, 7}) {
        const Ran ran =
            run_tool(folder, fmt::format("bench --backend {} 'on x=2: {}' --batch {} --iterations 2 "
                                         "--repetitions 2 --record r.jsonl",
                                         plan, one, batch));
        EXPECT_EQ(ran.code, 0) << plan << " " << one << " " << batch << "\n" << ran.out;
        EXPECT_EQ(lines_of(folder.path / "r.jsonl").back()["bench"]["batch"], batch);
      }
}

struct Failing {
  const char *faults, *says;
};
TEST(Bench, WhatGoesWrongIsALineAndExitCode1) {
  const Folder folder;
  const Failing rows[] = {
      {"took 1000,1000 backwards 1",      "malformed: the reply: the clock of rank 0"},
      {"took 1000,1000 die 9",            "crashed: killed by signal 9 (Killed) (in compile or run)"},
      {"took 1000,1000 hurries 1000",     "malformed: the reply: the clock of rank 0: from the first entry to the last leaving "},
      {"took 1000,1000 print alas die 9", "    its last words:\n    alas\n"          },
      {"took 1000,1000 spin 1",           "hung: no reply within"                    },
      {"took 1000,1000 clockless 1",      "malformed: the reply: field \"clock\""    },
      {"lazy 0",                          "unsupported: it times nothing"            },
      {"took 0,0",                        "an iteration took no time by its clock"   },
  };
  for (const auto& [faults, says] : rows) {
    const Ran ran = run_tool(folder, fake(faults) + line + " --timeout 2");
    EXPECT_EQ(ran.code, 1) << faults;
    EXPECT_THAT(ran.out, HasSubstr(says)) << faults;
  }
}

TEST(Bench, TwoRecordsAreComparedByTheirRepetitions) {
  const Folder folder;
  run_tool(folder, fake("took 1000,1000") + line + " --record before.jsonl");
  const std::pair<const char*, const char*> rows[] = {
      {"took 1000,1000", "SAME"  },
      {"took 1000,9000", "SLOWER"}, // more than a load that changes meanwhile explains
      {"took 100,100",   "FASTER"}
  };
  for (const auto& [faults, says] : rows) {
    // The backend of a record is its command: the record of before is made to be of this one.
    std::string text = contents(folder.path / "before.jsonl");
    for (std::size_t at; (at = text.find("took 1000,1000 ")) != text.npos;) text.erase(at, 1);
    for (std::size_t at = 0; (at = text.find("took 1000,1000", at)) != text.npos; at += 5)
      text.replace(at, std::string("took 1000,1000").size(), faults);
    write(folder.path / "then.jsonl", text);
    const Ran ran = run_tool(folder, fake(faults) + line + " --against then.jsonl");
    EXPECT_THAT(ran.out, HasSubstr(says)) << faults;
  }
  EXPECT_THAT(run_tool(folder, fake("took 1000,1000") + line + " --repetitions 2 --against before.jsonl").out,
              HasSubstr("UNSURE"));
}

TEST(Bench, BackendsThatTakeTurnsAreHeldToTheFirst) {
  const Folder folder;
  const std::string first = fake("took 1000,1000"), other = " --backend '" PLUMB_FAKE " took 1120,1120' ",
                    equal = " --backend '" PLUMB_FAKE " took 1000,1000 lag 0' ";
  const Ran ran = run_tool(folder, first + other + equal + line + " --in-turns --repetitions 8");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("SLOWER  [^ ]* took 1120,1120  on x=2: [^:]*: 1.120 .1.120 to 1.120. times as long as by [^ ]* took 1000,1000\n"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("SAME    [^ ]* took 1000,1000 lag 0  on x=2: [^:]*: 1.000 "));
  // Where none is given as many as tell: six of one case, seven of two or three.
  const Ran settled = run_tool(folder, first + other + line + " --in-turns --record r.jsonl");
  EXPECT_EQ(settled.code, 0) << settled.err;
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), 12U);
  EXPECT_THAT(settled.out, HasSubstr("SLOWER  "));
  const std::string two = first + other + line + " 'on x=2: reshard f32[8@x] -> f32[8] seed=1'";
  const Ran seven = run_tool(folder, two + " --in-turns --record two.jsonl");
  EXPECT_EQ(lines_of(folder.path / "two.jsonl").size(), 28U) << seven.err;
  EXPECT_THAT(seven.out, Not(HasSubstr("UNSURE  ")));
  for (const char* dry : {"", " --dry-run"}) {
    const Ran none = run_tool(folder, first + other + line + " --in-turns --repetitions 5" + dry);
    EXPECT_EQ(none.code, 2) << dry;
    EXPECT_EQ(none.err, "plumb: --in-turns: of 5 --repetitions all is UNSURE, however far apart: 6 at least\n") << dry;
    const Ran few = run_tool(folder, two + " --in-turns --repetitions 6" + dry);
    EXPECT_EQ(few.code, 0) << dry;
    EXPECT_THAT(few.err, HasSubstr("plumb: --in-turns: 6 --repetitions tell none of 2 cases FASTER or SLOWER, however far apart: 7 do\n")) << dry;
  }
  EXPECT_THAT(run_tool(folder, first + line + " --in-turns").err, HasSubstr("--in-turns compares backends of one run: a second --backend"));
  EXPECT_THAT(run_tool(folder, first + " --backend '" PLUMB_FAKE " took 1000,1000' " + line + " --in-turns").err, HasSubstr("--in-turns compares backends of one run, and these are one: "));
}

TEST(Bench, CasesThatWereNotTimedThenAreNamed) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000"), other = " 'on x=2: reshard f32[8@x] -> f32[8] seed=7'";
  run_tool(folder, timed + line + " --record then.jsonl");
  EXPECT_THAT(run_tool(folder, timed + line + " --against then.jsonl").err, Not(HasSubstr("no times")));
  const Ran ran = run_tool(folder, timed + line + other + " --against then.jsonl");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("plumb: then.jsonl has no times of 1 of 2 cases, the first "));
  EXPECT_THAT(ran.err, HasSubstr("  on x=2: reshard f32[8@x] -> f32[8] seed=7\n"));
  EXPECT_THAT(ran.out, HasSubstr("SAME"));
}

TEST(Bench, WhenEachRankCameAndLeftIsRecordedOnRequest) {
  const Folder folder;
  const std::string timed = fake("took 100000,200000 lag 3000") + line + " --iterations 4 --repetitions 1";
  run_tool(folder, timed + " --record plain.jsonl");
  EXPECT_FALSE(lines_of(folder.path / "plain.jsonl").at(0)["bench"].contains("ranks"));
  run_tool(folder, timed + " --each-rank --record r.jsonl");
  const json bench = lines_of(folder.path / "r.jsonl").at(0)["bench"], ranks = bench["ranks"];
  ASSERT_EQ(ranks.size(), 2U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(ranks[1]["enter"][i].get<int64_t>() - ranks[0]["enter"][i].get<int64_t>(), 3000);
    EXPECT_EQ(ranks[1]["leave"][i].get<int64_t>() - ranks[1]["enter"][i].get<int64_t>(),
              bench["nanoseconds"][i]);
  }
  EXPECT_EQ(run_tool(folder, timed + " --each-rank --record r.jsonl --resume").code, 0) << "it can be read";
}

TEST(Bench, WhenEachCollectiveWasIsAskedOfWhomeverCanSay) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 collectives 400") + line + " --iterations 4 --repetitions 1";
  run_tool(folder, timed + " --record plain.jsonl");
  EXPECT_FALSE(lines_of(folder.path / "plain.jsonl").at(0)["bench"].contains("collectives"));
  run_tool(folder, timed + " --each-rank --record r.jsonl");
  const json record = lines_of(folder.path / "r.jsonl").at(0), said = record["bench"]["collectives"];
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[1]["enter"].size(), 2 + record["trace"].size());
  EXPECT_EQ(said[1]["leave"][1].get<int64_t>() - said[1]["enter"][1].get<int64_t>(), 400);
  EXPECT_EQ(record["bench"]["nanoseconds"].size(), 4U) << "it is no sample";
}

TEST(Bench, ARunThatIsResumedTimesWhatIsMissing) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + line + " --record r.jsonl";
  run_tool(folder, timed);
  const std::string whole = contents(folder.path / "r.jsonl");
  write(folder.path / "r.jsonl", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(run_tool(folder, timed + " --resume").code, 0);
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), 5U);
}

TEST(Bench, GoogleBenchmarkSaysIfAsked) {
  const Folder folder;
  const Ran ran =
      run_tool(folder, fake("took 1000,1000") + line + " --benchmark_format json --repetitions 2");
  const json said = parse_json(ran.out);
  ASSERT_TRUE(said.is_object()) << ran.out;
  EXPECT_EQ(said["context"]["executable"], "plumb");
  EXPECT_THAT(said["benchmarks"][0]["name"].get<std::string>(), HasSubstr("reshard f32[8@x] -> f32[8]"));
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000") + line + " --benchmark_filter einsum").code, 2);
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000") + line + " --benchmark_out b.json --repetitions 2").code,
            0);
  EXPECT_EQ(parse_json(contents(folder.path / "b.json"))["benchmarks"][0]["name"],
            said["benchmarks"][0]["name"]);
  const Ran full = run_tool(folder, fake("took 1000,1000") + line + " --benchmark_out /dev/full");
  EXPECT_EQ(full.code, 3);
  EXPECT_EQ(full.err, "plumb: /dev/full: No space left on device\n");
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000 spoil last") + line + " --benchmark_format json").code, 1);
}

TEST(Bench, WhatIsKnownOfTimesIsSaidBesideGoogleBenchmarksTable) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 cores 3") + line;
  run_tool(folder, timed + " --record then.jsonl");
  const Ran ran = run_tool(folder, timed + " --against then.jsonl --benchmark_format json");
  EXPECT_TRUE(parse_json(ran.out).is_object()) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("SAME    "));
  EXPECT_THAT(ran.err, HasSubstr("2 ranks share 1 core: its times are also those of waiting for a core"));
}

// One repetition is recorded, and the second is the first that is interrupted.
TEST(Bench, CtrlCKeepsWhatWasTimedAndSaysHowToGoOn) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 sleep 0.5") + line + " --record r.jsonl";
  const pid_t child = started(folder, timed + " --repetitions 50");
  for (int i = 0; i < 1200 && lines_of(folder.path / "r.jsonl").empty(); ++i) ::usleep(50'000);
  ::kill(child, SIGINT);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << contents(folder.path / "err");
  EXPECT_THAT(contents(folder.path / "err"),
              HasSubstr("interrupted; r.jsonl has what was timed: the same command with --resume goes on"));
  EXPECT_THAT(contents(folder.path / "out"), HasSubstr("reshard f32[8@x]")) << "the table of what was timed";
  const std::size_t before = lines_of(folder.path / "r.jsonl").size();
  EXPECT_GE(before, 1U);
  const std::string more = fmt::format(" --resume --repetitions {}", before + 1);
  const Ran other = run_tool(folder, timed + more);
  EXPECT_EQ(other.code, 2) << "of another number each has another part of the budget";
  const std::size_t begin = other.err.find("--budget ");
  ASSERT_NE(begin, other.err.npos) << other.err;
  const Ran again =
      run_tool(folder, timed + more + " " + other.err.substr(begin, other.err.find('\n') - begin));
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), before + 1);
}

TEST(Bench, AFullDiskIsSaid) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000") + line + " --record /dev/full");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("/dev/full: No space left on device"));
}

}  // namespace
}  // namespace plumb
