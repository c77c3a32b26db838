// Faults of real ranks: the verdict that each gets, and its words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/attempt.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Those of adapters/mpi/faults.cc. It must be seen on one of the cases, asked in order of one launch.
struct Row {
  const char *fault, *plan, *verdict, *words;
  std::vector<const char*> cases;
  double seconds = 60;
};

constexpr auto gather = "on x=4: reshard f32[8@x] -> f32[8]";
constexpr auto again = "on x=4: reshard f32[8@x] -> f32[8] seed=7";
constexpr auto scatter = "on x=4: reshard f32[8]+x -> f32[8@x]";
constexpr auto reduce = "on x=4: reshard f32[8]+x -> f32[8]";
constexpr auto rounded = "on x=4: reshard f32[64]+x -> f32[64] fill=normal";
constexpr auto swap = "on x=4: reshard f32[8@x,8] -> f32[8,8@x]";
constexpr auto permute = "on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]";

const Row rows[] = {
  // clang-format off
    {"adds-from-own",   "calls",  "diverged",   "hold other bits than the first of their replicas", {rounded}},
    {"stale-buffer",    "direct", "wrong",      "",                                    {gather, again}},
    {"rotated-counts",  "direct", "wrong",      "",                                    {gather}},
    {"drops-rank",      "direct", "wrong",      "",                                    {scatter}},
    {"keeps-own-part",  "direct", "wrong",      "",                                    {scatter}},
    {"reduces-twice",   "calls",  "wrong",      "",                                    {reduce}},
    {"changes-replica", "calls",  "diverged",   "device 1 (x=1) differs from device 0", {rounded}},
    {"swaps-senders",   "direct", "wrong",      "",                                    {swap}},
    {"returns-own",     "direct", "wrong",      "",                                    {permute}},
    {"calls-in-secret", "direct", "reneged",    "the library was called otherwise than the trace says", {gather}},
    {"forgets-to-say",  "direct", "mistrusted", "",                                    {gather}},
    {"sleeps",          "direct", "hung",       "has not entered all-gather 2 over x (the last it left is reduce-scatter 1 over x); 0, 1, 3 wait in it", {reduce}, 8},
    {"stops",           "direct", "hung",       "does not answer; 0, 1, 3 wait in all-gather 2 over x", {reduce}, 8},
    {"dies",            "direct", "crashed",    "rank 2 (host ",                       {reduce}},
    {"exits",           "direct", "crashed",    "rank 2 (host ",                       {reduce}},
  // clang-format on
};

TEST(RanksOfMpi, EveryFaultIsSeenAndTheNextCaseIsJudged) {
  for (const Row& row : rows) {
    const std::string command = std::string(PLUMB_LAUNCH) + " --ranks 4 --launcher mpiexec -- " + PLUMB_MPI +
                                " --fault " + row.fault + " --plan " + row.plan;
    Settings settings;
    settings.deadlines = {60, row.seconds, row.seconds};
    Subject subject(command, settings);
    Record record;
    for (const char* line : row.cases) {
      record = attempt(parse_case(line), subject);
      if (record.verdict.status != Status::pass) break;
    }
    const std::string said = record.verdict.facts.empty() ? "" : record.verdict.facts[0].text;
    EXPECT_EQ(name(record.verdict.status), row.verdict) << row.fault << ": " << said;
    EXPECT_THAT(said, testing::HasSubstr(row.words)) << row.fault;
    // A rank without a device takes part in no call: nothing is broken, by this launch or a new one.
    EXPECT_EQ(attempt(parse_case("on x=1: reshard f32[8] -> f32[8]"), subject).verdict.status, Status::pass)
        << row.fault;
  }
}

}  // namespace
}  // namespace plumb
