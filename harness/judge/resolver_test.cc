#include "harness/judge/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

const std::string on = "on x=2,y=2,u=1: resolve first ";

Outcome claiming(const std::string& claim) {
  Outcome outcome;
  outcome.claims = {claim};
  return outcome;
}

TEST(Resolver, IsJudgedByItsLayout) {
  const struct {
    std::string line, claim;
    Status status;
    const char *text, *cause;
  } rows[] = {
      {on + "f32[4'a,4'b] rules=a:x,b:y",         "f32[4@x,4@y]",   Status::pass,      "",                           ""                                      },
      {on + "f32[4'a,4'b] rules=a:(x.u),b:(u.y)", "f32[4@u.x,4@y]", Status::pass,      "",                           ""                                      },
      {on + "f32[1'a,4'b] rules=a:x,b:y",         "f32[1@y,4@x]",   Status::misplaced, "instead of",                  ""                                      },
      {on + "f32[4'a,4'b] rules=b:x,a:x",         "f32[4,4@x]",     Status::pass,      "",                           ""                                      },
      {on + "f32[4'a,4'b] rules=a:x,b:x",         "f32[4,4@x]",     Status::misplaced,
       "claims f32[4,4@x] instead of f32[4@x,4]",                                                                    ""                                      },
      {on + "f32[4'a] rules=a:(x.y),a:x",         "f32[4@x]",       Status::misplaced, "8 bytes on a device, not 4",
       "the last rule of a name wins"                                                                                                                        },
      {on + "f32[4'a] rules=a:(x.y)",             "f32[4@y.x]",     Status::misplaced, "instead of f32[4@x.y]",       ""                                      },
      {on + "f32[4'b,4'a] rules=a:(u.x),b:(u.y)", "f32[4,4@x]",     Status::misplaced,
       "32 bytes on a device, not 16",                                                                               "an axis of size 1 counts as taken"     },
      {on + "f32[4'a] rules=a:typo",              "f32[4]",         Status::misplaced,
       "answers f32[4], and there is no layout: the mesh has no axis 'typo'",                                        "an axis that the mesh lacks is dropped"},
      {on + "f32[4'a,4'a] rules=a:-",             "f32[4,4]",       Status::misplaced, "the name 'a' stands twice",
       "a name may stand twice"                                                                                                                              },
      {on + "f32[4'x,4'b] rules=b:y",             "f32[4@x,4@y]",   Status::misplaced, "instead of f32[4,4@y]",
       "a name without a rule is taken for an axis"                                                                                                          },
      {on + "f32[4'a] rules=a:-,a:x",             "f32[4@x]",       Status::misplaced, "instead of f32[4]",
       "the last rule of a name wins; or a value without axes is passed over"                                                                                },
      {on + "f32[4'x] rules=",                    "f32[4@x]",       Status::misplaced, "instead of f32[4]",
       "without rules, names are taken for axes; or a name without a rule is taken for an axis"                                                              },
      {on + "f32[4'a] rules=a:(u.u.x)",           "f32[4@x]",       Status::misplaced, "'u' stands twice",
       "an axis of size 1 is left out"                                                                                                                       },
      {on + "f32[4'a] rules=a:x",                 "f16[4@x]",       Status::misplaced, "claims f16[4@x]",            ""                                      },
      {on + "f32[4'a] rules=a:x",                 "f32[2@x]",       Status::misplaced, "claims f32[2@x]",            ""                                      },
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.line + " as " + row.claim);
    const Verdict v = judge_resolver(parse_case(row.line), claiming(row.claim));
    EXPECT_EQ(name(v.status), name(row.status));
    EXPECT_TRUE(v.plan);
    if (v.facts.empty()) continue;
    EXPECT_THAT(v.facts[0].text, HasSubstr(row.text));
    EXPECT_EQ(v.facts[0].cause, row.cause) << v.facts[0].text;
  }
}

TEST(Resolver, AxesOfSizeOneAreNotShown) {
  const Case c = parse_case(on + "f32[4'a,4'b] rules=a:(u.x),b:(x.y)");
  EXPECT_EQ(judge_resolver(c, claiming("f32[4@u,4@x]")).facts.front().text,
            "claims f32[4,4@x] instead of f32[4@x,4]");
  EXPECT_EQ(judge_refusal(c, "no").facts.front().text, "no; there is a layout: f32[4@x,4]");
}

TEST(Resolver, SlicesAreJudgedToo) {
  const Case c = parse_case("on x=2: resolve first f32[4'a] rules=a:x");
  Outcome outcome = claiming("f32[4@x]");
  for (std::int64_t d = 0; d < 2; ++d)
    outcome.blocks.push_back({d, 0, 0, 0, std::vector<std::vector<Range>>{{{2 * d, 2 * d + 2}}}});
  EXPECT_EQ(judge_resolver(c, outcome).status, Status::pass);
  outcome.claims = {std::nullopt};
  EXPECT_EQ(judge_resolver(c, outcome).status, Status::pass);
  std::swap(outcome.blocks[0].claim, outcome.blocks[1].claim);
  EXPECT_EQ(judge_resolver(c, outcome).status, Status::misplaced);
  const Verdict none = judge_resolver(parse_case("on x=2: resolve first f32[4'a] rules=a:no"), outcome);
  ASSERT_EQ(none.status, Status::misplaced);
  EXPECT_THAT(none.facts[0].text, HasSubstr("answers with slices, and there is no layout"));
  outcome.claims.clear();
  EXPECT_EQ(judge_resolver(c, outcome).status, Status::misplaced);
}

TEST(Resolver, ARefusalAgreesOnlyWhereThereIsNoLayout) {
  EXPECT_EQ(judge_refusal(parse_case(on + "f32[4'a] rules=a:typo"), "ValueError").status, Status::pass);
  EXPECT_EQ(judge_refusal(parse_case(on + "f32[4'a,4'a] rules=a:x"), "ValueError").status, Status::pass);
  const Verdict v = judge_refusal(parse_case(on + "f32[4'a,4'b] rules=a:x,b:x"), "DuplicateSpecError: x");
  EXPECT_EQ(v.status, Status::reneged);
  EXPECT_EQ(v.facts[0].text, "DuplicateSpecError: x; there is a layout: f32[4@x,4]");
  EXPECT_EQ(v.facts[0].cause, "axes already given are given again (axis 'x' is given to two dimensions)");
}

TEST(Resolver, SayingNothingIsNoPass) {
  Outcome outcome;
  outcome.claims = {std::nullopt};
  EXPECT_EQ(judge_resolver(parse_case(on + "f32[4'a] rules=a:-"), outcome).status, Status::mistrusted);
}

TEST(Resolver, OneDeviceIsCountedApart) {
  EXPECT_TRUE(
      judge_resolver(parse_case("on x=1: resolve first f32[4'a] rules=a:x"), claiming("f32[4@x]")).alone);
}

}  // namespace
}  // namespace plumb
