// Comparisons of integers are met on both sides of where they turn, so that one that is off by one is
// refuted.
#include "reference/hlo/prove/borders.h"

#include <gtest/gtest.h>

#include "reference/hlo/prove/testing/integers.h"

namespace plumb::hlo {
namespace {

// `lines` of x: s32[4], n: s32[] on four devices.
Module of_integers(const std::string& lines) {
  return parse(
      "HloModule m, num_partitions=4\n\nENTRY %e {\n  %x = s32[4] parameter(0)\n  %n = s32[] parameter(1)\n" +
          lines + "}\n",
      "m.txt");
}

Integers borders(const std::string& lines, std::size_t parameter = 0) {
  return bounds_of(of_integers(lines))[parameter].borders;
}

TEST(Borders, BothSidesOfAThreshold) {
  const auto of = [](const std::string& operands, const std::string& direction) {
    return borders(
        "  %k = s32[] constant(500)\n  %c = s32[4] broadcast(%k), dimensions={}\n  ROOT %p = pred[4] "
        "compare(" +
        operands + "), direction=" + direction + "\n");
  };
  const Integers lower = {499, 500}, upper = {500, 501};
  EXPECT_EQ(of("%x, %c", "LT"), lower);
  EXPECT_EQ(of("%x, %c", "GE"), lower);
  EXPECT_EQ(of("%x, %c", "LE"), upper);
  EXPECT_EQ(of("%x, %c", "GT"), upper);
  EXPECT_EQ(of("%c, %x", "GT"), lower);
  EXPECT_EQ(of("%c, %x", "LE"), lower);
  EXPECT_EQ(of("%c, %x", "GE"), upper);
  EXPECT_EQ(of("%c, %x", "LT"), upper);
  EXPECT_EQ(of("%x, %c", "EQ"), (Integers{499, 500, 501}));
}

// Through each operation of a single integer and a number, in either order.
TEST(Borders, WhatIsComputedIsFollowedBack) {
  const auto of = [](const std::string& made) {
    return borders("  %c = s32[] constant(16)\n  %m = s32[] " + made +
                       "\n  %k = s32[] constant(7)\n  ROOT %p = pred[] compare(%m, %k), direction=LT\n",
                   1);
  };
  EXPECT_EQ(of("add(%n, %c)"), (Integers{-10, -9}));
  EXPECT_EQ(of("subtract(%n, %c)"), (Integers{22, 23}));
  EXPECT_EQ(of("subtract(%c, %n)"), (Integers{9, 10}));
  EXPECT_EQ(of("negate(%n)"), (Integers{-7, -6}));
  EXPECT_EQ(of("not(%n)"), (Integers{-8, -7}));
  EXPECT_EQ(of("xor(%n, %c)"), (Integers{22, 23}));
  EXPECT_EQ(of("multiply(%n, %c)"), (Integers{0, 1}));
  EXPECT_EQ(of("shift-left(%c, %n)"), Integers{});
  const Integers divided = of("divide(%n, %c)"), rest = of("remainder(%n, %c)");
  for (const std::int64_t x : {15, 16, 16 * 7 - 1, 16 * 7}) EXPECT_EQ(std::ranges::count(divided, x), 1) << x;
  for (const std::int64_t x : {6, 7, 15, 16, 16 + 6, 16 + 7}) EXPECT_EQ(std::ranges::count(rest, x), 1) << x;
}

// What a hash is made of: (x * c + 3) % m < t turns between two numbers of x wherever some are t - 1 and t.
TEST(Borders, OfAHash) {
  for (const std::int64_t m : {8, 12, 512})
    for (const std::int64_t c : {1, 3, 4, 7, 12, 100, -5})
      for (const std::int64_t t : {1, 4, 7}) {
        SCOPED_TRACE("(x * " + std::to_string(c) + " + 3) % " + std::to_string(m) + " < " +
                     std::to_string(t));
        const auto line = [](const char* name, std::int64_t n) {
          return std::string("  %") + name + " = s32[] constant(" + std::to_string(n) + ")\n";
        };
        const Integers all = borders(
            line("c", c) + line("a", 3) + line("m", m) + line("t", t) +
                "  %y = s32[] multiply(%n, %c)\n  %z = s32[] add(%y, %a)\n  %r = s32[] remainder(%z, %m)\n"
                "  ROOT %p = pred[] compare(%r, %t), direction=LT\n",
            1);
        const auto rest = [&](std::int64_t x) { return (x * c + 3) % m; };
        for (const std::int64_t side : {t - 1, t}) {
          std::int64_t x = 0;
          while (x < m && rest(x) != side) ++x;
          if (x == m) continue;  // there is none
          EXPECT_TRUE(std::ranges::any_of(all, [&](std::int64_t n) { return rest(n) == side; })) << side;
        }
      }
  const std::string masked =
      "  %c = s32[] constant(-1640531535)\n  %m = s32[] constant(511)\n  %t = s32[] constant(300)\n"
      "  %y = s32[] multiply(%n, %c)\n  %r = s32[] and(%y, %m)\n"
      "  ROOT %p = pred[] compare(%r, %t), direction=LT\n";
  for (const std::uint32_t side : {299u, 300u})
    EXPECT_TRUE(std::ranges::any_of(borders(masked, 1), [&](std::int64_t n) {
      return (static_cast<std::uint32_t>(n) * 2654435761u & 511u) == side;
    })) << side;
}

// Each device takes its own away; the other of two parameters is zero.
TEST(Borders, WhatEachDeviceTakesAway) {
  const std::string lines =
      "  %id = u32[] partition-id()\n  %i = s32[] convert(%id)\n  %size = s32[] constant(16)\n"
      "  %o = s32[] multiply(%i, %size)\n  %os = s32[4] broadcast(%o), dimensions={}\n"
      "  %own = s32[4] subtract(%x, %os)\n  %ns = s32[4] broadcast(%n), dimensions={}\n"
      "  %less = s32[4] subtract(%own, %ns)\n  %sizes = s32[4] broadcast(%size), dimensions={}\n"
      "  ROOT %p = pred[4] compare(%less, %sizes), direction=LT\n";
  EXPECT_EQ(borders(lines), (Integers{15, 16, 31, 32, 47, 48, 63, 64}));
  EXPECT_EQ(borders(lines, 1), (Integers{-64, -63, -48, -47, -32, -31, -16, -15}));
}

// What a table has for each device, within a loop, and behind the border of a manual region.
TEST(Borders, WhereverItIsCompared) {
  const std::string table =
      "  %t = s32[4] constant({0, 5, 10, 15})\n  %id = u32[] partition-id()\n"
      "  %o = s32[1] dynamic-slice(%t, %id), dynamic_slice_sizes={1}\n  %r = s32[] reshape(%o)\n"
      "  %os = s32[4] broadcast(%r), dimensions={}\n  ROOT %p = pred[4] compare(%x, %os), direction=LT\n";
  EXPECT_EQ(borders(table), (Integers{-1, 0, 4, 5, 9, 10, 14, 15}));
  const std::string region =
      "  %g = (s32[4], s32[]) custom-call(%x, %n), custom_call_target=\"xla.sdy.GlobalToLocalShape\"\n"
      "  %y = s32[4] get-tuple-element(%g), index=0\n  %k = s32[] constant(3)\n"
      "  %ks = s32[4] broadcast(%k), dimensions={}\n  ROOT %p = pred[4] compare(%y, %ks), direction=LT\n";
  EXPECT_EQ(borders(region), (Integers{2, 3}));
}

// Of few numbers all sides of each that it is held against; of many those alone that a comparison asks for,
// the others are met anyhow.
TEST(Borders, OfManyNumbersThoseThatAreComparedWith) {
  const std::string few =
      "  %t = s32[4] constant({0, 100, 200, 300})\n  %id = u32[] partition-id()\n"
      "  %o = s32[1] dynamic-slice(%t, %id), dynamic_slice_sizes={1}\n  %r = s32[] reshape(%o)\n"
      "  %os = s32[4] broadcast(%r), dimensions={}\n";
  const std::string many = few + "  %e = s32[4] constant({0, 10, 20, 30})\n  %sums = s32[4] add(%os, %e)\n";
  EXPECT_EQ(borders(few + "  ROOT %m = s32[4] maximum(%x, %os)\n"),
            (Integers{-1, 0, 1, 99, 100, 101, 199, 200, 201, 299, 300, 301}));
  EXPECT_EQ(borders(many + "  ROOT %m = s32[4] maximum(%x, %sums)\n"), Integers{});
  EXPECT_EQ(borders(many + "  ROOT %p = pred[4] compare(%x, %sums), direction=EQ\n"), Integers{});
  EXPECT_EQ(borders(many + "  ROOT %p = pred[4] compare(%x, %sums), direction=LT\n").size(), 32u);
}

// What counts from zero, to one too.
TEST(Borders, OfWhatCounts) {
  const auto of = [](const std::string& n) {
    return borders("  %i = s32[" + n + "] iota(), iota_dimension=0\n  %o = s32[" + n +
                   ",4] broadcast(%i), dimensions={0}\n  %xs = s32[" + n +
                   ",4] broadcast(%x), dimensions={1}\n  ROOT %p = pred[" + n +
                   ",4] compare(%xs, %o), direction=LT\n");
  };
  EXPECT_EQ(of("1"), (Integers{-1, 0}));
  EXPECT_EQ(of("3"), (Integers{-1, 0, 1, 2}));
}

// What indexes as it is stays below what it indexes.
TEST(Borders, OfWhatIndexesOnlyThoseWithin) {
  const std::string lines =
      "  %f = f32[9] iota(), iota_dimension=0\n  %k = s32[] constant(7)\n  %no = s32[] constant(100)\n"
      "  %p = pred[] compare(%n, %k), direction=LT\n  %q = pred[] compare(%n, %no), direction=LT\n"
      "  ROOT %d = f32[1] dynamic-slice(%f, %n), dynamic_slice_sizes={1}\n";
  EXPECT_EQ(borders(lines, 1), (Integers{6, 7}));
}

// Of the array, or of the single integer, `compared` decides.
Bodies deciding(const std::string& compared, const std::string& wrongly) {
  const auto body = [](const std::string& shape, const std::string& lines) {
    return lines + "  ROOT %t = (f32[" + shape + "]";
  };
  return {body("8192", compared) + ", pred[]) tuple(%f, %p), sharding={{devices=[2]<=[2]}, {replicated}}\n",
          body("4096", wrongly) + ", pred[]) tuple(%f, %p)\n"};
}

TEST(Borders, WhatIsOffByOneIsRefuted) {
  const auto holds = [](const std::string& made, std::int64_t k, const std::string& direction) {
    return "  %c = s32[] constant(100)\n  %m = s32[] " + made + "\n  %k = s32[] constant(" +
           std::to_string(k) + ")\n  %p = pred[] compare(%m, %k), direction=" + direction + "\n";
  };
  for (const std::string made :
       {"copy(%n)", "add(%n, %c)", "subtract(%c, %n)", "divide(%n, %c)", "multiply(%n, %c)"})
    for (const std::string direction : {"LT", "LE", "GT", "GE", "EQ"}) {
      const std::int64_t k = made == "multiply(%n, %c)" ? 700 : 1000;
      const std::string right = holds(made, k, direction);
      EXPECT_EQ(proved(deciding(right, right)).finding, Finding::proven) << right;
      const bool steps = made == "multiply(%n, %c)" && direction != "EQ";  // over the border
      EXPECT_EQ(proved(deciding(right, right)).borders.empty(), !steps) << right;
      for (const int off : {-1, 1}) {
        const bool between =
            made == "multiply(%n, %c)" &&
            (direction == "EQ" ? false : (off > 0) == (direction == "GT" || direction == "LE"));
        if (between) continue;  // 700 and 701 are between the same multiples
        const Proof p = proved(deciding(right, holds(made, k + off, direction)));
        EXPECT_EQ(p.finding, Finding::refuted) << right << off;
        EXPECT_TRUE(p.directed || p.seed < 2) << right;
      }
    }
}

TEST(Borders, EveryHundredthStepIsNotEveryHundredAndFirst) {
  const auto every = [](const std::string& k) {
    return "  %k = s32[] constant(" + k +
           ")\n  %m = s32[] remainder(%n, %k)\n  %z = s32[] constant(0)\n  %p = pred[] compare(%m, %z), "
           "direction=EQ\n";
  };
  EXPECT_EQ(proved(deciding(every("100"), every("100"))).finding, Finding::proven);
  for (const std::string k : {"99", "101"})
    EXPECT_EQ(proved(deciding(every("100"), every(k))).finding, Finding::refuted) << k;
}

// A partitioner's own: each device looks for its part of the table.
TEST(Borders, OfTheModuleAfterAlone) {
  const std::string gather =
      "  %i = s32[8,1] reshape(%x)\n  %g = f32[8] gather(%f, %i), offset_dims={}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n";
  const auto part = [](const std::string& size, const std::string& direction) {
    return "  %id = u32[] partition-id()\n  %d = s32[] convert(%id)\n  %size = s32[] constant(4096)\n"
           "  %o = s32[] multiply(%d, %size)\n  %os = s32[8] broadcast(%o), dimensions={}\n"
           "  %own = s32[8] subtract(%x, %os)\n  %until = s32[] constant(" +
           size +
           ")\n"
           "  %sizes = s32[8] broadcast(%until), dimensions={}\n  %z = s32[] constant(0)\n"
           "  %zs = s32[8] broadcast(%z), dimensions={}\n  %in = pred[8] compare(%own, %sizes), "
           "direction=LT\n"
           "  %from = pred[8] compare(%own, %zs), direction=" +
           direction +
           "\n  %here = pred[8] and(%in, %from)\n"
           "  %i = s32[8,1] reshape(%own)\n  %g = f32[8] gather(%f, %i), offset_dims={}, "
           "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n"
           "  %no = f32[] constant(0)\n  %nos = f32[8] broadcast(%no), dimensions={}\n"
           "  %s = f32[8] select(%here, %g, %nos)\n"
           "  ROOT %all = f32[8] all-reduce(%s), channel_id=1, replica_groups={{0,1}}, "
           "use_global_device_ids=true, to_apply=%sum\n";
  };
  const auto finding = [&](const std::string& size, const std::string& direction) {
    const std::string sum =
        "\n\n%sum (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n  %y = f32[] parameter(1)\n"
        "  ROOT %s = f32[] add(%x, %y)\n}\n";
    const auto text = [&](const std::string& f, const std::string& cut, const std::string& all,
                          const std::string& body) {
      return "HloModule m, num_partitions=2" + sum + "\nENTRY %e {\n  %f = f32[" + f + "] parameter(0)" +
             cut + "\n  %x = s32[8] parameter(1)" + all + "\n" + body + "}\n";
    };
    std::string whole = gather + "  ROOT %r = f32[8] copy(%g), sharding={replicated}\n";
    const Module before =
                     parse(text("8192", ", sharding={devices=[2]<=[2]}", ", sharding={replicated}", whole),
                           "b.txt"),
                 after = parse(text("4096", "", "", part(size, direction)), "a.txt");
    return prove({before, after, nullptr}, {.draws = 2});
  };
  const Proof right = finding("4096", "GE");
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_TRUE(right.borders.empty()) << right.borders[0];
  for (const auto& [size, direction] : {
           std::pair{"4097", "GE"},
           {"4095", "GE"},
           {"4096", "GT"}
  }) {
    const Proof p = finding(size, direction);
    EXPECT_EQ(p.finding, Finding::refuted) << size << direction;
    EXPECT_EQ(p.directed, size == std::string("4097"))
        << size << direction << ": in the middle no chance meets it";
  }
}

// As JAX looks up: below zero from the end, and out of bounds not at all. That no index is out of bounds
// needs no more draws.
TEST(Borders, OfWhatIsLookedUpNoneIsMissing) {
  const std::string lines =
      "  %z = s32[] constant(0)\n  %zs = s32[8] broadcast(%z), dimensions={}\n  %size = s32[] constant(9)\n"
      "  %sizes = s32[8] broadcast(%size), dimensions={}\n  %last = s32[] constant(8)\n"
      "  %lasts = s32[8] broadcast(%last), dimensions={}\n  %below = pred[8] compare(%x, %zs), direction=LT\n"
      "  %sum = s32[8] add(%x, %sizes)\n  %y = s32[8] select(%below, %sum, %x)\n"
      "  %from = pred[8] compare(%y, %zs), direction=GE\n  %to = pred[8] compare(%y, %lasts), direction=LE\n"
      "  %in = pred[8] and(%from, %to)\n  %table = f32[9] iota(), iota_dimension=0\n  %i = s32[8,1] "
      "reshape(%y)\n"
      "  %g = f32[8] gather(%table, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1}\n";
  const auto body = [&](const std::string& size, const std::string& shardings) {
    return lines + "  ROOT %t = (f32[" + size + "], pred[8], f32[8]) tuple(%f, %in, %g)" + shardings + "\n";
  };
  const Proof p =
      proved({body("8192", ", sharding={{devices=[2]<=[2]}, {replicated}, {replicated}}"), body("4096", "")});
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.borders, std::vector<std::string>{});
}

// Rows up to the sum of all sizes; whatever is drawn first.
TEST(Borders, OfASumWhatIsOffByOneIsRefuted) {
  const auto text = [](const std::string& rows, const std::string& cut, const std::string& direction,
                       const std::string& offset) {
    const std::string shape = "[" + rows + "]";
    return "HloModule m, num_partitions=2\n\n%sum (x: s32[], y: s32[]) -> s32[] {\n"
           "  %x = s32[] parameter(0)\n  %y = s32[] parameter(1)\n  ROOT %s = s32[] add(%x, %y)\n}\n\n"
           "ENTRY %e {\n  %f = f32" +
           shape + " parameter(0)" + (cut.empty() ? "" : ", sharding=" + cut) +
           "\n  %x = s32[8] parameter(1)" + (cut.empty() ? "" : ", sharding={replicated}") +
           "\n  %z = s32[] constant(0)\n  %all = s32[] reduce(%x, %z), dimensions={0}, to_apply=%sum\n"
           "  %alls = s32" +
           shape + " broadcast(%all), dimensions={}\n  %i = s32" + shape + " iota(), iota_dimension=0\n" +
           offset + "  %r = s32" + shape + " add(%i, %os)\n  %p = pred" + shape +
           " compare(%r, %alls), direction=" + direction + "\n  %no = f32[] constant(0)\n  %nos = f32" +
           shape + " broadcast(%no), dimensions={}\n  ROOT %s = f32" + shape + " select(%p, %f, %nos)" +
           (cut.empty() ? "" : ", sharding=" + cut) + "\n}\n";
  };
  const std::string none = "  %os = s32[8192] broadcast(%z), dimensions={}\n",
                    own =
                        "  %id = u32[] partition-id()\n  %d = s32[] convert(%id)\n"
                        "  %size = s32[] constant(4096)\n  %o = s32[] multiply(%d, %size)\n"
                        "  %os = s32[4096] broadcast(%o), dimensions={}\n";
  const Module before = parse(text("8192", "{devices=[2]<=[2]}", "LT", none), "b.txt"),
               right = parse(text("4096", "", "LT", own), "a.txt"),
               wrong = parse(text("4096", "", "LE", own), "a.txt");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Options options{.seed = seed, .draws = 2};
    const Proof p = prove({before, right, nullptr}, options);
    EXPECT_EQ(p.finding, Finding::proven) << seed;
    EXPECT_TRUE(p.borders.empty()) << seed;
    EXPECT_EQ(prove({before, wrong, nullptr}, options).finding, Finding::refuted) << seed;
  }
}

