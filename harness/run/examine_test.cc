// What answers come to, and attempts together: no program is started here.
#include "harness/run/examine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

Attempt attempt_of(const Trial& trial) {
  return {trial.c, trial.operands, trial.outcome, std::bind_front(&Trial::read, &trial)};
}

const char* const kGather = "on x=2: reshard f32[8@x] -> f32[8] seed=1";

// With the trace that makes it.
Trial gathered(const char* line = kGather) {
  Trial trial(line);
  Collective& all = trial.outcome.trace.emplace_back();
  all.kind = "all-gather", all.axes = {"x"}, all.in = 16, all.out = 32, all.moved = 32;
  return trial;
}

// Every kind of answer.
TEST(Examine, AnAnswerThatIsNoOutcomeIsAVerdict) {
  const struct {
    Answer answer;
    Status status;
    const char *text, *last_words;
  } table[] = {
  // clang-format off
      {Unsupported{"bf16", ""},                     Status::unsupported, "bf16",                                  ""           },
      {Unsupported{"bf16", "a table"},              Status::unsupported, "bf16 (a table)",                        ""           },
      {Reneged{"ValueError", "a traceback"},        Status::reneged,     "ValueError",                            "a traceback"},
      {Hung{"compile", 60, "words", {"1 a: runs"}}, Status::hung,        "no reply within 60 seconds of compile", "words"      },
      {Hung{"run", 60, "words", {"rank 2"}, "rank 2 has not entered", {2}}, Status::hung, "rank 2 has not entered",   "words"      },
      {Crashed{"killed by signal 6", "run", "why"}, Status::crashed,     "killed by signal 6 (in run)",           "why"        },
      {OffPage{"the reply: no", "run", "last"},     Status::malformed,   "the reply: no (in run)",                "last"       },
  // clang-format on
  };
  for (const auto& [answer, status, text, last_words] : table) {
    const Record record = examine(
        {
            {parse_case(kGather), {}, answer, {}},
            {      },
            {                   }
    },
        {}, {});
    EXPECT_EQ(record.verdict.status, status) << text;
    ASSERT_EQ(record.verdict.facts.size(), 1U) << text;
    EXPECT_EQ(record.verdict.facts[0].text, text);
    EXPECT_EQ(record.last_words, last_words) << text;
    EXPECT_EQ(record.processes.size(), status == Status::hung ? 1U : 0U) << text;
    const auto* hung = std::get_if<Hung>(&answer);
    EXPECT_EQ(record.ranks, hung ? hung->ranks : std::vector<std::int64_t>{}) << text;
  }
}

TEST(Examine, ARefusalIsRightWhereThereIsNoLayout) {
  const auto refused = [](const char* line) {
    return examine(
        {
            {parse_case(line),                        {}, Refused{"no such axis", "a traceback"}, {}},
            {                          },
            {                                       }
    },
        {}, {});
  };
  const Record rightly = refused("on x=2: resolve first f32[8'a] rules=a:y");
  EXPECT_EQ(rightly.verdict.status, Status::pass);
  EXPECT_EQ(rightly.notes, std::vector<std::string>{"refused: no such axis"});
  EXPECT_EQ(refused("on x=2: resolve first f32[8'a] rules=a:x").verdict.status, Status::reneged);
}

// Facts of other data say whose they are; doubts about them are not about the case.
TEST(Examine, WhatOtherDataShowCounts) {
  const Trial first = gathered(), other = gathered("on x=2: reshard f32[8@x] -> f32[8] seed=2");
  Attempts made{attempt_of(first), attempt_of(other), {}};
  ASSERT_EQ(examine(made, {}, {}).verdict.status, Status::pass);

  made.other->answer = first.outcome;
  made.other->read = made.first.read;
  const Verdict stale = examine(made, {}, {}).verdict;
  ASSERT_EQ(stale.status, Status::wrong) << "the answer to the first data";
  EXPECT_EQ(stale.facts.front().seed, 2U);

  made.other->answer = Unsupported{"no", ""};
  EXPECT_EQ(examine(made, {}, {}).verdict.status, Status::reneged) << "it took the first";
  made.other->answer = Crashed{"killed by signal 6", "run", "why"};
  const Record crashed = examine(made, {}, {});
  EXPECT_EQ(crashed.verdict.status, Status::crashed);
  EXPECT_EQ(crashed.last_words, "why");

  Trial nothing("on x=2: reshard s8[4@x] -> s8[4] seed=2");
  for (std::vector<std::byte>* bytes : {&nothing.operands[0].bytes, &nothing.memory[0], &nothing.memory[1]})
    bytes->assign(4, std::byte{7});  // all alike
  Attempts doubtful{attempt_of(first), attempt_of(nothing), {}};
  ASSERT_EQ(examine({attempt_of(nothing), {}, {}}, {}, {}).verdict.status, Status::mistrusted);
  EXPECT_EQ(examine(doubtful, {}, {}).verdict.status, Status::pass);
}

