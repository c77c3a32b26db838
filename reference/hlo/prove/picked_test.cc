// What reductions keep: a wrong number behind a padded end, and the wrong one of two that are equal, of what
// is computed of more numbers than eight draws are made for.
#include "reference/hlo/prove/picked.h"

#include <set>

#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

// Logits of 253 of 256 columns; T[4,256] are they, T[4,128] those of a device.
constexpr const char* kReductions = R"(HloModule m, num_partitions=2

%pick (a: T[], b: T[]) -> T[] {
  %a = T[] parameter(0)
  %b = T[] parameter(1)
  ROOT %o = T[] PICK(%a, %b)
}

%first (a: T[], i: s32[], b: T[], j: s32[]) -> (T[], s32[]) {
  %a = T[] parameter(0)
  %i = s32[] parameter(1)
  %b = T[] parameter(2)
  %j = s32[] parameter(3)
  %further = pred[] compare(%a, %b), direction=GT
  %same = pred[] compare(%a, %b), direction=EQ
  %before = pred[] compare(%i, %j), direction=LT
  %tie = pred[] and(%same, %before)
  %is = pred[] or(%further, %tie)
  %n = T[] select(%is, %a, %b)
  %k = s32[] select(%is, %i, %j)
  ROOT %t = (T[], s32[]) tuple(%n, %k)
}

)";

constexpr const char* kLogits = R"(ENTRY %e {
  %x = f32[4,16] parameter(0), sharding={replicated}
  %w = f32[16,256] parameter(1), sharding={devices=[1,2]<=[2]}
  %n = T[4,256] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)";
constexpr const char* kLogitsOnEach = R"(ENTRY %e {
  %x = f32[4,16] parameter(0)
  %w = f32[16,128] parameter(1)
  %n = T[4,128] dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
)";
constexpr const char* kNumbers = R"(ENTRY %e {
  %x = T[4,256] parameter(0), sharding={devices=[1,2]<=[2]}
  %y = f32[4096] parameter(1), sharding={replicated}
  %n = T[4,256] copy(%x)
)";
constexpr const char* kNumbersOnEach = R"(ENTRY %e {
  %x = T[4,128] parameter(0)
  %y = f32[4096] parameter(1)
  %n = T[4,128] copy(%x)
)";

constexpr const char* kPicked = R"(  %logits = T[4,253] slice(%n), slice={[0:4], [0:253]}
  %init = T[] constant(INIT)
  ROOT %r = T[4] reduce(%logits, %init), dimensions={1}, to_apply=%pick, sharding={replicated}
}
)";
constexpr const char* kPickedOnEach = R"(  %p = u32[] partition-id()
  %table = s32[2] constant({0, 128})
  %own = s32[1] dynamic-slice(%table, %p), dynamic_slice_sizes={1}
  %offset = s32[] reshape(%own)
  %offsets = s32[4,128] broadcast(%offset), dimensions={}
  %iota = s32[4,128] iota(), iota_dimension=1
  %at = s32[4,128] add(%iota, %offsets)
  %end = s32[] constant(253)
  %ends = s32[4,128] broadcast(%end), dimensions={}
  %in = pred[4,128] compare(%at, %ends), direction=LT
  %fill = T[] constant(FILL)
  %fills = T[4,128] broadcast(%fill), dimensions={}
  %masked = T[4,128] select(%in, %n, %fills)
  %init = T[] constant(INIT)
  %part = T[4] reduce(%masked, %init), dimensions={1}, to_apply=%pick
  ROOT %r = T[4] all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%pick
}
)";

struct Reduction {
  std::string type, pick, init;
};

Proof filled(const Reduction& of, const std::string& fill) {
  const bool logits = of.type == "f32";
  const Edits words = {
      {"T[",   of.type + "["},
      {"PICK", of.pick      },
      {"INIT", of.init      },
      {"FILL", fill         }
  };
  // What is of floats alone is not there.
  std::string reductions = kReductions;
  if (!logits) reductions.erase(reductions.find("%first"));
  const Module whole = parse(with(reductions + (logits ? kLogits : kNumbers) + kPicked, words), "before.txt");
  const Module each =
      parse(with(reductions + (logits ? kLogitsOnEach : kNumbersOnEach) + kPickedOnEach, words), "after.txt");
  return prove({whole, each, nullptr}, {});
}

TEST(Picked, AWrongNumberBehindAPaddedEnd) {
  const Reduction largest{"f32", "maximum", "-inf"}, least{"f32", "minimum", "inf"};
  for (const char* fill : {"0", "1", "-1", "0.5", "inf", "100"})
    EXPECT_EQ(filled(largest, fill).finding, Finding::refuted) << fill;
  for (const char* fill : {"0", "1", "-1", "-0.5", "-inf", "-100"})
    EXPECT_EQ(filled(least, fill).finding, Finding::refuted) << fill;
  const Reduction integers{"s32", "maximum", "-2147483648"}, least_integer{"s32", "minimum", "2147483647"};
  for (const char* fill : {"0", "1", "-1"}) {
    EXPECT_EQ(filled(integers, fill).finding, Finding::refuted) << fill;
    EXPECT_EQ(filled(least_integer, fill).finding, Finding::refuted) << fill;
  }
  EXPECT_EQ(filled({"pred", "and", "true"}, "false").finding, Finding::refuted);
  EXPECT_EQ(filled({"pred", "or", "false"}, "true").finding, Finding::refuted);
}

