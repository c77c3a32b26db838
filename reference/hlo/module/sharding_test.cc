// What orders, groups and shardings mean: tables by hand, and laws.
#include "reference/hlo/module/sharding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "reference/hlo/module/parse.h"
#include "reference/hlo/module/sdy.h"

namespace plumb::hlo {
namespace {

Sharding sharding(const std::string& text) {
  Scan scan{text, "a test"};
  Sharding s = scan_sharding(scan);
  EXPECT_TRUE(scan.done() && scan.unknown.empty()) << text;
  EXPECT_EQ(print(s), text);
  return s;
}

std::vector<Integers> groups(const std::string& text, std::int64_t devices) {
  Scan scan{text, "a test"};
  const Groups g = scan_groups(scan);
  EXPECT_TRUE(scan.done()) << text;
  EXPECT_EQ(print(g), text);
  return expand(g, devices);
}

TEST(Groups, EachForm) {
  using G = std::vector<Integers>;
  EXPECT_EQ(groups("{{0,2},{1,3}}", 4), (G{
                                            {0, 2},
                                            {1, 3}
  }));
  EXPECT_EQ(groups("{}", 3), (G{
                                 {0, 1, 2}
  }));
  EXPECT_EQ(groups("[2,2]<=[4]", 4), (G{
                                         {0, 1},
                                         {2, 3}
  }));
  EXPECT_EQ(groups("[2,2]<=[2,2]T(1,0)", 4), (G{
                                                 {0, 2},
                                                 {1, 3}
  }));
  EXPECT_EQ(groups("[4,2]<=[2,2,2]T(2,1,0)", 8), (G{
                                                     {0, 4},
                                                     {2, 6},
                                                     {1, 5},
                                                     {3, 7}
  }));
  EXPECT_EQ(groups("mesh['a'=2,'b'=3] {'b'}", 6), (G{
                                                      {0, 1, 2},
                                                      {3, 4, 5}
  }));
  EXPECT_EQ(groups("mesh['a'=2,'b'=3] {'a'}", 6), (G{
                                                      {0, 3},
                                                      {1, 4},
                                                      {2, 5}
  }));
  // Members vary over the axes as they are listed.
  EXPECT_EQ(groups("mesh['a'=2,'b'=2] {'b','a'}", 4), (G{
                                                          {0, 2, 1, 3}
  }));
  EXPECT_EQ(groups("mesh['a'=4,'b'=2] {'a':(2)2}", 8), (G{
                                                           {0, 2},
                                                           {1, 3},
                                                           {4, 6},
                                                           {5, 7}
  }));
  EXPECT_EQ(groups("mesh['a'=4,'b'=2] {'a':(1)2}", 8), (G{
                                                           {0, 4},
                                                           {1, 5},
                                                           {2, 6},
                                                           {3, 7}
  }));
  EXPECT_EQ(groups("mesh['a'=4,'b'=2], device_ids=([2,2,2]T(2,1,0)) {'b'}", 8),
            groups("[4,2]<=[2,2,2]T(2,1,0)", 8));
}

// "0 1 | 0 2": for each device its tiles, and its part where there is more than one.
std::string shares(const std::optional<Division>& division) {
  if (!division) return "none";
  std::string all;
  for (const Share& share : division->shares) {
    all += all.empty() ? "" : " ";
    for (const std::int64_t tile : share.tile) all += std::to_string(tile);
    if (division->parts > 1) all += "+" + std::to_string(share.part);
  }
  return all;
}
std::string shares(const std::string& text, std::size_t rank, std::int64_t devices) {
  return shares(divide(sharding(text), rank, devices));
}

TEST(Sharding, WhatEachDeviceHolds) {
  EXPECT_EQ(shares("{replicated}", 2, 3), "00 00 00");
  EXPECT_EQ(shares("{devices=[2,2]<=[4]}", 2, 4), "00 01 10 11");
  EXPECT_EQ(shares("{devices=[2,2]<=[2,2]T(1,0)}", 2, 4), "00 10 01 11");
  EXPECT_EQ(shares("{devices=[2,2]3,1,2,0}", 2, 4), "11 01 10 00");
  EXPECT_EQ(shares("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, 4), "00 00 10 10");
  EXPECT_EQ(shares("{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={unreduced}}", 2, 4), "00+0 01+0 00+1 01+1");
  EXPECT_EQ(shares("{devices=[1,2,2]<=[4] last_tile_dims={replicated, unreduced}}", 1, 4), "0+0 0+1 0+0 0+1");
  EXPECT_EQ(shares("{devices=[2,2]<=[4] last_tile_dims={manual}}", 1, 4), "none");
  EXPECT_EQ(shares("{unreduced}", 1, 2), "0+0 0+1");
  EXPECT_EQ(shares("{manual}", 1, 2), "none");
  EXPECT_EQ(shares("{{replicated}, {manual}}", 1, 2), "none");
  EXPECT_EQ(shares("{maximal device=3}", 1, 4), "none");
  EXPECT_EQ(shares("{mesh[], replicated}", 1, 2), "0 0");
  EXPECT_EQ(shares("{mesh['a'=2], manual}", 1, 2), "none");
  EXPECT_EQ(shares("{mesh['a'=2,'b'=2], [{'b'}, {}]}", 2, 4), "00 10 00 10");
  EXPECT_EQ(shares("{mesh['a'=2,'b'=2], [{'b', 'a'}]}", 1, 4), "0 2 1 3");
  EXPECT_EQ(shares("{mesh['a'=4], [{'a':(2)2}, {'a':(1)2}]}", 2, 4), "00 10 01 11");
  EXPECT_EQ(shares("{mesh['a'=2,'b'=2], [{'a'}], unreduced={'b'}}", 1, 4), "0+0 0+1 1+0 1+1");
  EXPECT_EQ(shares("{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}", 1, 4), "0 1 0 1");
  EXPECT_EQ(shares("{devices=[2,2]<=[4]}", 2, 8), "none");
}

// "0 1 | ..." for each device its place along manual axes, and what it holds of the whole that it knows
// there.
std::string within(const std::string& text, std::size_t rank, std::int64_t devices) {
  std::string places;
  for (const std::int64_t place : manual_places(sharding(text), devices))
    places += std::to_string(place) + " ";
  return places + "| " + shares(divide_within(sharding(text), rank, devices));
}

TEST(Sharding, WhatIsManualDividesNothing) {
  EXPECT_EQ(within("{replicated}", 1, 2), "0 0 | 0 0");
  EXPECT_EQ(within("{manual}", 1, 3), "0 1 2 | 0 0 0");
  EXPECT_EQ(within("{mesh['a'=2], manual}", 1, 2), "0 1 | 0 0");
  EXPECT_EQ(within("{devices=[2,2]<=[4] last_tile_dims={manual}}", 1, 4), "0 1 0 1 | 0 0 1 1");
  EXPECT_EQ(within("{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", 1, 4), "0 0 1 1 | 0 1 0 1");
  EXPECT_EQ(within("{devices=[1,2,3]<=[6] last_tile_dims={manual, manual}}", 1, 6),
            "0 1 2 3 4 5 | 0 0 0 0 0 0");
  EXPECT_EQ(within("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", 1, 4), "0 0 1 1 | 0 0 0 0");
  EXPECT_EQ(within("{devices=[1,2,2]<=[4] last_tile_dims={replicated, manual}}", 1, 4), "0 1 0 1 | 0 0 0 0");
  EXPECT_EQ(within("{mesh['a'=2,'b'=2], [{'b'}], manual={'a'}}", 1, 4), "0 0 1 1 | 0 1 0 1");
  EXPECT_EQ(within("{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'b'}], manual={'a'}}", 1, 4),
            "0 1 0 1 | 0 0 1 1");
  EXPECT_EQ(within("{maximal device=1}", 1, 2), "0 0 | none");
}

// Every tile and part is held, by equally many devices.
TEST(Sharding, SharesTileTheArray) {
  for (const char* text : {"{devices=[2,3,2]<=[2,2,3]T(2,0,1) last_tile_dim_replicate}",
                           "{devices=[3,2,2]<=[12] last_tile_dims={unreduced}}",
                           "{mesh['a'=2,'b'=3,'c'=2], [{'c'}, {'b'}], unreduced={'a'}}"}) {
    const auto division = divide(sharding(text), 2, 12);
    ASSERT_TRUE(division) << text;
    std::map<std::pair<Integers, std::int64_t>, int> held;
    for (const Share& share : division->shares) ++held[{share.tile, share.part}];
    const std::int64_t pieces = division->tiles[0] * division->tiles[1] * division->parts;
    EXPECT_EQ(std::ssize(held), pieces) << text;
    for (const auto& [share, count] : held) EXPECT_EQ(count, 12 / pieces) << text;
  }
}

// "0 1 | 00 01" for each value's shares on four devices, or the message.
std::string by_shardy(const std::string& meshes, const std::string& values) {
  Module module;
  module.text = "line", module.file = "m.txt", module.partitions = 4;
  if (!meshes.empty())
    module.frontend = {
        {"inlineable",     "x"   },
        {"xla.sdy.meshes", meshes}
    };
  Instruction i;
  i.frontend = {
      {"xla.sdy.in_shardings", values}
  };
  try {
    std::string all;
    for (const Sharding& s : sdy_shardings(module, i, "xla.sdy.in_shardings")) all += print(s) + " ";
    return all;
  } catch (const BadModule& error) {
    const std::string said = error.what();
    return said.substr(0, said.find('\n'));
  }
}

TEST(Sharding, AsShardyWritesIt) {
  const std::string mesh =
      "{m = #sdy.mesh<[\\\"a\\\"=2, \\\"b\\\"=2]>, n = #sdy.mesh<[\"a\"=4], device_ids=[3,2,1,0]>}";
  const auto values = [](const std::string& list) { return "\"#sdy.sharding_per_value<[" + list + "]>\""; };
  EXPECT_EQ(by_shardy(mesh, values("<@m, [{\"b\", \"a\"}, {}]>, <@n, [{\"a\":(2)2}]>")),
            "{mesh['a'=2,'b'=2], [{'b', 'a'}, {}]} {mesh['a'=4], device_ids=(3,2,1,0), [{'a':(2)2}]} ");
  EXPECT_EQ(by_shardy(mesh, values("<@m, [{}], replicated={\"a\"}, unreduced={\"b\"}>")),
            "{mesh['a'=2,'b'=2], [{}], replicated={'a'}, unreduced={'b'}} ");
  EXPECT_EQ(by_shardy("", values("<mesh<[\"c\"=4]>, [{\"c\"}]>")), "{mesh['c'=4], [{'c'}]} ");
  EXPECT_EQ(by_shardy("", values("<mesh<[\"c\"=1]>, [{\"c\"}]>")), "{mesh['c'=1], [{'c'}]} ");
  EXPECT_EQ(by_shardy("", values("")), "");
  const auto refused = [&](const std::string& meshes, const std::string& list, const std::string& want) {
    const std::string got = by_shardy(meshes, values(list));
    EXPECT_NE(got.find(want), got.npos) << got;
  };
  refused(mesh, "<@o, [{}]>", "the module has no such mesh");
  refused("", "<@m, [{}]>", "the module has no such mesh");
  // More may follow in a dimension, which says how much that matters.
  EXPECT_EQ(by_shardy(mesh, values("<@m, [{?}, {\"a\", ?}p1], replicated={\"b\"}>")),
            "{mesh['a'=2,'b'=2], [{}, {'a'}], replicated={'b'}} ");
  refused(mesh, "<@m, [{?, \"a\"}]>", "expected '''");
  refused(mesh, "<@m, [{\"a\"}p]>", "expected a priority");
  refused(mesh, "<@m, [{}], manual={}>", "expected 'unreduced='");
  refused(mesh, "<@m, [{} {}]>", "expected ', '");
  refused(mesh, "<@m, [{}]> <@m, [{}]>", "expected ', '");
  for (const char* ids : {"0,1", "0,1,2,2", "0,1,2,4", "-1,0,1,2"})
    refused(mesh, "<mesh<[\"a\"=4], device_ids=[" + std::string(ids) + "]>, [{}]>", "each device has one id");
  refused(mesh, "<@m, [{\"a\"}, {\"b\", \"a\"}]>", "an axis stands twice");
  refused(mesh, "<mesh<[\"a\"=0]>, [{}]>", "not the size of an axis");
  refused(mesh, "<mesh<[\"a\"=4194304, \"b\"=2]>, [{}]>", "not the size of an axis");
  refused(mesh, "<mesh<[\"a\"=2 \"b\"=2]>, [{}]>", "expected ', '");
  refused("{m = #sdy.mesh<[]> n = #sdy.mesh<[]>}", "<@m, [{}]>", "expected ', '");
  EXPECT_NE(by_shardy(mesh, "").find("expected ''#sdy.sharding_per_value<['"), std::string::npos);
  Instruction i;
  EXPECT_THROW(sdy_shardings(Module{}, i, "xla.sdy.in_shardings"), BadModule);
}

}  // namespace
}  // namespace plumb::hlo
