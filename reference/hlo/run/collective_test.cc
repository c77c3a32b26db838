// Law: what each device holds after a collective is what its definition says, element by element: over every
// division of four devices into groups of one size, their members in every order.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/hlo/run/run.h"
#include "reference/hlo/run/testing/by_index.h"

namespace plumb::hlo {
namespace {

constexpr std::int64_t kDevices = 4;
const Integers kExtents = {4, 4};

// What device d holds at an element of operand o.
std::int64_t held(std::int64_t o, std::int64_t d, const Integers& index) {
  return 1000 * o + 100 * d + place(kExtents, index);
}

// The integers of the root on each device, those of a tuple one after the other. Operands %x0, %x1, ...
std::vector<Integers> run_on_four(const std::string& root) {
  std::string text = R"(HloModule m, num_partitions=4

%sum (a: s32[], b: s32[]) -> s32[] {
  %a = s32[] parameter(0)
  %b = s32[] parameter(1)
  ROOT %s = s32[] add(%a, %b)
}

ENTRY %e {
  %id = u32[] partition-id()
  %d = s32[] convert(%id)
  %hundred = s32[] constant(100)
  %m = s32[] multiply(%d, %hundred)
  %all = s32[4,4] broadcast(%m), dimensions={}
  %i = s32[16] iota(), iota_dimension=0
  %n = s32[4,4] reshape(%i)
  %x0 = s32[4,4] add(%n, %all)
  %thousand = s32[] constant(1000)
  %more = s32[4,4] broadcast(%thousand), dimensions={}
)";
  for (int o = 1; o < kDevices; ++o)
    text += "  %x" + std::to_string(o) + " = s32[4,4] add(%x" + std::to_string(o - 1) + ", %more)\n";
  const Module module = parse(text + "  ROOT %r = " + root + "\n}\n", "m.txt");
  Reals reals;
  const Value<double> value = evaluate(Machine<Reals>{module, reals, kDevices, {}}, entry(module), {}, {});
  std::vector<Integers> result(kDevices);
  for (std::int64_t d = 0; d < kDevices; ++d)
    for (std::size_t n = 0; n < std::max<std::size_t>(value.parts.size(), 1); ++n) {
      const Array<double>& a = value.array ? *value.array : *value.parts[n].array;
      const auto at = a.integers.begin() + begin_on(a, d, count(a.dims));
      auto& all = result[static_cast<std::size_t>(d)];
      all.insert(all.end(), at, at + count(a.dims));
    }
  return result;
}

// Calls f with every division into groups; members stand in every order.
template <typename F>
void each_grouping(F f) {
  Integers order = {0, 1, 2, 3};
  do
    for (const std::size_t size : {1u, 2u, 4u}) {
      std::vector<Integers> groups;
      for (std::size_t at = 0; at < order.size(); at += size)
        groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(at),
                            order.begin() + static_cast<std::ptrdiff_t>(at + size));
      f(groups);
    }
  while (std::ranges::next_permutation(order).found);
}

std::string said(const std::vector<Integers>& groups) {
  std::string text = "channel_id=1, replica_groups={";
  for (std::size_t g = 0; g < groups.size(); ++g) {
    text += g > 0 ? ",{" : "{";
    for (std::size_t m = 0; m < groups[g].size(); ++m)
      text += (m > 0 ? "," : "") + std::to_string(groups[g][m]);
    text += "}";
  }
  return text + "}";
}

const std::string kIds = ", use_global_device_ids=true";

// What each device should hold: of its group and its place in it f says the value at each index.
template <typename F>
std::vector<Integers> by_definition(const std::vector<Integers>& groups, const Integers& dims, F f) {
  std::vector<Integers> all(kDevices);
  for (const Integers& group : groups)
    for (std::int64_t rank = 0; rank < std::ssize(group); ++rank)
      each_index(dims, [&](const Integers& index) {
        all[static_cast<std::size_t>(group[static_cast<std::size_t>(rank)])].push_back(f(group, rank, index));
      });
  return all;
}

std::int64_t total(const Integers& group, const Integers& index) {
  std::int64_t sum = 0;
  for (const std::int64_t member : group) sum += held(0, member, index);
  return sum;
}

// The extents with `n` times (or an n-th of) the extent along d, as text too.
struct Extents {
  Integers dims = kExtents;
  std::string text() const { return "s32[" + std::to_string(dims[0]) + "," + std::to_string(dims[1]) + "]"; }
};

TEST(Collectives, AnAllReduceAddsUpEachGroup) {
  each_grouping([](const std::vector<Integers>& groups) {
    EXPECT_EQ(
        run_on_four("s32[4,4] all-reduce(%x0), to_apply=%sum, " + said(groups) + kIds),
        by_definition(groups, kExtents,
                      [](const Integers& group, std::int64_t, const Integers& i) { return total(group, i); }))
        << said(groups);
  });
}

TEST(Collectives, AnAllGatherPutsMembersInTheirOrder) {
  each_grouping([](const std::vector<Integers>& groups) {
    for (const std::size_t d : {0u, 1u}) {
      Extents whole;
      whole.dims[d] *= std::ssize(groups[0]);
      EXPECT_EQ(run_on_four(whole.text() + " all-gather(%x0), dimensions={" + std::to_string(d) + "}, " +
                            said(groups) + kIds),
                by_definition(groups, whole.dims,
                              [&](const Integers& group, std::int64_t, Integers i) {
                                const std::int64_t from = group[static_cast<std::size_t>(i[d] / kExtents[d])];
                                i[d] %= kExtents[d];
                                return held(0, from, i);
                              }))
          << said(groups) << " along " << d;
    }
  });
}

TEST(Collectives, AReduceScatterLeavesEachMemberItsChunk) {
  each_grouping([](const std::vector<Integers>& groups) {
    for (const std::size_t d : {0u, 1u}) {
      Extents chunk;
      chunk.dims[d] /= std::ssize(groups[0]);
      EXPECT_EQ(run_on_four(chunk.text() + " reduce-scatter(%x0), dimensions={" + std::to_string(d) +
                            "}, to_apply=%sum, " + said(groups) + kIds),
                by_definition(groups, chunk.dims,
                              [&](const Integers& group, std::int64_t rank, Integers i) {
                                i[d] += rank * chunk.dims[d];
                                return total(group, i);
                              }))
          << said(groups) << " along " << d;
    }
  });
}

TEST(Collectives, AnAllToAllExchangesChunks) {
  each_grouping([](const std::vector<Integers>& groups) {
    for (const std::size_t d : {0u, 1u})
      EXPECT_EQ(
          run_on_four("s32[4,4] all-to-all(%x0), dimensions={" + std::to_string(d) + "}, " + said(groups)),
          by_definition(groups, kExtents,
                        [&](const Integers& group, std::int64_t rank, Integers i) {
                          const std::int64_t chunk = kExtents[d] / std::ssize(group);
                          const std::int64_t from = group[static_cast<std::size_t>(i[d] / chunk)];
                          i[d] = rank * chunk + i[d] % chunk;
                          return held(0, from, i);
                        }))
          << said(groups) << " along " << d;
  });
}

// Result i of member j is operand j of member i.
TEST(Collectives, AnAllToAllOfATupleExchangesOperands) {
  each_grouping([](const std::vector<Integers>& groups) {
    std::string shapes, operands;
    for (std::size_t m = 0; m < groups[0].size(); ++m) {
      shapes += m > 0 ? ", s32[4,4]" : "s32[4,4]";
      operands += (m > 0 ? ", %x" : "%x") + std::to_string(m);
    }
    std::vector<Integers> want(kDevices);
    for (const Integers& group : groups)
      for (std::int64_t j = 0; j < std::ssize(group); ++j)
        for (const std::int64_t from : group)
          each_index(kExtents, [&](const Integers& i) {
            want[static_cast<std::size_t>(group[static_cast<std::size_t>(j)])].push_back(held(j, from, i));
          });
    EXPECT_EQ(run_on_four("(" + shapes + ") all-to-all(" + operands + "), " + said(groups)), want)
        << said(groups);
  });
}

TEST(Collectives, ABroadcastIsOfTheFirstMember) {
  each_grouping([](const std::vector<Integers>& groups) {
    EXPECT_EQ(run_on_four("s32[4,4] collective-broadcast(%x0), " + said(groups)),
              by_definition(groups, kExtents,
                            [](const Integers& group, std::int64_t, const Integers& i) {
                              return held(0, group[0], i);
                            }))
        << said(groups);
  });
}

// Of every permutation, whole and without its last pair.
TEST(Collectives, APermuteGoesFromSourceToTarget) {
  Integers targets = {0, 1, 2, 3};
  do
    for (const std::int64_t pairs : {kDevices, kDevices - 1}) {
      std::vector<Integers> want(kDevices, Integers(16, 0));
      std::string list;
      for (std::int64_t s = 0; s < pairs; ++s) {
        const std::int64_t t = targets[static_cast<std::size_t>(s)];
        list += (s > 0 ? ",{" : "{") + std::to_string(s) + "," + std::to_string(t) + "}";
        Integers& there = want[static_cast<std::size_t>(t)];
        there.clear();
        each_index(kExtents, [&](const Integers& i) { there.push_back(held(0, s, i)); });
      }
      EXPECT_EQ(
          run_on_four("s32[4,4] collective-permute(%x0), channel_id=1, source_target_pairs={" + list + "}"),
          want)
          << list;
    }
  while (std::ranges::next_permutation(targets).found);
}

}  // namespace
}  // namespace plumb::hlo
