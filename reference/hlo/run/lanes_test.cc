// Devices that share lanes: which of them hold the same of several operands, and what collectives make of it.
#include "reference/hlo/run/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

Holders of(std::vector<std::int32_t> lanes) {
  return std::make_shared<const std::vector<std::int32_t>>(std::move(lanes));
}

Array<double> scalars_in(Integers lanes, Holders holders) {
  const auto n = std::ssize(lanes);
  return {Type::s32, {}, n, std::move(lanes), {}, std::move(holders)};
}

Integers on_each(const Array<double>& a, std::int64_t devices) {
  Integers held;
  for (std::int64_t d = 0; d < devices; ++d)
    held.push_back(a.integers[static_cast<std::size_t>(lane_on(a, d))]);
  return held;
}

// Every way in which up to four devices share lanes: the holders of each, numbered as they come.
std::vector<Holders> partitions(std::size_t devices) {
  std::vector<Holders> all;
  std::vector<std::int32_t> lanes(devices, 0);
  const auto extend = [&](const auto& self, std::size_t d, std::int32_t used) -> void {
    if (d == devices) return all.push_back(of(lanes));
    for (std::int32_t lane = 0; lane <= used; ++lane)
      lanes[d] = lane, self(self, d + 1, std::max(used, lane + 1));
  };
  extend(extend, 0, 0);
  return all;
}

std::int64_t lanes_of(const Holders& holders) { return *std::ranges::max_element(*holders) + 1; }

Array<double> numbered(const Holders& holders, std::int64_t first) {
  Integers lanes(static_cast<std::size_t>(lanes_of(holders)));
  std::iota(lanes.begin(), lanes.end(), first);
  return scalars_in(lanes, lanes.size() == 1 ? Holders{} : holders);
}

// Each device finds in the joint lane what it holds, of either operand; no two lanes hold the same of both.
TEST(Lanes, JoinedAreWhatEachDeviceHolds) {
  for (const Holders& p : partitions(4))
    for (const Holders& q : partitions(4)) {
      const Array<double> a = numbered(p, 10), b = numbered(q, 20);
      const Joint joint = joined<double>({&a, &b});
      std::set<std::pair<std::int64_t, std::int64_t>> pairs;
      for (std::int64_t d = 0; d < 4; ++d) {
        const std::int64_t lane = joint.lanes == 1 ? 0
                                  : joint.holders  ? (*joint.holders)[static_cast<std::size_t>(d)]
                                                   : d;
        const auto x = begin_of(joint, 0, a, lane, 1), y = begin_of(joint, 1, b, lane, 1);
        EXPECT_EQ(x, lane_on(a, d));
        EXPECT_EQ(y, lane_on(b, d));
        pairs.insert({x, y});
      }
      EXPECT_EQ(joint.lanes, std::ssize(pairs));
    }
}

TEST(Lanes, ALaneADeviceIsAsFineAsAny) {
  const Array<double> own = scalars_in({5, 6, 7, 8}, {}), two = scalars_in({1, 2}, of({0, 1, 1, 0}));
  const Joint joint = joined<double>({&two, &own});
  EXPECT_EQ(joint.lanes, 4);
  EXPECT_FALSE(joint.holders);
  EXPECT_EQ(joint.of[0], (std::vector<std::int32_t>{0, 1, 1, 0}));
  EXPECT_TRUE(joint.of[1].empty());
  EXPECT_EQ(with_lanes(two, joint.of[0], joint.holders).integers, (Integers{1, 2, 2, 1}));
  const Array<double> three = scalars_in({1, 2, 3}, {});
  EXPECT_THROW(joined<double>({&three, &own}), Misfit);
}

TEST(Lanes, IntegersThatAreTheSameAreHeldOnce) {
  const Array<double> a = regrouped(scalars_in({3, 4, 3, 3}, {}), 4);
  EXPECT_EQ(a.integers, (Integers{3, 4}));
  EXPECT_EQ(on_each(a, 4), (Integers{3, 4, 3, 3}));
  const Array<double> again = regrouped(scalars_in({9, 8, 9}, of({0, 1, 2, 1})), 4);
  EXPECT_EQ(again.lanes, 2);
  EXPECT_EQ(on_each(again, 4), (Integers{9, 8, 9, 8}));
  const Array<double> one = regrouped(scalars_in({9, 9}, of({0, 1, 1})), 3);
  EXPECT_EQ(one.lanes, 1);
  EXPECT_FALSE(one.holders) << "one lane is everyone's";
  EXPECT_EQ(regrouped(scalars_in({9, 9}, {}), 0).lanes, 2) << "within a reduction";
}

// What each of eight devices holds of a root: %d is its number, %half that of its half.
std::pair<std::int64_t, Integers> on_eight(const std::string& lines) {
  const Module module = parse(
      "HloModule m, num_partitions=8\n\n%sum (a: s32[], b: s32[]) -> s32[] {\n  %a = s32[] parameter(0)\n"
      "  %b = s32[] parameter(1)\n  ROOT %s = s32[] add(%a, %b)\n}\n\nENTRY %e {\n  %id = u32[] "
      "partition-id()\n"
      "  %d = s32[] convert(%id)\n  %four = s32[] constant(4)\n  %half = s32[] divide(%d, %four)\n" +
          lines + "}\n",
      "m.txt");
  Reals reals;
  const auto root = evaluate(Machine<Reals>{module, reals, 8, {}}, entry(module), {}, {});
  return {root.array->lanes, on_each(*root.array, 8)};
}

