// Which cases a budget reaches.
#include "harness/command/turns.h"

#include <gtest/gtest.h>

#include <set>

#include "reference/words/text.h"

namespace plumb {
namespace {

Cases rows(const std::vector<std::string>& lines) {
  std::vector<Row> all;
  for (const std::string& line : lines) all.push_back(parse_row(line, "test", ""));
  return cases_of(std::move(all));
}

std::vector<Job> every(const Cases& cases) {
  std::vector<Job> jobs;
  for (std::int64_t n = 0; n < count(cases); ++n) jobs.push_back({n, 0});
  return jobs;
}

// Takes the foremost job.
std::int64_t taken(Turns& turns) {
  auto& places = turns.queues[0].places;
  const std::int64_t n = job_at(turns, places.front()).number;
  places.pop_front();
  return n;
}

const std::vector<std::string> three_rows = {"on x=2: reshard f32[8]+* -> f32[8]+*",
                                             "on x=2: reshard f32[4,4]+* -> f32[4,4]+*",
                                             "on x=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]"};

TEST(Turns, WithoutABudgetAreByDevicesAndElseAsTheyCame) {
  const Cases cases = rows({"on x=4: reshard f32[8]+* -> f32[8]", "on x=2: reshard f32[8]+* -> f32[8]"});
  Turns turns = turns_of(cases, every(cases), 1, false);
  const std::int64_t n = count(cases) / 2;
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(taken(turns), n + i);
  for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(taken(turns), i);
}

TEST(Turns, OfABudgetReachEveryRowBeforeTheSecondCaseOfAny) {
  const Cases cases = rows(three_rows);
  Turns turns = turns_of(cases, every(cases), 1, true);
  std::set<std::string> first, second;
  for (int i = 0; i < 3; ++i) first.insert(row_of(cases, taken(turns)).line);
  EXPECT_EQ(first.size(), 3U);
  for (int i = 0; i < 2; ++i) second.insert(row_of(cases, taken(turns)).line);
  EXPECT_EQ(second.size(), 2U) << "the third has one case";
  std::set<std::int64_t> rest;
  while (!turns.queues[0].places.empty()) rest.insert(taken(turns));
  EXPECT_EQ(std::ssize(rest), count(cases) - 5) << "each once";
}

TEST(Turns, OfABudgetAreFarApart) {
  const Cases cases = rows({"on x=2,y=2: reshard f32[4,4]+* -> f32[4,4]+*"});
  Turns turns = turns_of(cases, every(cases), 1, true);
  std::set<std::int64_t> eighths;
  for (int i = 0; i < 8; ++i) eighths.insert(taken(turns) * 8 / count(cases));
  EXPECT_GE(eighths.size(), 5U);
}

TEST(Turns, GiveEachNumberOfDevicesItsPartOfWhatIsLeft) {
  const Cases cases = rows({"on x=2: reshard f32[8]+* -> f32[8]+*", "on x=4: reshard f32[8]+* -> f32[8]+*",
                            "on x=8: reshard f32[8]+* -> f32[8]+*"});
  Turns turns = turns_of(cases, every(cases), 1, true);
  std::vector<std::int64_t> devices;
  const auto at = [&](double now) {
    pass_on(turns, now, 90);
    devices.push_back(plumb::devices(mesh_of(cases, taken(turns))));
  };
  for (double now : {0, 29, 31, 60, 62, 89}) at(now);
  EXPECT_EQ(devices, (std::vector<std::int64_t>{2, 2, 4, 4, 8, 8}));
  at(91);
  EXPECT_EQ(devices.back(), 2) << "the next round";
  give_up(turns, 0, 2);
  at(91);
  EXPECT_NE(devices.back(), 2);
}

TEST(Turns, LoseNothing) {
  const Cases cases = rows(three_rows);
  Turns turns = turns_of(cases, every(cases), 1, true);
  std::set<std::int64_t> all;
  for (double now = 0; !turns.queues[0].places.empty(); now += 3) {
    pass_on(turns, now, 10);
    all.insert(taken(turns));
  }
  EXPECT_EQ(std::ssize(all), count(cases));
}

}  // namespace
}  // namespace plumb