TEST(Examine, ARerunHasTheBitsOfTheFirst) {
  const Trial first = gathered();
  Trial flipped = gathered();
  flipped.memory[1][5] ^= std::byte{1};
  Attempts made{
      attempt_of(first), {                   },
       { attempt_of(first), attempt_of(flipped)}
  };
  const Verdict unstable = examine(made, {}, {}).verdict;
  ASSERT_EQ(unstable.status, Status::unstable);
  EXPECT_EQ(unstable.facts.front().text, "rerun 2 gave other bits");
  made.again[0].answer = Crashed{"killed by signal 6", "run", ""};
  const Verdict nothing = examine(made, {}, {}).verdict;
  ASSERT_EQ(nothing.status, Status::unstable);
  EXPECT_EQ(nothing.facts.front().text, "rerun 1 gave no result");
}

// Each word of the capabilities is one of what the judge is told.
TEST(Examine, WhatABackendDeclaresIsHandedOn) {
  const Declared none = declared(Capabilities{});
  EXPECT_FALSE(none.clones || none.tail_undefined || none.acc_unspecified || none.wire_unspecified ||
               none.parts_rounded || none.data_none);
  EXPECT_EQ(none.engine, Engine::ieee);
  const auto one = [](auto&& say) {
    Capabilities capabilities;
    say(capabilities);
    const Declared d = declared(capabilities);
    return std::vector<bool>{d.clones,        d.tail_undefined, d.acc_unspecified,         d.wire_unspecified,
                             d.parts_rounded, d.data_none,      d.engine == Engine::matrix};
  };
  using Flags = std::vector<bool>;
  EXPECT_EQ(one([](Capabilities& c) { c.clones = true; }), (Flags{1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.tail_undefined = true; }), (Flags{0, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.acc.unspecified = true; }), (Flags{0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.wire.unspecified = true; }), (Flags{0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.parts_rounded = true; }), (Flags{0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.plans_only = true; }), (Flags{0, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(one([](Capabilities& c) { c.engine = Engine::matrix; }), (Flags{0, 0, 0, 0, 0, 0, 1}));
}

// Rows past the sum of the sizes, on device 1, of the first attempt, on other data and again.
TEST(Examine, AnUndefinedTailIsMaskedInEveryAttempt) {
  const std::string line = "on x=2: grouped fwd f32[8@x,4] f32[2,4,4] sizes=3,3 -> f32[8@x,4]";
  Trial first(line + " seed=1"), other(line + " seed=2"), again(line + " seed=1");
  first.element<float>(1, 8) = 1, other.element<float>(1, 9) = 2, again.element<float>(1, 15) = 3;
  const Attempts made{attempt_of(first), attempt_of(other), {attempt_of(again)}};
  const auto texts = [&](const Declared& said) {
    std::vector<std::string> all;
    const Record record = examine(made, said, {});
    for (const Fact& fact : record.verdict.facts) all.emplace_back(name(fact.status));
    all.insert(all.end(), record.notes.begin(), record.notes.end());
    return all;
  };
  EXPECT_EQ(texts({}), (std::vector<std::string>{"wrong", "wrong", "unstable"}));
  Declared undefined;
  undefined.tail_undefined = true;
  EXPECT_EQ(texts(undefined),
            (std::vector<std::string>{"2 rows of the tail are masked: the backend leaves them undefined"}));
}

TEST(Examine, CopiesOfOneResultProveNoAgreement) {
  const Trial trial = gathered();
  const auto clones = [&](const Declared& said) {
    const Verdict verdict = examine({attempt_of(trial), {}, {}}, said, {}).verdict;
    EXPECT_EQ(verdict.status, Status::pass);
    return verdict.clones;
  };
  EXPECT_FALSE(clones({}));
  Declared copies;
  copies.clones = true;
  EXPECT_TRUE(clones(copies));
}

TEST(Examine, LimitsAreOfTheRecord) {
  Trial trial = gathered();
  trial.outcome.trace[0].moved = 64;
  const auto status = [&](const Limits& limits) {
    const Record record = examine({attempt_of(trial), {}, {}}, {}, limits);
    EXPECT_EQ(record.limits.max_waste, limits.max_waste);
    return record.verdict.status;
  };
  EXPECT_EQ(status({}), Status::pass);
  EXPECT_EQ(status({.max_waste = 1}), Status::wasteful);
  EXPECT_EQ(status({.max_waste = 2}), Status::pass);
  EXPECT_EQ(status({.max_collectives = 1}), Status::pass);
  EXPECT_EQ(status({.max_collectives = 0.5}), Status::wasteful);
}

}  // namespace
}  // namespace plumb
