// Runs of a proof that go on at once: what is found, refused and told is what comes of one run after the
// other.
#include "reference/hlo/prove/whole.h"

#include <algorithm>
#include <map>

#include "reference/hlo/prove/testing/verdicts.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

constexpr const char* kOfTwo = R"(HloModule m, num_partitions=2

%any (a: pred[], b: pred[]) -> pred[] {
  %a = pred[] parameter(0)
  %b = pred[] parameter(1)
  ROOT %o = pred[] or(%a, %b)
}

%bits (v: f32[ROWS,3]) -> f32[ROWS,3] {
  %v = f32[ROWS,3] parameter(0)
  %t = f32[ROWS,3] tanh(%v)
  %i = s32[ROWS,3] bitcast-convert(%t)
  ROOT %f = f32[ROWS,3] bitcast-convert(%i)
}

%same (v: f32[ROWS,3]) -> f32[ROWS,3] {
  ROOT %v = f32[ROWS,3] parameter(0)
}

ENTRY %e {
  %x = f32[ROWS,3] parameter(0)CUT
  %n = s32[] parameter(1)
  %minus = f32[ROWS,3] negate(%x)
  %one = s32[] constant(1)
  %last = s32[] and(%n, %one)
  %odd = pred[] compare(%last, %one), direction=EQ
  %odds = pred[ROWS,3] broadcast(%odd), dimensions={}
BODY
  ROOT %r = f32[ROWS,3] RESULT CUT
}
)";
// In doubt where n is odd.
constexpr const char* kDoubts = R"(  %little = f32[] constant(1e-30)
  %much = f32[] constant(0.5)
  %more = f32[] select(%odd, %little, %much)
  %mores = f32[ROWS,3] broadcast(%more), dimensions={}
  %higher = f32[ROWS,3] add(%x, %mores)
)";
// Refused where n is odd.
constexpr const char* kRefuses =
    "  %there = f32[ROWS,3] conditional(%odd, %x, %x), true_computation=%bits, false_computation=%same\n";
// Each predicate stands there so many times.
constexpr const char* kAnyDecides = R"(  %c = f32[] constant(0.5)
  %cs = f32[ROWS,3] broadcast(%c), dimensions={}
  %each = pred[ROWS,3] compare(%x, %cs), direction=GT
  %times = pred[ROWS,3,TIMES] broadcast(%each), dimensions={0,1}
  %init = pred[] constant(false)
  %part = pred[] reduce(%times, %init), dimensions={0,1,2}, to_apply=%any
  %told = pred[] TOLD
  %all = pred[ROWS,3] broadcast(%told), dimensions={}
)";
constexpr const char* kToldAny =
    "all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%any";
// The first element alone decides.
const std::string kFirst = R"(  %low = f32[] constant(-1e9)
  %lows = f32[ROWS,3] broadcast(%low), dimensions={}
  %above = pred[ROWS,3] compare(%x, %lows), direction=GT
  %device = u32[] DEVICE
  %devices = u32[ROWS,3] broadcast(%device), dimensions={}
  %row = u32[ROWS,3] iota(), iota_dimension=0
  %place = u32[ROWS,3] or(%row, %devices)
  %begin = u32[] constant(0)
  %begins = u32[ROWS,3] broadcast(%begin), dimensions={}
  %column = u32[ROWS,3] iota(), iota_dimension=1
  %places = u32[ROWS,3] or(%place, %column)
  %leads = pred[ROWS,3] compare(%places, %begins), direction=EQ
  %each = pred[ROWS,3] and(%leads, %above)
  %init = pred[] constant(false)
  %part = pred[] reduce(%each, %init), dimensions={0,1}, to_apply=%any
  %told = pred[] TOLD
  %all = pred[ROWS,3] broadcast(%told), dimensions={}
)";
// Refused is what would lack it.
const std::string kElse =
    "  %there = f32[ROWS,3] conditional(%told, %x, %x), true_computation=%same, false_computation=%bits\n";
// Nobody reads them; with them BEFORE runs beside others.
constexpr const char* kUnread = R"(  %unread.0 = u8[40000] iota(), iota_dimension=0
  %unread.1 = u8[40000] iota(), iota_dimension=0
)";

