// Reductions whose result only decides: a device that is not told what the others hold decides as they do,
// but where one alone has what decides.
#include "reference/hlo/prove/alone.h"

#include "reference/hlo/prove/draw.h"
#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"
#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

constexpr const char* kFolds = R"(HloModule m, num_partitions=2

%fold (a: T[], b: T[]) -> T[] {
  %a = T[] parameter(0)
  %b = T[] parameter(1)
  ROOT %o = T[] FOLD(%a, %b)
}

%share (a: T[], b: T[]) -> T[] {
  %a = T[] parameter(0)
  %b = T[] parameter(1)
  ROOT %o = T[] SHARE(%a, %b)
}

)";
constexpr const char* kDecidesAlone = R"(ENTRY %e {
  %x = X[512] parameter(0), sharding={devices=[2]<=[2]}
  %y = f32[8] parameter(1), sharding={replicated}
  %c = X[] constant(LIMIT)
  %cs = X[512] broadcast(%c), dimensions={}
  %each = pred[512] compare(%x, %cs), direction=IS
  %counted = s32[512] convert(%each)
  %zero = s32[] constant(0)
  %init = T[] constant(INIT)
  %part = T[] reduce(%OF, %init), dimensions={0}, to_apply=%fold
  %r = T[] TOLD
  %decided = pred[] HOW
  %decides = pred[8] broadcast(%decided), dimensions={}
  %n = f32[8] negate(%y)
  ROOT %z = f32[8] select(%decides, %y, %n), sharding={replicated}
}
)";

struct Deciding {
  std::string type, fold, init, limit, is;
};

bool is_of_predicates(const Deciding& d) { return d.fold == "or" || d.fold == "and"; }

// By what devices are told what the others hold, and by which computation that comes together.
struct Told {
  std::string by, share;
};

std::string words_of(const Deciding& d) {
  const bool predicates = is_of_predicates(d), counts = d.fold == "add";
  const std::string type = predicates ? "pred"
                           : counts   ? "s32"
                                      : d.type,
                    of = predicates ? "%each"
                         : counts   ? "%counted"
                                    : "%x",
                    how = predicates ? "copy(%r)"
                          : counts   ? "compare(%r, %zero), direction=GT"
                                     : "compare(%r, %c), direction=" + d.is;
  return with(std::string(kFolds) + kDecidesAlone, {
                                                       {"T[",    type + "["  },
                                                       {"X[",    d.type + "["},
                                                       {"%OF",   of          },
                                                       {"HOW",   how         },
                                                       {"FOLD",  d.fold      },
                                                       {"INIT",  d.init      },
                                                       {"LIMIT", d.limit     },
                                                       {"IS\n",  d.is + "\n" }
  });
}

const std::string kToldAll =
    "all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%share";

Module on_each(std::string text, const Edits& words) {
  return parse(with(with(text,
                         {
                             {", sharding={devices=[2]<=[2]}", ""},
                             {", sharding={replicated}",       ""}
  }),
                    words),
               "after.txt");
}

// What decides, and what each device makes of it.
std::pair<Module, Module> deciding(const Deciding& d, const Told& told) {
  const std::string text = words_of(d);
  return {
      parse(with(text, {{"TOLD", "copy(%part)"}, {"SHARE", d.fold}    }
       ), "before.txt"),
      on_each(text, { {"[512]", "[256]"},      {"TOLD", told.by}, {"SHARE", told.share}}
       )
  };
}

Proof decided(const Deciding& d, const Told& told) {
  const auto [whole, each] = deciding(d, told);
  return prove({whole, each, nullptr}, {});
}

const std::vector<Deciding> kDecisions = {
    {"f32",  "or",      "false",       "0",    "GT"},
    {"f32",  "and",     "true",        "-3",   "GT"},
    {"f32",  "maximum", "-inf",        "1",    "LT"},
    {"f32",  "minimum", "inf",         "-0.5", "GT"},
    {"s32",  "or",      "false",       "3",    "EQ"},
    {"s32",  "and",     "true",        "3",    "NE"},
    {"s32",  "and",     "true",        "0",    "GE"},
    {"s32",  "maximum", "-2147483648", "700",  "LT"},
    {"pred", "or",      "false",       "true", "EQ"},
    {"pred", "and",     "true",        "true", "EQ"},
    {"f32",  "add",     "0",           "0",    "GT"},
    {"s32",  "add",     "0",           "3",    "EQ"}
};

