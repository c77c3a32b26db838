// What plumb bench asks of a backend: no more than its budget has room for, with time enough for it, and once on other data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "harness/command/testing/timed.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// How many iterations a tool asks of a case and of each limit, request after request.
std::map<std::string, std::vector<std::int64_t>> asked_by(const Folder& folder, const std::string& arguments) {
  ::setenv("PLUMB_TRANSCRIPT", (folder.path / "transcript").c_str(), 1);
  std::filesystem::remove(folder.path / "transcript");
  run_tool(folder, arguments);
  ::unsetenv("PLUMB_TRANSCRIPT");
  std::map<std::string, std::vector<std::int64_t>> all;
  std::ifstream in(folder.path / "transcript");
  for (std::string one; std::getline(in, one);) {
    if (!one.starts_with("-> {")) continue;
    const json request = parse_json(one.substr(3));
    if (request.contains("iterations")) all[request.value("what", "case")].push_back(request["iterations"].get<std::int64_t>());
  }
  return all;
}

std::int64_t sum(const std::vector<std::int64_t>& all) { return std::accumulate(all.begin(), all.end(), std::int64_t{0}); }

// Its clock says a millisecond from one iteration to the next, of which a run takes a microsecond: of one alone nobody sees
// what ranks wait before it. Of the budget of 1 s each limit has half, and the control as much as the case.
TEST(Bench, NoMoreIterationsAreAskedForThanFitTheBudgetByThoseThatWereSeen) {
  const Folder folder;
  const auto all = asked_by(folder, fake("took 1000,1000 sends 1000") + line + " --repetitions 1 --budget 1");
  for (const char* what : {"case", "send"}) {
    std::int64_t seen = 0;
    for (std::int64_t asked : all.at(what)) {
      EXPECT_LE(asked, std::max<std::int64_t>(1, 8 * seen)) << what;
      EXPECT_LE(asked, 1000) << "each a millisecond long: " << what;
      seen += asked;
    }
    EXPECT_GT(seen, 1) << what;
  }
}

// What was asked of the case is no reason to spend more than its part of the budget on a limit of it: fifty iterations of the
// limit, and ten turns of the control.
TEST(Bench, TheBudgetBoundsTheLimitsWhateverIsAskedOfTheCase) {
  const Folder folder;
  for (const char* asked : {" --iterations 500", " --batch 500", " --iterations 500 --batch 500"}) {
    const auto all = asked_by(folder, fake("took 1000,1000 sends 1000") + line + " --repetitions 1 --budget 0.1" + asked);
    EXPECT_LE(sum(all.at("send")), 1 + 50 + 1 + 10) << asked;
    EXPECT_GT(sum(all.at("send")), 2) << asked;
  }
  EXPECT_EQ(asked_by(folder, fake("took 1000,1000 sends 1000") + line + " --repetitions 1 --iterations 3").at("send").front(), 1);
}

// By its clock an iteration takes 5 ms at least, and as long it does.
TEST(Bench, AsManyIterationsAsAreAskedForHaveTimeEnough) {
  const Folder folder;
  const std::string slow = fake("took 1000,1000 sends 1000 each 0.005") + line + " --repetitions 1 --budget 0.01 --timeout 1 ";
  for (const char* asked : {"--iterations 300", "--iterations 2 --warmups 300"}) {
    const Ran ran = run_tool(folder, slow + asked);
    EXPECT_EQ(ran.code, 0) << asked << ran.out;
  }
}

// Every iteration is late, so that no clock says how long it took to ask, which was 50 ms a request.
TEST(Bench, WhatIsLateIsPaidFromTheBudgetToo) {
  const Folder folder;
  const std::string late = fake("took 1000,1000 late -1 sleep 0.05") + line;
  const auto all = asked_by(folder, late + " --sync window --repetitions 1 --budget 0.25");
  EXPECT_LE(sum(all.at("case")), 100);
  const Ran ran = run_tool(folder, late + " --sync window --repetitions 1 --budget 0.25");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("every iteration was begun late"));
}

