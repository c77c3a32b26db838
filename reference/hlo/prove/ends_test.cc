// What turns at the end of a shard turns elsewhere on each device, and in each column of what indexes: each
// of these ends is drawn, so that one that is off by one is refuted.
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

// x[i, j] of x: f32[400,64] in 4 by 2 shards, as the partitioner looks it up: who has it gives it, all others
// zero.
constexpr const char* kLookup = R"(HloModule m, num_partitions=8

ENTRY %e {
  %x = f32[400,64] parameter(0), sharding={devices=[4,2]<=[8]}
  %i = s32[24] parameter(1), sharding={replicated}
  %j = s32[24] parameter(2), sharding={replicated}
  %is = s32[24,1] reshape(%i)
  %js = s32[24,1] reshape(%j)
  %at = s32[24,2] concatenate(%is, %js), dimensions={1}
  ROOT %g = f32[24] gather(%x, %at), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}, sharding={replicated}
}
)";
constexpr const char* kLookupOnEach = R"(HloModule m, num_partitions=8

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%or (a: pred[], b: pred[]) -> pred[] {
  %a = pred[] parameter(0)
  %b = pred[] parameter(1)
  ROOT %s = pred[] or(%a, %b)
}

ENTRY %e {
  %x = f32[100,32] parameter(0)
  %i = s32[24] parameter(1)
  %j = s32[24] parameter(2)
  %is = s32[24,1] reshape(%i)
  %js = s32[24,1] reshape(%j)
  %at = s32[24,2] concatenate(%is, %js), dimensions={1}
  %p = u32[] partition-id()
  %rows = s32[8] constant({0, 0, 100, 100, 200, 200, 300, 300})
  %columns = s32[8] constant({0, 32, 0, 32, 0, 32, 0, 32})
  %row = s32[1] dynamic-slice(%rows, %p), dynamic_slice_sizes={1}
  %column = s32[1] dynamic-slice(%columns, %p), dynamic_slice_sizes={1}
  %begin = s32[2] concatenate(%row, %column), dimensions={0}
  %begins = s32[24,2] broadcast(%begin), dimensions={1}
  %lasts = s32[8] constant({99, 99, 199, 199, 299, 299, 399, 399})
  %last_row = s32[1] dynamic-slice(%lasts, %p), dynamic_slice_sizes={1}
  %c31 = s32[1] constant({31})
  %last_column = s32[1] add(%column, %c31)
  %last = s32[2] concatenate(%last_row, %last_column), dimensions={0}
  %lastsof = s32[24,2] broadcast(%last), dimensions={1}
  %below = pred[24,2] compare(%at, %begins), direction=LT
  %above = pred[24,2] compare(%at, %lastsof), direction=GT
  %out = pred[24,2] or(%below, %above)
  %no = pred[] constant(false)
  %outside = pred[24] reduce(%out, %no), dimensions={1}, to_apply=%or
  %own = s32[24,2] subtract(%at, %begins)
  %g = f32[24] gather(%x, %own), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
  %zero = f32[] constant(0)
  %zeros = f32[24] broadcast(%zero), dimensions={}
  %mine = f32[24] select(%outside, %zeros, %g)
  ROOT %r = f32[24] all-reduce(%mine), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=%add
}
)";

Proof looked_up(const Edits& edits) {
  const Module whole = edited(kLookup, {}), each = edited(kLookupOnEach, edits);
  return prove({whole, each, nullptr}, {});
}

TEST(Ends, OfEachShardInEachColumn) {
  const Proof right = looked_up({});
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_EQ(right.borders, std::vector<std::string>{});
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"{99, 99, 199, 199, 299, 299, 399, 399}",
       {"{100, 100, 199, 199, 299, 299, 399, 399}", "{98, 98, 199, 199, 299, 299, 399, 399}",
        "{99, 99, 200, 200, 299, 299, 399, 399}", "{99, 99, 198, 198, 299, 299, 399, 399}",
        "{99, 99, 199, 199, 300, 300, 399, 399}", "{99, 99, 199, 199, 299, 298, 399, 399}",
        "{99, 99, 199, 199, 299, 299, 398, 398}"}                                    },
      {"constant({31})",                         {"constant({32})", "constant({30})"}}
  };
  for (const auto& [from, all] : wrong)
    for (const std::string& to : all)
      EXPECT_EQ(looked_up({
                              {from, to}
      })
                    .finding,
                Finding::refuted)
          << to;
}

// A border that another predicate masks: each of the one's is drawn with each of the other's.
TEST(Ends, WhatAnotherPredicateMasks) {
  const auto module = [](const std::string& before, const std::string& last, const std::string& segment) {
    const bool whole = before == "before";
    const std::string cut = whole ? ", sharding={devices=[2]<=[2]}" : "", size = whole ? "16" : "8";
    const auto number = [&](const std::string& name, const std::string& n) {
      return "  %" + name + " = s32[] constant(" + n + ")\n  %" + name + "s = s32[" + size + "] broadcast(%" +
             name + "), dimensions={}\n";
    };
    const auto compare = [&](const std::string& name, const std::string& with, const std::string& direction) {
      return "  %is_" + name + " = pred[" + size + "] compare(%" + name + ", %" + with +
             "), direction=" + direction + "\n";
    };
    return parse("HloModule m, num_partitions=2\n\nENTRY %e {\n  %x = f32[" + size + "] parameter(0)" + cut +
                     "\n  %pos = s32[" + size + "] parameter(1)" + cut + "\n  %seg = s32[" + size +
                     "] parameter(2)" + cut + "\n" + number("last", last) + number("own", segment) +
                     compare("pos", "lasts", "LT") + compare("seg", "owns", "EQ") + "  %in = pred[" + size +
                     "] and(%is_pos, %is_seg)\n  %zero = f32[] constant(0)\n  %zeros = f32[" + size +
                     "] broadcast(%zero), dimensions={}\n  ROOT %r = f32[" + size +
                     "] select(%in, %x, %zeros)" + cut + "\n}\n",
                 before + ".txt");
  };
  const auto found = [&](const std::string& last, const std::string& segment) {
    const Module whole = module("before", "700", "900"), each = module("after", last, segment);
    return prove({whole, each, nullptr}, {}).finding;
  };
  EXPECT_EQ(found("700", "900"), Finding::proven);
  for (const char* last : {"699", "701"}) EXPECT_EQ(found(last, "900"), Finding::refuted) << last;
  for (const char* segment : {"899", "901"}) EXPECT_EQ(found("700", segment), Finding::refuted) << segment;
}

}  // namespace
}  // namespace plumb::hlo
