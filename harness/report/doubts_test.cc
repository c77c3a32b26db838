#include "harness/report/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/report/testing/made_timings.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Doubts, ClocksOfOtherHostsAreSaidInWords) {
  Timings t = timed(reduce, 1000);
  EXPECT_EQ(clocks_in_words({t}), "");
  t.repetitions[1].samples.clocks = {
      {2, -500, 2'000, 3'000, 4'000}
  };
  EXPECT_EQ(clocks_in_words({t}),
            "clock of rank 2 of b: as the first one's, give or take 2 us\n    it gains or loses 7 us a second at "
            "most\n")
      << "what lies below its error is not known";
  t.repetitions[1].samples.clocks = {
      {2, 5'000'000, 2'000, 100'000, 4'000}
  };
  EXPECT_EQ(clocks_in_words({t}),
            "clock of rank 2 of b: 5000.0 us behind the first one's, give or take 2\n    it loses 100 us a "
            "second, give or "
            "take 4\n");
}

// A clock that gains a tenth of a second in each: within an iteration its agreed time moves by a tenth of a window, of which
// a fiftieth is late. One that gains 2 us a second does so in ten thousand.
TEST(Doubts, ADriftByWhichAgreedTimesMoveApartIsSaid) {
  Timings t = timed(reduce, 1000);
  Repetition& r = t.repetitions[1];
  const auto drifts = [&](double drift) { r.samples.clocks = {{1, -7e9, 200, drift, 600}}; };
  drifts(-9.1e7);
  EXPECT_THAT(doubts_in_words({t}), IsEmpty()) << "after a barrier";
  r.timing.sync = Sync::window;
  EXPECT_EQ(doubts_in_words({t}), "drift  b  " + reduce +
                                      "\n    the clock of rank 1 gains 9.1e+04 us a second, and the agreed times of ranks move apart: "
                                      "its times are also those of waiting for who begins later; --sync barrier\n");
  drifts(-2000);
  EXPECT_THAT(doubts_in_words({t}), IsEmpty());
  r.samples.late = 10'001;
  EXPECT_THAT(doubts_in_words({t}), HasSubstr("the clock of rank 1 gains 2 us a second"));
  drifts(500);
  EXPECT_THAT(doubts_in_words({t}), testing::Not(HasSubstr("drift"))) << "below its error";
  r.samples.nanoseconds.clear();
  EXPECT_THAT(no_times(r), HasSubstr("ranks did not have their cores at the agreed times"));
  drifts(9.1e7);
  EXPECT_EQ(no_times(r), "every iteration was begun late: the clock of rank 1 loses 9.1e+04 us a second, and the agreed times of "
                         "ranks move apart; --sync barrier");
}

TEST(Doubts, WhoSharesCoresIsSaidOfEachBackend) {
  Timings four = timed(reduce, 1000), two = timed("on x=2: reshard f32[8@x] -> f32[8]", 1000);
  EXPECT_EQ(doubts_in_words({four}), "") << "nobody says where it ran";
  for (Timings* t : {&four, &two})
    for (Repetition& r : t->repetitions) r.places = {"0-3: host 0, cores 0-1"};
  EXPECT_EQ(doubts_in_words({two}),
            "shared  b: 4 ranks share 2 cores, and 2 take part: a library that knows it lets go of a core "
            "while it waits\n");
  EXPECT_EQ(doubts_in_words({four, two}),
            "shared  b: 4 ranks share 2 cores: its times are also those of waiting for a core\n"
            "shared  b: 4 ranks share 2 cores, and 2 take part: a library that knows it lets go of a core "
            "while it waits\n");
}

TEST(Doubts, WhoKnowsNoLimitsIsSaid) {
  Timings t = timed(reduce, 2000), still = timed("on x=4: reshard f32[8@x] -> f32[8@x]", 1000);
  for (Repetition& r : t.repetitions) r.work = {"all-reduce", 4, 4096, 1.5, 0};
  EXPECT_EQ(doubts_in_words({t, t, still}),
            "no limits  b: it cannot say what it could do at best: no share of that is known, and no control of "
            "other runs (2 cases)\n");
  EXPECT_EQ(doubts_in_words({beside(t, "send", 1000)}), "");
}

TEST(Doubts, WhatABackendNotesIsSaidOfAllItsCasesAtOnce) {
  Timings one = timed(reduce, 1000), other = timed("on x=2: reshard f32[8@x] -> f32[8]", 1000);
  one.notes = other.notes = {"the time of a whole program"};
  other.notes.push_back("packed");
  EXPECT_EQ(doubts_in_words({one, other}),
            "note  b: packed (1 case)\nnote  b: the time of a whole program (2 cases)\n");
}

// 2 % of 1020 ns are 20.4.
TEST(Doubts, AClockWhoseStepIsMoreThanIsResolvedIsSaidToBeCoarse) {
  Timings t = timed(reduce, 1000);
  const auto with = [&](double step, std::int64_t batch) {
    for (Repetition& r : t.repetitions) r.step = step, r.timing.batch = batch;
    return doubts_in_words({t});
  };
  EXPECT_EQ(with(20, 1), "");
  EXPECT_EQ(with(40, 1), "coarse  1 case: of b  " + reduce +
                             " one step of the clock, 40 ns, is 4 % of the median; --batch K makes "
                             "one iteration of K runs\n");
  EXPECT_EQ(with(40, 2), "");
}

TEST(Doubts, WhoFailsWhenItsLimitsAreTimedIsAFinding) {
  Timings t = timed(reduce, 1000);
  EXPECT_THAT(failed_limits({t}), IsEmpty());
  t.repetitions[2].lost = t.repetitions[3].lost = "send: hung: no reply within 2 seconds";
  EXPECT_THAT(failed_limits({t}),
              ElementsAre("failed  b  " + reduce + "\n    its own times are kept, but of repetition 3 not all limits are known: "
                                                   "send: hung: no reply within 2 seconds"));
}

TEST(Doubts, TheRankForWhichTheOthersWaitIsNamed) {
  Timings t = timed(reduce, 1'000'000);
  EXPECT_EQ(lags_in_words({t}), "") << "nobody could say";
  for (Repetition& r : t.repetitions) r.outside = {2000, 2500, 500'000, 3000};
  EXPECT_EQ(lags_in_words({t}),
            "lags  b  on x=4: reshard f32[1024]+x -> f32[1024]\n    rank 2 is outside of its collectives for "
            "500 us "
            "at least, the others for 3 at most, and they wait for it\n");
  // The median is 1.02 ms, of which 2 % are resolved.
  for (Repetition& r : t.repetitions) r.outside = {2000, 2500, 3000 + 20'400, 3000};
  EXPECT_EQ(lags_in_words({t}), "");
  for (Repetition& r : t.repetitions) ++r.outside[2];
  EXPECT_THAT(lags_in_words({t}), HasSubstr("rank 2 is outside"));
}

// Of 800 iterations so many.
TEST(Doubts, HowFewIterationsAreLeftIsSaidWhereHalfOrMoreWereLate) {
  for (const std::int64_t late : {0, 1, 399, 400, 746, 799}) {
    Timings t{gather, "b", {}};
    for (int i = 0; i < 2; ++i) {
      Repetition r;
      r.number = i + 1, r.of = 2, r.timing.sync = Sync::window;
      r.samples.nanoseconds.assign(i == 0 ? 800 - late : 0, 1000), r.samples.slowest.assign(i == 0 ? 800 - late : 0, 1);
      r.samples.late = i == 1 ? late : 0;
      t.repetitions.push_back(r);
    }
    const std::string said = doubts_in_words({t}), words = "    " + std::to_string(late) + " of 800 iterations were begun late and dropped: its times are those of the " +
                                                           std::to_string(800 - late) + " that are left\n";
    if (late >= 400)
      EXPECT_THAT(said, HasSubstr("late  b  " + gather + "\n" + words));
    else
      EXPECT_THAT(said, testing::Not(HasSubstr("were begun late and dropped")));
  }
}

}  // namespace
}  // namespace plumb