TEST(Alone, AnAllReduceThatOnlyDecidesIsMissed) {
  for (const Deciding& d : kDecisions)
    EXPECT_EQ(decided(d, {"copy(%part)", d.fold}).finding, Finding::refuted)
        << d.type << " " << d.fold << " " << d.is;
}

TEST(Alone, OrIsNotAnd) {
  for (const Deciding& d : kDecisions)
    if (is_of_predicates(d)) {
      const Proof other = decided(d, {kToldAll, d.fold == "or" ? "and" : "or"});
      EXPECT_EQ(other.finding, Finding::refuted) << d.type << " " << d.fold << " " << d.is;
    }
}

TEST(Alone, TheRightOneIsProven) {
  for (const Deciding& d : kDecisions) {
    const Proof right = decided(d, {kToldAll, d.fold});
    EXPECT_EQ(right.finding, Finding::proven) << d.type << " " << d.fold << " " << d.is;
    EXPECT_EQ(right.untaken, std::vector<std::string>{}) << d.type << " " << d.fold << " " << d.is;
  }
}

// Each predicate stands there several times: none is ever alone, and a proof says so.
constexpr const char* kRepeated = R"(HloModule m, num_partitions=2

%any (a: pred[], b: pred[]) -> pred[] {
  %a = pred[] parameter(0)
  %b = pred[] parameter(1)
  ROOT %o = pred[] or(%a, %b)
}

ENTRY %e {
  %x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  %c = f32[] constant(0)
  %cs = f32[4] broadcast(%c), dimensions={}
  %each = pred[4] compare(%x, %cs), direction=GT
  %repeated = pred[4,3] broadcast(%each), dimensions={0}
  %init = pred[] constant(false)
  ROOT %r = pred[] reduce(%repeated, %init), dimensions={0,1}, to_apply=%any, sharding={replicated}
}
)";

TEST(Alone, WhatStandsThereSeveralTimesNeverIs) {
  const Module whole = parse(kRepeated, "before.txt");
  const std::string told = with(kToldAll, {
                                              {"%share", "%any"}
  });
  const Module each =
      on_each(kRepeated, {
                             {"[4",               "[2"                                               },
                             {"ROOT %r",          "%part"                                            },
                             {"to_apply=%any\n}", "to_apply=%any\n  ROOT %r = pred[] " + told + "\n}"}
  });
  const Proof right = prove({whole, each, nullptr}, {});
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_EQ(right.untaken, std::vector<std::string>{"%r by a part alone"});
}

// Where the module after propagation has such a reduction that no two devices share, none is asked for.
TEST(Alone, WhatNobodyShares) {
  const Module whole = parse(with(kRepeated,
                                  {
                                      {"devices=[2]<=[2]", "replicated"}
  }),
                             "before.txt");
  const Proof right = prove(
      {
          whole, on_each(with(kRepeated, {{"devices=[2]<=[2]", "replicated"}}
            ), {                 }
            ), &whole
  },
      {});
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_EQ(right.untaken, std::vector<std::string>{});
}

// Eight devices hold an array in two dimensions; what it decides is of each element, so that where all others
// are zero nobody but who decides sees anything.
constexpr const char* kCut = R"(HloModule m, num_partitions=8

%fold (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %o = f32[] FOLD(%a, %b)
}

ENTRY %e {
  %x = f32[8,8] parameter(0), sharding={devices=[4,2]<=[8]}
  %of = f32[8,8] OF(%x), sharding={devices=[4,2]<=[8]}
  %init = f32[] constant(INIT)
  %part = f32[] reduce(%of, %init), dimensions={0,1}, to_apply=%fold
  %along0 = f32[] FIRST
  %along1 = f32[] SECOND
  %limit = f32[] LIMIT, sharding={replicated}
  %is = pred[] compare(%along1, %limit), direction=GT
  %all = pred[8,8] broadcast(%is), dimensions={}
  %half = f32[] constant(0.5)
  %halves = f32[8,8] broadcast(%half), dimensions={}
  %smaller = f32[8,8] multiply(%x, %halves)
  ROOT %r = f32[8,8] select(%all, %smaller, %x), sharding={devices=[4,2]<=[8]}
}
)";

