#include "adapters/protocol/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/protocol/json.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// What the exception says, or "" where there is none.
template <class F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const Malformed& e) {
    return e.what();
  }
  return "";
}

TEST(Message, ACaseSurvivesItsJson) {
  for (const char* line : {
           "on x=2: reshard f32[8@x] -> f32[8]",
           "on x=1: reshard f32[] -> f32[]",
           "on x=2,y=2 ids=3,1,0,2: reshard s8[0@x,3@y] -> s8[0,3] seed=18446744073709551615",
           "on dp=2,fsdp=4,tp=2: reshard bf16[8@fsdp.tp,3]+dp -> bf16[8,3@tp] -> bf16[8,3] nested acc=bf16 "
           "wire=f32",
           "on x=2,y=2: einsum bsh,bsf->hf bf16[4@x,2,8] bf16[4@x,2,8@y] -> f32[8,8@y]+x -> f32[8@x,8@y] "
           "fill=normal",
           "on x=2: einsum mk,kn->mn f32[8,4@x] f32[4@x,6] -> f32[8,6]?",
           "on dp=2,pp=3,tp=2: reshard f32[8]+avg(dp.pp)+tp -> f32[8@tp]+avg(pp) -> f32[8]+max(dp)",
           "on tp=2,dp=2 of dp=2,pp=2,tp=2 ids=3,1,0,2,7,6,5,4: reshard f32[8@dp]+tp -> f32[8@tp.dp]",
           "on ep=2: grouped wgrad bf16[8@ep,4] bf16[8@ep,6] sizes=1,2/0,4 -> f32[2,4,6]+ep",
           "on x=2: resolve first f32[8'a,8'-] rules=a:x,a:(x.y),b:(),b:[],c:[x],a:-",
           "on x=2: resolve first f32[] rules=",
       }) {
    const Case c = parse_case(line);
    EXPECT_EQ(case_from_json(parse_json(dump(to_json(c)))), seeded(c)) << line;
  }
}

TEST(Message, ACaseReadsAsThePageSays) {
  const json j =
      to_json(parse_case("on x=2,y=2 ids=3,1,0,2: einsum mk,kn->mn f32[8@x,4] f32[4,6]+y -> f32[8,6]"));
  EXPECT_EQ(j["mesh"], parse_json(R"({"axes":[["x",2],["y",2]],"ids":[3,1,0,2]})"));
  EXPECT_EQ(j["op"], "einsum");
  EXPECT_EQ(j["lhs"], "mk");
  EXPECT_EQ(j["operands"][1], parse_json(R"({"dtype":"f32","shape":[4,6],"split":[[],[]],"unfinished":["y"],
                                              "text":"f32[4,6]+y"})"));
  EXPECT_EQ(j["chain"][0]["text"], "f32[8,6]");
  EXPECT_EQ(to_json(parse_case("on x=2: reshard f32[8@x] -> f32[8]?"))["chain"][0],
            parse_json(R"({"dtype":"f32","shape":[8],"split":[[]],"unfinished":[],"free":true,
                            "text":"f32[8]?"})"));
  EXPECT_EQ(to_json(parse_case("on x=2,y=2: reshard f32[8]+avg(y)+x -> f32[8]+avg(y)"))["operands"][0],
            parse_json(R"({"dtype":"f32","shape":[8],"split":[[]],"unfinished":["y","x"],"averaged":["y"],
                            "text":"f32[8]+avg(y)+x"})"));
  const json sub = to_json(parse_case("on y=2 of x=2,y=2 ids=3,1,0,2: reshard f32[8]+max(y) -> f32[8@y]"));
  EXPECT_EQ(sub["mesh"], parse_json(R"({"axes":[["y",2]]})"));
  EXPECT_EQ(sub["parent"], parse_json(R"({"axes":[["x",2],["y",2]],"ids":[3,1,0,2]})"));
  EXPECT_EQ(sub["operands"][0]["reduction"], "max");
  EXPECT_EQ(j["fill"], "cancel");
  EXPECT_EQ(to_json(parse_case("on x=2: reshard f32[8@x] -> f32[8]"))["seed"], 4083273703031758189u);
  EXPECT_EQ(to_json(parse_case("on x=2: reshard f32[8@x] -> f32[8] seed=0"))["seed"], 0u);
}

TEST(Message, RulesArriveAsTheyWereWritten) {
  const json j = to_json(parse_case("on x=2: resolve first f32[8'a,4'-] rules=a:(x),a:[],b:x,b:-"));
  EXPECT_EQ(j["names"], parse_json(R"(["a",null])"));
  EXPECT_EQ(j["rules"], parse_json(R"([{"name":"a","value":"tuple","axes":["x"]},
                                        {"name":"a","value":"list","axes":[]},
                                        {"name":"b","value":"name","axes":["x"]},
                                        {"name":"b","value":"none","axes":[]}])"));
  EXPECT_EQ(j["operands"], json::array());
  EXPECT_EQ(j["chain"][0]["text"], "f32[8,4]");
}

