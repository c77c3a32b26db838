// What decides by floats: draws come near where it turns, so that what stands in the place of a limit, or of
// what is compared, decides otherwise in one of them.
#include "reference/hlo/prove/straddle.h"

#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

constexpr const char* kDecides = R"(HloModule m, num_partitions=2

%plus (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %o = f32[] add(%a, %b)
}

%root (s: f32[]) -> f32[] {
  %s = f32[] parameter(0)
  ROOT %o = f32[] sqrt(%s)
}

ENTRY %e {
  %x = f32[512] parameter(0), sharding={devices=[2]<=[2]}
  %y = f32[8] parameter(1), sharding={replicated}
  %w = f32[] parameter(2), sharding={replicated}
  %of = f32[512] OF
  %zero = f32[] constant(0)
  %many = f32[] constant(512)
  %part = f32[] reduce(%of, %zero), dimensions={0}, to_apply=%plus
  %r = f32[] TOLD
  %from = f32[] HOW
  %limit = f32[] constant(LIMIT)
  %decided = pred[] compare(%from, %limit), direction=GT
  %decides = pred[8] broadcast(%decided), dimensions={}
  %n = f32[8] negate(%y)
  ROOT %z = f32[8] select(%decides, %y, %n), sharding={replicated}
}
)";

// What is compared of a sum.
struct Computed {
  std::string of, how, limit, another;
};
const std::vector<Computed> kComputed = {
    {"multiply(%x, %x)",       "sqrt(%r)",                 "7",    "7.01" },
    {"multiply(%x, %x)",       "call(%r), to_apply=%root", "700",  "701"  },
    {"multiply(%x, %x)",       "divide(%r, %many)",        "0.75", "0.76" },
    {"copy(%x)",               "divide(%r, %many)",        "0.25", "0.251"},
    {"copy(%x)",               "multiply(%r, %w)",         "3",    "3.01" },
    {"copy(%x)",               "copy(%r)",                 "0",    "0.01" },
    {"copy(%x)",               "tanh(%r)",                 "0.5",  "0.51" },
    {"round-nearest-even(%x)", "copy(%r)",                 "3.5",  "4.5"  },
    {"exponential(%x)",        "log(%r)",                  "6",    "6.01" }
};

const std::string kTold =
    "all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%plus";

Module whole_of(const Computed& c) {
  return parse(with(kDecides,
                    {
                        {"OF",    c.of         },
                        {"HOW",   c.how        },
                        {"LIMIT", c.limit      },
                        {"TOLD",  "copy(%part)"}
  }),
               "before.txt");
}
Module each_of(const Computed& c, const std::string& told) {
  return parse(with(kDecides,
                    {
                        {"OF",                            c.of   },
                        {"HOW",                           c.how  },
                        {"LIMIT",                         c.limit},
                        {"TOLD",                          told   },
                        {"512]",                          "256]" },
                        {", sharding={devices=[2]<=[2]}", ""     },
                        {", sharding={replicated}",       ""     }
  }),
               "after.txt");
}

constexpr std::uint64_t kSeeds[] = {0, 1, 2, 3, 7, 40, 77, 1000};

TEST(Near, ASumThatIsComputedOnBeforeItDecides) {
  for (const Computed& c : kComputed) {
    const Module whole = whole_of(c), right = each_of(c, kTold), wrong = each_of(c, "copy(%part)");
    for (const std::uint64_t seed : kSeeds) {
      EXPECT_EQ(prove({whole, wrong, nullptr}, {seed}).finding, Finding::refuted) << c.how << " " << seed;
      const Proof proof = prove({whole, right, nullptr}, {seed});
      EXPECT_EQ(proof.finding, Finding::proven) << c.how << " " << seed;
      EXPECT_EQ(proof.untaken, std::vector<std::string>{}) << c.how << " " << seed;
      EXPECT_TRUE(proof.apart.empty()) << c.how << " " << seed;
    }
  }
}

