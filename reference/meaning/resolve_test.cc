#include "reference/meaning/resolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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

// The laws, over every list of up to three rules on two or three dimensions, x=2, y=2 and u=1. Each is a
// function of a case and a policy: what breaks it, or nothing.
using Law = std::function<bool(const Case&, const Policy&)>;

std::vector<Case> small_cases() {
  const char* values[] = {"x", "[x.y]", "(x.u)", "(u.y)", "-"};
  std::vector<std::string> rules;
  for (const char* name : {"a", "b", "c"})
    for (const char* value : values) rules.push_back(std::string(name) + ":" + value);
  std::vector<std::string> lists = {""};
  for (const std::string& one : rules) {
    lists.push_back(one);
    for (const std::string& two : rules) {
      lists.push_back(one + "," + two);
      if (two[0] == 'c') continue;
      for (const std::string& three : rules)
        if (three[0] != 'c') lists.push_back(one + "," + two + "," + three);
    }
  }
  std::vector<Case> cases;
  for (const char* array : {"[4'a,4'b]", "[4'b,4'-,4'a]", "[4'x,4'a]"})
    for (const std::string& list : lists)
      cases.push_back(
          parse_case("on x=2,u=1,y=2: resolve first f32" + std::string(array) + " rules=" + list));
  return cases;
}

Resolve& op(Case& c) { return std::get<Resolve>(c.op.kind); }
const Resolve& op(const Case& c) { return std::get<Resolve>(c.op.kind); }

void rename(std::vector<std::string>& words, const std::string& from, const std::string& to) {
  std::ranges::replace(words, from, to);
}

std::vector<AxisId> without_units(const Mesh& mesh, std::vector<AxisId> axes) {
  std::erase_if(axes, [&](AxisId a) { return mesh.axes[a].size == 1; });
  return axes;
}

// The names of the axes of each dimension, those of size 1 left out; nothing where there is no layout.
std::optional<std::vector<std::vector<std::string>>> layout(const Case& c, const Policy& policy) {
  const Resolved r = resolved(c, policy);
  if (!r.spec) return std::nullopt;
  std::vector<std::vector<std::string>> dims;
  for (const Dim& dim : r.spec->dims) {
    dims.emplace_back();
    for (AxisId a : without_units(c.mesh, dim.axes)) dims.back().push_back(c.mesh.axes[a].name);
  }
  return dims;
}

// No axis is given to two dimensions; where one would be, there is an answer all the same.
bool gives_an_axis_twice(const Case& c, const Policy& policy) {
  const auto dims = layout(c, policy);
  return !dims && !op(c).rules.empty() && op(c).names[0] != "x";
}

bool order_of_dimensions_matters(const Case& c, const Policy& policy) {
  Case turned = c;
  std::ranges::reverse(op(turned).names);
  auto dims = layout(turned, policy);
  if (dims) std::ranges::reverse(*dims);
  return dims != layout(c, policy);
}

bool names_of_axes_matter(const Case& c, const Policy& policy) {
  Case renamed = c;
  renamed.mesh.axes[0].name = "p";
  for (AxisRule& rule : op(renamed).rules) rename(rule.axes, "x", "p");
  auto dims = layout(renamed, policy);
  if (dims)
    for (auto& dim : *dims) rename(dim, "p", "x");
  return dims != layout(c, policy);
}

bool an_axis_of_size_1_matters(const Case& c, const Policy& policy) {
  Case without = c;
  without.mesh.axes.erase(without.mesh.axes.begin() + 1);
  for (AxisRule& rule : op(without).rules) std::erase(rule.axes, "u");
  return layout(without, policy) != layout(c, policy);
}

bool a_later_rule_overrules(const Case& c, const Policy& policy) {
  const auto before = resolved(c, policy);
  if (!before.spec) return false;
  for (const Tried& t : before.tried) {
    if (t.what != Tried::given) continue;
    Case longer = c;
    op(longer).rules.push_back({op(c).names[t.dim], Value::name, {"y"}});
    const auto after = layout(longer, policy);
    if (!after || (*after)[t.dim] != (*layout(c, policy))[t.dim]) return true;
  }
  return false;
}