std::string told_along(int dimension, const std::string& part) {
  const std::string groups[] = {"{{0,2,4,6},{1,3,5,7}}", "{{0,1},{2,3},{4,5},{6,7}}"};
  return "all-reduce(" + part + "), channel_id=1, replica_groups=" + groups[dimension] +
         ", use_global_device_ids=true, to_apply=%fold";
}

// From none of these seeds a proof says plainly that who is not told along a dimension, or both, is right.
TEST(Alone, WhoDecidesIsNotWhoSeesIt) {
  const Edits decisions[] = {
      {{"FOLD", "maximum"}, {"OF", "abs"},  {"INIT", "-inf"}, {"LIMIT", "constant(2)"}   },
      {{"FOLD", "maximum"}, {"OF", "abs"},  {"INIT", "-inf"}, {"LIMIT", "parameter(1)"}  },
      {{"FOLD", "minimum"}, {"OF", "copy"}, {"INIT", "inf"},  {"LIMIT", "constant(-1.5)"}},
      {{"FOLD", "add"},     {"OF", "copy"}, {"INIT", "0"},    {"LIMIT", "constant(0)"}   },
      {{"FOLD", "add"},     {"OF", "copy"}, {"INIT", "0"},    {"LIMIT", "parameter(1)"}  }
  };
  for (const Edits& decision : decisions) {
    const std::string text = with(kCut, decision);
    const Module whole = parse(with(text,
                                    {
                                        {"FIRST",  "copy(%part)"  },
                                        {"SECOND", "copy(%along0)"}
    }),
                               "before.txt");
    for (int told = 0; told < 4; ++told) {
      const Module each =
          on_each(text, {
                            {"[8,8]",                       "[2,4]"},
                            {        ", sharding={devices=[4,2]<=[8]}",                           ""       },
                            {  "FIRST",     told & 1 ? told_along(0,            "%part") : "copy(%part)"},
                            { "SECOND", told & 2 ? told_along(1,        "%along0") : "copy(%along0)"}
      });
      for (const std::uint64_t seed : {4, 13, 38, 92, 95, 99, 107, 305, 319, 428}) {
        const Proof one = prove({whole, each, &whole}, {seed});
        if (told == 3)
          EXPECT_EQ(one.finding, Finding::proven) << print(whole) << seed;
        else
          EXPECT_TRUE(one.finding == Finding::refuted || !one.untaken.empty())
              << told << " " << print(whole) << seed;
      }
    }
  }
}

// A number has one real, whatever size others have: what is kept of two that are the same is either.
TEST(Alone, WhatIsTheSameIsAsLarge) {
  const Module whole = parse(with(kCut,
                                  {
                                      {"FOLD",   "maximum"      },
                                      {"OF",     "abs"          },
                                      {"INIT",   "-inf"         },
                                      {"FIRST",  "copy(%part)"  },
                                      {"SECOND", "copy(%along0)"},
                                      {"LIMIT",  "parameter(1)" }
  }),
                             "m.txt");
  for (std::uint64_t seed = 0; seed < 64; ++seed)
    for (int tried = 0; tried < 4; ++tried) {
      std::vector<Bounds> bounds = bounds_of(whole);
      draw_alone(whole, bounds, tried);
      std::map<std::uint64_t, double> reals;
      for (const auto& argument : drawn(whole, bounds, seed))
        for (const Twin& x : argument.array->reals)
          EXPECT_EQ(reals.try_emplace(x.coefficient.value, x.real).first->second, x.real) << seed;
    }
}

// What nothing reads decides nothing.
TEST(Alone, WhatNobodyReads) {
  const std::string text =
      with(kRepeated,
           {
               {"ROOT %r",                                     "%r"                                         },
               {"{0,1}, to_apply=%any, sharding={replicated}",
                "{0,1}, to_apply=%any\n  %one = f32[] constant(0)\n  %unread = f32[] reduce(%x, %one), "
                "dimensions={0}, to_apply=%plus\n  ROOT %y = f32[4] negate(%x), sharding={devices=[2]<=[2]}"},
               {"ENTRY",
                "%plus (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] "
                "parameter(1)\n  ROOT %o = f32[] add(%a, %b)\n}\n\nENTRY"                                   }
  });
  const Module whole = parse(text, "before.txt");
  const Proof right = prove(
      {
          whole, on_each(text, {{"[4", "[2"}}
            ), nullptr
  },
      {});
  EXPECT_EQ(right.finding, Finding::proven);
  EXPECT_EQ(right.untaken, std::vector<std::string>{});
}