TEST(Near, AnotherLimitIsRefuted) {
  for (const Computed& c : kComputed) {
    const Module whole = whole_of(c), wrong = each_of({c.of, c.how, c.another, ""}, kTold);
    for (const std::uint64_t seed : kSeeds)
      EXPECT_EQ(prove({whole, wrong, nullptr}, {seed}).finding, Finding::refuted) << c.how << " " << seed;
  }
}

// Where another condition masks it draws are sought in which that holds.
TEST(Near, WhatAnotherConditionMasks) {
  const Edits masked = {
      {"  %decides = pred[8] broadcast(%decided)",
       "  %other = pred[] compare(%w, %zero), direction=LT\n  %both = pred[] and(%decided, %other)\n"
       "  %decides = pred[8] broadcast(%both)"}
  };
  for (const Computed& c : kComputed) {
    const auto module = [&](const Module& one) { return parse(with(print(one), masked), "m.txt"); };
    const Module whole = module(whole_of(c)), right = module(each_of(c, kTold)),
                 wrong = module(each_of(c, "copy(%part)"));
    for (const std::uint64_t seed : kSeeds) {
      EXPECT_EQ(prove({whole, wrong, nullptr}, {seed}).finding, Finding::refuted) << c.how << " " << seed;
      EXPECT_EQ(prove({whole, right, nullptr}, {seed}).finding, Finding::proven) << c.how << " " << seed;
    }
  }
}

// Without residues, on other data.
TEST(Near, ADroppedSumDoesHarm) {
  for (const Computed& c : kComputed) {
    const Module whole = whole_of(c), right = each_of(c, kTold);
    const std::size_t e = static_cast<std::size_t>(right.entry);
    const auto& lines = right.computations[e].instructions;
    const auto at = std::ranges::find(lines, "r", &Instruction::name) - lines.begin();
    const auto dropped = std::ranges::find(faults(), std::string("an all-reduce dropped"), &Fault::name);
    const auto faulty = planted(right, *dropped, e, static_cast<std::size_t>(at));
    Rightly rightly;
    EXPECT_EQ(harm_of({whole, right, nullptr}, rightly, {*faulty, e, static_cast<std::size_t>(at)}),
              Harm::moved)
        << c.how;
  }
}

// Of each element by itself whether it is below a limit: a tenth of it then.
Proof of_each(const std::string& limit, const std::string& another, std::uint64_t seed) {
  const std::string decides =
      "  %tenth = f32[] constant(0.1)\n  %ts = f32[4,3] broadcast(%tenth), dimensions={}\n"
      "  %c = f32[] constant(LIMIT)\n  %cs = f32[4,3] broadcast(%c), dimensions={}\n"
      "  %p = pred[4,3] compare(%x, %cs), direction=LT\n  %h = f32[4,3] multiply(%x, %ts)\n"
      "  %r0 = f32[4,3] select(%p, %h, %x)";
  const Module whole = edited(kBefore,
                              {
                                  {"  %r0 = f32[4,3] copy(%x)", with(decides, {{"LIMIT", limit}})}
  }),
               each =
                   edited(kAfter,
                          {{"  %r0 = f32[2,3] copy(%x)", with(decides, {{"LIMIT", another}, {"[4", "[2"}})}});
  return prove({whole, each, nullptr}, {seed});
}

TEST(Near, WhatDecidesOfEachElement) {
  const std::pair<const char*, const char*> limits[] = {
      {"0",   "0.001"},
      {"0.5", "0.501"},
      {"-3",  "-3.01"},
      {"2.5", "2.6"  }  // which 2.5 + 0.1 is, but nobody added
  };
  for (const auto& [limit, another] : limits)
    for (const std::uint64_t seed : kSeeds) {
      EXPECT_EQ(of_each(limit, another, seed).finding, Finding::refuted) << limit << " " << seed;
      const Proof right = of_each(limit, limit, seed);
      EXPECT_EQ(right.finding, Finding::proven) << limit << " " << seed;
      EXPECT_TRUE(right.apart.empty() && right.folded.empty()) << limit << " " << seed;
    }
}

