#include "harness/select/where.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

struct Row {
  const char *where, *line;
  bool holds;
};

constexpr const char* move = "on dp=2,tp=4: reshard f32[8@dp,6@tp] -> f32[8,6@tp]";
constexpr const char* sum = "on x=2,y=2 ids=3,1,0,2: reshard bf16[3]+x -> bf16[3@x.y] nested";
constexpr const char* product = "on x=8: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8@x,8]";

// clang-format off
const Row table[] = {
    {"",                             move,    true},
    {"op=reshard",                   move,    true},
    {"op=einsum",                    move,    false},
    {"op=einsum,grouped",            product, true},
    {"op!=einsum",                   product, false},
    {"devices=8",                    move,    true},
    {"devices>=8 op=reshard",        product, false},
    {"devices<8",                    sum,     true},
    {"devices=2,4",                  sum,     true},
    {"devices!=4",                   sum,     false},
    {"mesh=2x4",                     move,    true},
    {"mesh=4x2",                     move,    false},
    {"shape=8x6",                    move,    true},
    {"shape=8x6",                    product, false},
    {"axis=dp",                      move,    true},
    {"axis=dp",                      sum,     false},
    {"axis!=dp",                     sum,     true},
    {"axis.tp>2",                    move,    true},
    {"axis.tp>4",                    move,    false},
    {"axis.tp=1",                    sum,     false},  // its mesh has no tp
    {"axis.tp!=4",                   sum,     false},
    {"axis.tp<9",                    sum,     false},
    {"axis.tp!=2",                   move,    true},
    {"axis.tp=1",                    "on tp=1,x=2: reshard f32[8@x] -> f32[8]",     true},
    {"dtype=bf16",                   sum,     true},
    {"dtype=bf16",                   product, false},
    {"rank>1",                       sum,     false},
    {"is=uneven",                    move,    true},
    {"is=uneven",                    product, false},
    {"is=unfinished is=permuted is=nested is=uneven", sum, true},
    {"is=empty",                     "on x=4: reshard f32[2@x] -> f32[2]",          true},
    {"is=empty",                     "on x=4: reshard f32[7@x] -> f32[7]",          false},
    {"is=chain",                     "on x=4: reshard f32[6@x] -> f32[6] -> f32[6@x]", true},
    {"fill=cancel",                  product, true},
    {"fill=cancel",                  move,    false},
    {"text~'f32[8@x,4]'",            product, true},
    {"text!~'f32[8@x,4]'",           product, false},
    {"text~ids",                     sum,     true},
};
// clang-format on

// What no case can have, or what is no number, is a mistake.
TEST(Where, RefusesWhatSelectsNothing) {
  for (const char* text :
       {"op=foo", "op=reshard,devices=2", "dtype=f33", "dtype=bf16,f33", "fill=xyz", "mesh=2x", "mesh=dp",
        "is=e", "op==reshard", "rank>=99999999999999999999", "axis.x=99999999999999999999"})
    EXPECT_THROW(parse_where(text), BadInput) << text;
  for (const char* text : {"op=quantize,resolve", "fill=scaled", "mesh=2x2x3", "dtype=e8m0", "op~resh"})
    EXPECT_NO_THROW(parse_where(text)) << text;
}

TEST(Where, SelectsByWords) {
  for (const Row& row : table)
    EXPECT_EQ(matches(parse_where(row.where), parse_case(row.line)), row.holds)
        << row.where << " / " << row.line;
}

TEST(Where, EveryKeyOfACaseIsSaid) {
  const auto said = [](const char* line) {
    std::string text;
    for (const Trait& trait : traits_of(parse_case(line))) {
      if (trait.key == "text") continue;
      text += fmt::format("{}={}", trait.key, fmt::join(trait.words, trait.several ? "," : " and "));
      text += trait.number ? fmt::format("{} ", *trait.number) : " ";
    }
    return text;
  };
  EXPECT_EQ(said(move),
            "op=reshard mesh=2x4 axis=dp,tp shape=8x6 dtype=f32,f32 is=uneven,empty fill=provenance "
            "devices=8 rank=2 contracted=0 ");
  EXPECT_EQ(
      said("on x=2: reshard f32[] -> f32[]"),
      "op=reshard mesh=2 axis=x shape= dtype=f32,f32 is= fill=provenance devices=2 rank=0 contracted=0 ");
  EXPECT_THAT(said("on x=2: einsum bsh,shn->bn f32[2,3,4@x] f32[3,4@x,5] -> f32[2,5]"),
              testing::HasSubstr("contracted=2 "));
}

TEST(Where, AStatusIsThatOfTheRecord) {
  const Where where = parse_where("status=wrong,none op=reshard");
  EXPECT_TRUE(asks_status(where));
  EXPECT_TRUE(matches(where, parse_case(move)));
  EXPECT_TRUE(matches(where, Status::wrong));
  EXPECT_TRUE(matches(where, std::nullopt));
  EXPECT_FALSE(matches(where, Status::pass));
  EXPECT_TRUE(matches(parse_where("status=malformed"), Status::malformed));
  EXPECT_FALSE(matches(parse_where("status=malformed"), Status::crashed));
  EXPECT_TRUE(matches(parse_where("status!=pass"), Status::hung));
  EXPECT_FALSE(matches(parse_where("status!=pass"), Status::pass));
}

}  // namespace
}  // namespace plumb
