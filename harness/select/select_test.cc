#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "harness/select/cases.h"
#include "harness/select/sample.h"
#include "harness/select/suite.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> lines(std::string_view pattern) {
  std::vector<std::string> all;
  for (const Pattern& p : parse_pattern(pattern))
    for (std::int64_t n = 0; n < count(p); ++n) all.push_back(print(nth(p, n)));
  return all;
}

std::string complaint(std::string_view pattern) {
  try {
    parse_pattern(pattern);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Pattern, StarsOfOtherReductionsAndOfASubmesh) {
  const auto lines = [](const char* pattern) {
    std::vector<std::string> all;
    const Pattern p = parse_pattern(pattern).at(0);
    for (std::int64_t n = 0; n < count(p); ++n) {
      all.push_back(print(nth(p, n)));
      EXPECT_EQ(print(parse_case(all.back())), all.back());
    }
    return all;
  };
  EXPECT_EQ(
      lines("on x=2: reshard f32[8]+max* -> f32[8]"),
      (std::vector<std::string>{"on x=2: reshard f32[8] -> f32[8]", "on x=2: reshard f32[8@x] -> f32[8]",
                                "on x=2: reshard f32[8]+max(x) -> f32[8]"}));
  EXPECT_EQ(lines("on y=2 of x=2,y=2: reshard f32[8]+avg* -> f32[8@y]").back(),
            "on y=2 of x=2,y=2: reshard f32[8]+avg(y) -> f32[8@y]");
  EXPECT_EQ(lines("on x=2,y=2: reshard f32[8]+min* -> f32[8]+min*").size(), 100U);
  EXPECT_THROW(parse_pattern("on x=2: reshard f32[8]+min* -> f32[8]+max*"), BadInput);
  EXPECT_THROW(parse_pattern("on x=2: reshard s32[8]+avg* -> s32[8]"), BadInput);
  EXPECT_THROW(parse_pattern("on x=2: einsum k,k-> f32[8]+max* f32[8] -> f32[]"), BadInput);
}

TEST(Pattern, ALineIsItself) {
  const char* line = "on x=2,y=2: reshard f32[5@x.y] -> f32[5@y] -> f32[5] nested acc=f64 seed=3";
  EXPECT_THAT(lines(line), ElementsAre(line));
}

TEST(Pattern, AStarIsEveryLayoutTheResultFastest) {
  EXPECT_THAT(lines("on x=2: reshard f32[4]* -> f32[4]*"),
              ElementsAre("on x=2: reshard f32[4] -> f32[4]", "on x=2: reshard f32[4] -> f32[4@x]",
                          "on x=2: reshard f32[4@x] -> f32[4]", "on x=2: reshard f32[4@x] -> f32[4@x]"));
  EXPECT_THAT(lines("on x=2: reshard f32[4]+* -> f32[4]"),
              ElementsAre("on x=2: reshard f32[4] -> f32[4]", "on x=2: reshard f32[4@x] -> f32[4]",
                          "on x=2: reshard f32[4]+x -> f32[4]"));
}

TEST(Pattern, ABarIsAnotherSize) {
  EXPECT_THAT(
      lines("on x=2|3,y=1|4: reshard f32[4@x] -> f32[4@y]"),
      ElementsAre("on x=2,y=1: reshard f32[4@x] -> f32[4@y]", "on x=2,y=4: reshard f32[4@x] -> f32[4@y]",
                  "on x=3,y=1: reshard f32[4@x] -> f32[4@y]", "on x=3,y=4: reshard f32[4@x] -> f32[4@y]"));
}

TEST(Pattern, IsWhatTheWordsEnumerate) {
  const Mesh mesh = parse_mesh("x=2,y=3,z=2");
  const Choices all = all_reshards(mesh, DType::f32, {4, 6}, true);
  const std::vector<std::string> have = lines("on x=2,y=3,z=2: reshard f32[4,6]+* -> f32[4,6]+*");
  ASSERT_EQ(static_cast<std::int64_t>(have.size()), count(all));
  EXPECT_EQ(have.size(), 92 * 92);
  for (std::int64_t n = 0; n < count(all); ++n) ASSERT_EQ(have[n], print(nth(all, n)));
}

TEST(Pattern, WordsOfTheLineHoldForEachOfItsCases) {
  for (const std::string& line : lines("on x=2: reshard bf16[4]+* -> bf16[4]* wire=f32 seed=9"))
    EXPECT_THAT(line, HasSubstr("wire=f32 seed=9"));
}

TEST(Pattern, Complaints) {
  EXPECT_THAT(complaint("on x=2: reshard f32[4@x]* -> f32[4]"), HasSubstr("names no axes"));
  EXPECT_THAT(complaint("on x=2|0: reshard f32[4]* -> f32[4]"), HasSubstr("at least one device"));
  EXPECT_THAT(complaint("on x=2|4|2: reshard f32[4]* -> f32[4]"), HasSubstr("this size stands twice"));
  EXPECT_THAT(complaint("on a=2,b=2,c=2,d=2,e=2,f=2,g=2,h=2: reshard f32[4,4]+* -> f32[4,4]"),
              HasSubstr("too many to list"));
}

TEST(Row, SaysHowManyAndWhy) {
  const Row row = parse_row("  sample 20 seed 7: max-waste 1.5: on x=2: reshard f32[4]* -> f32[4]  # jax#123",
                            "s", "o:1");
  EXPECT_EQ(row.line, "on x=2: reshard f32[4]* -> f32[4]");
  EXPECT_EQ(row.note, "jax#123");
  EXPECT_EQ(row.sample, 20);
  EXPECT_EQ(row.seed, 7U);
  EXPECT_EQ(row.max_waste, 1.5);
}

TEST(Cases, CountAcrossRows) {
  std::istringstream in(
      "# what it is\n\non x=2: reshard f32[4]* -> f32[4]\nsample 3: on x=2: reshard f32[4]+* -> f32[4]+*\n");
  const Cases cases = cases_of(read_rows(in, "a.cases", "a"));
  ASSERT_EQ(count(cases), 5);
  EXPECT_EQ(row_of(cases, 1).origin, "a.cases:3");
  EXPECT_EQ(row_of(cases, 2).origin, "a.cases:4");
  EXPECT_EQ(print(nth(cases, 1)), "on x=2: reshard f32[4@x] -> f32[4]");
}

TEST(Sample, IsASubsetOfTheRightSizeAndEachMemberIsAsLikely) {
  std::vector<int> times(20);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto chosen = sample(20, 5, seed);
    ASSERT_EQ(std::set(chosen.begin(), chosen.end()).size(), 5U);
    ASSERT_TRUE(std::ranges::is_sorted(chosen));
    for (std::int64_t i : chosen) ++times.at(i);
  }
  // 1000 each is due, with a deviation of 27; six of them are a chance of 4e-8 in twenty.
  for (int n : times) EXPECT_LT(std::abs(n - 1000), 6 * 28);
  EXPECT_EQ(sample(3, 10, 1), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(sample(1000, 100, 5), sample(1000, 100, 5));
  EXPECT_NE(sample(1000, 100, 5), sample(1000, 100, 6));
}

TEST(Shard, PartsAreDisjointAndTogetherTheList) {
  std::vector<std::int64_t> list(17);
  for (std::int64_t i = 0; i < 17; ++i) list[i] = i * i;
  for (std::int64_t of = 1; of <= 20; ++of) {
    std::multiset<std::int64_t> together;
    for (std::int64_t part = 1; part <= of; ++part)
      for (std::int64_t i : cases_of_shard(list, {part, of})) together.insert(i);
    EXPECT_EQ(together, std::multiset(list.begin(), list.end())) << of;
  }
}

TEST(Suites, EveryRowIsLegalAndEverySuiteSaysWhatItIs) {
  ASSERT_GE(suites().size(), 5U);
  for (const Suite& suite : suites()) {
    EXPECT_NE(suite.what, "") << suite.name;
    EXPECT_GT(count(cases_of(suite_rows(suite.name))), 0) << suite.name;
  }
}

TEST(Suites, OnAnotherMeshHaveAllOfTheirPatterns) {
  const Cases cases = cases_of(suite_rows("reshard:2x2x2"));
  EXPECT_EQ(count(cases) % (92 * 92), 0);
  EXPECT_EQ(nth(cases, 0).mesh, parse_mesh("x=2,y=2,z=2"));
}

}  // namespace
}  // namespace plumb
