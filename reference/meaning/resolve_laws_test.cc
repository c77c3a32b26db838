// The laws of the policy `first`, each over every small case, and each seen broken by a resolver with one
// fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "reference/meaning/resolve.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using AxisNames = std::vector<std::string>;
using Resolver = std::function<Resolved(const Case&)>;
using Law = std::function<bool(const Case&, const Resolver&)>;  // whether the case breaks it

Resolver under(const Policy& policy) {
  return [policy](const Case& c) { return resolved(c, policy); };
}

// Every list of up to three rules for two or three dimensions on x=2, u=1 and y=2; the third is for a or b.
std::vector<Case> small_cases() {
  std::vector<std::string> rules, lists = {""};
  for (const char* name : {"a", "b", "c"})
    for (const char* value : {"x", "u", "[x.y]", "(x.u)", "(u.y)", "-"})
      rules.push_back(std::string(name) + ":" + value);
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
  for (const std::string array : {"[4'a,4'b]", "[4'b,4'-,4'a]", "[4'x,4'a]"})
    for (const std::string& list : lists)
      cases.push_back(parse_case("on x=2,u=1,y=2: resolve first f32" + array + " rules=" + list));
  return cases;
}

Resolve& op(Case& c) { return std::get<Resolve>(c.op.kind); }
const Resolve& op(const Case& c) { return std::get<Resolve>(c.op.kind); }

AxisNames live(AxisNames axes) {
  std::erase(axes, "u");
  return axes;
}

// The axes that split each dimension, without those of size 1; nothing where there is no layout.
std::optional<std::vector<AxisNames>> layout(const Case& c, const Resolver& resolver) {
  const Resolved r = resolver(c);
  if (!r.spec) return std::nullopt;
  std::vector<AxisNames> dims;
  for (const Dim& dim : r.spec->dims) {
    dims.emplace_back();
    for (AxisId a : dim.axes)
      if (c.mesh.axes[a].size > 1) dims.back().push_back(c.mesh.axes[a].name);
  }
  return dims;
}

// Of two rules that want one axis, or are of one name, the first decides.
bool order_of_rules_is_ignored(const Case& c, const Resolver& resolver) {
  const auto& rules = op(c).rules;
  const auto dim_of = [&](std::size_t r) {
    return static_cast<std::size_t>(std::ranges::find(op(c).names, rules[r].name) - op(c).names.begin());
  };
  if (rules.size() != 2 || dim_of(0) == op(c).names.size() || dim_of(1) == op(c).names.size()) return false;
  const AxisNames first = live(rules[0].axes), second = live(rules[1].axes);
  const bool clash = std::ranges::find_first_of(first, second) != first.end();
  if (!clash && rules[0].name != rules[1].name) return false;
  std::vector<AxisNames> want(op(c).names.size());
  want[dim_of(0)] = first;
  return layout(c, resolver) != want;
}

bool order_of_dimensions_matters(const Case& c, const Resolver& resolver) {
  const auto dims = layout(c, resolver);
  std::vector<std::size_t> order(op(c).names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (std::ranges::next_permutation(order).found) {
    Case turned = c;
    auto want = dims;
    for (std::size_t i = 0; i < order.size(); ++i) {
      op(turned).names[i] = op(c).names[order[i]];
      if (want) (*want)[i] = (*dims)[order[i]];
    }
    if (layout(turned, resolver) != want) return true;
  }
  return false;
}

// Nothing but conflicts could leave these cases without a layout.
bool an_axis_is_given_twice(const Case& c, const Resolver& resolver) {
  const auto dims = layout(c, resolver);
  if (!dims) return true;
  AxisNames all;
  for (const AxisNames& dim : *dims) all.insert(all.end(), dim.begin(), dim.end());
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) != all.end();
}

bool names_of_axes_matter(const Case& c, const Resolver& resolver) {
  const std::map<std::string, std::string> others = {
      {"x", "q"},
      {"u", "p"},
      {"y", "o"}
  };
  Case renamed = c;
  for (Axis& axis : renamed.mesh.axes) axis.name = others.at(axis.name);
  for (AxisRule& rule : op(renamed).rules)
    for (std::string& axis : rule.axes) axis = others.at(axis);
  auto want = layout(c, resolver);
  if (want)
    for (AxisNames& dim : *want)
      for (std::string& axis : dim) axis = others.at(axis);
  return layout(renamed, resolver) != want;
}

bool an_axis_of_size_1_matters(const Case& c, const Resolver& resolver) {
  Case without = c;
  without.mesh.axes.erase(without.mesh.axes.begin() + 1);
  for (AxisRule& rule : op(without).rules) rule.axes = live(rule.axes);
  return layout(without, resolver) != layout(c, resolver);
}

bool a_later_rule_overrules(const Case& c, const Resolver& resolver) {
  const auto before = layout(c, resolver);
  for (const Tried& t : resolver(c).tried) {
    if (!before || t.what != Tried::given) continue;
    for (const AxisNames& axes : {AxisNames{"x"}, AxisNames{"y"}, AxisNames{}}) {
      Case longer = c;
      op(longer).rules.push_back({op(c).names[t.dim], Value::tuple, axes});
      const auto after = layout(longer, resolver);
      if (!after || (*after)[t.dim] != (*before)[t.dim]) return true;
    }
  }
  return false;
}

