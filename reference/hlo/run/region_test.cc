// Manual regions over some axes of a mesh, one within another: what goes in comes out, and each device adds
// its own.
#include "reference/hlo/run/region.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

constexpr std::int64_t kExtent = 36;

// A mesh a x b x c; a divides one dimension of the array, b one of what devices then hold.
struct Nest {
  std::int64_t a, b, c, of_a, of_b;
};

std::string shape(const Nest& n, bool in_a, bool in_b) {
  const auto extent = [&](std::int64_t d) {
    return kExtent / (in_a && n.of_a == d ? n.a : 1) / (in_b && n.of_b == d ? n.b : 1);
  };
  return fmt::format("s32[{},{}]", extent(0), extent(1));
}

// "3,1" where dimension 0 is divided by 3
std::string tiles(std::int64_t dimension, std::int64_t n) {
  return dimension == 0 ? fmt::format("{},1", n) : fmt::format("1,{}", n);
}

// The call at a border, or a marker, and how its result lies.
using Step = std::function<std::string(const std::string& to, const std::string& from)>;
struct Borders {
  Step outer, into_a, inner, into_b, out_of_b, again, out_of_a;
};

Step marker(const std::string& shape, const std::string& sharding) {
  return [=](const std::string& to, const std::string& from) {
    return fmt::format("  %{} = {} custom-call(%{}), custom_call_target=\"Sharding\", sharding={}\n", to,
                       shape, from, sharding);
  };
}

Step crossing(const std::string& target, const std::string& shape, const std::string& how) {
  return [=](const std::string& to, const std::string& from) {
    return fmt::format("  %{} = {} custom-call(%{}), custom_call_target=\"{}\", {}\n", to, shape, from,
                       target, how);
  };
}

// As XLA writes them: `last` axes are manual where devices are by themselves.
Borders by_xla(const Nest& n, const std::string& outer) {
  const std::int64_t all = n.a * n.b * n.c;
  const auto iota = fmt::format("<=[{}]", all), b_first = fmt::format("<=[{},{},{}]T(1,0,2)", n.a, n.b, n.c);
  const auto in_a = fmt::format("{{devices=[1,1,{},{}]{} last_tile_dims={{manual, replicated}}}}", n.a,
                                n.b * n.c, iota),
             in_b = fmt::format("{{devices=[1,1,{},{}]{} last_tile_dims={{manual, replicated}}}}", n.a * n.b,
                                n.c, iota),
             over_b = fmt::format("{{devices=[{},{},{}]{} last_tile_dims={{manual, replicated}}}}",
                                  tiles(n.of_b, n.b), n.a, n.c, b_first);
  const std::string into = "SPMDFullToShardShape", out = "SPMDShardToFullShape", s = "sharding=";
  return {marker(shape(n, false, false), outer),
          crossing(into, shape(n, true, false), s + in_a),
          marker(shape(n, true, false), over_b),
          crossing(into, shape(n, true, true), s + in_b),
          crossing(out, shape(n, true, false), s + over_b),
          marker(shape(n, true, false), in_a),
          crossing(out, shape(n, false, false), s + outer)};
}

std::string over_a(const Nest& n) {
  return fmt::format("{{devices=[{},{}]<=[{}] last_tile_dim_replicate}}", tiles(n.of_a, n.a), n.b * n.c,
                     n.a * n.b * n.c);
}

// As Shardy does: the axes of the region, and how each value lies; what others do is the partitioner's
// affair.
Borders by_shardy(const Nest& n) {
  const auto how = [](const char* key, const char* axis, std::int64_t dimension) {
    const std::string open = "{?}", own = fmt::format("{{\\\"{}\\\", ?}}", axis);
    return fmt::format(
        "frontend_attributes={{xla.sdy.{}=\"#sdy.sharding_per_value<[<@m, [{}, {}]>]>\","
        "xla.sdy.manual_axes=\"#sdy<manual_axes{{\\\"{}\\\"}}>\"}}",
        key, dimension == 0 ? own : open, dimension == 1 ? own : open, axis);
  };
  const auto in_a = how("in_shardings", "a", n.of_a), in_b = how("in_shardings", "b", n.of_b),
             out_a = how("out_shardings", "a", n.of_a), out_b = how("out_shardings", "b", n.of_b);
  const std::string into = "xla.sdy.GlobalToLocalShape", out = "xla.sdy.LocalToGlobalShape";
  const auto same = [](const std::string& of) { return marker(of, "{replicated}"); };
  return {same(shape(n, false, false)),
          crossing(into, shape(n, true, false), in_a),
          same(shape(n, true, false)),
          crossing(into, shape(n, true, true), in_b),
          crossing(out, shape(n, true, false), out_b),
          same(shape(n, true, false)),
          crossing(out, shape(n, false, false), out_a)};
}