// What is scaled back to a limit is as good as the same on both sides of it: another limit shows farther off.
TEST(Near, WhatHardlyMovesWhereItTurns) {
  const Edits clips = {
      {"  %n = f32[8] negate(%y)\n  ROOT %z = f32[8] select(%decides, %y, %n)",
       "  %over = f32[] divide(%limit, %from)\n  %overs = f32[8] broadcast(%over), dimensions={}\n"
       "  %n = f32[8] multiply(%y, %overs)\n  ROOT %z = f32[8] select(%decides, %n, %y)"}
  };
  const Computed norm = kComputed[0];
  const Module whole = parse(with(print(whole_of(norm)), clips), "m.txt"),
               right = parse(with(print(each_of(norm, kTold)), clips), "m.txt");
  const Edits another = {
      {"compare(%from, %limit)", "compare(%from, %more)"                       },
      {"  %decided =",           "  %more = f32[] constant(7.03)\n  %decided ="}
  };
  const Module wrong = parse(with(print(right), another), "m.txt");
  for (const std::uint64_t seed : kSeeds) {
    EXPECT_EQ(prove({whole, right, nullptr}, {seed}).finding, Finding::proven) << seed;
    EXPECT_EQ(prove({whole, wrong, nullptr}, {seed}).finding, Finding::refuted) << seed;
  }
}

// Both sides move together where one is picked of the others: what is the same counts as near.
TEST(Near, WhatIsNoLessThanTheSecondLargest) {
  const std::string kept =
      "  %a = f32[4,1] slice(%x), slice={[0:4], [0:1]}\n  %b = f32[4,1] slice(%x), slice={[0:4], [1:2]}\n"
      "  %c = f32[4,1] slice(%x), slice={[0:4], [2:3]}\n  %low = f32[4,1] minimum(%a, %b)\n"
      "  %high = f32[4,1] maximum(%a, %b)\n  %mid = f32[4,1] minimum(%high, %c)\n"
      "  %second = f32[4,1] maximum(%low, %mid)\n  %times = f32[] constant(TIMES)\n"
      "  %all = f32[4,1] broadcast(%times), dimensions={}\n  %limit = f32[4,1] multiply(%second, %all)\n"
      "  %flat = f32[4] reshape(%limit)\n  %limits = f32[4,3] broadcast(%flat), dimensions={0}\n"
      "  %p = pred[4,3] compare(%x, %limits), direction=WHICH\n  %h = f32[4,3] negate(%x)\n"
      "  %r0 = f32[4,3] select(%p, %x, %h)";
  const Edits half = {
      {"[4,",    "[2,"   },
      {"[0:4]",  "[0:2]" },
      {"f32[4]", "f32[2]"}
  };
  for (const std::string which : {"GE", "LT", "GT", "LE"})
    for (const std::uint64_t seed : kSeeds)
      for (const std::string times : {"1", "1.0001", "0.9999"}) {
        const Module whole = edited(
                         kBefore,
                         {
                             {"  %r0 = f32[4,3] copy(%x)", with(kept, {{"TIMES", "1"}, {"WHICH", which}})}
        }),
                     each = edited(kAfter, {{"  %r0 = f32[2,3] copy(%x)",
                                             with(with(kept, half), {{"TIMES", times}, {"WHICH", which}})}});
        const Proof proof = prove({whole, each, nullptr}, {seed});
        EXPECT_EQ(proof.finding, times == "1" ? Finding::proven : Finding::refuted)
            << which << " " << times << " " << seed;
        EXPECT_TRUE(proof.apart.empty()) << which << " " << seed;
      }
}

