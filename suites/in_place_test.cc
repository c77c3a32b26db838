// Proofs in place against blocks that travel, through whole backends: the same verdicts, and no planted fault
// passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/ask.h"
#include "harness/run/attempt.h"
#include "harness/run/measured.h"
#include "reference/words/text.h"
#include "suites/testing/sampled.h"

namespace plumb {
namespace {

Settings in_place(bool wanted) {
  Settings settings;
  settings.in_place = wanted;
  return settings;
}

bool small(const Case& c) { return !is_resolve(c) && devices(c.mesh) <= 64; }

// What a verdict says, but for what it rests on.
std::string said(const Record& record) {
  std::string text = std::string(name(record.verdict.status)) + " " + std::to_string(record.verdict.rounded);
  for (const Fact& fact : record.verdict.facts) text += "\n" + fact.text;
  return text;
}

// In this processor's memory, and in that of a device, which kernels alone reach.
TEST(InPlace, VerdictsOfEverySuiteAreThoseOfBlocksThatTravel) {
  for (const char* backend : {"local", "cuda,device=host"}) {
    Subject travels(backend, in_place(false)), proves(backend, in_place(true));
    int proved = 0, cases = 0, freely = 0;
    for (const Case& c : sampled(40, small)) {
      const Record one = attempt(c, travels), other = attempt(c, proves);
      EXPECT_EQ(said(one), said(other)) << backend << " " << print(c);
      EXPECT_FALSE(one.verdict.in_place);
      EXPECT_THAT(other.notes, testing::Not(testing::Contains(testing::HasSubstr("its proof is wrong"))))
          << print(c);
      proved += other.verdict.in_place, ++cases;
      freely += result(c).free && other.verdict.in_place;
    }
    RecordProperty(std::string("proved by ") + backend, proved);
    EXPECT_GT(proved, cases / 3) << backend;
    EXPECT_GT(freely, 0) << backend;
  }
}

// What kernels may have wrong, each with a line on which it shows.
constexpr struct {
  const char *fault, *line;
} kKernelFaults[] = {
    {"drops-last-source", "on x=4: reshard f32[64]+x -> f32[64@x]"                           },
    {"takes-for-dense",   "on x=2: reshard f32[8@x,8] -> f32[8,8@x]"                         },
    {"takes-smaller",     "on x=4: reshard f32[64]+max(x) -> f32[64@x]"                      },
    {"skips-the-tail",    "on x=2: reshard f32[7@x] -> f32[7]"                               },
    {"forgets-a-term",    "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8]"       },
    {"signs-its-zeros",   "on x=2: grouped wgrad f32[8,4] f32[8,4] sizes=4,0,4 -> f32[3,4,4]"},
    {"meets-first-group", "on x=2: grouped fwd f32[8@x,4] f32[2,4,4] sizes=3,5 -> f32[8@x,4]"},
};
std::string with_fault(const char* fault) {
  return std::string(PLUMB_CUDA) + " --device host --fault " + fault;
}

TEST(InPlace, FaultsOfKernelsGetTheSameVerdict) {
  for (const auto& [fault, line] : kKernelFaults) {
    Subject travels(with_fault(fault), in_place(false)), proves(with_fault(fault), in_place(true));
    const Record one = attempt(parse_case(line), travels), other = attempt(parse_case(line), proves);
    EXPECT_TRUE(finding(one.verdict.status)) << fault;
    EXPECT_EQ(said(one), said(other)) << fault;
  }
}

// Law: what is timed is proved where it lies, of the first iteration and of the last, and of no device with a
// fault: there the blocks travel, to be judged.
TEST(InPlace, WhatIsTimedIsProvedAndNoFaultOfKernelsIs) {
  const auto proved = [](const std::string& backend, const char* line) {
    Subject subject(backend, in_place(true));
    const Case c = parse_case(line);
    Process& process = process_for(c, subject);
    const TimedAttempts made = ask_timed(c, process,
                                         {
                                             {0, 3, 1},
                                             20
    },
                                         in_place(c, process));
    EXPECT_EQ(made.first.proofs.empty(), made.last.proofs.empty()) << backend << " " << line;
    EXPECT_TRUE(std::holds_alternative<Outcome>(made.last.answer)) << backend << " " << line;
    return !made.last.proofs.empty();
  };
  for (const auto& [fault, line] : kKernelFaults) {
    EXPECT_TRUE(proved("cuda,device=host", line)) << line;
    EXPECT_FALSE(proved(with_fault(fault), line)) << fault;
  }
}

// Law: what the bound of an engine judges has no times from a backend whose sums are not those of the engine
// that it says.
TEST(InPlace, WhoseEngineIsAnotherIsNotTimed) {
  const auto status = [](const std::string& backend, const char* line) {
    Subject subject(backend, Settings{});
    Pace pace;
    pace.timing.iterations = 2;
    return measure(parse_case(line), subject, pace, [](const std::string&) {}).verdict.status;
  };
  for (const auto& [fault, line] : {
           std::pair{"narrows-sums",
                     "on x=2: einsum mk,kn->mn bf16[8,64@x] bf16[64@x,8] -> bf16[8,8] fill=normal"               },
           {"hides-its-engine", "on x=2: einsum mk,kn->mn f32[4,8] f32[8,4@x] -> f32[4,4@x] fill=normal"},
  }) {
    EXPECT_EQ(status("cuda,device=host", line), Status::pass) << line;
    EXPECT_EQ(status(with_fault(fault), line), Status::mistrusted) << fault;
  }
}

// Faults of blocks and of plans, of each a case on which it shows: bits flipped where they lie, copies that
// never arrive, sums that lack a part.
TEST(InPlace, PlantedFaultsGetTheSameVerdict) {
  const struct {
    const char *fault, *line;
  } rows[] = {
      {"one-ulp",       "on x=2,y=2: reshard f32[8@x] -> f32[8@y]"                  },
      {"one-ulp",       "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8]"},
      {"leaves-poison", "on x=2: reshard f32[8@x] -> f32[8]"                        },
      {"drops-copy",    "on x=4: reshard f32[8@x] -> f32[8]"                        },
      {"drops-part",    "on x=4: reshard f32[8]+x -> f32[8@x]"                      },
      {"swaps-blocks",  "on x=2: reshard f32[8] -> f32[8@x]"                        },
      {"stops-short",   "on x=2,y=2: reshard f32[8@x] -> f32[8@y]"                  },
  };
  for (const auto& [fault, line] : rows) {
    const std::string backend = std::string("liar,fault=") + fault;
    Subject travels(backend, in_place(false)), proves(backend, in_place(true));
    const Record one = attempt(parse_case(line), travels), other = attempt(parse_case(line), proves);
    EXPECT_TRUE(finding(one.verdict.status)) << fault;
    EXPECT_EQ(said(one), said(other)) << fault;
  }
}

// One that proves nothing and says `proved` of zeros: the seed comes after its reply, so that it cannot know
// when its blocks will be asked for. Of 200 cases all but one in 400,000 draws ask.
TEST(InPlace, WhoSaysProvedOfWhateverItHasIsFoundOut) {
  Subject liar(std::string("python3 ") + PLUMB_SAYS_PROVED, in_place(true));
  int passed = 0, caught = 0;
  for (int seed = 0; seed < 200; ++seed) {
    const Record record =
        attempt(parse_case("on x=2: reshard f32[8@x] -> f32[8] seed=" + std::to_string(seed)), liar);
    passed += record.verdict.in_place;
    caught += record.verdict.status == Status::malformed;
    if (record.verdict.status == Status::malformed) {
      EXPECT_THAT(record.verdict.facts[0].text, testing::HasSubstr("is not the one that was proved"));
    }
  }
  EXPECT_GT(caught, 0);
  EXPECT_EQ(passed + caught, 200);
}

}  // namespace
}  // namespace plumb
