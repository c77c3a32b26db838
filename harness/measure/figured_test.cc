#include "harness/measure/figured.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/require.h"

namespace plumb {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

const Work reduce{"all-reduce", 4, 4096, 1.5, 0}, product{"product", 4, 0, 0, 1e6};
const Sharing own{"4 ranks share 2 cores", ""}, besides{"", "8 ranks share 2 cores, and 2 take part"},
    nobody{};

// Five repetitions, a hundredth apart: 2 to 2.08 us.
std::vector<Measured> five(std::int64_t skew, const char* limit) {
  std::vector<Measured> all;
  for (int i = 0; i < 5; ++i) all.push_back({{2000 * (1 + i / 100.0)}, {skew}, {{limit, 1000}}});
  return all;
}

Met how(const char* demand, const Figured& f) { return met(parse_requirement(demand), f); }

// Of loaded cores: one repetition took 135 ns, another 19.81 us.
TEST(Figured, ADemandIsHeldAgainstTheIntervalOverRepetitions) {
  std::vector<Measured> all = five(0, "send");
  const Figured calm = figured(all, reduce, nobody);
  EXPECT_EQ(how("median<=2.08", calm), Met::yes) << "of five, the least and the largest: 2 to 2.08";
  EXPECT_EQ(how("median<=2.07", calm), Met::unsure);
  EXPECT_EQ(how("median<2", calm), Met::no);
  EXPECT_EQ(how("algbw>=2", calm), Met::unsure) << "4096 bytes in 2 to 2.08 us";
  all[0].nanoseconds = {135}, all[4].nanoseconds = {19810};
  const Figured loaded = figured(all, reduce, nobody);
  for (const char* metric : {"median", "p95", "p99", "min"})
    EXPECT_EQ(how(fmt::format("{}<=8", metric).c_str(), loaded), Met::unsure) << metric;
  EXPECT_EQ(unmet(parse_requirement("median<=8"), loaded),
            "median is 2.04 (0.135 to 19.81 over 5 repetitions): required is median<=8");
}

TEST(Figured, EachMetricLiesWithinItsInterval) {
  for (std::size_t n : {1U, 2U, 5U, 6U, 9U, 30U})
    for (std::size_t samples : {1U, 7U, 40U}) {
      std::vector<Measured> all;
      std::uint32_t random = 7;
      const auto next = [&] {
        return static_cast<double>((random = random * 1664525 + 1013904223) >> 20) + 1;
      };
      for (std::size_t i = 0; i < n; ++i) {
        Measured one{{}, {static_cast<std::int64_t>(next())}, {}};
        for (std::size_t k = 0; k < samples; ++k) one.nanoseconds.push_back(next());
        all.push_back(one);
      }
      const Figured f = figured(all, reduce, nobody);
      for (const auto& [metric, interval] : f.between) {
        EXPECT_LE(interval.low, f.metrics.at(metric)) << metric << " " << n;
        EXPECT_GE(interval.high, f.metrics.at(metric)) << metric << " " << n;
      }
    }
}

// Of nine, by coins, one may be left out on either side.
TEST(Figured, OfManyRepetitionsNotTheOneThatIsFarOff) {
  std::vector<Measured> all = five(0, "send");
  for (int i : {0, 1, 2, 3}) all.push_back(all[static_cast<std::size_t>(i)]);
  all[0].nanoseconds = {135};
  EXPECT_EQ(how("median>=2", figured(all, reduce, nobody)), Met::yes);
}

TEST(Figured, OneRepetitionHasNoInterval) {
  std::vector<Measured> one(1, {{2000}, {}, {}});
  EXPECT_EQ(how("median<=100", figured(one, reduce, nobody)), Met::unsure) << "one sample";
  EXPECT_EQ(unmet(parse_requirement("median<=100"), figured(one, reduce, nobody)),
            "median is 2, and one repetition has no interval: required is median<=100");
  one[0].nanoseconds = {2000, 2010, 2020, 2030, 2040, 2050};
  const Figured f = figured(one, reduce, nobody);
  EXPECT_EQ(how("median<=2.05", f), Met::yes) << "by its samples";
  EXPECT_EQ(how("median<=2.04", f), Met::unsure);
  EXPECT_EQ(how("median<2", f), Met::no);
  EXPECT_EQ(how("p99<=100", f), Met::unsure);
  EXPECT_EQ(
      unmet(parse_requirement("median<2"), f),
      "median is 2.025 (2 to 2.05 by its samples, and one repetition has no interval): required is median<2");
}

// What the same ranks reach at best depends on who else has their cores, and on who waits for one.
TEST(Figured, WhereRanksShareCoresNoShareOfALimitIsKnown) {
  const std::vector<Measured> all = five(0, "send");
  EXPECT_EQ(how("busbw>=0.1*limit", figured(all, reduce, nobody)), Met::yes);
  for (const Sharing& shared : {own, besides}) {
    const Figured f = figured(all, reduce, shared);
    EXPECT_FALSE(limit_of(f, "busbw")->share);
    for (const char* demand : {"busbw>=0.1*limit", "busbw>=2*limit", "algbw>0*limit"})
      EXPECT_EQ(how(demand, f), Met::unsure) << demand;
    EXPECT_THAT(unmet(parse_requirement("busbw>=2*limit"), f), HasSubstr(sharing_in_words(shared)));
    EXPECT_EQ(how("busbw>=0.1", f), Met::yes) << "of a number nothing else is asked";
  }
}

// Its own call, where it comes to one, else the copy of its bytes; of what moves nothing there is no bus.
TEST(Figured, ATimeIsHeldToItsCallElseToACopy) {
  std::vector<Measured> all = five(0, "copy");
  const Work slice{"copy", 4, 4096, 0, 0};
  for (const Work& w : {reduce, slice}) {
    const Figured f = figured(all, w, nobody);
    EXPECT_EQ(how("median<=2.1*limit", f), Met::yes) << w.kind;
    EXPECT_EQ(how("median<=1.9*limit", f), Met::no) << w.kind;
    EXPECT_THAT(unmet(parse_requirement("median<=1.9*limit"), f),
                HasSubstr("the limit 1 (copy), of which it is 2.0"));
  }
  EXPECT_THAT(figured(all, slice, nobody).metrics, Not(Contains(Key("busbw"))));
  EXPECT_EQ(how("algbw>=0.4*limit", figured(all, slice, nobody)), Met::yes);
  for (Measured& m : all) m.limits["send"] = 1000;
  EXPECT_THAT(unmet(parse_requirement("algbw>=9*limit"), figured(all, reduce, nobody)), HasSubstr("(send over the factor 1.5), of which"));
  EXPECT_THAT(unmet(parse_requirement("busbw>=9*limit"), figured(all, reduce, nobody)), HasSubstr("(send), of which"));
  for (Measured& m : all) m.limits["call"] = 1900;
  EXPECT_EQ(how("median<=1.2*limit", figured(all, reduce, nobody)), Met::yes);
  EXPECT_THAT(unmet(parse_requirement("median<=1*limit"), figured(all, reduce, nobody)),
              HasSubstr("the limit 1.9 (call)"));
}

TEST(Figured, ATimeOfAProductIsHeldToItsGemm) {
  const Figured f = figured(five(0, "gemm"), product, nobody);
  EXPECT_EQ(how("median<=2.1*limit", f), Met::yes);
  EXPECT_EQ(how("median<=1.9*limit", f), Met::no);
  EXPECT_EQ(how("gflops>=0.45*limit", f), Met::yes) << "of which the same is said as a share";
}

// Four ranks that take turns on two cores each do their quarter in 2 us: all of it took 4 us at least.
TEST(Figured, WhatSoManyCoresCannotGiveIsNoFigure) {
  const Figured apart = figured(five(3000, "gemm"), product, own);
  EXPECT_THAT(apart.metrics, Not(Contains(Key("gflops"))));
  EXPECT_FALSE(limit_of(apart, "gflops")->value);
  for (const char* demand : {"gflops>=1", "gflops<=1", "gflops>=0.1*limit"})
    EXPECT_EQ(how(demand, apart), Met::unsure) << demand;
  EXPECT_THAT(unmet(parse_requirement("gflops>=1"), apart),
              HasSubstr("gflops is UNSURE: 4 ranks share 2 cores, and do not begin together"));
  EXPECT_EQ(how("median>=1", apart), Met::yes);
  EXPECT_THAT(figured(five(100, "gemm"), product, own).metrics, Not(Contains(Key("gflops")))) << "5 % apart";
  EXPECT_THAT(figured(five(10, "gemm"), product, own).metrics, Contains(Key("gflops")))
      << "they begin together";
  EXPECT_THAT(figured(five(1900, "gemm"), product, besides).metrics, Contains(Key("gflops")));
  EXPECT_TRUE(limit_of(figured(five(1900, "gemm"), product, besides), "gflops")->value);
  EXPECT_THAT(figured(five(1900, "send"), reduce, own).metrics, Contains(Key("busbw")))
      << "they wait for the last";
  EXPECT_THAT(figured(five(2500, "send"), reduce, own).metrics, Not(Contains(Key("busbw"))))
      << "nobody waited";
  EXPECT_EQ(figured(five(3000, "gemm"), product, {}).unsure.at("gflops"),
            "ranks do not begin together: the time is one rank's, not that of all");
}

}  // namespace
}  // namespace plumb