bool an_empty_value_is_passed_over(const Case& c, const Resolver& resolver) {
  const auto dims = layout(c, resolver);
  for (std::size_t d = 0; dims && d < dims->size(); ++d) {
    const auto rule = std::ranges::find(op(c).rules, op(c).names[d], &AxisRule::name);
    if (rule != op(c).rules.end() && rule->axes.empty() && !(*dims)[d].empty()) return true;
  }
  return false;
}

bool a_rule_of_another_name_matters(const Case& c, const Resolver& resolver) {
  Case fewer = c;
  std::erase_if(op(fewer).rules, [](const AxisRule& rule) { return rule.name == "c"; });
  return layout(fewer, resolver) != layout(c, resolver);
}

bool a_tuple_is_taken_apart(const Case& c, const Resolver& resolver) {
  const auto dims = layout(c, resolver);
  for (std::size_t d = 0; dims && d < dims->size(); ++d) {
    const bool whole = std::ranges::any_of(op(c).rules, [&](const AxisRule& rule) {
      return rule.name == op(c).names[d] && live(rule.axes) == (*dims)[d];
    });
    if (!(*dims)[d].empty() && !whole) return true;
  }
  return false;
}

// Misspelt in the rule that gave it, any of its axes leaves no layout.
bool a_typo_goes_unseen(const Case& c, const Resolver& resolver) {
  for (const Tried& t : resolver(c).tried) {
    if (t.what != Tried::given) continue;
    for (std::size_t i = 0; i < op(c).rules[t.rule].axes.size(); ++i) {
      Case typo = c;
      op(typo).rules[t.rule].axes[i] = "nope";
      if (resolver(typo).spec) return true;
    }
  }
  return false;
}

// A fault that is no policy: rules whose name no dimension has take their axes all the same.
Resolved absent_names_take_axes(const Case& c) {
  Case more = c;
  op(more).names.push_back("c");
  more.op.chain.front().dims.push_back({4, {}});
  Resolved r = resolved(more);
  if (r.spec) r.spec->dims.pop_back();
  return r;
}

TEST(ResolveLaws, HoldOfFirstAndEachIsBrokenByAFault) {
  Policy unit, last, axis, many, strays, empty, parts, by_dimension;
  unit.unit_axes_taken = last.last_rule = axis.unknown_is_axis = many.many_times = true;
  strays.strays_dropped = empty.empty_passes = parts.parts_of_tuples = by_dimension.by_dimension = true;
  const struct {
    const char* name;
    Law broken;
    Resolver fault;
  } laws[] = {
      {"the order of rules matters",                  order_of_rules_is_ignored,      under(by_dimension)   },
      {"the order of rules matters, of one name too", order_of_rules_is_ignored,      under(last)           },
      {"the order of dimensions does not matter",     order_of_dimensions_matters,    under(by_dimension)   },
      {"no axis is given twice",                      an_axis_is_given_twice,         under(many)           },
      {"the names of axes do not matter",             names_of_axes_matter,           under(axis)           },
      {"an axis of size 1 does not matter",           an_axis_of_size_1_matters,      under(unit)           },
      {"a later rule takes nothing away",             a_later_rule_overrules,         under(last)           },
      {"an empty value is an answer",                 an_empty_value_is_passed_over,  under(empty)          },
      {"rules of other names do not matter",          a_rule_of_another_name_matters, absent_names_take_axes},
      {"several axes are given together",             a_tuple_is_taken_apart,         under(parts)          },
      {"a typo does not go unseen",                   a_typo_goes_unseen,             under(strays)         },
  };
  const std::vector<Case> cases = small_cases();
  for (const auto& law : laws) {
    const auto broken = std::ranges::find_if(cases, [&](const Case& c) { return law.broken(c, under({})); });
    EXPECT_EQ(broken, cases.end()) << law.name << ": " << print(*broken);
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) { return law.broken(c, law.fault); }))
        << law.name;
  }
}

TEST(ResolveLaws, EveryOtherPolicyDiffersSomewhereAndIsNamed) {
  const std::vector<Policy>& all = other_policies();
  EXPECT_EQ(all.size(), 2047U);
  EXPECT_EQ(policy_in_words(Policy{}), "");
  EXPECT_EQ(policy_in_words({.last_rule = true, .names_repeat = true}),
            "the last rule of a name wins, a name may stand twice");
  std::vector<Case> cases = small_cases();
  for (const char* rest : {"f32[4'a,4'a] rules=a:-", "f32[4'a] rules=a:nope", "f32[4'a] rules=a:(u.u)"})
    cases.push_back(parse_case(std::string("on x=2,u=1: resolve first ") + rest));
  for (const Policy& policy : all) {
    if (changes(policy) > 1) break;
    EXPECT_NE(policy_in_words(policy), "");
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case& c) {
      return resolved(c, policy).spec != resolved(c).spec;
    })) << policy_in_words(policy);
  }
}

}  // namespace
}  // namespace plumb
