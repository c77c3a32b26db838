#include "harness/select/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/select/row.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Sizes, ARangeIsItsBeginningTimesTheFactorUpToItsEnd) {
  EXPECT_THAT(parse_size("N=1Ki:16Ki:4").values, ElementsAre(1024, 4096, 16384));
  EXPECT_THAT(parse_size("N=3:100:5").values, ElementsAre(3, 15, 75));
  EXPECT_THAT(parse_size("N=2Mi").values, ElementsAre(1 << 21));
  EXPECT_EQ(parse_size("tokens=1Gi").name, "tokens");
}

TEST(Sizes, WhatIsNoRangeIsPointedAt) {
  const std::pair<const char*, const char*> rows[] = {
      {"N=x",                    "expected a size such as 4096 or 4Ki\n  N=x\n    ^"},
      {"1Ki:1Gi:4",              "expected NAME=FROM:TO:FACTOR"                     },
      {"N=0",                    "a size is at least 1"                             },
      {"N=1Ki:1",                "a range ends no lower than it begins"             },
      {"N=1Ki:1Zi:4",            "expected FROM:TO:FACTOR"                          },
      {"N=1Ki:1Mi",              "expected FROM:TO:FACTOR"                          },
      {"N=1Ki:1Mi:1",            "a factor is at least 2"                           },
      {"N=1Ki:1Mi:4x",           "expected the end"                                 },
      {"N=99999999999999999999", "this size is too large"                           },
      {"N=9999999999Gi",         "this size is too large"                           },
      {"N=64Ti",                 "this size is too large"                           },
      {"N=4Pi",                  "expected FROM:TO:FACTOR, or one size"             },
  };
  for (const auto& [text, message] : rows) try {
      parse_size(text);
      ADD_FAILURE() << text;
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(message)) << text;
    }
}

TEST(Sizes, ANameIsADimensionAndNothingElse) {
  const std::vector<SizeRange> n{
      {"x", {8}     },
      {"N", {16, 32}}
  };
  EXPECT_THAT(with_sizes("on x=4: reshard f32[N@x,x] -> f32[N,x@x]", n),
              ElementsAre("on x=4: reshard f32[16@x,8] -> f32[16,8@x]",
                          "on x=4: reshard f32[32@x,8] -> f32[32,8@x]"));
  EXPECT_THAT(with_sizes("on x=4: reshard f32[8@x] -> f32[8]", n),
              ElementsAre("on x=4: reshard f32[8@x] -> f32[8]"));
}

TEST(Sizes, WhatIsNotDividedIsRefused) {
  EXPECT_THROW(with_sizes("on x=4: reshard f32[N@x] -> f32[N]",
                          {
                              {"N", {16, 18}}
  }),
               BadInput);
}

TEST(Sizes, AUsersRangeStandsBeforeThatOfTheRow) {
  const Row row = parse_row("size N from 1Ki to 4Ki by 4: on x=2: reshard f32[N@x] -> f32[N]", "s", "");
  EXPECT_EQ(sized({row}, {}).size(), 2U);
  EXPECT_EQ(sized(
                {
                    row
  },
                {{"N", {8}}})
                .at(0)
                .line,
            "on x=2: reshard f32[8@x] -> f32[8]");
  EXPECT_THROW(sized(
                   {
                       row
  },
                   {{"M", {8}}}),
               BadInput);
  EXPECT_THROW(sized(
                   {
                       row
  },
                   {{"N", {4}}, {"N", {8}}}),
               BadInput)
      << "of two sizes of one name neither is left out";
  EXPECT_THROW(parse_row("size N from 1Ki: on x=2: reshard f32[N@x] -> f32[N]", "s", ""), BadInput);
}

// The caret is under the word, in the row as it was written.
TEST(Rows, AreShownAsTheyWereWritten) {
  struct Bad {
    std::string row, word, message;
  };
  const std::string line = ": on x=2: reshard f32[N@x] -> f32[N]";
  for (const auto& [row, word, message] : {Bad{"size N from 8 to 1 by 2", "1 by", "a range ends no lower than it begins"},
                                           {"size N from 8 to 1x by 2", "x by", "expected FROM:TO:FACTOR, or one size"},
                                           {"size N from q to 16 by 2", "q", "expected a size such as 4096 or 4Ki"},
                                           {"size N from 8 to 16 by 1", "1:", "a factor is at least 2"},
                                           {"size N of 4,", ",", "expected FROM:TO:FACTOR, or one size"},
                                           {"size 5 of 4", "5", "expected NAME=FROM:TO:FACTOR, such as N=1Ki:1Gi:4"},
                                           {"size N of 4: size N of 8", "size N of 8", "size N stands twice"},
                                           {"max-waste 1: max-waste 2", "max-waste 2", "max-waste stands twice"},
                                           {"max-collectives 0: max-collectives 0", "max-collectives 0:", "max-collectives stands twice"},
                                           {"sample 1: sample 2 seed 1", "sample 2", "sample stands twice"}}) try {
      parse_row(row + line, "", "");
      ADD_FAILURE() << row;
    } catch (const BadInput& error) {
      const std::string whole = row + line;
      const std::size_t at = message.ends_with("twice") ? whole.rfind(word) : whole.find(word);
      EXPECT_EQ(error.what(), message + "\n  " + whole + "\n  " + std::string(at, ' ') + "^");
    }
}

}  // namespace
}  // namespace plumb
