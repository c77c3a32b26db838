#include "harness/record/origin.h"

#include <gtest/gtest.h>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"

namespace plumb {
namespace {

Origin whole() {
  return {
      "2026-01-31T02:03:04Z-5f3a09c2",
      "2026-01-31T02:03:04Z",
      {{"suites", {"smoke"}}, {"where", "op=einsum"}, {"budget", "10m"}},
      {"local",    "mpi,np=4"},
      48,
      {{"cpu", "a"}              }
  };
}

TEST(Origin, WrittenAndReadIsTheSame) {
  Origin ended = whole();
  ended.unrun = 3;
  std::vector<Origin> runs;
  ASSERT_TRUE(take_origin(parse_json(first_line(ended)), runs));
  EXPECT_EQ(runs.at(0).unrun, std::nullopt) << "it has not ended yet";
  ASSERT_TRUE(take_origin(parse_json(last_line(ended)), runs));
  ASSERT_EQ(runs.size(), 1u);
  const Origin &one = runs[0], due = whole();
  EXPECT_EQ(one.run, due.run);
  EXPECT_EQ(one.started, due.started);
  EXPECT_EQ(one.selection, due.selection);
  EXPECT_EQ(one.backends, due.backends);
  EXPECT_EQ(one.cases, due.cases);
  EXPECT_EQ(one.environment, due.environment);
  EXPECT_EQ(one.unrun, 3);
}

TEST(Origin, EndsTheRunThatItNames) {
  Origin first = whole(), second = whole();
  second.run = "another", second.unrun = 0;
  std::vector<Origin> runs;
  take_origin(parse_json(first_line(first)), runs), take_origin(parse_json(first_line(second)), runs);
  take_origin(parse_json(last_line(second)), runs);
  EXPECT_EQ(runs.at(0).unrun, std::nullopt);
  EXPECT_EQ(runs.at(1).unrun, 0);
}

TEST(Origin, RefusesWhatSaysTooLittle) {
  std::vector<Origin> runs;
  EXPECT_FALSE(take_origin(parse_json(R"({"case":"on x=2: ..."})"), runs)) << "a record";
  EXPECT_FALSE(take_origin(parse_json("7"), runs));
  for (const char* line : {R"({"started":"now"})", R"({"ended":"now","run":"nobody","unrun":0})",
                           R"({"started":"now","run":"r","selection":[],"backends":[],"cases":0})",
                           R"({"started":"now","run":"r","selection":{},"backends":[1],"cases":0})",
                           R"({"started":"now","run":"r","selection":{},"backends":[],"cases":-1})"})
    EXPECT_THROW(take_origin(parse_json(line), runs), Malformed) << line;
}

TEST(Origin, TwoRunsOfOneMomentHaveOtherNames) { EXPECT_NE(run_drawn("now"), run_drawn("now")); }

}  // namespace
}  // namespace plumb
