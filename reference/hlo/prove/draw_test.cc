// What is drawn: integers below all that they index, wherever they get there, and floats of several sizes.
#include "reference/hlo/prove/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/hlo/module/module.h"
#include "reference/hlo/run/manual.h"

namespace plumb::hlo {
namespace {

constexpr const char* kComputations = R"(
%sum (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  ROOT %y = f32[] parameter(1)
}

%both (x: f32[], y: f32[], v: f32[], w: f32[]) -> (f32[], f32[]) {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  %v = f32[] parameter(2)
  %w = f32[] parameter(3)
  ROOT %t = (f32[], f32[]) tuple(%v, %w)
}

%second (s: (s32[], s32[])) -> s32[] {
  %s = (s32[], s32[]) parameter(0)
  ROOT %e = s32[] get-tuple-element(%s), index=1
}

%same (n: s32[]) -> s32[] {
  ROOT %n = s32[] parameter(0)
}

%slice (n: s32[]) -> f32[1] {
  %n = s32[] parameter(0)
  %six = f32[6] iota(), iota_dimension=0
  ROOT %d = f32[1] dynamic-slice(%six, %n), dynamic_slice_sizes={1}
}

%more (s: (s32[], s32[])) -> pred[] {
  %s = (s32[], s32[]) parameter(0)
  ROOT %p = pred[] constant(false)
}

%body (s: (s32[], s32[])) -> (s32[], s32[]) {
  %s = (s32[], s32[]) parameter(0)
  %e = s32[] get-tuple-element(%s), index=1
  %d = f32[1] call(%e), to_apply=%slice
  ROOT %t = (s32[], s32[]) copy(%s)
}

ENTRY %e {
  %i = s32[] parameter(0)
  %j = s32[] parameter(1)
  %n = s32[3] parameter(2)
  %f = f32[5,9] iota(), iota_dimension=1
  %v = s32[2,3] iota(), iota_dimension=1
  %x = f32[] constant(1)
  %t = (s32[], s32[]) tuple(%i, %j)
  )";

// "i<5 n<9" for the parameters that index.
std::string bounds(const std::string& lines) {
  std::string text = "HloModule m, num_partitions=2\n" + std::string(kComputations) + lines +
                     "\n  ROOT %r = s32[] constant(1)\n}\n";
  std::string all;
  const char* names = "ijn";
  for (const Bounds& b : bounds_of(parse(text, "m.txt"))) {
    EXPECT_EQ(b.low, b.indexes || *names != 'n' ? 0 : -8);
    if (b.indexes)
      all += (all.empty() ? "" : " ") + std::string(1, *names) + "<" + std::to_string(b.high + 1);
    EXPECT_TRUE(b.indexes || b.high == 7);
    ++names;
  }
  return all;
}

// clang-format off
TEST(Draw, IntegersStayBelowWhatTheyIndex) {
  const std::string gather = "%g = f32[3] gather(%f, %n), offset_dims={}, collapsed_slice_dims={0,1}, index_vector_dim=1, "
                             "slice_sizes={1,1}, start_index_map=",
                    scatter = "update_window_dims={}, inserted_window_dims={0,1}, index_vector_dim=1, scatter_dims_to_operand_dims=",
                    slice = ", dynamic_slice_sizes={1,1}";
  const std::pair<std::string, std::string> table[] = {
      {"%q = s32[] add(%i, %j)", ""},
      {"%q = pred[3] compare(%n, %n), direction=LT\n  %s = s32[3] select(%q, %n, %n)", ""},
      {gather + "{0}", "n<5"},
      {gather + "{1}", "n<9"},
      {gather + "{1,0}", "n<5"},
      {gather + "{2}", ""},
      {gather + "{-1}", ""},
      {"%s = f32[5,9] scatter(%f, %n, %f), to_apply=%sum, " + scatter + "{1}", "n<9"},
      {"%s = (f32[5,9], f32[5,9]) scatter(%f, %f, %n, %f, %f), to_apply=%both, " + scatter + "{0}", "n<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %j)" + slice, "i<5 j<9"},
      {"%d = f32[1,1] dynamic-slice(%f, %j, %i)" + slice, "i<9 j<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %i)" + slice, "i<5"},
      {"%d = f32[1,1] dynamic-slice(%f, %i, %j, %i)" + slice, "i<5 j<9"},
      {"%d = f32[1,1] dynamic-slice(%f, %j)" + slice, "j<5"},
      {"%d = f32[5,9] dynamic-update-slice(%f, %f, %i, %j)", "i<5 j<9"},
      {"%k = s32[] add(%i, %j)\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "i<5 j<5"},
      {"%k = s32[3] reshape(%n)\n  " + gather + "{0}", "n<5"},
      {"%w = f32[] convert(%i)\n  %k = s32[] convert(%w)\n  %d = f32[1,1] dynamic-slice(%f, %k, %j)" + slice, "j<9"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%v, %b), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %q = s32[2,3] add(%v, %v)\n  %p = pred[2,3] compare(%q, %b), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %v), direction=EQ", "n<3"},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %v), direction=LT", ""},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %q = s32[2,3] add(%b, %v)\n  %p = pred[2,3] compare(%b, %q), direction=EQ", ""},
      {"%b = s32[2,3] broadcast(%n), dimensions={1}\n  %p = pred[2,3] compare(%b, %b), direction=EQ", ""},
      {"%k = s32[] get-tuple-element(%t), index=1\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%k = s32[] get-tuple-element(%t), index=2\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, ""},
      {"%k = s32[] call(%t), to_apply=%second\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%k = s32[] fusion(%t), calls=%second\n  %d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "j<5"},
      {"%d = f32[1] call(%i), to_apply=%slice", "i<6"},
      {"%w = (s32[], s32[]) while(%t), condition=%more, body=%body", "j<6"},
      {"%w = (s32[], s32[]) while(%t), condition=%more, body=%body\n  %k = s32[] get-tuple-element(%w), index=0\n  "
       "%d = f32[1,1] dynamic-slice(%f, %k, %k)" + slice, "i<5 j<6"},
      {"%c = s32[] conditional(%i, %t, %i), branch_computations={%second, %same}\n  %d = f32[1,1] dynamic-slice(%f, %c, %c)" + slice, "i<5 j<5"},
      {"%c = s32[] conditional(%i, %j, %j), branch_computations={%same, %same}\n  %d = f32[1,1] dynamic-slice(%f, %c, %c)" + slice, "j<5"},
      // So many rows, and where they begin, are not negative either.
      {"%m = f32[3,9] iota(), iota_dimension=0\n  %q = f32[3,4,2] iota(), iota_dimension=0\n  %y = f32[3,4] iota(), iota_dimension=0\n"
       "  %d = f32[3,2] ragged-dot(%y, %q, %n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}", "n<8"},
      {"%z = f32[0,9] constant({ })\n  %d = f32[0,1] dynamic-slice(%z, %i, %j), dynamic_slice_sizes={0,1}", "j<9"},
  };
  for (const auto& [lines, want] : table) EXPECT_EQ(bounds(lines), want) << lines;
}
// clang-format on

Module of(const std::string& shape) {
  return parse(
      "HloModule m\n\nENTRY %e {\n  %f = f32[2] parameter(0)\n  ROOT %x = " + shape + " parameter(1)\n}\n",
      "m.txt");
}

// Sixty computations, each of which calls the one above it twice: nobody goes through 2^60 calls.
TEST(Draw, CallsWithoutEndAreFollowedSoFar) {
  std::string text = "HloModule m\n\n%f0 (v: s32[]) -> s32[] {\n  ROOT %v = s32[] parameter(0)\n}\n";
  for (int i = 1; i < 60; ++i) {
    const std::string n = std::to_string(i), called = "to_apply=%f" + std::to_string(i - 1) + "\n";
    text += "\n%f" + n + " (v: s32[]) -> s32[] {\n  %v = s32[] parameter(0)\n  %a = s32[] call(%v), " +
            called + "  ROOT %b = s32[] call(%a), " + called + "}\n";
  }
  text += "\nENTRY %e {\n  %x = s32[] parameter(0)\n  ROOT %r = s32[] call(%x), to_apply=%f59\n}\n";
  EXPECT_EQ(bounds_of(parse(text, "m.txt"))[0].high, 7);
}

TEST(Draw, IntegersThatIndexNothing) {
  EXPECT_EQ(bounds_of(of("s8[3]"))[1].low, -8) << "of an array";
  EXPECT_EQ(bounds_of(of("s8[3]"))[1].high, 7);
  const std::pair<const char*, std::int64_t> table[] = {
      {"s8[]",   7                          },
      {"s64[]",  7                          },
      {"pred[]", 1                          },
      {"u2[]",   3                          },
      {"u32[]",  4294967295                 },
      {"u64[]",  (std::int64_t{1} << 62) - 1}
  };
  for (const auto& [shape, high] : table) {
    const Bounds b = bounds_of(of(shape))[1];
    EXPECT_EQ(b.low, 0) << shape;
    EXPECT_EQ(b.high, high) << shape;
    EXPECT_FALSE(b.indexes) << shape;
  }
}

TEST(Draw, EveryIntegerWithinTheBounds) {
  const Module module = of("s32[400]");
  const auto array = drawn(module,
                           {
                               {    },
                               { 3, 6, true}
  },
                           5)[1]
                         .array;
  ASSERT_EQ(array->integers.size(), 400u);
  Integers met(10);
  for (const std::int64_t x : array->integers) ++met.at(static_cast<std::size_t>(x));
  for (std::size_t x = 0; x < met.size(); ++x) EXPECT_EQ(met[x] > 40, x >= 3 && x <= 6) << x;
  EXPECT_EQ(drawn(module,
                  {
                      {    },
                      { 9, 9, true}
  },
                  5)[1]
                .array->integers,
            Integers(400, 9));
}

// Masks and clamps show at the ends of a range.
TEST(Draw, TheEndsOfARangeEachTime) {
  const Module module = of("s32[2,2]");
  Integers first(4);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Integers all = drawn(module,
                               {
                                   {    },
                                   { -5, 10000, true}
    },
                               seed)[1]
                             .array->integers;
    EXPECT_EQ(std::ranges::count(all, -5), 1) << seed;
    EXPECT_EQ(std::ranges::count(all, 10000), 1) << seed;
    ++first[static_cast<std::size_t>(std::ranges::find(all, -5) - all.begin())];
  }
  for (const std::int64_t n : first) EXPECT_GT(n, 10);
}

// Of what is drawn between 1/2 and 2 times a power of two.
double scale_of(const Array<Twin>& array) {
  double least = HUGE_VAL;
  for (const Twin& x : array.reals) least = std::min(least, std::fabs(x.real));
  return std::exp2(std::floor(std::log2(least) + 1));
}

TEST(Draw, EachDrawHasASizeAndInSomeEachArgument) {
  const Module module = of("f32[20,20]");
  std::set<double> sizes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    if (has_ties(seed)) continue;
    const auto all = drawn(module, {{}, {}}, seed);
    const double size = scale_of(*all[1].array);
    if (seed % 8 < 2) {
      EXPECT_EQ(size, seed % 8 == 0 ? 1 : 0.125) << seed;
    } else {
      sizes.insert(size);
    }
  }
  EXPECT_EQ(sizes.size(), 11u);
  EXPECT_EQ(*sizes.begin(), 0x1p-5);
  EXPECT_EQ(*sizes.rbegin(), 0x1p5);
}

// In one of every eight draws what is equal in one argument is equal in another.
TEST(Draw, FewNumbersOfWhichOneIsZero) {
  const Module module = parse(
      "HloModule m\n\nENTRY %e {\n  %x = f32[20,20] parameter(0)\n  ROOT %y = f32[300] parameter(1)\n}\n",
      "m.txt");
  int tied = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    std::map<std::uint64_t, int> each;
    Pairs pairs{seed};
    for (const auto& argument : drawn(module, {{}, {}}, seed))
      for (const Twin& x : argument.array->reals) ++each[pairs.print(x)];
    EXPECT_EQ(each.size(), has_ties(seed) ? 4u : 700u) << seed;
    tied += has_ties(seed);
    if (!has_ties(seed)) continue;
    for (const auto& [number, times] : each) EXPECT_GT(times, 100) << seed;
    EXPECT_EQ(each.count(pairs.print(Twin{})), 1u) << seed;
  }
  EXPECT_EQ(tied, 10);
}

