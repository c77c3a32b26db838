// Faults of real ranks: the verdict that each gets, and its words.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "harness/backend/testing/alive.h"
#include "harness/backend/testing/remains.h"
#include "harness/run/attempt.h"
#include "harness/run/measured.h"
#include "harness/run/soak.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// Those of adapters/mpi/faults.cc of which it says more than the verdict, which `plumb liars` asks of all.
// Any rank may be the first to say what is wrong.
struct Planted {
  const char *fault, *plan, *words, *line;
  double seconds = 60;  // until it hangs; where that is too soon, as on a busy machine, twice as long
};

constexpr auto gather = "on x=4: reshard f32[8@x] -> f32[8]";
constexpr auto reduce = "on x=4: reshard f32[8]+x -> f32[8]";
constexpr auto rounded = "on x=4: reshard f32[64]+x -> f32[64] fill=normal";
constexpr auto two_sums = "on x=2,y=2: reshard f32[8@x,8]+y -> f32[8,8@y]";
constexpr auto two_axes = "on x=2,y=2: reshard f32[8@x] -> f32[8]";

const Planted rows[] = {
  // clang-format off
    {"adds-from-own",      "calls",  "hold other bits than the first of their replicas", rounded},
    {"changes-replica",    "calls",  "device 1 \\(x=1\\) differs from device 0", rounded},
    {"calls-in-secret",    "direct", "the library was called otherwise than the trace says: call 2 was all-reduce among ", gather},
    {"broadcasts-in-secret", "direct", "the library was called otherwise than the trace says: call 2 was broadcast among ", gather},
    {"says-less",          "direct", "call 1, all-gather, took 8 bytes, made 32 and moved 96, and the trace says 4, 16 and 96", gather},
    {"says-another-kind",  "direct", "call 1 was all-gather among 0, 1, 2, 3, and the trace says all-to-all among 0, 1, 2, 3", gather},
    {"says-another-group", "direct", "call 1 was all-gather among (0, 2|1, 3), and the trace says all-gather among (0, 1|2, 3)", two_axes},
    {"says-nothing",       "direct", "call 1 was all-gather among 0, 1, 2, 3, and the trace says nothing", gather},
    {"sleeps",             "direct", "has not entered all-gather 2 over x \\(the last it left is reduce-scatter 1 over x\\); 0, 1, 3 wait in it", reduce, 4},
    {"sleeps",             "ring",   "^rank 2 \\(host [^)]*\\) has not entered all-gather 2 over x", two_sums, 4},
    {"stops",              "direct", "does not answer; 0, 1, 3 wait in all-gather 2 over x", reduce, 4},
    {"dies",               "direct", "^rank 2 \\(host [^)]*\\) has died", reduce},
  // clang-format on
};

struct Judged {
  Verdict faulty, next;
  std::string said() const { return faulty.facts.empty() ? "" : faulty.facts[0].text; }
};

// A rank without a device takes part in no call: in the next case nothing is broken, by this launch or a new
// one.
Judged judge(const Planted& row, double seconds) {
  const std::string command = std::string(PLUMB_LAUNCH) + " --ranks 4 --launcher mpiexec -- " + PLUMB_MPI +
                              " --fault " + row.fault + " --plan " + row.plan;
  Settings settings;
  settings.deadlines = {600, seconds, seconds};
  Subject subject(command, settings);
  return {attempt(parse_case(row.line), subject).verdict,
          attempt(parse_case("on x=1: reshard f32[8] -> f32[8]"), subject).verdict};
}

bool too_soon(const Planted& row, const Judged& all) {
  const testing::Matcher<std::string> words = testing::ContainsRegex(row.words);
  return all.next.status == Status::hung || (all.faulty.status == Status::hung && !words.Matches(all.said()));
}

struct EveryFault : testing::TestWithParam<Planted> {};

TEST_P(EveryFault, IsSeenAndTheNextCaseIsJudged) {
  const Planted& row = GetParam();
  const Remains remains;
  double seconds = row.seconds;
  Judged all = judge(row, seconds);
  for (; too_soon(row, all) && seconds < 100; seconds *= 2) all = judge(row, seconds * 2);
  EXPECT_THAT(all.said(), testing::ContainsRegex(row.words)) << row.fault;
  EXPECT_EQ(all.next.status, Status::pass) << row.fault;
  EXPECT_THAT(remains.now(), testing::IsEmpty()) << row.fault;
}

INSTANTIATE_TEST_SUITE_P(OfMpi, EveryFault, testing::ValuesIn(rows));