// The same since JAX 0.11.2: the values have shardings of their own, on either side.
Borders by_values(const Nest& n) {
  const std::string mesh = fmt::format("{{mesh['a'={},'b'={},'c'={}], ", n.a, n.b, n.c);
  const auto over = [&](char axis, std::int64_t dimension) {
    const std::string own = fmt::format("{{'{}', ?}}", axis), open = "{?}";
    return fmt::format("{}[{}, {}]}}", mesh, dimension == 0 ? own : open, dimension == 1 ? own : open);
  };
  const auto within = [&](char axis) {
    return fmt::format("{}[{{?}}, {{?}}], manual={{'{}'}}}}", mesh, axis);
  };
  const std::string into = "xla.sdy.GlobalToLocalShape", out = "xla.sdy.LocalToGlobalShape", s = "sharding=";
  const auto leaving = [&](const std::string& inside, char axis, const Step& step) -> Step {
    const Step laid = marker(inside, within(axis));
    return [=](const std::string& to, const std::string& from) {
      return laid(to + "_laid", from) + step(to, to + "_laid");
    };
  };
  const std::string all = shape(n, false, false), one = shape(n, true, false), two = shape(n, true, true);
  return {marker(all, over('a', n.of_a)),
          crossing(into, one, s + within('a')),
          marker(one, over('b', n.of_b)),
          crossing(into, two, s + within('b')),
          leaving(two, 'b', crossing(out, one, s + over('b', n.of_b))),
          marker(one, within('a')),
          crossing(out, all, s + over('a', n.of_a))};
}

// The array, each element its number, to which devices add a thousand times their place along a inside of the
// outer region, and a million times that along `axis` inside of the inner one.
std::string program(const Nest& n, const Borders& borders, char axis = 'b') {
  const std::string one = shape(n, true, false), two = shape(n, true, true);
  std::string text = fmt::format(
      "HloModule m, num_partitions={}, frontend_attributes={{xla.sdy.meshes={{m = #sdy.mesh<[\"a\"={}, "
      "\"b\"={}, "
      "\"c\"={}]>}}}}\n\nENTRY %e {{\n"
      "  %u = u32[] partition-id()\n  %id = s32[] convert(%u)\n"
      "  %nb = s32[] constant({})\n  %nc = s32[] constant({})\n  %na = s32[] multiply(%nb, %nc)\n"
      "  %ab = s32[] divide(%id, %nc)\n  %pb = s32[] remainder(%ab, %nb)\n"
      "  %pc = s32[] remainder(%id, %nc)\n"
      "  %thousand = s32[] constant(1000)\n  %million = s32[] constant(1000000)\n"
      "  %mb = s32[] multiply(%p{}, %million)\n"
      "  %i = s32[{}] iota(), iota_dimension=0\n  %x = {} reshape(%i)\n",
      n.a * n.b * n.c, n.a, n.b, n.c, n.b, n.c, axis, kExtent * kExtent, shape(n, false, false));
  text += borders.outer("y", "x") + borders.into_a("z", "y");
  text += fmt::format(  // the place along a, as an array: each device has its own before anybody sees that
                        // some are the same
      "  %ids = {0} broadcast(%id), dimensions={{}}\n  %nas = {0} broadcast(%na), dimensions={{}}\n"
      "  %pa = {0} divide(%ids, %nas)\n  %ks = {0} broadcast(%thousand), dimensions={{}}\n"
      "  %wa = {0} multiply(%pa, %ks)\n  %za = {0} add(%z, %wa)\n",
      one);
  text += borders.inner("v", "za") + borders.into_b("w", "v");
  text += fmt::format("  %wb = {0} broadcast(%mb), dimensions={{}}\n  %zb = {0} add(%w, %wb)\n", two);
  text += borders.out_of_b("q", "zb") + borders.again("p", "q") + borders.out_of_a("o", "p");
  return text + fmt::format("  ROOT %r = {0} add(%o, %x)\n}}\n", shape(n, false, false));
}

// What all devices hold at the end, or why they do not.
struct Told {
  std::int64_t lanes = 0;
  Integers elements;
  std::string why;
};

Told told(const Nest& n, const std::string& text) {
  const Module module = parse(text, "m.txt");
  Reals reals;
  try {
    const auto root = evaluate(Machine<Reals>{module, reals, n.a * n.b * n.c, {}}, entry(module), {}, {});
    return {root.array->lanes, root.array->integers, ""};
  } catch (const Disagreement& parted) {
    return {0, {}, parted.what()};
  } catch (const BadModule& bad) {
    const std::string said = bad.what();
    return {0, {}, said.substr(0, said.find('\n'))};
  }
}