// Of single integers no element is the least, but in one of every eight draws it is; in one it is the
// greatest.
TEST(Draw, ASingleIntegerReachesItsEnds) {
  const Module module = of("s32[]");
  int least = 0, greatest = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const std::int64_t x = drawn(module,
                                 {
                                     {    },
                                     { 0, 1000000000, true}
    },
                                 seed)[1]
                               .array->integers.at(0);
    least += x == 0, greatest += x == 1000000000;
  }
  EXPECT_EQ(least, 10);
  EXPECT_EQ(greatest, 10);
}

TEST(Draw, FloatsOfEitherSign) {
  const Module module = of("f32[20,20]");
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const double scale = scale_of(*drawn(module, {{}, {}}, seed)[1].array);
    const auto array = drawn(module, {{}, {}}, seed)[1].array;
    ASSERT_EQ(array->reals.size(), 400u);
    EXPECT_EQ(array->dims, (Integers{20, 20}));
    EXPECT_EQ(array->lanes, 1);
    int negative = 0, large = 0, high = 0;
    for (const Twin& x : array->reals) {
      EXPECT_GE(std::fabs(x.real), 0.5 * scale);
      EXPECT_LT(std::fabs(x.real), 2 * scale);
      EXPECT_EQ(x.error, 0);
      EXPECT_EQ(x.exponent, Residue{});
      negative += x.real<0, large += std::fabs(x.real)> 1.25 * scale,
          high += x.coefficient.value > Residue::p / 2;
    }
    for (const int half : {negative, large, high}) EXPECT_TRUE(half > 140 && half < 260) << half;
  }
  EXPECT_EQ(drawn(module, {{}, {}}, 4)[1].array->reals[7].real,
            drawn(module, {{}, {}}, 4)[1].array->reals[7].real);
  EXPECT_NE(drawn(module, {{}, {}}, 4)[1].array->reals[7].real,
            drawn(module, {{}, {}}, 8)[1].array->reals[7].real);
  EXPECT_NE(drawn(module, {{}, {}}, 4)[1].array->reals[0].real,
            drawn(module, {{}, {}}, 4)[0].array->reals[0].real)
      << "each argument is drawn by itself";
  EXPECT_THROW(drawn(of("(f32[])"), {{}, {}}, 0), BadModule);
  EXPECT_THROW(drawn(of("token[]"), {{}, {}}, 0), BadModule);
}

