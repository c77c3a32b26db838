// What a device needs must be able to come to it.
#include "harness/trace/reachability.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

Collective over(std::vector<std::string> axes) {
  return {.kind = "all-gather", .axes = axes, .in = 1, .out = 2};
}
Collective within(std::vector<std::vector<std::int64_t>> groups) {
  return {.kind = "all-gather", .groups = groups, .in = 1, .out = 2};
}
Collective permute(std::vector<std::pair<std::int64_t, std::int64_t>> pairs) {
  return {.kind = "collective-permute", .pairs = pairs, .in = 1, .out = 1};
}
Collective moving(Collective one, std::optional<std::int64_t> moved, std::int64_t times = 1) {
  one.moved = moved, one.times = times;
  return one;
}

std::string lacks(const std::string& line, const Trace& trace) {
  const Case c = parse_case(line);
  const auto found = lack({c.mesh, c.op.operands[0], result(c), c.rule}, trace);
  return found ? lack_in_words(c.mesh, *found) : "";
}

TEST(Reachability, WhatATraceBringsAndWhatItDoesNot) {
  const std::string gather = "on x=2,y=2: reshard f32[8@x] -> f32[8]",
                    ring = "on x=4: reshard f32[8@x] -> f32[8]";
  const Collective anybody{.kind = "send"};
  const Collective turn = permute({
      {0, 1},
      {1, 2},
      {2, 3},
      {3, 0}
  });
  const struct {
    std::string line;
    Trace trace;
    std::string says;  // empty: all that is needed comes
  } table[] = {
      {gather,                                               {over({"x"})},                                                          ""                                                          },
      {gather,                                               {over({"x", "y"})},                                                     ""                                                          },
      {gather,                                               {anybody},                                                              ""                                                          },
      {gather,                                               {within({{0, 2}, {1, 3}})},                                             ""                                                          },
      {gather,                                               {within({{0, 3}, {1, 2}})},                                             ""                                                          }, // each lies on two devices
      {gather,                                               {permute({{0, 2}, {2, 0}, {1, 3}, {3, 1}})},                            ""                                                          },
      {gather,
       {permute({{2, 0}, {0, 1}}), permute({{0, 2}, {1, 3}})},
       "device 1 (x=0,y=1) needs element [4] of device 3 (x=1,y=1), and no collective takes it there across "
       "x"                                                                                                                                                                                       },
      {gather,                                               {},                                                                     "device 0 (x=0,y=0) needs element [4] of device 2 (x=1,y=0)"},
      {gather,                                               {over({"y"})},                                                          "device 0 (x=0,y=0) needs element [4] of device 2 (x=1,y=0)"},
      {gather,                                               {moving(over({"x"}), 0)},                                               "device 0 "                                                 },
      {gather,                                               {permute({{0, 1}, {1, 0}})},                                            "device 0 "                                                 },
      {gather,                                               {within({{0, 2}})},                                                     "device 1 "                                                 },
      {ring,                                                 {turn},                                                                 "device 0 (x=0) needs element [2] of device 1 (x=1)"        },
      {ring,                                                 {turn, turn},                                                           "device 0 "                                                 },
      {ring,                                                 {turn, turn, turn},                                                     ""                                                          },
      {ring,                                                 {moving(turn, {}, 3)},                                                  ""                                                          },
      {ring,                                                 {moving(turn, -1)},                                                     ""                                                          },
      {ring,                                                 {moving(permute({{0, 1}, {2, 3}}), -1)},                                "device 0 "                                                 },
      {ring,                                                 {moving(permute({{0, 1}, {2, 3}}), -1), moving(permute({{1, 2}}), -1)}, ""                                                          },
      {"on x=2,y=2: reshard f32[8]+x -> f32[8]",             {over({"x"})},                                                          ""                                                          },
      {"on x=2,y=2: reshard f32[8]+x -> f32[8]",
       {over({"y"})},
       "device 0 (x=0,y=0) needs element [0] of device 2"                                                                                                                                        },
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y",         {over({"x"})},                                                          ""                                                          },
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y",         {over({"y"})},                                                          "across x"                                                  },
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y",         {permute({{2, 0}, {3, 0}})},                                            "device 2 "                                                 },
      {"on x=2: reshard f32[8] -> f32[8]+x",                 {},                                                                     ""                                                          },
      {"on x=2: reshard f32[8@x] -> f32[8]+x",               {},                                                                     ""                                                          },
      {"on x=2,y=2: reshard f32[8@x] -> f32[8@y]",           {permute({{1, 2}, {2, 1}})},                                            ""                                                          },
      {"on x=2,y=2 ids=3,1,0,2: reshard f32[8@x] -> f32[8]", {within({{3, 0}, {1, 2}})},                                             ""                                                          },
      {"on x=2,y=2 ids=3,1,0,2: reshard f32[8@x] -> f32[8]", {within({{3, 1}, {0, 2}})},                                             "device 0 "                                                 },
      {"on x=4: reshard f32[2@x] -> f32[2]",
       {within({{0, 1}}), permute({{0, 2}, {1, 3}})},
       ""                                                                                                                                                                                        }, // two hold none
      {"on x=2,y=2: reshard f32[] -> f32[]",                 {},                                                                     ""                                                          },
      {"on x=2,y=2: reshard f32[0@x] -> f32[0]",             {},                                                                     ""                                                          },
  };
  for (const auto& row : table) {
    const std::string said = lacks(row.line, row.trace);
    if (row.says.empty())
      EXPECT_EQ(said, "") << row.line;
    else
      EXPECT_THAT(said, testing::HasSubstr(row.says)) << row.line;
  }
}