// A program of which the first that comes to it in the first launch is killed before it is a rank.
std::string killed_once() {
  std::string made = testing::TempDir() + "killed-once-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(made.data());
  const std::filesystem::path script = folder / "rank";
  std::ofstream(script) << fmt::format("#!/bin/sh\nmkdir {} 2>/dev/null && kill -9 $$\nexec {} \"$@\"\n",
                                       (folder / "mark").string(), PLUMB_MPI);
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

// In whichever way the case is asked: the next is judged by a new launch.
TEST(RanksOfMpi, OneThatIsKilledBeforeItJoinsIsSaidOfTheCaseThatItWasStartedFor) {
  const Case c = parse_case(gather);
  const std::pair<const char*, std::function<Record(Subject&)>> ways[] = {
      {"run",      [&](Subject& s) { return attempt(c, s); }                                              },
      {"measured",
       [&](Subject& s) { return measure(c, s, {.timing = {.iterations = 1}}, [](const std::string&) {}); }},
      {"soak",
       [&](Subject& s) {
         Soaked so_far;
         const auto bad = soak(c, s, 0.5, so_far);
         return bad ? bad->record : Record{};
       }                                                                                                  },
  };
  for (const bool in_place : {false, true})
    for (const auto& [way, ask] : ways) {
      SCOPED_TRACE(fmt::format("{}, in place: {}", way, in_place));
      const std::string script = killed_once();
      Settings settings;
      settings.in_place = in_place;
      Subject subject(fmt::format("{} --ranks 4 --launcher mpiexec -- {}", PLUMB_LAUNCH, script), settings);
      const Verdict verdict = ask(subject).verdict;
      EXPECT_EQ(verdict.status, Status::crashed);
      ASSERT_FALSE(verdict.facts.empty());
      EXPECT_THAT(verdict.facts[0].text, testing::ContainsRegex("rank [0-3] has not joined"));
      EXPECT_EQ(attempt(c, subject).verdict.status, Status::pass);
      std::filesystem::remove_all(std::filesystem::path(script).parent_path());
    }
}

// Stopped, it has not replied for sure when it is killed.
TEST(RanksOfMpi, OneThatIsKilledInTheProofIsNamed) {
  const std::string mark = "0.0009765625";  // of these processes alone
  const Remains remains;
  auto there = std::make_unique<Subject>(
      std::string(PLUMB_LAUNCH) + " --ranks 4 --launcher mpiexec -- " + PLUMB_MPI + " --delay " + mark,
      Settings{});
  Subject& subject = *there;
  Process& process = process_of(subject);
  const Case c = parse_case(gather);
  ASSERT_TRUE(std::holds_alternative<Outcome>(process.run_in_place(c)));
  const pid_t rank = running(mark).back();
  ::kill(rank, SIGSTOP);
  std::jthread killer(
      [rank] { std::this_thread::sleep_for(std::chrono::milliseconds(300)), ::kill(rank, SIGKILL); });
  const auto said = process.check(7);
  const Answer* answer = std::get_if<Answer>(&said);
  ASSERT_TRUE(answer && std::holds_alternative<Crashed>(*answer));
  EXPECT_THAT(std::get<Crashed>(*answer).what,
              testing::ContainsRegex(fmt::format("rank [0-3] \\(host [^)]*, pid {}\\) has died", rank)));
  EXPECT_EQ(std::get<Crashed>(*answer).phase, "run");
  EXPECT_NE(std::get<Crashed>(*answer).last_words, "") << "of mpiexec";
  EXPECT_TRUE(std::holds_alternative<Outcome>(process.run_in_place(c))) << "by a new launch";
  there.reset();
  EXPECT_THAT(remains.now(), testing::IsEmpty());
}

// Nobody is left who could clear away what the library shares in memory.
TEST(RanksOfMpi, WhereAllOfThemAreKilledAtOnceNothingStays) {
  const std::string mark = "0.001953125";
  const Remains remains;
  {
    Subject subject(
        std::string(PLUMB_LAUNCH) + " --ranks 4 --launcher mpiexec -- " + PLUMB_MPI + " --delay " + mark, {});
    const Case c = parse_case(gather);
    EXPECT_EQ(attempt(c, subject).verdict.status, Status::pass);
    const std::vector<pid_t> all = running(mark);
    EXPECT_EQ(all.size(), 6U);
    for (pid_t pid : all) ::kill(pid, SIGKILL);
    EXPECT_EQ(attempt(c, subject).verdict.status, Status::crashed);
    EXPECT_EQ(attempt(c, subject).verdict.status, Status::pass) << "by a new launch";
  }
  EXPECT_THAT(remains.now(), testing::IsEmpty());
}

}  // namespace
}  // namespace plumb