struct Pairing {
  std::string name;
  std::string found;  // of one seed at least, among others
  std::string body, result, of_after;
  std::string times, told;  // in AFTER
};

constexpr const char* kEither = "select(%all, %x, %minus)";
const std::vector<Pairing> kPairings = {
    {"as it is",           "proven",    "",             "copy(%x)",             "copy(%x)",                  "1", kToldAny     },
    {"negated",            "refuted",   "",             "copy(%x)",             "copy(%minus)",              "1", kToldAny     },
    {"negated where odd",  "refuted",   "",             "copy(%x)",             "select(%odds, %minus, %x)", "1", kToldAny     },
    {"in doubt",           "proven",    kDoubts,        "maximum(%x, %higher)", "maximum(%x, %higher)",      "1", kToldAny     },
    {"doubtful minimum",   "refuted",   kDoubts,        "maximum(%x, %higher)", "minimum(%x, %higher)",      "1", kToldAny     },
    {"doubtful maximum",   "refuted",   kDoubts,        "copy(%x)",             "maximum(%x, %higher)",      "1", kToldAny     },
    {"any decides",        "proven",    kAnyDecides,    kEither,                kEither,                     "1", kToldAny     },
    {"nobody is told",     "refuted",   kAnyDecides,    kEither,                kEither,                     "1", "copy(%part)"},
    {"each stands twice",  "by a part", kAnyDecides,    kEither,                kEither,                     "2", kToldAny     },
    {"refuses",            "refused",   kRefuses,       "copy(%there)",         "copy(%there)",              "1", kToldAny     },
    {"refuses, negated",   "refuted",   kRefuses,       "copy(%there)",         "copy(%minus)",              "1", kToldAny     },
    {"refuses for a part", "refused",   kFirst + kElse, "copy(%there)",         "copy(%there)",              "1", kToldAny     },
    {"negated for a part", "refuted",   kFirst + kElse, "copy(%there)",         "copy(%minus)",              "1", kToldAny     },
    {"the first decides",  "proven",    kFirst,         kEither,                kEither,                     "1", kToldAny     }
};

const Pairing& pairing(const std::string& name) {
  return *std::ranges::find(kPairings, name, &Pairing::name);
}

class RunsBeside : public testing::Test {
  void SetUp() override {
    if (threads() == 1) GTEST_SKIP() << "nothing runs beside";
  }
};

Module side_of(const Pairing& one, bool after, const std::string& more) {
  return parse(with(kOfTwo,
                    {
                        {"BODY\n", one.body + more                               },
                        {"RESULT", after ? one.of_after : one.result             },
                        {"TOLD",   after ? one.told : "copy(%part)"              },
                        {"DEVICE", after ? "partition-id()" : "constant(0)"      },
                        {"TIMES",  one.times                                     },
                        {"ROWS",   after ? "2" : "4"                             },
                        {" CUT",   after ? "" : ", sharding={devices=[2,1]<=[2]}"},
                        {"CUT",    after ? "" : ", sharding={devices=[2,1]<=[2]}"}
  }),
               after ? "after.txt" : "before.txt");
}

// All that a proof says, or what is refused.
std::string all_said(const Module& before, const Module& after, const Options& options) {
  Proof p;
  try {
    p = prove({before, after, nullptr}, options);
  } catch (const BadModule& bad) {
    return std::string("refused: ") + bad.what();
  }
  std::string all = std::string(name(p.finding)) + " " + p.why + ", seed " + std::to_string(p.seed) +
                    ", draw " + std::to_string(p.draws) + (p.directed ? ", directed" : "") +
                    (p.by_itself ? ", by itself" : "") + ", " + std::to_string(p.results) + " results of " +
                    std::to_string(p.elements) + " elements on " + std::to_string(p.devices) + " devices";
  if (p.at) {
    const Module& module = p.at->before ? before : after;
    all += "\nat %" + module.computations[p.at->computation].instructions[p.at->instruction].name;
  }
  for (const Difference& d : p.differences)
    all += "\n" + std::to_string(d.result) + ": " + std::to_string(d.elements) + " on " +
           std::to_string(d.devices) + " from " + std::to_string(d.device);
  for (const auto& [value, twin] : p.meanings)
    all += "\n" + std::to_string(value) + " is " + std::to_string(twin.coefficient.value);
  for (const auto* list : {&p.integers, &p.folded, &p.untaken, &p.unanswered, &p.borders, &p.unshown})
    for (const std::string& one : *list) all += "\n" + one;
  for (const auto& [at, part] : p.apart) all += "\n" + at + " " + std::to_string(part);
  return all;
}