// Law: of moves along axes both ways to count agree; and element by element.
// Law: a loop of a permute, or several of its like, is as many steps one after another.
TEST(Reachability, ALoopOfAPermuteIsItsSteps) {
  int brought = 0, tried = 0;
  const Collective ring = permute({
                       {0, 1},
                       {1, 2},
                       {2, 3},
                       {3, 0}
  }),
                   line = permute({{0, 1}, {1, 2}, {2, 3}}), swap = permute({{0, 1}, {1, 0}, {2, 3}, {3, 2}});
  for (const std::string to : {"f32[8]", "f32[8@x]+y"})
    for (const Collective& hop : {ring, line, swap})
      for (std::int64_t first = 1; first <= 4; ++first)
        for (std::int64_t second = 0; second <= 4; ++second) {
          Trace loops;
          for (std::int64_t times : {first, second})
            if (times > 0) loops.push_back(moving(hop, {}, times));
          const std::string reshard = "on x=4,y=1: reshard f32[8@x] -> " + to,
                            wanted = lacks(reshard, Trace(first + second, hop));
          EXPECT_EQ(lacks(reshard, loops), wanted) << reshard << ' ' << first << '+' << second;
          brought += wanted.empty(), ++tried;
        }
  EXPECT_GT(brought, 0);
  EXPECT_LT(brought, tried);
}

TEST(Reachability, LoopsThatDifferMayBeOne) {
  const std::string whole = "on x=8: reshard f32[8@x] -> f32[8]";
  const Collective even = permute({
                       {0, 1},
                       {1, 0},
                       {2, 3},
                       {3, 2},
                       {4, 5},
                       {5, 4},
                       {6, 7},
                       {7, 6}
  }),
                   odd = permute({{1, 2}, {2, 1}, {3, 4}, {4, 3}, {5, 6}, {6, 5}, {7, 0}, {0, 7}});
  EXPECT_NE(lacks(whole, {even, even, odd, odd}), "");
  EXPECT_EQ(lacks(whole, {moving(even, {}, 2), moving(odd, {}, 2)}), "") << "they may have taken turns";
}

TEST(Reachability, AxesAreTheirGroups) {
  const Mesh mesh = parse_mesh("x=2,y=3,z=2");
  const std::vector<Spec> specs = all_specs(mesh, DType::f32, {5, 6}, true);
  std::mt19937 random(1);
  std::int64_t lacking = 0;
  for (int i = 0; i < 3000; ++i) {
    const Spec &from = specs[random() % specs.size()], &to = specs[random() % specs.size()];
    Trace along, grouped;
    for (AxisId a = 0; a < 3; ++a)
      if (random() % 2)
        along.push_back(over({mesh.axes[a].name})), grouped.push_back(within(fibres(mesh, {a})));
    const Move m{mesh, from, to, Rule::nested};
    const auto one = lack(m, along), other = lack(m, grouped);
    ASSERT_EQ(one.has_value(), other.has_value()) << print(mesh, from) << " -> " << print(mesh, to);
    if (one) {
      EXPECT_EQ(one->device, other->device);
      ++lacking;
    }
  }
  EXPECT_GT(lacking, 300);
  EXPECT_LT(lacking, 2700);
}