// A hash that takes its remainder finds the row where it turns.
TEST(Borders, OfAHashWhatIsOffByOneIsRefuted) {
  const auto holds = [](const std::string& direction) {
    return "  %c = s32[] constant(7)\n  %a = s32[] constant(3)\n  %m = s32[] constant(512)\n"
           "  %y = s32[] multiply(%n, %c)\n  %s = s32[] add(%y, %a)\n  %r = s32[] remainder(%s, %m)\n"
           "  %z = s32[] constant(1)\n  %p = pred[] compare(%r, %z), direction=" +
           direction + "\n";
  };
  EXPECT_EQ(proved(deciding(holds("LT"), holds("LT"))).finding, Finding::proven);
  EXPECT_EQ(proved(deciding(holds("LT"), holds("LE"))).finding, Finding::refuted);
}

// What cannot be brought to its border is said: a square is not 3, a sum is not followed.
TEST(Borders, ThoseThatNoDrawMetAreListed) {
  const std::string square =
      "  %m = s32[] multiply(%n, %n)\n  %k = s32[] constant(3)\n  %p = pred[] compare(%m, %k), "
      "direction=EQ\n";
  const Proof p = proved(deciding(square, square));
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_EQ(p.borders, (std::vector<std::string>{"%p", "after: %p"}));
  for (const std::string made : {"copy(%c)", "abs(%c)"}) {
    const std::string constant = "  %c = s32[] constant(2)\n  %m = s32[] " + made +
                                 "\n  %k = s32[] constant(3)\n  %p = pred[] compare(%m, %k), direction=LT\n";
    EXPECT_TRUE(proved(deciding(constant, constant)).borders.empty()) << made << ": no parameter decides it";
  }
}

// A range that is given is kept to.
TEST(Borders, WithinTheRangeThatIsGiven) {
  const std::string body = "  %k = s32[] constant(500)\n  %p = pred[] compare(%n, %k), direction=LT\n";
  const Bodies pair = deciding(body, body);
  const auto text = [](const std::string& f, const std::string& cut, const std::string& b) {
    return "HloModule m, num_partitions=2\n\nENTRY %e {\n  %f = f32[" + f + "] parameter(0)" + cut +
           "\n  %n = s32[] parameter(1)\n" + b + "}\n";
  };
  const Module before = parse(text("8192", ", sharding={devices=[2]<=[2]}", pair.whole), "b.txt"),
               after = parse(text("4096", "", pair.part), "a.txt");
  const Proof p = prove({before, after, nullptr}, {.ranges = {{1, {0, 9, true}}}});
  EXPECT_EQ(p.finding, Finding::proven);
  EXPECT_TRUE(p.borders.empty()) << "500 is not within it";
}

}  // namespace
}  // namespace plumb::hlo
