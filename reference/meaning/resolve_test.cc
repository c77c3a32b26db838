#include "reference/meaning/resolve.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

// The layout as the text of its spec, or the error.
std::string answer(const Case& c, const Policy& policy = {}) {
  const Resolved r = resolved(c, policy);
  return r.spec ? print(c.mesh, *r.spec) : r.error;
}

const std::string M2 = "on fsdp=2,ft=2,tensor=2,expert=2,stage=2,data=1,context=1: resolve first ";
const std::string M1 = "on fsdp=8,ft=1,tensor=1,expert=1,context=1,data=1: resolve first ";

TEST(Resolve, TheCasesOfThePage) {
  const struct {
    std::string line, want;
  } rows[] = {
      {"on X=2,Y=2,Z=2: resolve first f32[8'batch,8'length,8'heads,8'features] "
       "rules=batch:X,features:X,heads:Y,batch:Z",                                          "f32[8@X,8,8@Y,8]"                     },
      {M2 + "f32[8'embed] rules=embed:(fsdp.ft),embed:fsdp",                                       "f32[8@fsdp.ft]"                       },
      {M2 + "f32[8'embed,8'mlp] rules=mlp:(ft.tensor),embed:(fsdp.ft.expert),embed:(fsdp.expert)",
       "f32[8@fsdp.expert,8@ft.tensor]"                                                                                                   },
      {M2 + "f32[8'mlp,8'embed] rules=mlp:(ft.tensor),embed:(fsdp.ft.expert),embed:(fsdp.expert)",
       "f32[8@ft.tensor,8@fsdp.expert]"                                                                                                   },
      {M2 + "f32[8'embed,8'mlp] rules=mlp:(ft.tensor),embed:(fsdp.ft.expert)",                     "f32[8,8@ft.tensor]"                   },
      {M1 + "f32[8'embed,8'mlp] rules=mlp:(ft.tensor),embed:(fsdp.ft.expert)",
       "f32[8@fsdp.ft.expert,8@tensor]"                                                                                                   },
      {M2 + "f32[8'embed,8'mlp] rules=embed:fsdp,mlp:fsdp",                                        "f32[8@fsdp,8]"                        },
      {M2 + "f32[8'embed,8'mlp] rules=embed:fsdp,mlp:fsdp,mlp:stage",                              "f32[8@fsdp,8@stage]"                  },
      {M2 + "f32[8'a,8'b] rules=a:-,a:tensor,b:fsdp",                                              "f32[8,8@fsdp]"                        },
      {M2 + "f32[8'kv,8'embed] rules=kv:[],kv:tensor,embed:fsdp",                                  "f32[8,8@fsdp]"                        },
      {M2 + "f32[8'embed,8'embed] rules=embed:fsdp",                                               "the name 'embed' stands twice"        },
      {M2 + "f32[8'-,8'-,8'embed] rules=embed:[fsdp]",                                             "f32[8,8,8@fsdp]"                      },
      {M2 + "f32[8'concat_embed,8'embed] rules=embed:fsdp",                                        "f32[8,8@fsdp]"                        },
      {M2 + "f32[8'fsdp,8'embed] rules=embed:fsdp",                                                "f32[8,8@fsdp]"                        },
      {M2 + "f32[8'a,8'b] rules=a:(fsdp.expert),b:(expert.tensor)",                                "f32[8@fsdp.expert,8]"                 },
      {M2 + "f32[8'a] rules=a:(fsdp.fsdp)",                                                        "axis 'fsdp' stands twice in one value"},
      {M2 + "f32[8'a] rules=a:nope",                                                               "the mesh has no axis 'nope'"          },
      {M2 + "f32[8'a] rules=a:fsdp,a:nope,b:nope",                                                 "f32[8@fsdp]"                          },
      {M2 + "f32[8'a,8'b] rules=a:fsdp,b:(nope.fsdp),b:tensor",                                    "f32[8@fsdp,8@tensor]"                 },
      {M1 + "f32[8'a,8'b] rules=a:(ft.fsdp),b:(ft.tensor)",                                        "f32[8@ft.fsdp,8@tensor]"              },
      {M2 + "f32[] rules=",                                                                        "f32[]"                                },
      {"on data=2,model=2: resolve first f32[8'batch,8'length,8'embed] "
       "rules=batch:data,embed:model,embed:data",                                           "f32[8@data,8,8@model]"                },
  };
  for (const auto& row : rows) {
    EXPECT_EQ(answer(parse_case(row.line)), row.want) << row.line;
    EXPECT_EQ(print(parse_case(row.line)), row.line);
  }
}

}  // namespace
}  // namespace plumb