// The first rule of a name is the only one that is tried where it has no axes.
bool an_empty_value_is_passed_over(const Case& c, const Policy& policy) {
  const auto dims = layout(c, policy);
  for (std::size_t d = 0; dims && d < dims->size(); ++d) {
    const auto rule = std::ranges::find(op(c).rules, op(c).names[d], &AxisRule::name);
    if (rule != op(c).rules.end() && rule->axes.empty() && !(*dims)[d].empty()) return true;
  }
  return false;
}

bool a_rule_of_another_name_matters(const Case& c, const Policy& policy) {
  Case fewer = c;
  std::erase_if(op(fewer).rules, [](const AxisRule& rule) { return rule.name == "c"; });
  return layout(fewer, policy) != layout(c, policy);
}

bool a_tuple_is_taken_apart(const Case& c, const Policy& policy) {
  const auto dims = layout(c, policy);
  for (std::size_t d = 0; dims && d < dims->size(); ++d) {
    const bool whole = std::ranges::any_of(op(c).rules, [&](const AxisRule& rule) {
      std::vector<std::string> live = rule.axes;
      std::erase(live, "u");
      return rule.name == op(c).names[d] && live == (*dims)[d];
    });
    if (!(*dims)[d].empty() && !whole) return true;
  }
  return false;
}

// Misspelt in the rule that gave it, an axis leaves no layout.
bool a_typo_goes_unseen(const Case& c, const Policy& policy) {
  for (const Tried& t : resolved(c, policy).tried) {
    if (t.what != Tried::given || op(c).rules[t.rule].axes.empty()) continue;
    Case typo = c;
    op(typo).rules[t.rule].axes.back() = "nope";
    if (resolved(typo, policy).spec) return true;
  }
  return false;
}

TEST(Resolve, TheLawsHoldOfFirstAndEachIsBrokenByAnother) {
  Policy unit, last, axis, many, strays, empty, parts, by_dimension;
  unit.unit_axes_taken = last.last_rule = axis.unknown_is_axis = many.many_times = strays.strays_dropped =
      true;
  empty.empty_passes = parts.parts_of_tuples = by_dimension.by_dimension = true;
  const struct {
    const char* name;
    Law broken;
    Policy breaker;
  } laws[] = {
      {"no axis is given twice",                  gives_an_axis_twice,            many        },
      {"the order of dimensions does not matter", order_of_dimensions_matters,    by_dimension},
      {"the names of axes do not matter",         names_of_axes_matter,           axis        },
      {"an axis of size 1 does not matter",       an_axis_of_size_1_matters,      unit        },
      {"a later rule takes nothing away",         a_later_rule_overrules,         last        },
      {"an empty value is an answer",             an_empty_value_is_passed_over,  empty       },
      {"rules of other names do not matter",      a_rule_of_another_name_matters, {}          },
      {"several axes are given together",         a_tuple_is_taken_apart,         parts       },
      {"a typo does not go unseen",               a_typo_goes_unseen,             strays      },
  };
  const std::vector<Case> cases = small_cases();
  for (const auto& law : laws) {
    std::int64_t of_first = 0, of_other = 0;
    for (const Case& c : cases) {
      if (law.broken(c, {})) {
        ++of_first;
        ADD_FAILURE() << law.name << ": " << print(c);
      }
      of_other += law.broken(c, law.breaker);
      if (of_first > 3) break;
    }
    EXPECT_EQ(of_other > 0, law.breaker != Policy{}) << law.name;
  }
}

TEST(Resolve, TheOrderOfRulesMatters) {
  const std::string array = "on x=2: resolve first f32[4'a,4'b] rules=";
  EXPECT_EQ(answer(parse_case(array + "a:x,b:x")), "f32[4@x,4]");
  EXPECT_EQ(answer(parse_case(array + "b:x,a:x")), "f32[4,4@x]");
}

TEST(Resolve, EveryOtherPolicyDiffersSomewhereAndIsNamed) {
  const std::vector<Policy>& all = other_policies();
  EXPECT_EQ(all.size(), 511U);
  EXPECT_EQ(in_words(Policy{}), "");
  std::vector<Case> cases = small_cases();
  cases.push_back(parse_case("on x=2: resolve first f32[4'a,4'a] rules=a:-"));
  cases.push_back(parse_case("on x=2: resolve first f32[4'a] rules=a:nope"));
  for (std::size_t i = 0; i < 9; ++i) {  // those that change one thing
    EXPECT_NE(in_words(all[i]), "");
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) { return answer(c, all[i]) != answer(c); }))
        << in_words(all[i]);
  }
}

}  // namespace
}  // namespace plumb