TEST(Message, AForeignCaseIsRefusedWithItsReason) {
  const json good = to_json(parse_case("on x=2,y=2 ids=3,1,0,2: reshard f32[8@x] -> f32[8]"));
  const struct {
    const char *path, *value, *message;
  } rows[] = {
      {"/op",               R"("sort")",  "unknown op \"sort\""         },
      {"/mesh/ids",         "[0,0,1,2]",  "not a permutation"           },
      {"/mesh/axes/0",      R"(["x"])",   "not [name, size]"            },
      {"/operands/0/dtype", R"("f12")",   "no dtype \"f12\""            },
      {"/operands/0/split", "[]",         "differ in length"            },
      {"/operands/0/split", R"([["q"]])", "no axis \"q\""               },
      {"/operands/0/shape", "[8.5]",      "shape is not an integer: 8.5"},
      {"/rule",             R"("round")", "unknown word \"round\""      },
      {"/seed",             "-1",         "seed is not"                 },
      {"/chain",            "null",       "chain is not a list: null"   },
  };
  for (const auto& row : rows) {
    json bad = good;
    bad[json::json_pointer(row.path)] = parse_json(row.value);
    EXPECT_THAT(complaint([&] { case_from_json(bad); }), HasSubstr(row.message)) << row.path;
  }
  for (const auto& [key, value] : good.items()) {
    json bad = good;
    bad.erase(key);
    EXPECT_THAT(complaint([&] { case_from_json(bad); }), HasSubstr("is missing")) << key;
  }
}

TEST(Message, ACollectiveSurvivesItsJson) {
  Collective c;
  c.kind = "collective-permute", c.pairs = {
                                     {0, 1},
                                     {1, 0}
  };
  c.in = 8, c.out = 8, c.times = 3, c.moved = 16, c.op = "add", c.dtype = "f32", c.note = "late";
  const Collective back = collective_from_json(to_json(c));
  EXPECT_EQ(back.pairs, c.pairs);
  EXPECT_EQ(to_json(back), to_json(c));
  Collective sum{.kind = "all-reduce", .in = 8, .out = 8};
  sum.additions = 7, sum.roundings = 2;
  EXPECT_EQ(collective_from_json(to_json(sum)).additions, 7);
  EXPECT_EQ(collective_from_json(to_json(sum)).roundings, 2);
}

TEST(Message, AForeignCollectiveIsRefusedWithItsReason) {
  const struct {
    const char *text, *message;
  } rows[] = {
      {R"({"in":1,"out":1})",                                                 "\"kind\" is missing"                   },
      {R"({"kind":"all-together","in":1,"out":1})",                           "unknown collective \"all-together\""   },
      {R"({"kind":"all-gather","in":-1,"out":1})",                            "in is not a count: -1"                 },
      {R"({"kind":"all-gather","in":1,"out":9223372036854775808})",           "out is not an integer"                 },
      {R"({"kind":"all-gather","in":1,"out":1e300})",                         "out is not an integer"                 },
      {R"({"kind":"all-gather","in":1,"out":1,"groups":[0]})",                "a group is not a list: 0"              },
      {R"({"kind":"send","in":1,"out":1,"pairs":[[0,1,2]]})",                 "not [source, target]"                  },
      {R"({"kind":"all-gather","in":1,"out":1,"note":7})",                    "note is not a string: 7"               },
      {R"({"kind":"all-reduce","in":1,"out":1,"additions":1})",               "additions and roundings stand together"},
      {R"({"kind":"all-reduce","in":1,"out":1,"additions":0,"roundings":2})", "from 1 on"                             },
      {R"({"kind":"all-gather","in":1,"out":1,"additions":1,"roundings":2})", "adds nothing up, all-gather"           },
      {R"(["all-gather"])",                                                   "the message is not an object"          },
  };
  for (const auto& row : rows)
    EXPECT_THAT(complaint([&] { collective_from_json(parse_json(row.text)); }), HasSubstr(row.message));
}

TEST(Table, BlocksSurviveTheirTable) {
  const std::vector<std::vector<Range>> scalar;
  const std::vector<Block> blocks = {
      {.device = 1, .result = 0, .offset = 64,  .bytes = 16, .claim = {{{{0, 2}, {4, 6}}, {{0, 1}}}}},
      {.device = 0, .result = 0, .offset = 0,   .bytes = 0,  .claim = {{{{0, 0}}, {}}}              },
      {.device = 2, .result = 1, .offset = 128, .bytes = 4,  .claim = scalar                        },
      {.device = 3, .result = 1, .offset = 192, .bytes = 4,  .claim = {}                            }, // says nothing
  };
  const auto words = table(blocks);
  const auto back = parse_table(words, 4);
  ASSERT_EQ(back.size(), 4U);
  EXPECT_EQ(table(back), words);
  EXPECT_EQ(back[0].claim, blocks[0].claim);
  EXPECT_TRUE(back[2].claim.has_value());
  EXPECT_FALSE(back[3].claim.has_value());
}

TEST(Table, ABadTableIsRefusedWithItsReason) {
  using Words = std::vector<std::int64_t>;
  const struct {
    Words words;
    std::int64_t rows;
    const char* message;
  } rows[] = {
      {{},                              1,         "ends in row 0"            },
      {{0, 0, 64, 16},                  1,         "ends in row 0"            },
      {{0, 0, 64, 16, 1, 1, 0},         1,         "ends in row 0"            },
      {{0, 0, 64, 16, 0, 1, 0, 64, 16}, 2,         "ends in row 1"            },
      {{0, 0, 64, 16, 0, 7},            1,         "1 words follow the 1 rows"},
      {{0, 0, -64, 16, 0},              1,         "offset is -64"            },
      {{0, 0, 64, 16, -2},              1,         "ndim is -2"               },
      {{0, 0, 64, 16, 1, -1},           1,         "nranges is -1"            },
      {{0, 0, 64, 16, INT64_MAX},       1,         "ends in row 0"            },
      {{0, 0, 64, 16, 1, INT64_MAX},    1,         "ends in row 0"            },
      {{},                              INT64_MAX, "ends in row 0"            },
  };
  for (const auto& row : rows)
    EXPECT_THAT(complaint([&] { parse_table(row.words, row.rows); }), HasSubstr(row.message));
}

}  // namespace
}  // namespace plumb