TEST_F(RunsBeside, WhatIsFoundBesideIsWhatIsFoundOneAfterTheOther) {
  for (const Pairing& one : kPairings) {
    const Module before = side_of(one, false, ""), beside = side_of(one, false, kUnread),
                 after = side_of(one, true, "");
    ASSERT_FALSE(runs_beside(before));
    ASSERT_TRUE(runs_beside(beside));
    bool found = false;
    for (const int draws : {1, 3})
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        const Options options{.seed = seed, .draws = draws};
        const std::string all = all_said(before, after, options);
        EXPECT_EQ(all_said(beside, after, options), all) << one.name << " seed " << seed;
        found |= all.find(one.found) != all.npos;
      }
    EXPECT_TRUE(found) << one.name;
  }
}

// What proofs of several AFTERs share is what each would compute.
TEST_F(RunsBeside, WhatIsSharedIsTheSame) {
  for (const char* name : {"negated where odd", "in doubt", "any decides", "refuses"}) {
    const Pairing& one = pairing(name);
    const Module beside = side_of(one, false, kUnread), after = side_of(one, true, "");
    const Pairing right{"", "", one.body, one.result, one.result, one.times, kToldAny};
    const Module as_it_is = side_of(right, true, "");
    for (const bool hold_last : {false, true}) {
      Wholes wholes;
      const Options options{.hold_last = hold_last};
      const auto shared = [&](const Module& module) {
        try {
          const Proof p = prove({beside, module, nullptr}, options, &wholes);
          return std::string(hlo::name(p.finding)) + " " + std::to_string(p.seed);
        } catch (const BadModule&) {
          return std::string("refused");
        }
      };
      const std::string first = shared(after);
      shared(as_it_is);
      EXPECT_EQ(shared(after), first) << one.name;
    }
  }
}

// Of each run every instruction, once; of two runs of BEFORE at once both.
TEST_F(RunsBeside, EachStepOfRunsAtOnceIsTold) {
  const Pairing& one = pairing("as it is");
  const Module beside = side_of(one, false, kUnread), after = side_of(one, true, "");
  std::map<std::pair<int, bool>, std::map<std::int64_t, int>> told;
  Options options{.draws = 5};
  options.step = [&](const Step& step) { ++told[{step.draw, step.after}][step.done]; };
  ASSERT_EQ(prove({beside, after, nullptr}, options).finding, Finding::proven);
  for (int draw = 1; draw < 5; ++draw)
    for (const bool is_after : {false, true}) {
      const int runs = is_after ? 1 : draw % 2 == 1 ? 2 : 0;
      std::map<std::int64_t, int> all;
      for (std::int64_t n = 0; runs > 0 && n < std::ssize(entry(is_after ? after : beside).instructions); ++n)
        all[n] = runs;
      EXPECT_EQ((told[{draw, is_after}]), all) << draw;
    }
}

// Whoever is told may end the proof at every step, and in long instructions.
TEST_F(RunsBeside, WhoIsToldEndsTheProof) {
  struct Ended {};
  constexpr std::int64_t kMost = 80;
  for (const char* name : {"as it is", "the first decides"}) {
    const Pairing& one = pairing(name);
    const Module beside = side_of(one, false, kUnread), after = side_of(one, true, "");
    std::int64_t all = 0, left = 0;
    Options options{.draws = 2};
    options.step = [&](const Step&) { ++all; };
    prove({beside, after, nullptr}, options);
    options.step = [&](const Step&) {
      if (left-- == 0) throw Ended();
    };
    ASSERT_GT(all, 30);
    for (std::int64_t n = 0; n < std::min(all, kMost); ++n) {
      left = n;
      EXPECT_THROW(prove({beside, after, nullptr}, options), Ended) << n;
    }
  }
}

}  // namespace
}  // namespace plumb::hlo
