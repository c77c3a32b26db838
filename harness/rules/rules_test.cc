#include "harness/rules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/rules/names.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string text(const std::vector<AxisRule>& rules) {
  std::string all;
  for (const AxisRule& rule : rules) all += (all.empty() ? "" : ",") + print(rule);
  return all;
}

TEST(Rules, AreReadAsUsersHaveThem) {
  const struct {
    const char *file, *rules;
  } rows[] = {
      {R"([["embed", ["fsdp", "tp"]], ["mlp", "tp"], ["norm", null], ["kv", []]])",
       "embed:[fsdp.tp],mlp:tp,norm:-,kv:[]"                                                                               },
      {"(('embed', ('fsdp', 'tp')), ('mlp', ('tp',)), ('norm', None), ('kv', ('tp')), ('q', ()),)",
       "embed:(fsdp.tp),mlp:(tp),norm:-,kv:tp,q:()"                                                                        },
      {"base_config: x\nlogical_axis_rules: [\n  ['embed', ['fsdp']], # the kernels\n  ['mlp', "
       "'tp']\n]\nmore: 3\n",                                                                "embed:[fsdp],mlp:tp"  },
      {"# not these logical_axis_rules: [\nRULES = 1\nlogical_axis_rules = [('a', 'x')]\nprint()",  "a:x"                  },
      {"- [embed, [fsdp, tp]]\n- [mlp, ~]\n",                                                       "embed:[fsdp.tp],mlp:-"},
      {"logical_axis_rules:\n  - ['embed', fsdp]\n  - [embed, []]\nmesh: 1\n",                      "embed:fsdp,embed:[]"  },
      {"LAYERS = 3\nrules = (('a', 'x'),)\n",                                                       "a:x"                  },
      {"sharding_rules: [['a', 'x']]\nmesh: 1\n",                                                   "a:x"                  },
      {"- - embed\n  - - fsdp\n    - tp\n- - mlp\n  - ~\n",                                         "embed:[fsdp.tp],mlp:-"},
      {"rules:\n  - - embed\n    - fsdp\n  -\n    - mlp\n    - [tp]\n  - - norm\n    -\nmesh: 1\n",
       "embed:fsdp,mlp:[tp],norm:-"                                                                                        },
      {"[]",                                                                                        ""                     },
  };
  for (const auto& row : rows) EXPECT_EQ(text(read_rules(row.file, "f")), row.rules) << row.file;
}

TEST(Rules, WhatIsNoRuleIsShown) {
  const struct {
    const char *file, *message;
  } rows[] = {
      {"",                                     "f: there are no rules; expected a list of pairs"       },
      {"[['embed']]",                          "f:1: expected a pair"                                  },
      {"[['embed', 'x']",                      "f:1: expected ',' or ']'"                              },
      {"[\n['embed', 'x'] ['mlp', 'x']]",
       "f:2: expected ',' or ']'\n  ['embed', 'x'] ['mlp', 'x']]\n                 ^"                  },
      {"[['embed', ['x', null]]]",             "expected the name of a mesh axis"                      },
      {"[['embed, 'x']]",                      "expected ','"                                          },
      {"[['embed', 'x]]",                      "this quote is not closed"                              },
      {"{\"embed\": \"x\"}",                   "expected a name, a list, a tuple or None"              },
      {"embed",                                "expected a list of rules"                              },
      {"[['a','x']] more",                     "expected the end"                                      },
      {"[['embed', 'x'],\n ['em-bed', 'x']]",
       "f:2: expected the name of a dimension: letters, digits and _\n   ['em-bed', 'x']]\n     ^"     },
      {"[['embed', ['x',\n 'y z']]]",
       "f:2: expected the name of a mesh axis: letters, digits and _\n   'y z']]]\n    ^"              },
      {"[['', 'x']]",                          "f:1: expected the name of a dimension"                 },
      {"[['embed', '']]",                      "f:1: expected the name of a mesh axis"                 },
      {"- - embed\n  - x\n - - mlp\n   - y\n", "f:3: this dash stands below no other\n   - - mlp\n   ^"},
      {"rules:\n- [a, x]\n  - [b, y]\n",       "f:3: this dash stands below no other"                  },
      {"rules:\n  - [a, x]\n- [b, y]\n",       "f:3: this dash stands below no other"                  },
      {"- embed: x\n",                         "f:1: expected a pair"                                  },
      {"[[[[[[[[[[[[[[]]]]]]]]]]]]]]",         "too deep"                                              },
  };
  for (const auto& row : rows) {
    try {
      read_rules(row.file, "f");
      ADD_FAILURE() << row.file;
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message)) << row.file;
    }
  }
}