// Where both answers give the same nothing shows that it came near.
TEST(Near, WhatDecidesNothingIsTold) {
  const std::string idle =
      "  %c = f32[] constant(0.5)\n  %cs = f32[4,3] broadcast(%c), dimensions={}\n"
      "  %p = pred[4,3] compare(%x, %cs), direction=LT\n  %r0 = f32[4,3] select(%p, %x, %x)";
  const Proof proof = hlo::proof(
      {
          {"  %r0 = f32[4,3] copy(%x)", idle}
  },
      {{"  %r0 = f32[2,3] copy(%x)", with(idle, {{"[4", "[2"}})}});
  EXPECT_EQ(proof.finding, Finding::proven);
  EXPECT_EQ(proof.unshown, std::vector<std::string>{"%p"});
}

// Whether each element, rounded and taken so many times, is on one side of a limit.
Proof of_rounded(const Edits& whole, const Edits& each) {
  const std::string jumps =
      "  %unit = f32[] constant(UNIT)\n  %units = f32[4,3] broadcast(%unit), dimensions={}\n"
      "  %c = f32[] constant(LIMIT)\n  %cs = f32[4,3] broadcast(%c), dimensions={}\n"
      "  %f = f32[4,3] HOW(%x)\n  %u = f32[4,3] multiply(%f, %units)\n"
      "  %p = pred[4,3] compare(%u, %cs), direction=WHICH\n  %h = f32[4,3] negate(%x)\n"
      "  %r0 = f32[4,3] select(%p, %x, %h)";
  return hlo::proof(
      {
          {"  %r0 = f32[4,3] copy(%x)", with(jumps, whole)}
  },
      {{"  %r0 = f32[2,3] copy(%x)", with(with(jumps, each), {{"[4", "[2"}})}});
}

// No number that is 2^40 times larger or smaller than those that are drawn is sought.
TEST(Near, SizesAreSoughtAsFarDownAsUp) {
  const auto is_near = [](const std::string& limit) {
    const std::string decides =
        "  %c = f32[] constant(" + limit +
        ")\n  %cs = f32[4,3] broadcast(%c), dimensions={}\n  %s = f32[4,3] multiply(%x, %x)\n"
        "  %p = pred[4,3] compare(%s, %cs), direction=LT\n  %h = f32[4,3] negate(%x)\n"
        "  %r0 = f32[4,3] select(%p, %h, %x)";
    const Proof proof = hlo::proof(
        {
            {"  %r0 = f32[4,3] copy(%x)", decides}
    },
        {{"  %r0 = f32[2,3] copy(%x)", with(decides, {{"[4", "[2"}})}});
    EXPECT_EQ(proof.finding, Finding::proven) << limit;
    return proof.apart.empty() && proof.untaken.empty();
  };
  EXPECT_TRUE(is_near("1e18") && is_near("1e-18")) << "of what is 2^30 times as large, or as small";
  EXPECT_FALSE(is_near("1e33") || is_near("1e-33")) << "of what is 2^55 times as large, or as small";
}

// What decides alone in a module without loops, of which more than two draws are made, is sought in more
// runs: after two of which each takes 48 in vain.
TEST(Near, WhereDrawsCostLittleMoreIsSought) {
  const Edits never = {
      {"  %of =",
       "  %q = f32[] multiply(%w, %w)\n  %no = f32[] constant(-1)\n  %never = pred[] compare(%q, %no), "
       "direction=LT\n  %nor = pred[] compare(%no, %q), direction=GT\n  %of ="}
  };
  const Edits loops = {
      {"ENTRY %",
       "%ends (n: s32[]) -> pred[] {\n  %n = s32[] parameter(0)\n  %k = s32[] constant(3)\n  ROOT %p = "
       "pred[] compare(%n, %k), direction=LT\n}\n\n%counts (n: s32[]) -> s32[] {\n  %n = s32[] "
       "parameter(0)\n  %one "
       "= s32[] constant(1)\n  ROOT %m = s32[] add(%n, %one)\n}\n\nENTRY %"},
      {"  %of =",
       "  %start = s32[] constant(0)\n  %rounds = s32[] while(%start), condition=%ends, body=%counts\n  %of "
       "="                                                                 }
  };
  const auto is_sought = [&](const Edits& also, int draws) {
    const auto module = [&](const Module& one) {
      return parse(with(with(print(one), never), also), "m.txt");
    };
    const Module whole = module(whole_of(kComputed[0])), each = module(each_of(kComputed[0], kTold));
    const Proof proof = prove({whole, each, nullptr}, {.draws = draws});
    EXPECT_EQ(proof.finding, Finding::proven);
    EXPECT_EQ(proof.untaken, (std::vector<std::string>{"%never true", "%nor true"}));
    return !proof.apart.contains("%decided");
  };
  EXPECT_TRUE(is_sought({}, 3));
  EXPECT_FALSE(is_sought({}, 2));
  EXPECT_FALSE(is_sought(loops, 3));
}

