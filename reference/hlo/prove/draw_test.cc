// What is drawn: floats of several sizes and signs, ties, and integers to their ends.
#include "reference/hlo/prove/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/hlo/module/module.h"
#include "reference/hlo/prove/prove.h"
#include "reference/hlo/run/manual.h"

namespace plumb::hlo {
namespace {

Module of(const std::string& shape) {
  return parse(
      "HloModule m\n\nENTRY %e {\n  %f = f32[2] parameter(0)\n  ROOT %x = " + shape + " parameter(1)\n}\n",
      "m.txt");
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
    if (has_zeros(seed)) continue;
    const auto all = drawn(module, {{}, {}}, seed);
    const double size = scale_of(*all[1].array);
    if (is_plain(seed))
      EXPECT_EQ(size, 1) << seed;
    else
      sizes.insert(size);
  }
  EXPECT_EQ(sizes.size(), 11u);
  EXPECT_EQ(*sizes.begin(), 0x1p-5);
  EXPECT_EQ(*sizes.rbegin(), 0x1p5);
}

// "+" or "-" where all of them are so, "0" where some are zero.
std::string signs(const Elements<Twin>& all, std::size_t begin, std::size_t end) {
  int below = 0, above = 0;
  for (std::size_t n = begin; n < end; ++n) below += all[n].real<0, above += all[n].real> 0;
  if (below + above < static_cast<int>(end - begin)) return "0";
  return below == 0 ? "+" : above == 0 ? "-" : "+-";
}

// A largest that is below zero, and a smallest above it, are met: in two draws where many are, in eight
// everywhere.
TEST(Draw, OfEveryEightTwoAreOfOneSignAndOneIsMixed) {
  const Module module = of("f32[20,20]");
  for (std::uint64_t eight = 0; eight < 80; eight += 8) {
    const auto numbers = [&](std::uint64_t seed) {
      return drawn(module, {{}, {}}, eight + seed)[1].array->reals;
    };
    const std::string one = signs(numbers(2), 0, 400), other = signs(numbers(6), 0, 400);
    EXPECT_EQ(one + other, one == "+" ? "+-" : "-+");
    const auto mixed = numbers(1);
    EXPECT_EQ(signs(mixed, 0, 100), "+-");
    EXPECT_EQ(signs(mixed, 100, 200), one);
    EXPECT_EQ(signs(mixed, 200, 300), "0");
    EXPECT_EQ(signs(mixed, 300, 400), other);
    EXPECT_EQ(signs(numbers(0), 0, 400), "+-");
  }
}

// Integers that index nothing, of every eight draws: small in 0 and 7, else larger or of one sign.
TEST(Draw, IntegersThatIndexNothingAreLargerInSome) {
  for (const auto& [type, most] : {
           std::pair{"s8",  128 },
           {"s32", 1024},
           {"s64", 1024}
  }) {
    const Module module = of(type + std::string("[2000]"));
    const std::vector<Bounds> bounds = bounds_of(module);
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      const auto all = drawn(module, bounds, seed)[1].array->integers;
      const std::int64_t least = std::ranges::min(all), largest = std::ranges::max(all), of_eight = seed % 8;
      const bool small = of_eight == 0 || of_eight == 7, one_sign = of_eight == 2 || of_eight == 6;
      EXPECT_TRUE(least == (small ? -8 : -most) || (one_sign && least == 0)) << seed;
      EXPECT_TRUE(largest == (small ? 7 : most - 1) || (one_sign && largest == -1)) << seed;
      EXPECT_EQ(one_sign, least == 0 || largest == -1) << seed;
    }
  }
}

// Four in a row are the same in some, as the numbers of packed texts are: a comparison of each with each has
// yes and no. In others neighbours differ.
TEST(Draw, IntegersThatIndexNothingComeInRuns) {
  for (const std::string type : {"s8", "s32"}) {
    const Module module = of(type + "[400]");
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      const auto all = drawn(module, bounds_of(module), seed)[1].array->integers;
      int same = 0;
      for (std::size_t n = 0; n + 1 < all.size(); ++n) same += n % 4 != 3 && all[n] == all[n + 1];
      const std::uint64_t of_eight = seed % 8;
      if (of_eight == 1 || of_eight == 2 || of_eight == 6)
        EXPECT_GE(same, 300 - 4) << seed << ": but for the least and the greatest";
      else
        EXPECT_LT(same, 60) << seed;
    }
  }
  const Module indices = parse(
      "HloModule m\n\nENTRY %e {\n  %x = f32[90] parameter(0)\n  %i = s32[400,1] parameter(1)\n"
      "  ROOT %g = f32[400] gather(%x, %i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1}\n}\n",
      "m.txt");
  const auto all = drawn(indices, bounds_of(indices), 1)[1].array->integers;
  int same = 0;
  for (std::size_t n = 0; n + 1 < all.size(); ++n) same += all[n] == all[n + 1];
  EXPECT_LT(same, 60) << "what indexes is drawn one by one";
}

