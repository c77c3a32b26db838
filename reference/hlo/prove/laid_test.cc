// Law: what devices hold of a value in any layout that a sharding has is known as that value; devices
// exchanged, reversed or a step too far are not. Parts of it are known where they add up.
#include "reference/hlo/prove/laid.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

#include "reference/hlo/module/module.h"
#include "reference/hlo/run/manual.h"

namespace plumb::hlo {
namespace {

Array<Twin> numbers(const Integers& dims, std::uint64_t key) {
  Array<Twin> a{Type::f32, dims, 1, {}, {}};
  for (std::int64_t n = 0; n < count(dims); ++n)
    a.reals.push_back({1, 0, Residue{mixed(key + static_cast<std::uint64_t>(n)) >> 4}, {}});
  return a;
}

std::vector<std::string> shardings() {
  return {"{devices=[2,2,2]<=[8] last_tile_dim_replicate}",
          "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
          "{devices=[4,2]<=[8]}",
          "{devices=[4,2]<=[2,2,2]T(2,1,0)}",
          "{devices=[2,4]<=[2,2,2]T(1,0,2)}",
          "{devices=[1,8]<=[4,2]T(1,0)}",
          "{devices=[8,1]<=[8]}",
          "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"};
}

Sums held_by(const Pairs& pairs, const Array<Twin>& whole, const std::string& sharding) {
  const Module module = parse(
      "HloModule m, num_partitions=8\n\nENTRY %e {\n  ROOT %x = f32[8,8] parameter(0), sharding=" + sharding +
          "\n}\n",
      "m.txt");
  const Division division = *divide(entry(module).instructions[0].sharding[0], 2, 8);
  Pairs own{pairs.key};
  return sums_of(pairs, cut(whole, division, poison(own, whole.type)), 8);
}

TEST(Laid, EachLayoutOfAShardingIsKnown) {
  const Pairs pairs{7};
  const Array<Twin> whole = numbers({8, 8}, 1), other = numbers({8, 8}, 2);
  for (const std::string& sharding : shardings()) {
    SCOPED_TRACE(sharding);
    const Sums held = held_by(pairs, whole, sharding);
    EXPECT_TRUE(is_laid_out(pairs, whole, held));
    EXPECT_FALSE(is_laid_out(pairs, other, held));
    Sums reversed = held;
    std::ranges::reverse(reversed.of);
    EXPECT_FALSE(is_laid_out(pairs, whole, reversed));
    int known = 0;
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = 0; b < a; ++b) {
        Sums exchanged = held;
        std::swap(exchanged.of[a], exchanged.of[b]);
        known += exchanged.of != held.of && is_laid_out(pairs, whole, exchanged);
      }
    EXPECT_EQ(known, 0);
    Sums further = held;
    std::ranges::rotate(further.of, further.of.begin() + 1);
    EXPECT_FALSE(is_laid_out(pairs, whole, further));
  }
}

// Meshes of 6 and 12: the odd axis innermost, outermost, or between. Parts along any axis are those of its devices,
// the others' tiles or copies beside.
TEST(Laid, OfMeshesThatAreNoPowersOfTwo) {
  const Pairs pairs{7};
  const std::vector<Integers> meshes = {{2, 3}, {3, 2}, {4, 3}, {3, 4}, {2, 3, 2}};
  for (const Integers& mesh : meshes)
    for (std::size_t parted = 0; parted < mesh.size(); ++parted)
      for (std::size_t tiled = 0; tiled <= mesh.size(); ++tiled) {
        if (tiled == parted) continue;
        const auto place = [&](std::int64_t device, std::size_t axis) {
          for (std::size_t a = mesh.size(); --a > axis;) device /= mesh[a];
          return device % mesh[axis];
        };
        const std::int64_t devices = std::accumulate(mesh.begin(), mesh.end(), std::int64_t{1}, std::multiplies<>());
        const std::int64_t tiles = tiled < mesh.size() ? mesh[tiled] : 1;
        const Array<Twin> whole = numbers({12}, 1);
        Sums held{Type::f32, {12 / tiles}, {}};
        Integers parts_of_zero;
        for (std::int64_t device = 0; device < devices; ++device) {
          const std::int64_t part = place(device, parted), tile = tiles > 1 ? place(device, tiled) : 0;
          Array<Twin> own{Type::f32, {12 / tiles}, 1, {}, {}};
          for (std::int64_t n = 0; n < 12 / tiles; ++n) {
            const std::int64_t element = tile * (12 / tiles) + n;
            Twin x = whole.reals[static_cast<std::size_t>(element)];
            for (std::int64_t other = 1; other < mesh[parted]; ++other) {
              const Residue some{mixed(static_cast<std::uint64_t>(100 * other + element)) >> 4};
              if (part == 0) x.coefficient = x.coefficient - some;
              if (part == other) x.coefficient = some;
            }
            own.reals.push_back(x);
          }
          held.of.push_back(sums_of(pairs, own, 1).of[0]);
          bool is_of_zero = true;
          for (std::size_t a = 0; a < mesh.size(); ++a) is_of_zero &= a == parted || place(device, a) == 0;
          if (is_of_zero) parts_of_zero.push_back(device);
        }
        EXPECT_EQ(parts_of_first(pairs, whole, held), parts_of_zero)
            << testing::PrintToString(mesh) << " " << parted << " " << tiled;
      }
}

// Half of the devices hold some of it, the other half what is left.
TEST(Laid, PartsAreKnownWhereTheyAddUp) {
  const Pairs pairs{7};
  const Array<Twin> whole = numbers({8, 8}, 1), some = numbers({8, 8}, 3);
  Array<Twin> rest = some;
  for (std::size_t n = 0; n < rest.reals.size(); ++n)
    rest.reals[n].coefficient = whole.reals[n].coefficient - some.reals[n].coefficient;
  for (const std::size_t step : {1, 2, 4}) {
    Sums held = held_by(pairs, some, "{replicated}");
    const Sums left = held_by(pairs, rest, "{replicated}");
    for (std::size_t device = 0; device < 8; ++device)
      if (device / step % 2 == 1) held.of[device] = left.of[device];
    EXPECT_TRUE(is_laid_out(pairs, whole, held)) << step;
    std::swap(held.of[0], held.of[step == 4 ? 5 : 3]);
    EXPECT_FALSE(is_laid_out(pairs, whole, held)) << step << ": members of two groups exchanged";
  }
}

Integers along(std::size_t axes) {
  Integers all;
  for (std::int64_t device = 0; device < 8; ++device)
    if ((static_cast<std::size_t>(device) & ~axes) == 0) all.push_back(device);
  return all;
}

// Along each choice of the axes of a mesh: the device at the first place holds what those at others do not.
TEST(Laid, WhoHoldsThePartsOfTheFirst) {
  const Pairs pairs{7};
  const Array<Twin> whole = numbers({8, 8}, 1);
  for (std::size_t axes = 0; axes < 8; ++axes) {
    Sums held = held_by(pairs, whole, "{replicated}");
    for (std::size_t device = 0; device < 8; ++device) {
      if ((device & axes) == 0) continue;
      const Sums part = held_by(pairs, numbers({8, 8}, 10 + (device & axes)), "{replicated}");
      held.of[device] = part.of[device];
      Residue& first = held.of[device & ~axes];
      first = first - part.of[device];
    }
    EXPECT_EQ(parts_of_first(pairs, whole, held), along(axes)) << axes;
  }
}

// 1 + 2 + 2 + 1 is 1 + 1 + 2 + 2, where two devices hold each: it is those that hold other parts.
TEST(Laid, WhoHoldTheSameHoldNoParts) {
  Pairs pairs{7};
  Sums held{Type::f32, {}, {}};
  const auto number = [&](double x) {
    Array<Twin> a{Type::f32, {}, 1, {}, {}};
    a.reals.push_back(pairs.constant(x));
    return a;
  };
  for (const double x : {1, 1, 2, 2, 2, 2, 1, 1}) held.of.push_back(sums_of(pairs, number(x), 1).of[0]);
  EXPECT_EQ(parts_of_first(pairs, number(6), held), along(6));
}

TEST(Laid, WhatIsTheSameThroughoutTellsNothing) {
  const Pairs pairs{7};
  Array<Twin> whole = numbers({8, 8}, 1);
  for (Twin& x : whole.reals) x = whole.reals[0];
  EXPECT_FALSE(is_laid_out(pairs, whole, held_by(pairs, whole, "{devices=[4,2]<=[8]}")));
  Array<Twin> integers{
      Type::s32, {4       },
       1, {3,        1, 4, 1},
       {}
  };
  EXPECT_TRUE(is_laid_out(pairs, integers, sums_of(pairs, integers, 2)));
}

}  // namespace
}  // namespace plumb::hlo
