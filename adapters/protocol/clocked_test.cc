#include "adapters/protocol/clocked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "adapters/protocol/ranks.h"

namespace plumb {
namespace {

using testing::SizeIs;

// Writes down what is called: m meets, r restores, w wipes, o is a run, f the first result set apart.
struct Written {
  std::string calls;
  Stages stages;
  Written() {
    stages.once = [this] { calls += 'o'; };
    stages.wipe = [this] { calls += 'w'; };
    stages.restore = [this] { calls += 'r'; };
    stages.meet = [this] { calls += 'm'; };
  }
  std::string by(const Timing& timing) {
    calls.clear();
    clocked(stages, timing, 1, [this] { calls += 'f'; });
    return calls;
  }
};

TEST(Clocked, NothingIsBetweenEnteringAndLeavingButTheRun) {
  Written w;
  EXPECT_EQ(w.by({.warmups = 0, .iterations = 1}), "rwmof");
  EXPECT_EQ(w.by({.warmups = 2, .iterations = 3}),
            "roro"
            "rwmof"
            "rmo"
            "rwmo");
  EXPECT_EQ(w.by({.warmups = 1, .iterations = 2, .batch = 3}),
            "rooo"
            "rwmooorwof"
            "rwmooorwo")
      << "a batch leaves the operands changed: what is proved is made of them as they were";
  w.stages.restore = nullptr;
  EXPECT_EQ(w.by({.warmups = 1, .iterations = 3, .batch = 2}),
            "oo"
            "wmoof"
            "moo"
            "wmoo")
      << "nothing is changed: the batch itself is proved";
  w.stages.restore = [&w] { w.calls += 'r'; };
  EXPECT_EQ(w.by({.warmups = 1, .iterations = 2, .sync = Sync::none}),
            "ro"
            "rwof"
            "rwo");
  EXPECT_EQ(w.by({.warmups = 1, .iterations = 2, .sync = Sync::window}),
            "ro"
            "rwof"
            "rwo");
}

TEST(Clocked, EveryIterationIsEnteredAfterTheOneBeforeWasLeft) {
  Written w;
  const Clocked said = clocked(w.stages, {.warmups = 1, .iterations = 50}, 1, [] {});
  EXPECT_THAT(said.enter, SizeIs(50));
  for (std::size_t i = 0; i < 50; ++i) EXPECT_GE(said.leave[i], said.enter[i]);
  for (std::size_t i = 1; i < 50; ++i) EXPECT_GE(said.enter[i], said.leave[i - 1]);
  EXPECT_EQ(said.clock, clocked(w.stages, {}, 2, [] {}).clock) << "one clock";
  EXPECT_GT(said.clock, 0);
}

// Whoever is not there when an agreed iteration begins says so of that one.
TEST(Clocked, WhoComesTooLateToAWindowSaysSo) {
  Written w;
  // The width of a window is no more than what there was before it, twice, and some.
  using Now = std::chrono::steady_clock;
  w.stages.restore = [n = 0, begin = Now::now()]() mutable {
    const auto end =
        ++n == 3 ? Now::now() + 4 * (Now::now() - begin) + std::chrono::milliseconds(100) : begin;
    while (Now::now() < end) {
    }
  };
  const Clocked said = clocked(w.stages, {.warmups = 1, .iterations = 2, .sync = Sync::window}, 1, [] {});
  EXPECT_EQ(said.enter[1], -1);
  EXPECT_EQ(said.leave[1], -1);
}

// It waits for the second window when its core is taken: its clock goes on by a second between two looks.
TEST(Clocked, WhoIsNotThereWhenAWindowBeginsSaysSo) {
  Written w;
  std::int64_t ahead = 0;
  int restored = 0, looks = 0;
  w.stages.once = [first = true]() mutable {
    if (std::exchange(first, false)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  w.stages.restore = [&] { ++restored, looks = 0; };
  w.stages.now = [&] {
    if (restored == 3 && ++looks == 2) ahead += 1'000'000'000;
    return machine_time() + ahead;
  };
  const Clocked said = clocked(w.stages, {.warmups = 1, .iterations = 2, .sync = Sync::window}, 1, [] {});
  EXPECT_EQ(said.enter[1], -1);
  EXPECT_EQ(said.leave[1], -1);
}

TEST(Clocked, ALimitIsTimedAsARunIs) {
  Written w;
  int copied = 0;
  w.stages.limit = [&](const std::string& what, std::size_t bytes) -> std::function<void()> {
    if (what != "copy" || bytes != 64) return nullptr;
    return [&copied] { ++copied; };
  };
  EXPECT_THAT(clocked_limit(w.stages, "copy", 64, {.iterations = 5})->leave, SizeIs(5));
  EXPECT_EQ(copied, 6);
  EXPECT_THAT(clocked_limit(w.stages, "copy", 64, {.iterations = 5, .batch = 3})->leave, SizeIs(5));
  EXPECT_EQ(copied, 6 + 6 * 3) << "a batch of it, as of the case";
  EXPECT_FALSE(clocked_limit(w.stages, "send", 64, {.iterations = 5}));
  EXPECT_FALSE(clocked_limit(w.stages, "call", 64, {.iterations = 5}));
  EXPECT_EQ(w.calls.find('o'), std::string::npos) << "the case itself was run";
}

TEST(Clocked, ARunMoreSaysWhenEachOfItsCollectivesWas) {
  Written w;
  EXPECT_FALSE(clocked_limit(w.stages, "collectives", 0, {.iterations = 4})) << "nobody can say";
  w.stages.collectives = [&] {
    w.calls += 'o';
    return std::vector<Turn>{
        {machine_time(), machine_time()},
        {machine_time(), machine_time()}
    };
  };
  constexpr std::int64_t ahead = 1'000'000'000'000'000'000;
  w.stages.now = [] { return machine_time() + ahead; };
  const auto said = clocked_limit(w.stages, "collectives", 0, {.iterations = 4});
  ASSERT_TRUE(said);
  EXPECT_EQ(w.calls, "rmo");
  ASSERT_THAT(said->enter, SizeIs(4));
  ASSERT_THAT(said->leave, SizeIs(4));
  EXPECT_GT(said->enter[0], ahead) << "by the own clock";
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LE(said->enter[i], said->leave[i]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_LE(said->leave[i - 1], said->enter[i]) << "one after the other";
  EXPECT_EQ(said->enter[0], said->leave[0]) << "the run was entered";
  EXPECT_EQ(said->enter[3], said->leave[3]) << "the run was left";
  EXPECT_FALSE(clocked_limit(w.stages, "collectives", 0, {.iterations = 3})) << "another number than that of the trace";
}

// Whoever is made to wait between two looks at clocks still says one thing after the other.
TEST(Clocked, CollectivesLieWithinTheirRunThoughALookAtTheClockTakesLong) {
  // Before the look or behind it, in the first one or in the second.
  for (const int waits : {0, 1, 2, 3}) {
    Written w;
    w.stages.collectives = [] {
      const std::int64_t now = machine_time();
      return std::vector<Turn>{
          {now,     now + 1},
          {now + 2, now + 3}
      };
    };
    w.stages.now = [waits, at = 0]() mutable {
      const auto wait = [&] {
        if (at++ == waits) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      };
      wait();
      const std::int64_t now = machine_time();
      wait();
      return now;
    };
    const auto said = clocked_limit(w.stages, "collectives", 0, {.iterations = 4});
    ASSERT_TRUE(said);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_LE(said->enter[i], said->leave[i]) << waits;
    for (std::size_t i = 1; i < 4; ++i) EXPECT_LE(said->leave[i - 1], said->enter[i]) << waits;
  }
}

TEST(Clocked, WhatIsKnownIsTimedInARunAndNowhereElse) {
  const int call = known("all-gather {} over x");
  entering(call), leaving();
  const std::int64_t before = machine_time();
  const std::vector<Turn> turns = turns_in([&] {
    entering(call), leaving();
    entering(call), leaving();
  });
  entering(call), leaving();
  ASSERT_THAT(turns, SizeIs(2));
  EXPECT_LE(before, turns[0].enter);
  EXPECT_LE(turns[0].enter, turns[0].leave);
  EXPECT_LE(turns[0].leave, turns[1].enter);
  EXPECT_LE(turns[1].leave, machine_time());
  EXPECT_THAT(turns_in([] {}), SizeIs(0));
}

// The other's clock stands at what is said, and the own one goes on by itself.
TEST(Clocked, TheFirstOnesClockIsAskedBeforeAndAfter) {
  Written w;
  w.stages.now = [n = std::int64_t{0}]() mutable { return n += 10; };
  w.stages.ask_clock = [&w](const std::function<std::int64_t()>& now) {
    w.calls += 'a';
    const std::int64_t sent = now(), said = sent + 1000;
    return std::vector<Ping>{
        {sent, said, now()}
    };
  };
  EXPECT_EQ(w.by({.warmups = 1, .iterations = 2}), "roarwmofrwmoa");
  const Clocked said = clocked(w.stages, {.warmups = 0, .iterations = 1}, 1, [] {});
  EXPECT_EQ(said.before.offset, 995);
  EXPECT_EQ(said.before.error, 6);
  EXPECT_LT(said.before.at, said.enter[0]);
  EXPECT_GT(said.after.at, said.leave[0]);
  EXPECT_NE(said.clock, this_clock()) << "a planted clock is another";
  Clocked again;
  take_sights(again, sights_row(said));
  EXPECT_EQ(sights_row(again), sights_row(said));
}

TEST(Clocked, ARowOfTheArenaIsAClockAgain) {
  const Clocked said{
      7, {1, -1, 5},
       {2, -1, 9}
  };
  const std::vector<std::int64_t> row = clock_row(said);
  EXPECT_EQ(row.size(), words_of_a_clock(3));
  EXPECT_EQ(clock_from(row).clock, 7);
  EXPECT_EQ(clock_from(row).enter, said.enter);
  EXPECT_EQ(clock_from(row).leave, said.leave);
}

}  // namespace
}  // namespace plumb