// What holds on every device alone would hide a dropped reduction of predicates.
TEST(Draw, PredicatesAreFewOrAllButFewInSome) {
  const Module module = of("pred[300]");
  std::set<std::int64_t> sparse;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const auto all = drawn(module, bounds_of(module), seed)[1].array->integers;
    const std::int64_t hold = std::ranges::count(all, 1);
    if (seed % 8 == 1 || seed % 8 == 3 || seed % 8 == 5)
      sparse.insert(hold);
    else
      EXPECT_TRUE(hold > 100 && hold < 200) << seed;
  }
  EXPECT_EQ(sparse, (std::set<std::int64_t>{0, 1, 299, 300}));
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
    if (has_zeros(seed) && !has_ties(seed)) continue;
    EXPECT_EQ(each.size(), has_ties(seed) ? 4u : 700u) << seed << ": without a constant";
    tied += has_ties(seed);
    if (!has_ties(seed)) continue;
    for (const auto& [number, times] : each) EXPECT_GT(times, 100) << seed;
    EXPECT_EQ(each.count(pairs.print(Twin{})), 1u) << seed;
  }
  EXPECT_EQ(tied, 10);
}

// What a scalar is multiplied with would be lost where it is zero.
TEST(Draw, ASingleFloatIsNoTie) {
  for (const char* shape : {"f32[]", "f32[1]"}) {
    const Module module = of(shape);
    std::set<std::uint64_t> met;
    for (std::uint64_t seed = 0; seed < 64; ++seed)
      met.insert(drawn(module, {{}, {}}, seed)[1].array->reals[0].coefficient.value);
    EXPECT_EQ(met.size(), 64u) << shape;
    EXPECT_FALSE(met.contains(0)) << shape;
  }
}

// A constant of the module is a tie, where it is of the size of what is drawn.
TEST(Draw, SomeAreConstantsOfTheModule) {
  const Module module = parse(
      "HloModule m\n\nENTRY %e {\n  %a = f32[] constant(1.5)\n  %b = f32[] constant(0.001)\n"
      "  ROOT %x = f32[300] parameter(0)\n}\n",
      "m.txt");
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const auto all = drawn(module, {{}}, seed)[0].array->reals;
    const auto are = [&](double number) {
      return std::ranges::count_if(
          all, [&](const Twin& x) { return x.real == number && x.coefficient == residue_of(number); });
    };
    EXPECT_EQ(are(1.5) > 5, seed % 8 == 1 || seed == 15) << seed;
    EXPECT_EQ(are(0.001), 0) << seed;
  }
}

// A single integer indexes one place in a draw: in eight of them every tile of 2 and of 4, its ends, and both
// sides of the middle.
TEST(Draw, ASingleIntegerReachesEveryTile) {
  const Module module = of("s32[]");
  std::set<std::int64_t> met;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    met.insert(drawn(module,
                     {
                         {    },
                         { 0, 31, true}
    },
                     seed)[1]
                   .array->integers.at(0));
  for (const std::int64_t n : {0, 8, 15, 16, 23, 31}) EXPECT_TRUE(met.contains(n)) << n;
  met.clear();
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    met.insert(drawn(module,
                     {
                         {    },
                         { 0, 31, true}
    },
                     seed)[1]
                   .array->integers.at(0));
  EXPECT_EQ(met.size(), 32u);
}

TEST(Draw, FloatsOfEitherSign) {
  const Module module = of("f32[20,20]");
  for (const std::uint64_t seed : {0, 3, 4, 8}) {
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
      const auto got = *drawn(pairs, module, {bounds}, {division})[0].array;
      EXPECT_EQ(got.integers, want.integers) << sharding;
      EXPECT_EQ(got.lanes, want.lanes);
      ASSERT_EQ(got.reals.size(), want.reals.size());
      for (std::size_t n = 0; n < got.reals.size(); ++n) {
        EXPECT_EQ(got.reals[n].real, want.reals[n].real) << sharding << " " << n;
        EXPECT_EQ(got.reals[n].coefficient, want.reals[n].coefficient) << sharding << " " << n;
      }
    }
}

