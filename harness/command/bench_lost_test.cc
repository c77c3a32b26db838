// What plumb bench makes of repetitions that are lost: the others go on, and a run that is resumed asks for them again.
// No time is measured here.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::vector<json> timed_in(const Folder& folder) {
  std::vector<json> all = lines_of(folder.path / "r.jsonl");
  std::erase_if(all, [](const json& j) { return !j.contains("bench"); });
  return all;
}

std::vector<std::int64_t> numbers_of(const std::vector<json>& all) {
  std::vector<std::int64_t> numbers;
  for (const json& one : all) numbers.push_back(one["bench"]["repetition"].get<std::int64_t>());
  return numbers;
}

TEST(Bench, ARepetitionThatIsLostIsNamedAndTheOthersAreTimed) {
  const Folder folder;
  const std::string once = (folder.path / "once").string(),
                    timed = fake("took 1000,1000 ends-at 1 once " + once) + line + " --iterations 3 --record r.jsonl";
  const Ran ran = run_tool(folder, timed);
  EXPECT_EQ(ran.code, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("times us"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("\n *12 .* iterations\n")) << "four repetitions of three";
  EXPECT_THAT(ran.out, HasSubstr("\nfailed  "));
  EXPECT_THAT(ran.out, HasSubstr("    1 of 5 repetitions has no times, the first number 1: crashed: exited with code 3"));
  EXPECT_EQ(numbers_of(timed_in(folder)), (std::vector<std::int64_t>{2, 3, 4, 5}));
  const Ran again = run_tool(folder, timed + " --resume");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_THAT(again.out, Not(HasSubstr("failed")));
  EXPECT_EQ(numbers_of(timed_in(folder)), (std::vector<std::int64_t>{2, 3, 4, 5, 1}));
  EXPECT_EQ(run_tool(folder, timed + " --resume").code, 0);
  EXPECT_EQ(timed_in(folder).size(), 5U) << "nothing is timed twice";
  std::filesystem::remove(once);
  const Ran library = run_tool(folder, timed + "2 --benchmark_format json");
  EXPECT_EQ(library.code, 1);
  const json said = parse_json(library.out);
  ASSERT_TRUE(said.is_object()) << library.out;
  std::vector<std::string> none;
  for (const json& one : said["benchmarks"])
    if (one["run_type"] == "iteration") none.push_back(one.value("error_message", ""));
  EXPECT_THAT(none, testing::ElementsAre("", "", "", "", HasSubstr("repetition 1: crashed: exited with code 3"))) << "the others have times";
}

// Of two repetitions in a row it is no chance.
TEST(Bench, WhatIsLostTwiceInARowIsAskedNoMoreAndAgainWhereItIsResumed) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 ends-at 1") + line + " --iterations 3 --record r.jsonl";
  for (std::size_t asked : {2U, 4U}) {
    const Ran ran = run_tool(folder, timed + (asked > 2 ? " --resume" : ""));
    EXPECT_EQ(ran.code, 1) << ran.out;
    EXPECT_THAT(ran.out, testing::StartsWith("not timed  "));
    EXPECT_THAT(ran.out, HasSubstr("crashed: exited with code 3"));
    EXPECT_EQ(lines_of(folder.path / "r.jsonl").size(), asked);
    EXPECT_THAT(contents(folder.path / "r.jsonl"), HasSubstr("\"unrun\":0"));
  }
}

TEST(Bench, LimitsThatWereLostAreAskedForAgainWithTheRepetition) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000 sends 1000 ends-in call once " + (folder.path / "once").string()) + line +
                            " --iterations 3 --repetitions 4 --record r.jsonl";
  const Ran ran = run_tool(folder, timed);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("of repetition 1 not all limits are known: call: crashed"));
  const Ran again = run_tool(folder, timed + " --resume");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(numbers_of(timed_in(folder)), (std::vector<std::int64_t>{1, 2, 3, 4, 1}));
  const Ran held = run_tool(folder, timed + "2 --against r.jsonl");
  EXPECT_THAT(held.out, HasSubstr("1.000 (1.000 to 1.000) times as long")) << "four then, of which each knows its limits";
}

