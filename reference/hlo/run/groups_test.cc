// Who talks to whom: each row of the table in groups.h, and what is refused.
#include "reference/hlo/run/groups.h"

#include <gtest/gtest.h>

namespace plumb::hlo {
namespace {

using Lists = std::vector<Integers>;

Instruction collective(Opcode opcode, bool channel, bool global, const Lists& lists) {
  Instruction i;
  i.opcode = opcode;
  if (channel) i.attributes.push_back({Key::channel_id, std::int64_t{1}});
  if (global) i.attributes.push_back({Key::use_global_device_ids, true});
  Groups groups;
  groups.lists = lists;
  i.attributes.push_back({Key::replica_groups, groups});
  return i;
}

TEST(Groups, EachRowOfTheTable) {
  const Lists alone =
                  {
                      {0},
                      {1},
                      {2},
                      {3}
  },
              all = {{0, 1, 2, 3}}, pairs = {{2, 0}, {1, 3}};
  for (const Opcode opcode : {Opcode::all_reduce, Opcode::all_gather, Opcode::reduce_scatter,
                              Opcode::all_to_all, Opcode::collective_broadcast}) {
    const bool moves = opcode == Opcode::all_to_all || opcode == Opcode::collective_broadcast;
    for (const Lists& one : {Lists{}, Lists{{0}}}) {
      EXPECT_EQ(groups_of(collective(opcode, false, false, one), 4), alone) << row(opcode).name;
      EXPECT_TRUE(moves || groups_of(collective(opcode, true, false, one), 4) == all) << row(opcode).name;
    }
    EXPECT_EQ(groups_of(collective(opcode, true, true, {}), 4), all);
    EXPECT_EQ(groups_of(collective(opcode, true, true, pairs), 4), pairs);
    EXPECT_THROW(groups_of(collective(opcode, false, true, {}), 4), Misfit);
    EXPECT_THROW(groups_of(collective(opcode, false, false, {{1}}), 4), Misfit);
    EXPECT_THROW(groups_of(collective(opcode, false, false, {{0}, {0}}), 4), Misfit);
    EXPECT_THROW(groups_of(collective(opcode, false, false,
                                      {
                                          {0, 0}
    }),
                           4),
                 Misfit);
    EXPECT_THROW(groups_of(collective(opcode, false, false, {{0}, {1}}), 4), Misfit);
    EXPECT_THROW(groups_of(collective(opcode, true, true, {}), 0), Misfit);
    if (moves)
      EXPECT_EQ(groups_of(collective(opcode, true, false, pairs), 4), pairs);
    else
      EXPECT_THROW(groups_of(collective(opcode, true, false, pairs), 4), Misfit);
  }
}

TEST(Groups, EachDeviceOnceAndOfOneSize) {
  for (const Lists& lists : {
           Lists{{0, 1},       {2},     {3}},
           Lists{{0, 1}           },
           Lists{{0, 1},       {1, 2}             },
           Lists{{0, 1},       {2, 4} },
           Lists{{0, 1},       {2, -1} },
           Lists{{},           {}},
           Lists{{0, 1, 2, 3}, {}     },
           Lists{{0, 1},       {2, 2}     }
  })
    EXPECT_THROW(groups_of(collective(Opcode::all_reduce, true, true, lists), 4), Misfit);
}

TEST(Groups, RanksAreWhereMembersStand) {
  const Ranks ranks = ranks_of(
      {
          {2, 0},
          {1, 3}
  },
      4);
  EXPECT_EQ(ranks.group, (Integers{0, 1, 0, 1}));
  EXPECT_EQ(ranks.rank, (Integers{1, 0, 0, 1}));
}

Integers sources(const std::vector<Pair>& pairs, bool channel, std::int64_t devices) {
  Instruction i;
  i.opcode = Opcode::collective_permute;
  i.attributes = {
      {Key::source_target_pairs, pairs}
  };
  if (channel) i.attributes.push_back({Key::channel_id, std::int64_t{1}});
  return sources_of(i, devices);
}

TEST(Groups, WhatAPermuteBrings) {
  EXPECT_EQ(sources(
                {
                    {0, 2},
                    {2, 1}
  },
                true, 4),
            (Integers{-1, 2, 0, -1}));
  EXPECT_EQ(sources(
                {
                    {3, 0},
                    {0, 3}
  },
                true, 4),
            (Integers{3, -1, -1, 0}));
  EXPECT_EQ(sources(
                {
                    {0, 0}
  },
                false, 3),
            (Integers{0, 1, 2}));
  EXPECT_EQ(sources({}, false, 2), (Integers{-1, -1}));
  for (const Pair& pair : {
           Pair{-1, 0 },
           Pair{0,  -1},
           Pair{4,  0 },
           Pair{0,  4 }
  })
    EXPECT_THROW(sources({pair}, true, 4), Misfit);
  EXPECT_THROW(sources(
                   {
                       {0, 1},
                       {2, 1}
  },
                   true, 4),
               Misfit);
  EXPECT_THROW(sources(
                   {
                       {0, 1},
                       {0, 2}
  },
                   true, 4),
               Misfit);
  EXPECT_THROW(sources(
                   {
                       {0, 1}
  },
                   false, 4),
               Misfit);
  EXPECT_THROW(sources(
                   {
                       {1, 0}
  },
                   false, 4),
               Misfit);
  EXPECT_THROW(sources(
                   {
                       {0, 0}
  },
                   true, 0),
               Misfit);
}

}  // namespace
}  // namespace plumb::hlo