// Law: element by element, from what each device holds.
TEST(Reachability, EveryElementComes) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  const std::vector<Spec> specs = all_specs(mesh, DType::f32, {3, 2}, false);
  std::mt19937 random(2);
  for (int i = 0; i < 3000; ++i) {
    const Spec &from = specs[random() % specs.size()], &to = specs[random() % specs.size()];
    Trace trace;
    std::vector<std::set<std::int64_t>> known(4);
    for (std::int64_t d = 0; d < 4; ++d) known[d] = {d};
    for (int step = 0; step < 2; ++step) {
      const std::int64_t a = random() % 4, b = random() % 4;
      if (a == b) continue;
      trace.push_back(permute({
          {a, b}
      }));
      known[b].insert(known[a].begin(), known[a].end());
    }
    bool all = true;
    for (std::int64_t d = 0; d < 4; ++d) {
      const Slice need = block(mesh, to, Rule::flat, d);
      for (std::int64_t r = need[0].begin; r < need[0].end; ++r)
        for (std::int64_t k = need[1].begin; k < need[1].end; ++k)
          all &= std::ranges::any_of(known[d], [&](std::int64_t s) {
            const Slice has = block(mesh, from, Rule::flat, s);
            return has[0].begin <= r && r < has[0].end && has[1].begin <= k && k < has[1].end;
          });
    }
    EXPECT_EQ(!lack({mesh, from, to, Rule::flat}, trace), all)
        << print(mesh, from) << " -> " << print(mesh, to);
  }
}

// Of more blocks than a machine word has bits.
TEST(Reachability, EachOfManyBlocksIsKnownByItself) {
  const auto first = [](std::int64_t n) {
    std::vector<std::int64_t> all;
    for (std::int64_t d = 0; d < n; ++d) all.push_back(d);
    return all;
  };
  const std::string line = "on x=130: reshard f32[130@x] -> f32[130]";
  EXPECT_EQ(lacks(line, {within({first(130)})}), "");
  for (std::int64_t n : {1, 63, 64, 65, 127, 128, 129})
    EXPECT_EQ(lacks(line, {within({first(n)})}),
              "device 0 (x=0) needs element [" + std::to_string(n) + "] of device " + std::to_string(n) +
                  " (x=" + std::to_string(n) + "), and no collective takes it there across x");
}

TEST(Reachability, OfAVeryLargeMeshGroupsCountAsFibres) {
  const Case c = parse_case("on x=128,y=128: reshard f32[16384@x.y] -> f32[16384@x]");
  const Move m{c.mesh, c.op.operands[0], result(c), c.rule};
  EXPECT_FALSE(lack(m, Trace{within(fibres(c.mesh, {1}))}));
  EXPECT_TRUE(lack(m, Trace{within(fibres(c.mesh, {0}))}));
  EXPECT_TRUE(lack(m, Trace{over({"x"})}));
}

// Pairs of a device and a block: 4,096 times 4,096 are known one by one, of more a group is its whole fibre.
TEST(Reachability, OfTooManyBlocksAGroupCountsAsItsFibre) {
  const auto but_the_last = [](std::int64_t n) {
    const Case c = parse_case(fmt::format("on x={0}: reshard f32[{0}@x] -> f32[{0}]", n));
    std::vector<std::int64_t> group(n - 1);
    std::iota(group.begin(), group.end(), 0);
    return lack(Move{c.mesh, c.op.operands[0], result(c), c.rule}, Trace{within({group})}).has_value();
  };
  EXPECT_TRUE(but_the_last(4096));
  EXPECT_FALSE(but_the_last(4097));
}

// Who broadcasts one piece broadcasts no other: of four devices each has to, in turn.
TEST(Reachability, ABroadcastHasOneSenderWhateverItBrings) {
  const Collective all{.kind = "collective-broadcast", .axes = {"x"}, .in = 8, .out = 8};
  for (std::size_t n = 0; n <= 4; ++n)
    EXPECT_EQ(lacks("on x=4: reshard f32[8@x] -> f32[8]", Trace(n, all)).empty(), n == 4) << n;
}

// Of each element one member has the largest part: a maximum takes it from whoever has it, a sum has one
// sender.
TEST(Reachability, AMaximumIsOfAllMembersAndASumOfOne) {
  const std::string most = "on x=2,y=2: reshard f32[8]+max(x) -> f32[8]";
  const auto reduction = [](const char* op) {
    return Collective{
        .kind = "all-reduce", .groups = {{0, 2}, {1, 3}},
             .in = 32, .out = 32, .op = op
    };
  };
  EXPECT_EQ(lacks(most, {reduction("max")}), "");
  EXPECT_NE(lacks(most, {reduction("add")}), "");
}

}  // namespace
}  // namespace plumb
