// How many programs a run starts.
#include "harness/command/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "harness/record/testing/golden.h"
#include "harness/select/suite.h"

namespace plumb {
namespace {

// A backend that notes each start in a file; what it does wrong is what harness/backend/testing/fake.cc lists.
struct Noted {
  std::string path = testing::TempDir() + "plumb-starts-XXXXXX", backend;

  explicit Noted(const std::string& faults) {
    close(mkstemp(path.data()));
    backend = fmt::format("/bin/sh -c 'echo started >> {}; exec {} {}'", path, PLUMB_FAKE, faults);
  }
  ~Noted() { unlink(path.c_str()); }
  Noted(const Noted&) = delete;
  std::int64_t starts() const { return std::ranges::count(file_contents(path), '\n'); }
};

const std::string alone = R"(hello "[{\"op\":\"add\",\"path\":\"/alone\",\"value\":true}]")";

Cases gathers(int count) {
  std::vector<Row> rows;
  for (int seed = 0; seed < count; ++seed)
    rows.push_back(parse_row(fmt::format("on x=2: reshard f32[8@x] -> f32[8] seed={}", seed), "test", ""));
  return cases_of(std::move(rows));
}

// Every case on every backend.
std::vector<Judged> judge_all(const Session& session) {
  std::vector<Job> jobs;
  for (std::int64_t n = 0; n < count(session.cases); ++n)
    for (std::size_t b = 0; b < session.backends.size(); ++b) jobs.push_back({n, b});
  std::vector<Judged> all;
  run(
      session, jobs, [&](Judged&& one) { all.push_back(std::move(one)); }, [] {});
  EXPECT_EQ(all.size(), jobs.size());
  return all;
}

std::int64_t passes(const std::vector<Judged>& all) {
  return std::ranges::count(all, Status::pass, [](const Judged& j) { return j.record.verdict.status; });
}

// Each pair of limits that a row of the suite has, on a case of the fake's own.
TEST(Session, OneProgramServesEveryLimit) {
  std::set<std::pair<double, double>> pairs;
  for (const Row& row : suite_rows("incidents")) pairs.emplace(row.max_waste, row.max_collectives);
  ASSERT_GE(pairs.size(), 7U) << "one of them no limits";
  std::vector<Row> rows;
  for (const auto& [waste, collectives] : pairs) {
    rows.push_back(parse_row(fmt::format("on x=2: reshard f32[8@x] -> f32[8] seed={}", rows.size()), "", ""));
    rows.back().max_waste = waste, rows.back().max_collectives = collectives;
  }
  rows.push_back(parse_row("on x=2: reshard f32[8@x] -> f32[8] seed=99", "", ""));
  rows.back().max_waste = 0.5;
  const Cases cases = cases_of(std::move(rows));
  const Noted noted("");
  const std::vector<Judged> all = judge_all({cases, {noted.backend}});
  EXPECT_EQ(noted.starts(), 1);
  EXPECT_EQ(passes(all), std::ssize(all) - 1) << "the limit of the last row still holds";
}

TEST(Session, EachThreadHasItsProgram) {
  const Cases cases = gathers(8);
  const Noted noted("sleep 0.2");
  EXPECT_EQ(passes(judge_all({cases, {noted.backend}, {}, {}, 2})), 8);
  EXPECT_EQ(noted.starts(), 2);
}

TEST(Session, AProgramThatStandsAloneIsStartedOnce) {
  const Cases cases = gathers(8);
  const Noted one("sleep 0.1 " + alone), other("sleep 0.1 " + alone), shared("sleep 0.2");
  EXPECT_EQ(passes(judge_all({cases, {one.backend}, {}, {}, 2})), 8);
  EXPECT_EQ(one.starts(), 1);
  EXPECT_EQ(passes(judge_all({
                cases, {other.backend,      shared.backend},
                 {},
                 {                  },
                 2
  })),
            16);
  EXPECT_EQ(other.starts(), 1);
  EXPECT_EQ(shared.starts(), 2) << "beside it another has as many as ever";
}

TEST(Session, AProgramThatStandsAloneIsStartedAgainWhenItDies) {
  const Cases cases = gathers(8);
  const Noted noted("sleep 0.05 on 3 die 6 " + alone);
  EXPECT_EQ(passes(judge_all({cases, {noted.backend}, {}, {}, 2})), 7);
  EXPECT_EQ(noted.starts(), 2);
}

// While the first is told the second is asked, and all are told in order, also one on which the program dies.
TEST(Session, AProgramThatStandsAloneIsAskedOnWhileItsAnswersAreJudged) {
  const Cases cases = gathers(8);
  const std::string path = testing::TempDir() + "plumb-asked-" + std::to_string(getpid());
  setenv("PLUMB_TRANSCRIPT", path.c_str(), 1);
  const Noted noted("on 3 die 6 " + alone);
  std::vector<Job> jobs;
  for (std::int64_t n = 0; n < 8; ++n) jobs.push_back({n, 0});
  std::vector<Judged> all;
  const auto asked_on = [&] {
    constexpr int patience = 2000;
    for (int i = 0; i < patience && file_contents(path).find("seed=1\"") == std::string::npos; ++i)
      usleep(10000);
    return file_contents(path).find("seed=1\"") != std::string::npos;
  };
  run(
      {cases, {noted.backend}}, jobs,
      [&](Judged&& one) {
        if (all.empty()) {
          EXPECT_TRUE(asked_on());
        }
        all.push_back(std::move(one));
      },
      [] {});
  unsetenv("PLUMB_TRANSCRIPT");
  unlink(path.c_str());
  ASSERT_EQ(all.size(), 8U);
  for (std::int64_t n = 0; n < 8; ++n) EXPECT_EQ(all[n].job.number, n);
  EXPECT_EQ(passes(all), 7);
}

// The first is a finding; two more tell that it is no accident.
TEST(Session, ABackendThatDoesNotStartIsOneFindingForEachNumberOfDevices) {
  std::vector<Row> rows;
  for (const char* mesh : {"x=2", "x=4"})
    for (int seed = 0; seed < 6; ++seed)
      rows.push_back(parse_row(fmt::format("on {}: reshard f32[8@x] -> f32[8] seed={}", mesh, seed), "", ""));
  const Cases cases = cases_of(std::move(rows));
  for (int threads : {1, 2}) {
    std::vector<std::int64_t> devices;
    Session session{cases, {"/bin/false"}, {}, {}, threads};
    session.gave_up = [&](const GaveUp& one) { devices.push_back(one.devices); };
    std::vector<Job> jobs;
    for (std::int64_t n = 0; n < count(cases); ++n) jobs.push_back({n, 0});
    std::vector<Judged> all;
    run(
        session, jobs, [&](Judged&& one) { all.push_back(std::move(one)); }, [] {});
    ASSERT_EQ(all.size(), 2U);
    for (const Judged& one : all) EXPECT_EQ(one.record.verdict.status, Status::crashed);
    EXPECT_EQ(devices, (std::vector<std::int64_t>{2, 4}));
  }
}

// Two that failed are told after all where the third starts, and at the end.
TEST(Session, StartsThatFailNowAndThenAreFindingsEach) {
  const Cases cases = gathers(4);
  const std::string path = testing::TempDir() + "plumb-third-" + std::to_string(getpid());
  const auto judged_by = [&](const std::string& backend) {
    Session session{cases, {backend}};
    session.gave_up = [](const GaveUp&) { ADD_FAILURE(); };
    std::vector<Job> jobs{{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    if (backend == "/bin/false") jobs.resize(2);
    std::vector<Status> all;
    run(
        session, jobs, [&](Judged&& one) { all.push_back(one.record.verdict.status); }, [] {});
    return all;
  };
  const Status crashed = Status::crashed, pass = Status::pass;
  EXPECT_EQ(judged_by(fmt::format("/bin/sh -c 'echo >> {0}; test $(wc -l < {0}) -gt 2 || exit 1; exec {1}'",
                                  path, PLUMB_FAKE)),
            (std::vector<Status>{crashed, crashed, pass, pass}));
  unlink(path.c_str());
  EXPECT_EQ(judged_by("/bin/false"), (std::vector<Status>{crashed, crashed}));
}

TEST(Session, NobodyWaitsForAHelloThatNeverComes) {
  const Cases cases = gathers(8);
  const std::vector<Judged> all = judge_all({cases, {"/bin/false"}, {}, {}, 2});
  for (const Judged& one : all) EXPECT_EQ(one.record.verdict.status, Status::crashed);
}

}  // namespace
}  // namespace plumb
