#include "harness/measure/require.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

// The share of a limit, and how sure it is.
Ratio share(double low, double middle, double high) {
  return {
      middle, {low, high}
  };
}

Figured of_busbw(const std::optional<Ratio>& of_limit) {
  return {
      {{"busbw", 8}, {"median", 20}},
      {{"busbw", "send", 10, of_limit}},
      {{"busbw", {8, 8}}, {"median", {20, 20}}},
      5
  };
}

TEST(Require, ANumberOrAShareOfTheLimit) {
  const std::pair<const char*, Met> rows[] = {
      {"busbw>=0.8*limit",     Met::yes      },
      {"busbw>0.8*limit",      Met::no       },
      {"busbw <= 8",           Met::yes      },
      {" busbw>= 0.8 *limit ", Met::yes      },
      {"busbw >= 0.81* limit", Met::no       },
      {"busbw<8",              Met::no       },
      {"median<=20",           Met::yes      },
      {"median<19.5",          Met::no       },
      {"algbw>1",              Met::no_metric},
      {"median<2*limit",       Met::no_limit },
  };
  const Figured figured = of_busbw(share(0.8, 0.8, 0.8));
  for (const auto& [text, wanted] : rows) EXPECT_EQ(met(parse_requirement(text), figured), wanted) << text;
  EXPECT_EQ(unmet(parse_requirement("busbw>=0.9*limit"), figured),
            "busbw is 8, and the limit 10 (send), of which it is 0.800 (0.800 to 0.800): required is busbw>=0.9*limit");
  EXPECT_EQ(unmet(parse_requirement("median<2*limit"), figured),
            "median is 20, and nobody knows a limit of it: required is median<2*limit");
}

TEST(Require, WhatHasNoLimitIsHeldToNone) {
  for (const char* metric : {"min", "p95", "p99", "IQR", "skew"}) {
    EXPECT_NO_THROW(parse_requirement(std::string(metric) + "<=2"));
    EXPECT_THROW(parse_requirement(std::string(metric) + "<=2*limit"), BadInput) << metric;
  }
  for (const char* metric : {"busbw", "algbw", "gflops", "median"}) EXPECT_NO_THROW(parse_requirement(std::string(metric) + "<=2*limit"));
}

TEST(Require, ANumberThatMayLieOnEitherSideIsUnsure) {
  Figured figured = of_busbw(std::nullopt);
  figured.between["median"] = {0.135, 19.81};
  EXPECT_EQ(met(parse_requirement("median<=20"), figured), Met::yes);
  EXPECT_EQ(met(parse_requirement("median<=8"), figured), Met::unsure);
  EXPECT_EQ(met(parse_requirement("median<0.135"), figured), Met::no);
  figured.between.clear();
  EXPECT_EQ(met(parse_requirement("median<=20"), figured), Met::unsure) << "nobody knows an interval of it";
}

TEST(Require, AShareThatMayLieOnEitherSideIsUnsure) {
  const Requirement r = parse_requirement("busbw>=0.8*limit");
  EXPECT_EQ(met(r, of_busbw(share(0.81, 0.85, 0.9))), Met::yes);
  EXPECT_EQ(met(r, of_busbw(share(0.79, 0.85, 0.9))), Met::unsure);
  EXPECT_EQ(met(r, of_busbw(share(0.7, 0.79, 0.81))), Met::unsure);
  EXPECT_EQ(met(r, of_busbw(share(0.7, 0.75, 0.79))), Met::no);
  EXPECT_EQ(met(r, of_busbw(std::nullopt)), Met::unsure) << "too few repetitions";
}

TEST(Require, ALimitThatMayBeBeatenIsNone) {
  const Requirement most = parse_requirement("busbw>=0.8*limit"), least = parse_requirement("median<=1.5*limit");
  EXPECT_EQ(met(most, of_busbw(share(0.98, 1, 1.02))), Met::yes);
  EXPECT_EQ(met(most, of_busbw(share(0.98, 1, 1.03))), Met::unsure);
  EXPECT_THAT(unmet(most, of_busbw(share(1.9, 1.95, 1.99))), HasSubstr("(1.900 to 1.990): it may be beaten"));
  const auto of_time = [](const Ratio& r) { return Figured{{{"median", 20}}, {{"median", "call", 20, r}}}; };
  EXPECT_EQ(met(least, of_time(share(0.98, 1, 1.1))), Met::yes);
  EXPECT_EQ(met(least, of_time(share(0.97, 1, 1.1))), Met::unsure) << "the case takes less than its own call";
}

TEST(Require, WhatIsBelowOneStepOfTheClockIsUnsure) {
  Figured figured = of_busbw(share(0.8, 0.8, 0.8));
  const Requirement all[] = {parse_requirement("busbw>=0.8*limit"), parse_requirement("busbw>=8"), parse_requirement("median<=20"),
                             parse_requirement("busbw>=9")};
  for (const Requirement& r : all) {
    figured.step = 20;
    const Met of_a_step = met(r, figured);
    EXPECT_NE(of_a_step, Met::unsure) << r.text << ": a step is what a clock sees";
    figured.step = 20.5;
    EXPECT_EQ(met(r, figured), Met::unsure) << r.text;
  }
  EXPECT_EQ(met(parse_requirement("algbw>1"), figured), Met::no_metric);
  EXPECT_EQ(unmet(all[1], figured), "busbw is UNSURE: the median, 20 us, is below one step of the clock, 20.5; --batch K makes one "
                                    "iteration of K runs: required is busbw>=8");
}

TEST(Require, WhatIsNoneIsPointedAt) {
  const std::pair<const char*, const char*> rows[] = {
      {"speed>=1",        "expected a metric"                        },
      {"busbw=1",         "expected >=, <=, > or <"                  },
      {"busbw",           "expected >=, <=, > or <"                  },
      {"busbw>=x",        "expected a number\n  busbw>=x\n         ^"},
      {"busbw>=-1",       "expected a number"                        },
      {"busbw>=inf",      "expected a number"                        },
      {"busbw>=nan",      "expected a number"                        },
      {"busbw>=1e999",    "expected a number"                        },
      {"busbw>=1*",       "expected *limit, or the end"              },
      {"busbw>=1 limit",  "expected *limit, or the end"              },
      {"bus bw>=1",       "expected a metric"                        },
      {"busbw>=1*limits", "expected *limit, or the end"              },
  };
  for (const auto& [text, message] : rows) try {
      parse_requirement(text);
      ADD_FAILURE() << text;
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(message)) << text;
    }
}

}  // namespace
}  // namespace plumb
