#include "harness/measure/require.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

const Figured figured{
    {{"busbw", 8}, {"median", 20}},
    {{"busbw", 10}           }
};

TEST(Require, ANumberOrAShareOfTheLimit) {
  const std::pair<const char*, Met> rows[] = {
      {"busbw>=0.8*limit", Met::yes   },
      {"busbw>0.8*limit",  Met::no    },
      {"busbw<=8",         Met::yes   },
      {"busbw<8",          Met::no    },
      {"median<=20",       Met::yes   },
      {"median<19.5",      Met::no    },
      {"algbw>1",          Met::unsaid},
      {"median<2*limit",   Met::unsaid},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(met(parse_requirement(text), figured), wanted) << text;
  EXPECT_EQ(unmet(parse_requirement("busbw>=0.9*limit"), figured),
            "busbw is 8, and the limit 10: required is busbw>=0.9*limit");
}

TEST(Require, WhatIsNoneIsPointedAt) {
  const std::pair<const char*, const char*> rows[] = {
      {"speed>=1",        "expected a metric"                        },
      {"busbw=1",         "expected >=, <=, > or <"                  },
      {"busbw",           "expected >=, <=, > or <"                  },
      {"busbw>=x",        "expected a number\n  busbw>=x\n         ^"},
      {"busbw>=-1",       "expected a number"                        },
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
