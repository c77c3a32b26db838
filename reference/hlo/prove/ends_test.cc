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

// f32[16] on two devices, the numbers of which are kept where `pos` is less than the last and `seg` is the
// own: by one mask of both, or by one after the other. That a square is 3 is met by no draw.
Module kept(const std::string& name, const std::string& last, const std::string& segment, bool together) {
  const bool whole = name == "before";
  const std::string cut = "devices=[2]<=[2]}", size = whole ? "16" : "8",
                    of = whole ? ", sharding={" + cut : "", f32 = "f32[" + size + "]";
  const auto number = [&](const std::string& to, const std::string& n) {
    return "  %" + to + " = s32[] constant(" + n + ")\n  %" + to + "s = s32[" + size + "] broadcast(%" + to +
           "), dimensions={}\n";
  };
  const auto compare = [&](const std::string& one, const std::string& with, const std::string& direction) {
    return "  %is_" + one + " = pred[" + size + "] compare(%" + one + ", %" + with +
           "), direction=" + direction + "\n";
  };
  const std::string select = " = " + f32 + " select(",
                    both = "  %in = pred[" + size + "] and(%is_pos, %is_seg)\n  %r" + select +
                           "%in, %x, %zeros)\n",
                    each = "  %s" + select + "%is_seg, %x, %zeros)\n  %r" + select + "%is_pos, %s, %zeros)\n";
  return parse("HloModule m, num_partitions=2\n\nENTRY %e {\n  %x = " + f32 + " parameter(0)" + of +
                   "\n  %pos = s32[" + size + "] parameter(1)" + of + "\n  %seg = s32[" + size +
                   "] parameter(2)" + of + "\n" + number("last", last) + number("own", segment) +
                   number("three", "3") + compare("pos", "lasts", "LT") + compare("seg", "owns", "EQ") +
                   "  %square = s32[" + size + "] multiply(%pos, %pos)\n" +
                   compare("square", "threes", "EQ") + "  %zero = f32[] constant(0)\n  %zeros = " + f32 +
                   " broadcast(%zero), dimensions={}\n" + (together ? both : each) + "  ROOT %t = (" + f32 +
                   ", pred[" + size + "]) tuple(%r, %is_square)" +
                   (whole ? ", sharding={{" + cut + ", {" + cut + "}" : "") + "\n}\n",
               name + ".txt");
}

// A border that another predicate masks: each of the one's is drawn with each of the other's, where either
// module makes one mask of both. What is refuted says nothing of what no draw met.
TEST(Ends, WhatAnotherPredicateMasks) {
  for (const auto& [in_whole, in_each] : {
           std::pair{true,  true },
           {true,  false},
           {false, true }
  }) {
    const auto found = [&](const std::string& last, const std::string& segment) {
      const Module whole = kept("before", "700", "900", in_whole),
                   each = kept("after", last, segment, in_each);
      return prove({whole, each, nullptr}, {});
    };
    const auto refuted = [&](const Proof& p) {
      return p.finding == Finding::refuted && p.borders.empty() && p.untaken.empty() && p.unanswered.empty();
    };
    const Proof right = found("700", "900");
    EXPECT_EQ(right.finding, Finding::proven);
    EXPECT_EQ(right.borders, (std::vector<std::string>{"%is_square", "after: %is_square"}));
    for (const char* last : {"699", "701"})
      EXPECT_TRUE(refuted(found(last, "900"))) << last << in_whole << in_each;
    for (const char* segment : {"899", "901"})
      EXPECT_TRUE(refuted(found("700", segment))) << segment << in_whole << in_each;
  }
}

// Three numbers of each of two arrays of N are brought together, nine pairs, N in each draw: in the last the
// largest of both stand alone, and what is wrong of these alone is seen.
TEST(Ends, OfWhatAnotherPredicateMasksTheLastPair) {
  const std::string cut = ", sharding={replicated}", text = R"(HloModule m, num_partitions=2

ENTRY %e {
  %x = f32[N] parameter(0), sharding={replicated}
  %pos = s32[N] parameter(1), sharding={replicated}
  %seg = s32[N] parameter(2), sharding={replicated}
  %own = s32[] constant(2147483646)
  %owns = s32[N] broadcast(%own), dimensions={}
  %is_pos = pred[N] compare(%pos, %owns), direction=EQ
  %is_seg = pred[N] compare(%seg, %owns), direction=EQ
  %in = pred[N] and(%is_pos, %is_seg)
USED
  %zero = f32[] constant(0)
  %zeros = f32[N] broadcast(%zero), dimensions={}
  ROOT %r = f32[N] select(%used, %x, %zeros), sharding={replicated}
}
)",
                    right = "  %used = pred[N] copy(%in)", wrong = R"(  %most = s32[] constant(2147483647)
  %mosts = s32[N] broadcast(%most), dimensions={}
  %most_pos = pred[N] compare(%pos, %mosts), direction=EQ
  %most_seg = pred[N] compare(%seg, %mosts), direction=EQ
  %also = pred[N] and(%most_pos, %most_seg)
  %used = pred[N] or(%in, %also))";
  for (const std::string size : {"2", "4"})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto found = [&](const std::string& used) {
        const Edits words = {
            {"USED", used            },
            {"[N]",  "[" + size + "]"}
        };
        const Module whole = parse(with(with(text,
                                             {
                                                 {"USED", right}
        }),
                                        words),
                                   "before.txt"),
                     each = parse(with(with(text, {{cut, ""}}), words), "after.txt");
        return prove({whole, each, nullptr}, {seed}).finding;
      };
      EXPECT_EQ(found(right), Finding::proven) << size << " " << seed;
      EXPECT_EQ(found(wrong), Finding::refuted) << size << " " << seed;
    }
}

}  // namespace
}  // namespace plumb::hlo