Integers wanted(const Nest& n) {
  Integers all;
  const std::int64_t along_a = kExtent / n.a, along_b = (n.of_a == n.of_b ? along_a : kExtent) / n.b;
  for (std::int64_t i = 0; i < kExtent; ++i)
    for (std::int64_t j = 0; j < kExtent; ++j) {
      const std::int64_t on_a = n.of_a == 0 ? i : j, on_b = n.of_b == 0 ? i : j;
      const std::int64_t left = n.of_a == n.of_b ? on_b % along_a : on_b;
      all.push_back(2 * (i * kExtent + j) + 1000 * (on_a / along_a) + 1000000 * (left / along_b));
    }
  return all;
}

template <typename F>
void each_nest(F f) {
  for (const std::int64_t a : {1, 2, 3})
    for (const std::int64_t b : {1, 2, 3})
      for (const std::int64_t c : {1, 2})
        for (const std::int64_t of_a : {0, 1})
          for (const std::int64_t of_b : {0, 1}) f(Nest{a, b, c, of_a, of_b});
}

TEST(Region, WithinAnotherEachPlaceHasAWholeOfItsOwn) {
  each_nest([](const Nest& n) {
    for (const std::string& text :
         {program(n, by_shardy(n)), program(n, by_values(n)), program(n, by_xla(n, over_a(n)))}) {
      const Told is = told(n, text);
      EXPECT_EQ(is.lanes, 1) << is.why << text;
      EXPECT_EQ(is.elements, wanted(n)) << text;
    }
  });
}

// After propagation a dimension may be divided further by axes that are not of the region: those stand behind
// its own.
TEST(Region, WhatThePartitionerDividesIsStillWhole) {
  each_nest([](const Nest& n) {
    const auto outer = [&](const std::string& order) {
      return fmt::format("{{devices=[{},{}]{} last_tile_dim_replicate}}", tiles(n.of_a, n.a * n.b), n.c,
                         order);
    };
    EXPECT_EQ(told(n, program(n, by_xla(n, outer(fmt::format("<=[{}]", n.a * n.b * n.c))))).elements,
              wanted(n));
    if (n.a == 1 || n.b == 1) return;
    const Told other =
        told(n, program(n, by_xla(n, outer(fmt::format("<=[{},{},{}]T(1,0,2)", n.a, n.b, n.c)))));
    EXPECT_NE(other.why.find("unsupported: a manual region that other axes than its own divide"),
              other.why.npos)
        << other.why;
  });
}

// What differs along an axis that is not of the region is no whole.
TEST(Region, DevicesOfOnePlaceThatDifferDisagree) {
  each_nest([](const Nest& n) {
    if (n.c == 1) return;
    EXPECT_NE(told(n, program(n, by_xla(n, over_a(n)), 'c')).why.find("should hold the same and do not"),
              std::string::npos);
    EXPECT_GT(told(n, program(n, by_shardy(n), 'c')).lanes, 1);
  });
}

// Law: 24 in 6 tiles are 2 or 3 larger ones, of equal parts, and nothing else.
TEST(Region, TilesOfTiles) {
  Division division{{6}, 1, {}};
  for (std::int64_t d = 0; d < 6; ++d) division.shares.push_back({{d}});
  for (std::int64_t held = 0; held <= 25; ++held) {
    const auto outer = outer_tiles(division, {24}, {held});
    const bool is = held == 4 || held == 8 || held == 12 || held == 24;
    ASSERT_EQ(outer.has_value(), is) << held;
    if (!is) continue;
    EXPECT_EQ(outer->tiles, Integers{24 / held});
    for (std::int64_t d = 0; d < 6; ++d)
      EXPECT_EQ(outer->shares[static_cast<std::size_t>(d)].tile, Integers{4 * d / held}) << held;
  }
  EXPECT_FALSE(outer_tiles(division, {24}, {24, 1}));
}

TEST(Region, BordersThatDoNotFit) {
  const Nest n{2, 3, 1, 0, 1};
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = program(n, by_shardy(n));
    const std::size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return told(n, text.replace(at, from.size(), to)).why;
  };
  const auto says = [&](const std::string& from, const std::string& to, const std::string& words) {
    const std::string why = refused(from, to);
    EXPECT_NE(why.find(words), why.npos) << why;
  };
  says("[{\\\"a\\\", ?}, {?}]", "[{?}, {\\\"a\\\", ?}]", "the tiles of the array that devices hold");
  says("[{\\\"a\\\", ?}, {?}]", "[{\\\"b\\\", \\\"a\\\"}, {?}]",
       "that an axis of the region divides behind others");
  says("[{\\\"a\\\", ?}, {?}]", "[{\\\"a\\\", ?}, {?}, {?}]",
       "unsupported: a border of a manual region whose layout is not said");
  says("manual_axes{\\\"a\\\"}", "manual_axes{\\\"a\\\" \\\"b\\\"}", "expected ', '");
  says("?}, {?}]>]>\"", "?}, {?}]>, <@m, [{}, {}]>]>\"", "a sharding for each value");
}

}  // namespace
}  // namespace plumb::hlo