// More than any clock counts.
TEST(Bench, ABudgetWithoutEndIsNoneOfOneIterationARequest) {
  const Folder folder;
  const auto all = asked_by(folder, fake("took 1000,1000 sends 1000 each 0.0001") + line + " --repetitions 1 --budget 1e30 --batch 3");
  for (const char* what : {"case", "send"}) EXPECT_GT(all.at(what).back(), 1) << what;
}

// As many as were asked for, all of them late, are asked for again while the budget lasts; then the next repetition has
// its turn.
TEST(Bench, AllThatIsLateIsAskedForAgain) {
  const Folder folder;
  const std::string late = fake("took 1000,1000 late -1 sleep 0.02") + line + " --sync window --iterations 3 --repetitions 2";
  const auto all = asked_by(folder, late + " --budget 2");
  EXPECT_GT(sum(all.at("case")), 2 * 3 * 2);
  EXPECT_LE(sum(all.at("case")), 2 * 3 * 50);
}

// Each iteration has the same operands, so that what the call before brought looks right: a run on others is asked for once the
// clock has stopped, of the same program.
TEST(Bench, WhatIsNoPassOnOtherDataAfterTheClockHasNoTime) {
  const Folder folder;
  const std::string seeded = "on x=2: reshard f32[8@x] -> f32[8] seed=0", after = ": run after the clock on other data, seed=1: ";
  const std::pair<const char*, const char*> rows[] = {
      {"stale 1",                "wrong"    },
      {"stale 1 collectives 40", "wrong"    },
      {"on 1 say x",             "malformed"},
      {"on 1 unmoved 1",         "mistrusted"},
  };
  for (const auto& [faults, says] : rows)
    for (const char* asked : {" --repetitions 1 --iterations 1", " --repetitions 2 --iterations 3 --warmups 0"}) {
      std::filesystem::remove(folder.path / "w.jsonl");
      const Ran ran = run_tool(folder, fake(std::string("took 1000,1000 ") + faults) + "'" + seeded + "'" + asked + " --record w.jsonl");
      EXPECT_EQ(ran.code, 1) << faults << asked;
      EXPECT_THAT(ran.out, HasSubstr("not timed  ")) << faults << asked;
      EXPECT_THAT(ran.out, HasSubstr(says + after)) << faults << asked;
      EXPECT_THAT(ran.out, Not(HasSubstr("median"))) << faults << asked;
      const auto all = lines_of(folder.path / "w.jsonl");
      EXPECT_FALSE(all.empty());
      for (const json& record : all) {
        EXPECT_FALSE(record.contains("bench")) << faults << asked;
        EXPECT_EQ(record["case"], seeded) << "it is what was timed that has no times";
      }
    }
  // What is asked in the place of times.
  const std::string linked = fake("took 1000,1000 links 1000 both 1000 stale 1") + "'" + seeded + "'";
  for (const char* asked : {" --clock --iterations 3", " --links 1/1"}) {
    const Ran ran = run_tool(folder, linked + asked);
    EXPECT_EQ(ran.code, 1) << asked;
    EXPECT_THAT(ran.out, HasSubstr("wrong" + after)) << asked;
    EXPECT_EQ(run_tool(folder, fake("took 1000,1000 links 1000 both 1000") + "'" + seeded + "'" + asked).code, 0) << asked;
  }
  std::filesystem::remove(folder.path / "w.jsonl");
  const Ran soaked = run_tool(folder, fake("took 1000,1000 stale 1") + "'" + seeded + "' --soak 1s --record w.jsonl");
  EXPECT_EQ(soaked.code, 1);
  EXPECT_THAT(soaked.out, testing::ContainsRegex("    after iteration [1-9][0-9]*, rank 0: wrong" + after));
  const auto all = lines_of(folder.path / "w.jsonl");
  ASSERT_EQ(all.size(), 1U) << "what was stale has no samples";
  EXPECT_FALSE(all[0].contains("bench"));
  EXPECT_EQ(all[0]["status"], "wrong");
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000 stale 1 on 7") + "'" + seeded + "' --repetitions 2 --iterations 3").code, 0);
}

}  // namespace
}  // namespace plumb