TEST(Picked, TheRightOneIsProven) {
  for (const Reduction& of : std::vector<Reduction>{
           {"f32",  "maximum", "-inf"       },
           {"f32",  "minimum", "inf"        },
           {"s32",  "maximum", "-2147483648"},
           {"s32",  "minimum", "2147483647" },
           {"pred", "and",     "true"       },
           {"pred", "or",      "false"      }
  }) {
    const Proof proof = filled(of, of.init);
    EXPECT_EQ(proof.finding, Finding::proven) << of.type << " " << of.pick;
    EXPECT_EQ(proof.untaken, std::vector<std::string>{}) << of.type << " " << of.pick;
  }
}

// Where nothing that is drawn is below a fill, a proof says so.
TEST(Picked, AFillThatNoDrawWasBeyondIsAWayNotTaken) {
  const Proof proof = filled({"f32", "maximum", "-inf"}, "-1e9");
  EXPECT_EQ(proof.finding, Finding::proven);
  EXPECT_EQ(proof.untaken, std::vector<std::string>{"%r below -1e+09"});
}

constexpr const char* kWhere = R"(  %iota = s32[4,256] iota(), iota_dimension=1
  %init = f32[] constant(-inf)
  %none = s32[] constant(0)
  %r = (f32[4], s32[4]) reduce(%n, %iota, %init, %none), dimensions={1}, to_apply=%first
  ROOT %k = s32[4] get-tuple-element(%r), index=1, sharding={replicated}
}
)";

Proof largest_at(const std::string& before, const std::string& after) {
  const auto module = [&](const std::string& logits, const std::string& compared) {
    const Edits words = {
        {"T[",                                             "f32["   },
        {"PICK",                                           "maximum"},
        {"%before = pred[] compare(%i, %j), direction=LT",
         "%before = pred[] compare(%i, %j), direction=" + compared  }
    };
    return parse(with(kReductions + logits + kWhere, words), "m.txt");
  };
  const std::string gathered =
      with(kLogitsOnEach,
           {
               {"%n = T", "%part = T"}
  }) +
      "  %n = f32[4,256] all-gather(%part), channel_id=1, replica_groups={{0,1}}, dimensions={1}, "
      "use_global_device_ids=true\n";
  const Module whole = module(kLogits, before), each = module(gathered, after);
  return prove({whole, each, nullptr}, {});
}

TEST(Picked, TheWrongOneOfTwoThatAreEqual) {
  EXPECT_EQ(largest_at("LT", "GT").finding, Finding::refuted);
  EXPECT_EQ(largest_at("GT", "LT").finding, Finding::refuted);
  const Proof right = largest_at("LT", "LT");
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_EQ(right.untaken, std::vector<std::string>{});
}

// The reductions of most programs are along the last dimension, of the rest along the first; then any.
TEST(Slices, LieAlongTheLastDimensionThenTheFirstThenAny) {
  const Module module = parse(R"(HloModule m

ENTRY %e {
  %x = f32[2,3,4] parameter(0)
  %one = f32[] parameter(1)
  %n = s32[5] parameter(2)
  %narrow = s8[5] parameter(3)
  %is = pred[5] parameter(4)
  ROOT %t = (f32[2,3,4], f32[], s32[5], s8[5], pred[5]) tuple(%x, %one, %n, %narrow, %is)
}
)",
                              "m.txt");
  std::set<std::int64_t> met;
  for (int tried = 0; tried < 64; ++tried) {
    std::vector<Bounds> bounds = bounds_of(module);
    draw_slices(module, bounds, tried);
    if (tried == 0) EXPECT_EQ(bounds[0].sliced, 2);
    if (tried == 1) EXPECT_EQ(bounds[0].sliced, 0);
    if (tried > 1) met.insert(bounds[0].sliced);
    EXPECT_EQ(bounds[1].sliced, -1);
    const bool below = tried % 2 == 0;
    EXPECT_EQ(std::pair(bounds[2].low, bounds[2].high),
              below ? std::pair(-1024L, -513L) : std::pair(512L, 1023L));
    EXPECT_EQ(std::pair(bounds[3].low, bounds[3].high),
              below ? std::pair(-128L, -65L) : std::pair(64L, 127L));
    if (tried < 4)
      EXPECT_EQ(std::pair(bounds[4].low, bounds[4].high), below ? std::pair(0L, 0L) : std::pair(1L, 1L));
    if (tried >= 4) EXPECT_EQ(std::pair(bounds[4].low, bounds[4].high), std::pair(0L, 1L));
  }
  EXPECT_EQ(met, (std::set<std::int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace plumb::hlo