// What a program of manual regions has devices tell each other.
TEST(Alone, AnAllReduceOfTheProgramItself) {
  const std::string in = "custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n";
  for (const Deciding& d : {kDecisions[0], kDecisions[2], kDecisions[10]}) {
    const std::string text = with(words_of(d), {
                                                   {"[512]", "[256]"},
                                                   {"SHARE", d.fold }
    });
    const Edits region = {
        {"%x = f32[256] parameter(0), sharding={devices=[2]<=[2]}\n",
         "%p = f32[512] parameter(0), sharding={devices=[2]<=[2]}\n  %x = f32[256] custom-call(%p), " + in},
        {"%y = f32[8] parameter(1), sharding={replicated}\n",
         "%q = f32[8] parameter(1), sharding={replicated}\n  %y = f32[8] custom-call(%q), " + in          },
        {"ROOT %z",                                                   "%o"                                },
        {", sharding={replicated}\n}",
         "\n  ROOT %z = f32[8] custom-call(%o), custom_call_target=\"SPMDShardToFullShape\", "
         "sharding={replicated}\n}"                                                                       },
        {"TOLD",                                                      kToldAll                            }
    };
    const Module whole = parse(with(text, region), "before.txt");
    const auto proof_of = [&](const std::string& told) {
      return prove(
          {
              whole, on_each(text, {{"TOLD", told}}
                ), nullptr
      },
          {});
    };
    EXPECT_EQ(proof_of("copy(%part)").finding, Finding::refuted) << d.fold;
    EXPECT_EQ(proof_of(kToldAll).finding, Finding::proven) << d.fold;
    EXPECT_EQ(proof_of(kToldAll).untaken, std::vector<std::string>{}) << d.fold;
  }
}

// The harm that a fault does to the instruction of this name, seen without a proof.
Harm harm_at(const Subject& right, const std::string& fault, const std::string& name) {
  const std::size_t c = static_cast<std::size_t>(right.after.entry);
  const auto& lines = right.after.computations[c].instructions;
  const auto at = std::ranges::find(lines, name, &Instruction::name);
  const auto kind = std::ranges::find(faults(), fault, &Fault::name);
  const auto i = static_cast<std::size_t>(at - lines.begin());
  const auto faulty = planted(right.after, *kind, c, i);
  Rightly rightly;
  return harm_of(right, rightly, {*faulty, c, i});
}

TEST(Alone, AFaultOfWhatOnlyDecidesDoesHarm) {
  for (const Deciding& d : {kDecisions[0], kDecisions[4], kDecisions[6], kDecisions[8], kDecisions[9]}) {
    const auto [whole, each] = deciding(d, {kToldAll, d.fold});
    EXPECT_EQ(harm_at({whole, each, nullptr}, "an all-reduce dropped", "r"), Harm::moved)
        << d.type << " " << d.fold << " " << d.is;
  }
}

// What is the same in all draws is the same of others where devices hold the same of it; where each holds its
// own nobody knows.
TEST(Alone, WhatIsAlikeIsNotTheSame) {
  const Deciding d{"f32", "or", "false", "-1000000", "GT"};
  const std::string text = words_of(d);
  const auto dropped = [&](const std::string& layout, const std::string& own) {
    const Edits laid = {
        {"devices=[2]<=[2]", layout       },
        {"TOLD",             "copy(%part)"},
        {"SHARE",            d.fold       }
    };
    const Module whole = parse(with(text, laid), "before.txt");
    const Module each = on_each(with(text,
                                     {
                                         {"devices=[2]<=[2]", "replicated"}
    }),
                                {{"[512]", own}, {"TOLD", kToldAll}, {"SHARE", d.fold}});
    return harm_at({whole, each, nullptr}, "an all-reduce dropped", "r");
  };
  EXPECT_EQ(dropped("devices=[2]<=[2]", "[256]"), Harm::alike);
  EXPECT_EQ(dropped("replicated", "[512]"), Harm::same);
}

}  // namespace
}  // namespace plumb::hlo