// Law: what each device draws of an argument is its part of what is drawn whole.
TEST(Draw, PartsOfWholeArguments) {
  const Bounds bounds{0, 1000, true};
  for (const std::string type : {"f32", "s32"})
    for (const std::string sharding : {"{devices=[4,1]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}",
                                       "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{replicated}"}) {
      const Module module = parse("HloModule m, num_partitions=4\n\nENTRY %e {\n  ROOT %x = " + type +
                                      "[5,3] parameter(0), sharding=" + sharding + "\n}\n",
                                  "m.txt");
      const Division division = *divide(entry(module).instructions[0].sharding.at(0), 2, 4);
      Pairs pairs{3};
      const auto fill = poison(pairs, entry(module).instructions[0].shape.type);
      const auto want = cut(*drawn(module, {bounds}, 3)[0].array, division, fill);
      const auto got = *drawn(module, {bounds}, 0, 3, division, fill).array;
      EXPECT_EQ(got.integers, want.integers) << sharding;
      EXPECT_EQ(got.lanes, want.lanes);
      ASSERT_EQ(got.reals.size(), want.reals.size());
      for (std::size_t n = 0; n < got.reals.size(); ++n) {
        EXPECT_EQ(got.reals[n].real, want.reals[n].real) << sharding << " " << n;
        EXPECT_EQ(got.reals[n].coefficient, want.reals[n].coefficient) << sharding << " " << n;
      }
    }
}

}  // namespace
}  // namespace plumb::hlo