// A limit that took no time by its clock is none, and no success either.
TEST(Bench, LimitsThatTookNoTimeAreFindings) {
  const Folder folder;
  for (const char* batch : {"", " --batch 3"}) {
    const Ran ran = run_tool(folder, fake("took 1000,1000 sends 0") + line + " --iterations 3 --repetitions 2" + batch);
    EXPECT_EQ(ran.code, 1);
    EXPECT_THAT(ran.out, HasSubstr("of repetition 1 not all limits are known: send: it took no time by its clock, which is too coarse"));
    EXPECT_THAT(ran.out, Not(HasSubstr("no limits  ")));
  }
}

// The first of four repetitions of two cases are missing, whichever is drawn first, and what is asked for first does not end: the
// table has the others of both. A program that does not start has nothing to say, and the record has.
TEST(Bench, CtrlCInAResumedRunSaysWhatTheRecordHas) {
  const Folder folder;
  const std::string asked = (folder.path / "asked").string(), starts = (folder.path / "starts").string(),
                    timed = fake("took 1000,1000 while " + asked + " starts-while " + starts) + line +
                            " 'on x=2: reshard f32[8@x] -> f32[8] seed=7' --iterations 3 --repetitions 4 --record r.jsonl";
  ASSERT_EQ(run_tool(folder, timed).code, 0);
  std::string without;
  std::istringstream whole(contents(folder.path / "r.jsonl"));
  for (std::string one; std::getline(whole, one);)
    if (one.find("\"repetition\":1,") == one.npos) without += one + '\n';
  write(folder.path / "r.jsonl", without);
  write(asked, "");
  interrupt_after(1, "bench", folder, timed + " --resume");
  const std::string out = contents(folder.path / "out");
  EXPECT_THAT(out, testing::ContainsRegex("seed=7(\n|  )[^\n]*\n *9 .* iterations\n"));
  EXPECT_THAT(out, testing::ContainsRegex("f32.8.(\n|  )[^\n]*\n *9 .* iterations\n"));
  EXPECT_EQ(timed_in(folder).size(), 6U);
  write(starts, "");
  std::filesystem::remove(folder.path / "transcript");
  interrupt_after(1, "hello", folder, timed + " --resume");
  EXPECT_THAT(contents(folder.path / "err"), HasSubstr("plumb: interrupted; r.jsonl has what was timed: the same command with --resume goes on"));
  std::filesystem::remove(asked), std::filesystem::remove(starts);
  EXPECT_EQ(run_tool(folder, timed + " --resume").code, 0);
  EXPECT_EQ(timed_in(folder).size(), 8U);
}

// Backends that take turns: a launch in which one of them was lost is no pair, and both take it again.
TEST(Bench, TurnsOfWhichOneWasLostAreTakenAgainByAll) {
  const Folder folder;
  const std::string timed = fake("took 1000,1000") + "--backend '" PLUMB_FAKE " took 1120,1120 ends-at 1 once " +
                            (folder.path / "once").string() + "' " + line +
                            " --iterations 3 --repetitions 6 --in-turns --record r.jsonl";
  const Ran ran = run_tool(folder, timed);
  EXPECT_EQ(ran.code, 1) << ran.err;
  EXPECT_EQ(timed_in(folder).size(), 11U);
  EXPECT_THAT(ran.out, HasSubstr("fewer than six launches of both"));
  const Ran again = run_tool(folder, timed + " --resume");
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(timed_in(folder).size(), 13U);
  EXPECT_THAT(again.out, HasSubstr("1.120 (1.120 to 1.120) times as long as by"));
}

}  // namespace
}  // namespace plumb