// What a module asks for is met: the numbers that arrays of integers are compared with, and zero.
TEST(Draw, SomeLargerIntegersAreWhatTheModuleAsksFor) {
  const Module module = parse(R"(HloModule m

ENTRY %e {
  %x = s32[64,8] parameter(0)
  %pad = s32[] constant(-7000)
  %pads = s32[64,8] broadcast(%pad), dimensions={}
  %most = s32[] constant(9000)
  %all = s32[64,8] broadcast(%most), dimensions={}
  %p = pred[64,8] compare(%x, %pads), direction=NE
  %q = pred[64,8] compare(%x, %all), direction=LT
  ROOT %r = pred[64,8] and(%p, %q)
}
)",
                              "m.txt");
  const std::set<std::uint64_t> larger = {1, 3, 4, 5};
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto counted = [&](bool any, std::int64_t x) {
      const std::vector<Bounds> bounds = any ? bounds_of(module)
                                             : std::vector<Bounds>{
                                                   {-8, 7, false, false}
      };
      return std::ranges::count(drawn(module, bounds, seed)[0].array->integers, x);
    };
    EXPECT_EQ(counted(true, -7000) > 30, larger.contains(seed % 8)) << seed;
    EXPECT_EQ(counted(true, -7000) > 0, larger.contains(seed % 8)) << seed;
    EXPECT_TRUE(!larger.contains(seed % 8) || counted(true, 0) > 30) << seed;
    for (const std::int64_t side : {8999, 9000})  // of the border
      EXPECT_EQ(counted(true, side) > 10, larger.contains(seed % 8)) << seed;
    EXPECT_EQ(counted(false, -7000), 0) << "where a range is given " << seed;
  }
}

// So are those of what indexes: a label that a loss leaves out.
TEST(Draw, LabelsThatALossLeavesOut) {
  const Module module = parse(R"(HloModule m

ENTRY %e {
  %y = s32[400] parameter(0)
  %f = f32[6,3] parameter(1)
  %no = s32[] constant(-100)
  %nos = s32[400] broadcast(%no), dimensions={}
  %m = pred[400] compare(%y, %nos), direction=NE
  %i = s32[400,1] reshape(%y)
  ROOT %g = f32[400,3] gather(%f, %i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}
}
)",
                              "m.txt");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::map<std::int64_t, int> met;
    const Integers labels = drawn(module, bounds_of(module), seed)[0].array->integers;
    for (const std::int64_t y : labels) ++met[y];
    EXPECT_EQ(met[-100] > 60, seed == 1 || (seed >= 3 && seed <= 5)) << seed;
    met.erase(-100);
    EXPECT_EQ(met.size(), 6u) << seed;
    EXPECT_EQ(met.begin()->first, 0) << seed;
  }
}

// So a mask that is forgotten is seen, where two draws are made.
TEST(Draw, AForgottenMaskOfANumberIsSeen) {
  const std::string whole = R"(HloModule m, num_partitions=2

ENTRY %e {
  %x = f32[4096] parameter(0), sharding={devices=[2]<=[2]}
  %s = s32[256] parameter(1), sharding={replicated}
  %c = s32[] constant(-7000)
  %cs = s32[256] broadcast(%c), dimensions={}
  %m = pred[256] compare(%s, %cs), direction=NE
  ROOT %t = (f32[4096], pred[256]) tuple(%x, %m), sharding={{devices=[2]<=[2]}, {replicated}}
}
)";
  std::string part = whole, wrong;
  for (std::size_t at; (at = part.find("4096")) != part.npos;) part.replace(at, 4, "2048");
  wrong = part;
  wrong.replace(wrong.find("compare(%s, %cs), direction=NE"), 30, "compare(%s, %s), direction=EQ");
  const Module before = parse(whole, "b.txt");
  for (std::uint64_t seed = 0; seed < 8; seed += 2) {
    EXPECT_EQ(prove({before, parse(part, "a.txt"), nullptr}, {seed}).finding, Finding::proven) << seed;
    if (seed % 8 == 6) continue;  // one sign, and small ones
    EXPECT_EQ(prove({before, parse(wrong, "a.txt"), nullptr}, {seed}).finding, Finding::refuted) << seed;
  }
}

}  // namespace
}  // namespace plumb::hlo
