#include "harness/backend/capabilities.h"

#include <gtest/gtest.h>

#include "adapters/protocol/json.h"
#include "adapters/protocol/message.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Capabilities capabilities(const char* text) {
  return hello_from_json({
                             {"name",         "n"             },
                             {"capabilities", parse_json(text)}
  })
      .capabilities;
}

TEST(Capabilities, ACaseOutsideThemIsUnsupportedForAReason) {
  const char* einsum = "on x=2: einsum mk,kn->mn bf16[2,2] bf16[2,2] -> f32[2,2]";
  const char* uneven = "on a=2,b=2: reshard f32[5@a.b] -> f32[5] nested";
  const char* even = "on a=2,b=2: reshard f32[8@a.b] -> f32[8] nested";
  const char* sum = "on x=2: reshard bf16[8]+x -> bf16[8]";
  const char* most = "on x=2: reshard f32[8]+max(x) -> f32[8]";
  const char* mean = "on x=2,y=2: reshard f32[8] -> f32[8]+avg(x)+y";
  const char* part = "on x=2 of x=2,y=2: reshard f32[8@x] -> f32[8]";
  const char* free = "on x=2: reshard f32[8@x] -> f32[8]?";
  const char* chain = "on x=2: reshard f32[8@x] -> f32[8] -> f32[8@x]";
  const char* codes = "on x=2: quantize fp8 bf16[8@x,8] -> f8e4m3[8@x,8] f32[]";
  const char* move = "on x=2: reshard bf16[8@x] -> bf16[8]";
  const struct {
    const char *capabilities, *line, *reason;  // "" where the case is within
  } rows[] = {
      {"{}",                                                           einsum, ""               },
      {R"({"ops":["reshard"]})",                                       einsum, "einsum"         },
      {R"({"ops":["reshard","einsum"]})",                              einsum, ""               },
      {R"({"dtypes":["f32"]})",                                        einsum, "bf16"           },
      {R"({"dtypes":["bf16"]})",                                       einsum, "f32"            },
      {R"({"dtypes":["f32","bf16"]})",                                 einsum, ""               },
      {R"({"max_devices":1})",                                         einsum, "2 devices"      },
      {R"({"max_devices":2})",                                         einsum, ""               },
      {R"({"max_rank":1})",                                            einsum, "rank 2"         },
      {R"({"max_rank":2})",                                            einsum, ""               },
      {"{}",                                                           uneven, "nested splits"  },
      {"{}",                                                           even,   ""               }, // both rules cut it alike
      {R"({"rules":["flat","nested"]})",                               uneven, ""               },
      {R"({"rules":["nested"]})",                                      uneven, ""               },
      {R"({"dtypes":{}})",                                             einsum, ""               },
      {R"({"dtypes":{"multiplied":["f32"]}})",                         einsum, "multiplied bf16"},
      {R"({"dtypes":{"multiplied":["bf16"],"summed":["bf16"]}})",      einsum, "summed f32"     },
      {R"({"dtypes":{"multiplied":["bf16"],"moved":[]}})",             einsum, ""               },
      {R"({"dtypes":{"summed":["f32"]}})",                             sum,    "summed bf16"    },
      {R"({"dtypes":{"summed":["f32"]}})",                             move,   ""               },
      {R"({"dtypes":{"moved":["f32"]}})",                              move,   "moved bf16"     },
      {R"({"dtypes":{"moved":["bf16"],"reshard":["f32"]}})",           move,   "bf16"           },
      {R"({"dtypes":{"moved":["f32"],"reshard":{"moved":["bf16"]}}})", move,   ""               },
      {R"({"dtypes":{"moved":["f32"],"einsum":["bf16"]}})",            move,   "moved bf16"     },
      {R"({"free":false})",                                            free,   "a free result"  },
      {R"({"free":true})",                                             free,   ""               },
      {R"({"chains":false})",                                          chain,  "a chain"        },
      {R"({"chains":false})",                                          move,   ""               },
      {R"({"chains":false})",                                          codes,  "scheme fp8"     },
      {R"({"chains":false,"schemes":["fp8"]})",                        codes,  ""               },
      {R"({"acc":["f64"]})",                                           sum,    "acc=f32"        },
      {R"({"acc":["f32"]})",                                           sum,    ""               },
      {R"({"acc":["unspecified"]})",                                   sum,    ""               },
      {"{}",                                                           most,   "unfinished max" },
      {R"({"reductions":["sum","max"]})",                              most,   ""               },
      {R"({"reductions":["sum","max"]})",                              mean,   "unfinished avg" },
      {R"({"reductions":["sum","avg"]})",                              mean,   ""               },
      {"{}",                                                           part,   "a submesh"      },
      {R"({"submesh":true})",                                          part,   ""               },
      {R"({"wire":["f32"]})",                                          sum,    "wire=bf16"      },
      {R"({"wire":["f32","unspecified"]})",                            sum,    ""               },
      {R"({"acc":["f64"],"wire":[]})",                                 move,   ""               }, // nothing is summed
  };
  for (const auto& row : rows) {
    const auto unsupported = outside(capabilities(row.capabilities), parse_case(row.line));
    EXPECT_EQ(unsupported ? unsupported->reason : "", row.reason) << row.capabilities << " " << row.line;
  }
}

TEST(Hello, SaysWhetherItStandsAlone) {
  const auto hello = [](const char* text) { return hello_from_json(parse_json(text)); };
  EXPECT_THROW(hello(R"({"name":""})"), Malformed);
  EXPECT_FALSE(hello(R"({"name":"n"})").alone);
  EXPECT_FALSE(hello(R"({"name":"n","alone":false})").alone);
  EXPECT_TRUE(hello(R"({"name":"n","alone":true})").alone);
  EXPECT_THROW(hello(R"({"name":"n","alone":"yes"})"), Malformed);
}

TEST(Capabilities, WhatIsNotSaidIsTheFirstValueOrNoLimit) {
  const Capabilities none = capabilities("{}");
  EXPECT_FALSE(none.tail_undefined || none.parts_rounded || none.plans_only || none.clones ||
               none.mesh_fixed);
  EXPECT_EQ(none.rules, std::vector<Rule>{Rule::flat});
  const Capabilities all =
      capabilities(R"({"tail":"undefined","parts":"rounded","data":"none","clones":true,"mesh_fixed":true})");
  EXPECT_TRUE(all.tail_undefined && all.parts_rounded && all.plans_only && all.clones && all.mesh_fixed);
  EXPECT_EQ(none.engine, Engine::ieee);
  EXPECT_EQ(capabilities(R"({"engine":"matrix"})").engine, Engine::matrix);
  EXPECT_THROW(capabilities(R"({"engine":"abacus"})"), Malformed);
}

}  // namespace
}  // namespace plumb
