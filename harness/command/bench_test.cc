// What plumb bench says of clocks that are planted, and of what goes wrong under them. No time is measured
// here.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "adapters/protocol/json.h"
#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string line = "'on x=2: reshard f32[8@x] -> f32[8]'";

std::string fake(const std::string& faults) { return "bench --backend '" PLUMB_FAKE " " + faults + "' "; }

std::vector<json> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<json> all;
  for (std::string one; std::getline(in, one);) all.push_back(parse_json(one));
  return all;
}

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

TEST(Bench, BusBandwidthIsHeldToTheLimitOfTheSameRun) {
  const Folder folder;
  // 32 bytes in 1024 ns and a factor of 1/2; the limit is 32 bytes in 1024 ns.
  const std::string timed = fake("took 1000,1024 sends 1024") + line;
  EXPECT_EQ(run_tool(folder, timed + " --require 'busbw>=0.45*limit'").code, 0);
  const Ran ran = run_tool(folder, timed + " --require 'busbw>=0.8*limit'");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("required is busbw>=0.8*limit; rank 1 was the slowest"));
}

TEST(Bench, WhatIsWrongUnderTheClockHasNoTime) {
  const Folder folder;
  for (const char* spoiled : {"first", "last"}) {
    const Ran ran =
        run_tool(folder, fake(std::string("took 1000,1000 spoil ") + spoiled) + line + " --record w.jsonl");
    EXPECT_EQ(ran.code, 1) << spoiled;
    EXPECT_THAT(ran.out, HasSubstr("not timed")) << spoiled;
    EXPECT_THAT(ran.out, HasSubstr("wrong: ")) << spoiled;
    EXPECT_FALSE(lines_of(folder.path / "w.jsonl").back().contains("bench")) << spoiled;
  }
}

TEST(Bench, LateIterationsAreDroppedAndClocksApartHaveNoSkew) {
  const Folder folder;
  run_tool(folder,
           fake("took 1000,1000 late 1 apart 1") + line + " --iterations 8 --repetitions 1 --record r.jsonl");
  const json bench = lines_of(folder.path / "r.jsonl").at(0)["bench"];
  EXPECT_EQ(bench["nanoseconds"].size(), 7U);
  EXPECT_EQ(bench["late"], 1);
  EXPECT_FALSE(bench.contains("skew"));
}

struct Failing {
  const char *faults, *says;
};
TEST(Bench, WhatGoesWrongIsALineAndExitCode1) {
  const Folder folder;
  const Failing rows[] = {
      {"took 1000,1000 backwards 1", "malformed: the reply: the clock of rank 0"},
      {"took 1000,1000 die 9",       "crashed: killed by signal 9"              },
      {"took 1000,1000 spin 1",      "hung: no reply within"                    },
      {"took 1000,1000 clockless 1", "malformed: the reply: field \"clock\""    },
      {"lazy 0",                     "unsupported: it times nothing"            },
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
      {"took 1000,1050", "SLOWER"},
      {"took 900,900",   "FASTER"}
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
  EXPECT_THAT(said["benchmarks"][0]["name"].get<std::string>(), HasSubstr("reshard f32[8@x] -> f32[8]"));
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000") + line + " --benchmark_filter einsum").code, 2);
  EXPECT_EQ(run_tool(folder, fake("took 1000,1000 spoil last") + line + " --benchmark_format json").code, 1);
}

TEST(Bench, AFullDiskIsSaid) {
  const Folder folder;
  const Ran ran = run_tool(folder, fake("took 1000,1000") + line + " --record /dev/full");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("/dev/full: No space left on device"));
}

}  // namespace
}  // namespace plumb