// The whole that all devices hold together.
auto assemble(Reals& reals, const Array<double>& held, const Integers& dims, const Division& division) {
  Integers devices(division.shares.size());
  std::iota(devices.begin(), devices.end(), 0);
  return assemble(reals, held, dims, Together{division, devices});
}

// What devices hold of a sum of one to three parts, in tiles the last of which is shorter, makes the whole;
// and a whole that is cut.
TEST(Lanes, AWholeIsTheSumOfItsParts) {
  Reals reals;
  for (std::int64_t parts = 1; parts <= 3; ++parts)
    for (std::int64_t tiles = 1; tiles <= 3; ++tiles) {
      Division division{{tiles}, parts, {}};
      Array<double> held{Type::s32, tile_dims({5}, division), parts * tiles, {}, {}};
      Integers whole(5, 0);
      for (std::int64_t part = 0; part < parts; ++part)
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
          division.shares.push_back({{tile}, part});
          for (const std::int64_t element : share_map({5}, division, division.shares.back())) {
            held.integers.push_back(100 * part * part + 10 * part + element);
            if (element >= 0) whole[static_cast<std::size_t>(element)] += held.integers.back();
          }
        }
      EXPECT_EQ(assemble(reals, held, {5}, division).integers, whole) << parts << " " << tiles;
      const auto made = cut(Array<double>{Type::s32, {5}, 1, whole, {}}, division, poison(reals, Type::s32));
      EXPECT_EQ(assemble(reals, made, {5}, division).integers, whole) << "that was cut";
      Array<double> floats{
          Type::f32, held.dims, held.lanes, {                   },
             { held.integers.begin(), held.integers.end()}
      };
      EXPECT_EQ(assemble(reals, floats, {5}, division).reals, Elements<double>(whole.begin(), whole.end()));
      if (parts * tiles == 1) continue;
      division.shares.push_back(division.shares.front());
      held.integers.insert(held.integers.end(), held.integers.begin(), held.integers.begin() + held.dims[0]);
      ++held.lanes;
      EXPECT_EQ(assemble(reals, held, {5}, division).integers, whole) << "a replica";
      ++held.integers.back();
      EXPECT_THROW(assemble(reals, held, {5}, division), Disagreement) << "a replica that differs";
    }
}

// clang-format off
TEST(Lanes, WhatComesOfCollectivesIsSharedToo) {
  const std::string pairs = ", channel_id=1, replica_groups=[4,2]<=[8], use_global_device_ids=true, to_apply=%sum\n";
  const std::string across = ", channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), use_global_device_ids=true, to_apply=%sum\n";
  using Held = std::pair<std::int64_t, Integers>;
  EXPECT_EQ(on_eight("  ROOT %r = s32[] copy(%half)\n"), (Held{2, {0, 0, 0, 0, 1, 1, 1, 1}}));
  EXPECT_EQ(on_eight("  ROOT %r = s32[] all-reduce(%half)" + pairs), (Held{2, {0, 0, 0, 0, 2, 2, 2, 2}}));
  EXPECT_EQ(on_eight("  ROOT %r = s32[] all-reduce(%half)" + across), (Held{1, {1, 1, 1, 1, 1, 1, 1, 1}}));
  EXPECT_EQ(on_eight("  ROOT %r = s32[] all-reduce(%d)" + across), (Held{4, {4, 6, 8, 10, 4, 6, 8, 10}}));
  EXPECT_EQ(on_eight("  ROOT %r = s32[] collective-permute(%half), channel_id=1, source_target_pairs={{0,5},{4,1},{5,0}}\n"),
            (Held{2, {1, 1, 0, 0, 0, 0, 0, 0}}));
  EXPECT_EQ(on_eight("  %s = s32[] all-reduce(%d)" + across + "  ROOT %r = s32[] add(%s, %half)\n"),
            (Held{8, {4, 6, 8, 10, 5, 7, 9, 11}}));
}
// clang-format on

// Of a sum that has not been added up the first part is all of it, and the others are zero: of one whole that
// all devices know, and of a whole that each knows of its own.
TEST(Lanes, OfWhatIsASumTheFirstPartIsAllOfIt) {
  Reals reals;
  const Division division{
      {2        },
      3, { {{0}, 0}, {{0}, 1}, {{0}, 2}, {{1}, 0}, {{1}, 1}, {{1}, 2}}
  };
  const std::int64_t devices = std::ssize(division.shares);
  for (const bool own : {false, true}) {
    Array<double> wholes{Type::s32, {4}, own ? devices : 1, {}, {}, {}};
    for (std::int64_t n = 0; n < 4 * wholes.lanes; ++n) wholes.integers.push_back(10 + n);
    const Array<double> held = cut(wholes, division, poison(reals, Type::s32));
    for (std::int64_t d = 0; d < devices; ++d) {
      const Share& share = division.shares[static_cast<std::size_t>(d)];
      for (std::int64_t n = 0; n < 2; ++n)
        EXPECT_EQ(held.integers[static_cast<std::size_t>(begin_on(held, d, 2) + n)],
                  share.part == 0 ? 10 + 4 * (own ? d : 0) + 2 * share.tile[0] + n : 0)
            << own << " " << d;
    }
  }
}

}  // namespace
}  // namespace plumb::hlo