// What is rounded jumps over its limit: no draw is near, and one that is next to it tells as much.
TEST(Near, OfWhatIsRoundedTheNextIsAsNearAsCanBe) {
  for (const std::string how : {"floor", "ceil", "round-nearest-even"})
    for (const std::string which : {"LT", "LE", "GT", "GE"})
      for (const auto& [limit, another, same] : {
               std::array<std::string, 3>{"0.5",  "1.5",  "0.7" },
               std::array<std::string, 3>{"-2.5", "-3.5", "-2.1"},
               std::array<std::string, 3>{"2",    "3",    "2"   },
               std::array<std::string, 3>{"0",    "1",    "0"   }
      }) {
        const auto is = [&](const std::string& of) {
          return Edits{
              {"UNIT", "1"  },
              {"LIMIT", of   },
              {"HOW",   how  },
              {"WHICH", which}
          };
        };
        const std::string line = how + " " + which + " " + limit;
        EXPECT_EQ(of_rounded(is(limit), is(another)).finding, Finding::refuted) << line;
        const Proof proof = of_rounded(is(limit), is(same));
        EXPECT_EQ(proof.finding, Finding::proven) << line;
        EXPECT_TRUE(proof.apart.empty() && proof.unshown.empty()) << line;
      }
}

// What jumps by less may stand in between, and how far the farthest was is told.
TEST(Near, WhatJumpsByAPartIsTold) {
  const Edits parts = {
      {"UNIT",  "0.25" },
      {"LIMIT", "0.125"},
      {"HOW",   "floor"},
      {"WHICH", "LT"   }
  };
  const Proof proof = of_rounded(parts, parts);
  EXPECT_EQ(proof.finding, Finding::proven);
  ASSERT_EQ(proof.apart.size(), 1u);
  EXPECT_EQ(proof.apart.begin()->first, "%p");
  EXPECT_EQ(proof.apart.begin()->second, 0.5);
}

// With so many runs, and no more.
TEST(Near, WhetherAResultShowsItIsSaidWhereItWasAsked) {
  const std::string decides =
      "  %c = f32[] constant(0.5)\n  %cs = f32[4,3] broadcast(%c), dimensions={}\n"
      "  %p = pred[4,3] compare(%x, %cs), direction=LT\n  %h = f32[4,3] negate(%x)\n"
      "  %r0 = f32[4,3] select(%p, %x, %h)";
  const Module module = edited(kBefore, {
                                            {"  %r0 = f32[4,3] copy(%x)", decides}
  });
  const auto& lines = entry(module).instructions;
  const auto at = std::ranges::find(lines, "p", &Instruction::name);
  const std::vector<Bounds> bounds = bounds_of(module);
  constexpr int kMany = 256;
  int left = kMany;
  const auto all = straddle({module, bounds, &*at, {}, 0, {}, left});
  ASSERT_TRUE(all && all->shown == true);
  bool unasked = false;
  for (int runs = 0; runs < kMany - left; ++runs) {
    int few = runs;
    const auto pair = straddle({module, bounds, &*at, {}, 0, {}, few});
    EXPECT_TRUE(!pair || pair->shown == std::nullopt) << runs;
    unasked = unasked || pair;
  }
  EXPECT_TRUE(unasked);
}

}  // namespace
}  // namespace plumb::hlo