TEST(Rules, MeshAxesOfTheFile) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(read_mesh_axes("a: 1\nmesh_axes: ['data', fsdp] # two\nrules: []", "f"), (Names{"data", "fsdp"}));
  EXPECT_EQ(read_mesh_axes("mesh_axes:\n- data\n- fsdp\nrules: []", "f"), (Names{"data", "fsdp"}));
  EXPECT_EQ(read_mesh_axes("[['a', 'x']]", "f"), Names{});
  EXPECT_THROW(read_mesh_axes("mesh_axes: 3", "f"), BadInput);
  EXPECT_THROW(read_mesh_axes("mesh_axes: ['da ta']", "f"), BadInput);
}

std::string first_case(const std::string& names, const char* rules) {
  std::istringstream in(names);
  return print(resolve_case(parse_mesh("fsdp=2,tp=2"), read_names(in, "n").front(), read_rules(rules, "f")));
}

TEST(Names, MakeCases) {
  const char* rules = "[['embed', 'fsdp']]";
  const std::string on = "on fsdp=2,tp=2: resolve first ";
  EXPECT_EQ(first_case("# mine\n\nlayers/wi bf16[8,16] embed,mlp  # up", rules),
            on + "bf16[8'embed,16'mlp] rules=embed:fsdp");
  EXPECT_EQ(first_case("scale f32[8] None", rules), on + "f32[8'-] rules=embed:fsdp");
  EXPECT_EQ(first_case("w f32[8, 4]  ('embed', None)", rules), on + "f32[8'embed,4'-] rules=embed:fsdp");
  EXPECT_EQ(first_case("step s32[]", rules), on + "s32[] rules=embed:fsdp");
}

TEST(Names, WhatIsNoneIsShown) {
  const struct {
    const char *names, *message;
  } rows[] = {
      {"",                                 "n: there are no parameters"                                             },
      {"w",                                "n:1: expected PATH DTYPE[SIZE,...]"                                     },
      {"w f32[8,4] embed",                 "n:1: 2 sizes and 1 name"                                                },
      {"\n  w f31[8] embed",
       "n:2: expected a dtype (s8, s32, f8e4m3, f8e5m2, e8m0, f16, bf16, f32, f64)\n  w f31[8] embed\n    ^"        },
      {"w f32[8, 4x] a,b",                 "n:1: expected the size of a dimension\n  w f32[8, 4x] a,b\n           ^"},
      {"w f32[8,-4] a,b",                  "n:1: expected the size of a dimension\n  w f32[8,-4] a,b\n          ^"  },
      {"w f32[8,4] a,em-bed",
       "n:1: expected the name of a dimension: letters, digits and _, or - for one without\n  w f32[8,4] "
       "a,em-bed\n               ^"                                                                                 },
      {"w f32[9999999999,9999999999] a,b",
       "n:1: this array would hold more than 2^62 bytes\n  w f32[9999999999,9999999999] a,b\n    ^"                 },
      {"w f32[99999999999999999999] a",    "n:1: this number is too large"                                          },
  };
  for (const auto& row : rows) {
    try {
      first_case(row.names, "[]");
      ADD_FAILURE() << row.names;
    } catch (const BadInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.message)) << row.names;
    }
  }
}

}  // namespace
}  // namespace plumb
