// What became of times between two runs, planted: no clock is asked.
#include "harness/compare/paced.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace plumb {
namespace {

using testing::StartsWith;

const std::string gathered = "on x=2: reshard f32[8@x] -> f32[8]";

// Eight repetitions, `times` as long as others on two cores.
Timings timed_with(double times, double load, double mhz, const std::string& cpu = "A") {
  Timings t{
      gathered, "local", {                                  },
        {},
        { cpu,                                                                                                                   "", 2, 0}
  };
  for (int i = 0; i < 8; ++i) {
    Repetition r;
    r.samples.nanoseconds = {times * (1000 + i)}, r.samples.slowest = {0}, r.launch = i + 1;
    r.load = load, r.mhz_before = r.mhz_after = mhz;
    t.repetitions.push_back(std::move(r));
  }
  return t;
}

TEST(Paced, WhatElseMayHaveMadeItSlowerIsSaidAndNothingIsSure) {
  const Timings before = timed_with(1, 0.5, 3000);
  const auto of = [&](const Timings& now) { return paced({before}, {now}).at(0); };
  const auto back = [&](const Timings& then) { return paced({then}, {before}).at(0); };
  for (const auto& [now, said] : {
           std::pair{timed_with(1.12, 3.1,   3000),                           "a load of 3.1 on 2 cores, not 0.5"},
           std::pair{               timed_with(1.12,            0.5, 2600), "a clock of 2600 MHz, not 3000"                                   },
           std::pair{ timed_with(1.12,           0.5,            3000,                "B"),                                    "on B, not on A"}
  }) {
    EXPECT_EQ(of(now).became, Became::unsure) << said;
    EXPECT_EQ(of(now).besides, said);
    EXPECT_EQ(back(now).became, Became::unsure) << said;
    EXPECT_EQ(back(now).besides, said);
  }
  Timings nicer = timed_with(1.12, 0.5, 3000), usual = before;
  nicer.machine.scheduling = "SCHED_OTHER, nice 15", usual.machine.scheduling = "SCHED_OTHER, nice 0";
  EXPECT_EQ(of(nicer).became, Became::slower) << "of the other nobody knows";
  EXPECT_EQ(paced({usual}, {nicer}).at(0).became, Became::unsure);
  EXPECT_EQ(paced({usual}, {nicer}).at(0).besides, "by SCHED_OTHER, nice 15, not by SCHED_OTHER, nice 0");
  Timings as_long = usual;
  EXPECT_EQ(paced({usual}, {as_long}).at(0).became, Became::same);
  as_long.machine.scheduling = "SCHED_OTHER, nice 15";
  EXPECT_EQ(paced({usual}, {as_long}).at(0).became, Became::unsure) << "as long by chance";
  EXPECT_EQ(paced({usual}, {as_long}).at(0).besides, "by SCHED_OTHER, nice 15, not by SCHED_OTHER, nice 0");
  for (const Timings& now :
       {timed_with(1.12, 1.9, 3000), timed_with(1.12, 1.4, 3000), timed_with(1.12, 0.5, 2900),
        timed_with(1.12, -1, 0), timed_with(1.12, 0.5, 3000, "")}) {
    EXPECT_EQ(of(now).became, Became::slower);
    EXPECT_EQ(back(now).became, Became::faster);
    EXPECT_EQ(of(now).besides, "");
  }
  const Timings crowded = timed_with(1, 15.0, 3000);
  EXPECT_EQ(paced({crowded}, {timed_with(1.12, 16.0, 3000)}).at(0).became, Became::slower)
      << "1.07 is not 1.12";
  EXPECT_EQ(paced({crowded}, {timed_with(1.12, 18.0, 3000)}).at(0).became, Became::unsure) << "1.2 may be";
}

TEST(Paced, WhatWasTimedOtherwiseIsNotCompared) {
  const Timings before = timed_with(1, 0.5, 3000);
  const std::pair<Timing, const char*> rows[] = {
      {{0, 0, 1, Sync::barrier},  ""                                              },
      {{0, 0, 8, Sync::barrier},  "timed otherwise: batch 1, now 8"               },
      {{0, 0, 1, Sync::none},     "timed otherwise: sync barrier, now none"        },
      {{2, 20, 1, Sync::barrier}, "timed otherwise: warmups 0, now 2; iterations by the rule, now 20"},
  };
  for (const double times : {1.0, 1.12, 0.88})
    for (const auto& [timing, says] : rows) {
      Timings then = before, now = timed_with(times, 0.5, 3000);
      for (Repetition& r : then.repetitions) r.timing = {0, 0, 1, Sync::barrier};
      for (Repetition& r : now.repetitions) r.timing = then.repetitions[0].timing;
      now.repetitions.back().timing = timing;
      const Paced one = paced({then}, {now}).at(0);
      EXPECT_EQ(one.besides, says);
      if (*says) {
        EXPECT_EQ(one.became, Became::unsure) << says;
      }
    }
}

// On another machine, or the same one that somebody else uses: `times` is of the case, `machine` of all there is.
Timings controlled_with(double times, double machine, double load) {
  Timings t = timed_with(times * machine, load, 3000);
  for (Repetition& r : t.repetitions) r.control = {machine * 500, machine * 520}, r.limits["call"] = machine * 900;
  return t;
}

TEST(Paced, WithControlsTheMachineIsNoGuess) {
  const Timings before = controlled_with(1, 1, 0.5);
  const auto of = [&](const Timings& now) { return paced({before}, {now}).at(0); };
  const auto back = [&](const Timings& then) { return paced({then}, {before}).at(0); };
  for (double load : {0.5, 9.0})
    for (double machine : {1.0, 2.0}) {
      EXPECT_EQ(of(controlled_with(1.12, machine, load)).became, Became::slower) << load << " " << machine;
      EXPECT_EQ(back(controlled_with(1.12, machine, load)).became, Became::faster) << load << " " << machine;
      const Paced honest = of(controlled_with(1, machine, load));
      EXPECT_EQ(honest.became, machine == 1 ? Became::same : Became::unsure) << load << " " << machine;
      EXPECT_EQ(honest.controlled->middle, 1);
      if (machine != 1) {
        EXPECT_THAT(honest.besides, StartsWith("beside the limit of the same run 1.000 ("));
      }
    }
  Timings lacks = controlled_with(1.12, 1, 9.0);
  lacks.repetitions[3].control.clear();
  EXPECT_EQ(of(lacks).besides, "a load of 9.0 on 2 cores, not 0.5") << "one has none: the load is all that is known";
}

TEST(Paced, WhatOnlySomeIterationsTookLongerForIsNotSlowerBesideItsControl) {
  Timings before = controlled_with(1, 1, 0.5), now = before;
  for (Repetition& r : now.repetitions) {  // most of them waited for a processor
    const double quick = r.samples.nanoseconds[0];
    r.samples.nanoseconds = {quick, 3 * quick, 3 * quick};
  }
  EXPECT_EQ(paced({before}, {now}).at(0).became, Became::unsure);
}

// Some launches are in a mode in which a library's sums take several times as long, and its limit does not see it.
struct Modes {
  double slow = 0.3;  // launches, or runs, that are in it
  bool of_whole_runs = false, of_each_case = false, call_sees_it = false;
  double more = 0;  // by up to so much more, of its time, each launch of a case takes, and nothing sees it
};

class Drawn {
 public:
  explicit Drawn(std::uint32_t seed) : random_(seed) {}

  // A run of so many cases, each of them so many times as long as it was made to be.
  std::vector<Timings> run(const Modes& modes, int launches, double times) {
    constexpr int cases = 20;
    std::vector<Timings> all;
    for (int i = 0; i < cases; ++i) {
      all.push_back({"on x=2: reshard f32[" + std::to_string(8 * (i + 1)) + "]+x -> f32[" + std::to_string(8 * (i + 1)) + "]", "mpi", {}});
      all.back().runs = {std::to_string(runs_)};
    }
    ++runs_;
    const bool slow_run = share() < modes.slow;
    for (int launch = 1; launch <= launches; ++launch) {
      bool slow = modes.of_whole_runs ? slow_run : share() < modes.slow;
      for (Timings& t : all) {
        if (modes.of_each_case) slow = share() < modes.slow;
        const double mode = (slow ? 3.7 : 1) * (1 + modes.more * share());
        Repetition r;
        r.launch = launch, r.samples.slowest = {0};
        r.samples.nanoseconds = {times * mode * about(1000)}, r.control = {about(500)};
        r.limits["call"] = (modes.call_sees_it ? mode : 1) * about(900);
        t.repetitions.push_back(std::move(r));
      }
    }
    return all;
  }

 private:
  double share() { return random_() / 4294967296.0; }
  double about(double middle) { return middle * (0.99 + 0.02 * share()); }
  std::mt19937 random_;
  int runs_ = 0;
};

std::int64_t told(const std::vector<Paced>& all, Became became) {
  return std::ranges::count(all, became, &Paced::became);
}

// Of 20 cases, eight launches of each.
TEST(Paced, OfEqualLaunchesFewComparisonsSayFasterOrSlowerWhateverModesTheyHave) {
  constexpr int comparisons = 200;
  for (const Modes& modes : {Modes{}, Modes{.of_each_case = true}, Modes{.of_each_case = true, .call_sees_it = true},
                             Modes{.slow = 0.5}, Modes{.slow = 0, .more = 0.8}, Modes{.of_whole_runs = true, .call_sees_it = true}}) {
    Drawn drawn(20261126);
    int wrong = 0;
    for (int i = 0; i < comparisons; ++i) {
      const auto then = drawn.run(modes, 8, 1), now = drawn.run(modes, 8, 1);
      const auto all = paced(then, now);
      wrong += told(all, Became::faster) + told(all, Became::slower) > 0;
    }
    EXPECT_LE(wrong, comparisons / 20) << modes.slow << modes.of_whole_runs << modes.of_each_case << modes.call_sees_it;
  }
}

TEST(Paced, HalfAsLongAgainIsFoundInEnoughLaunches) {
  for (const auto& [modes, launches] : {std::pair{Modes{.slow = 0}, 8}, {Modes{.slow = 0, .call_sees_it = true}, 8},
                                        {Modes{.slow = 0.1}, 50}, {Modes{.of_each_case = true, .call_sees_it = true}, 60}}) {
    Drawn drawn(20261126);
    const auto then = drawn.run(modes, launches, 1), now = drawn.run(modes, launches, 1.5);
    EXPECT_EQ(told(paced(then, now), Became::slower), 20) << launches;
    EXPECT_EQ(told(paced(now, then), Became::faster), 20) << launches;
  }
}

TEST(Paced, HowManyLaunchesTellOneOfSoManyCasesIsSaid) {
  Drawn drawn(20261126);
  const auto then = drawn.run({.slow = 0}, 5, 1), now = drawn.run({.slow = 0}, 5, 1.5);
  for (const Paced& one : paced(then, now))
    EXPECT_EQ(one.besides, "by chance one of 20 cases is: more --repetitions then and now tell, and fewer than 6 tell nothing");
  EXPECT_EQ(paced({then[0]}, {now[0]}).at(0).became, Became::slower) << "of one case five are enough";
}

TEST(Paced, WhatTheLibrarysOwnCallTookLongerForAsWellIsUnsureButInOneRun) {
  Drawn drawn(20261126);
  const Modes slow{.slow = 1, .of_whole_runs = true, .call_sees_it = true}, quick{.slow = 0, .call_sees_it = true};
  auto then = drawn.run(quick, 8, 1), now = drawn.run(slow, 8, 1);
  EXPECT_THAT(paced(then, now).at(0).besides, StartsWith("beside the library's own call of the same run "));
  EXPECT_EQ(told(paced(then, now), Became::unsure), 20);
  for (Timings& t : now) t.runs = then[0].runs;
  EXPECT_EQ(told(paced(then, now), Became::slower), 20) << "launches that took turns";
}

// What packs is slow for minutes, and neither what is sent nor what is copied shows it.
TEST(Paced, OfTwoRunsACaseWithoutACallOrASumOfItsOwnIsUnsure) {
  Drawn drawn(20261126);
  const auto with = [&](double times, std::initializer_list<const char*> limits) {
    auto all = drawn.run({.slow = 0}, 8, times);
    for (Timings& t : all)
      for (Repetition& r : t.repetitions) {
        r.limits.clear();
        for (const char* what : limits) r.limits[what] = 900;
      }
    return all;
  };
  EXPECT_EQ(paced(with(1, {"send", "copy"}), with(1.7, {"send", "copy"})).at(0).besides,
            "of two runs, and no call or sum of its own to hold it beside");
  EXPECT_EQ(told(paced(with(1, {"gemm", "send"}), with(1.7, {"gemm", "send"})), Became::unsure), 20);
  EXPECT_EQ(told(paced(with(1, {"gemm"}), with(1.7, {"gemm"})), Became::slower), 20);
  EXPECT_EQ(told(paced(with(1, {"send", "sum"}), with(1.7, {"send", "sum"})), Became::slower), 20);
  EXPECT_EQ(told(paced(with(1, {"send", "pack"}), with(1.7, {"send", "pack"})), Became::unsure), 20) << "seen of equal runs";
  auto packed = with(1.7, {"send", "pack"});
  for (Timings& t : packed)
    for (Repetition& r : t.repetitions) r.limits["pack"] *= 1.7;
  EXPECT_THAT(paced(with(1, {"send", "pack"}), packed).at(0).besides, StartsWith("beside its own packing of the same run "));
  EXPECT_EQ(told(paced(with(1, {"send", "pack"}), packed), Became::unsure), 20);
  auto then = with(1, {"send"}), now = with(1.7, {"send"});
  for (Timings& t : now) t.runs = then[0].runs;
  EXPECT_EQ(told(paced(then, now), Became::slower), 20) << "launches that took turns";
}

// The same cases on two backends, of which the second takes so many times as long; what loads the machine loads both.
std::vector<Timings> drawn_in_turns(std::mt19937& random, int launches, double times) {
  constexpr int cases = 4;
  const auto share = [&] { return random() / 4294967296.0; };
  std::vector<Timings> all;
  for (int i = 0; i < cases; ++i) {
    Timings first{"on x=2: reshard f32[" + std::to_string(8 * (i + 1)) + "@x] -> f32[" + std::to_string(8 * (i + 1)) + "]", "a", {}};
    Timings other = first;
    other.backend = "b";
    for (int launch = 1; launch <= launches; ++launch) {
      const double load = 1 + 4 * share();
      for (Timings* t : {&first, &other}) {
        Repetition r;
        r.launch = launch, r.samples.slowest = {0};
        r.samples.nanoseconds = {(t == &other ? times : 1) * load * 1000 * (0.95 + 0.1 * share())};
        t->repetitions.push_back(std::move(r));
      }
    }
    all.push_back(std::move(first)), all.push_back(std::move(other));
  }
  return all;
}

TEST(Paced, BackendsThatTookTurnsAreComparedHoweverTheMachineIsLoaded) {
  constexpr int runs = 200;
  std::mt19937 random(20261126);
  int wrong = 0, found = 0, found_faster = 0;
  for (int i = 0; i < runs; ++i) {
    const auto equal = paced_in_turns(drawn_in_turns(random, 15, 1));
    ASSERT_EQ(equal.size(), 4U);
    wrong += told(equal, Became::slower) + told(equal, Became::faster) > 0;
    found += static_cast<int>(told(paced_in_turns(drawn_in_turns(random, 15, 1.12)), Became::slower));
    found_faster += static_cast<int>(told(paced_in_turns(drawn_in_turns(random, 15, 1 / 1.12)), Became::faster));
  }
  EXPECT_LE(wrong, runs / 20);
  EXPECT_EQ(found, 4 * runs);
  EXPECT_EQ(found_faster, 4 * runs);
}

// Launches of 39 and 41 ns, of 22 and 38, of 1100 and 1700, ..., as clocks of so many nanoseconds tell them.
TEST(Paced, WhatAClockDoesNotResolveIsUnsure) {
  std::mt19937 random(20261127);
  const auto told_by_steps_of = [&](std::int64_t step, double took, std::int64_t batch) {
    Timings t{gathered, "b", {}};
    for (int launch = 1; launch <= 12; ++launch) {
      Repetition r;
      r.launch = launch, r.step = 1, r.timing.batch = batch;
      for (int i = 0; i < 9; ++i) {
        const double begun = random() / 4294967296.0 * static_cast<double>(step),
                     ended = begun + took * (0.999 + random() / 4294967296.0 * 0.002) * static_cast<double>(batch);
        const auto steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(ended) / step);
        r.samples.nanoseconds.push_back(static_cast<double>(steps * step) / static_cast<double>(batch)), r.samples.slowest.push_back(0);
      }
      t.repetitions.push_back(std::move(r));
    }
    return t;
  };
  struct Row {
    std::int64_t step;
    double first, second;
  };
  for (const auto& [step, first, second] : {Row{20, 39, 41}, Row{20, 22, 38}, Row{20, 205, 215}, Row{1000, 1100, 1700}, Row{1000, 1950, 2010}}) {
    const Timings one = told_by_steps_of(step, first, 1), other = told_by_steps_of(step, second, 1);
    const Paced found = paced_in_turns({one, other}).at(0);
    EXPECT_EQ(found.became, Became::unsure) << first << ": " << paced_in_words(found);
  }
  const Paced alike = paced_in_turns({told_by_steps_of(1000, 1950, 1000), told_by_steps_of(1000, 2010, 1000)}).at(0);
  EXPECT_EQ(alike.became, Became::slower) << paced_in_words(alike) << ": of batches it is told";
  const Paced apart = paced_in_turns({told_by_steps_of(20, 39, 1), told_by_steps_of(20, 400, 1)}).at(0);
  EXPECT_EQ(apart.became, Became::slower) << paced_in_words(apart) << ": many steps are told";
}

TEST(Paced, OfBackendsThatTookTurnsItIsSaidBesideWhichAndHowManyTurnsTell) {
  std::mt19937 random(20261126);
  EXPECT_THAT(paced_in_words(paced_in_turns(drawn_in_turns(random, 15, 2)).at(0)),
              testing::MatchesRegex("SLOWER  b  on x=2: reshard f32.8@x. -> f32.8.: [0-9. ()to]* times as long as by a"));
  EXPECT_THAT(paced_in_words(paced_in_turns(drawn_in_turns(random, 5, 2)).at(0)), testing::EndsWith("fewer than six launches of both: more --repetitions"));
  EXPECT_THAT(paced_in_words(paced_in_turns(drawn_in_turns(random, 7, 2)).at(0)),
              testing::EndsWith("by chance one of 4 cases is: more --repetitions tell, and fewer than 8 tell nothing"));
  auto all = drawn_in_turns(random, 15, 2);
  for (std::size_t i = 10; i < 15; ++i) all[0].repetitions[i].launch = static_cast<std::int64_t>(20 + i);
  EXPECT_EQ(paced_in_turns(all).at(0).became, Became::slower);
  for (std::size_t i = 5; i < 15; ++i) all[0].repetitions[i].launch = static_cast<std::int64_t>(20 + i);
  EXPECT_EQ(paced_in_turns(all).at(0).became, Became::unsure) << "five of both";
}

// Of five launches of each the least chance is 2 of 252, and of six 2 of 924.
TEST(Paced, HowManyLaunchesItTakesIsSaidWhereThereAreFewer) {
  const auto cases = [](int n, std::size_t launches) {
    std::vector<Timings> all;
    for (int i = 0; i < n; ++i) {
      all.push_back(timed_with(1, 0.5, 3000));
      all.back().line += " seed=" + std::to_string(i), all.back().repetitions.resize(launches);
    }
    return all;
  };
  const auto said = [](const std::vector<Timings>& then, const std::vector<Timings>& now) { return too_few_to_tell(paced(then, now)); };
  EXPECT_EQ(said({}, {}), "");
  EXPECT_EQ(said(cases(6, 5), cases(6, 5)), "");
  EXPECT_EQ(said(cases(7, 5), cases(7, 5)), "5 launches then and now tell none of 7 cases FASTER or SLOWER, however far apart: 6 --repetitions do");
  EXPECT_EQ(said(cases(23, 6), cases(23, 6)), "");
  EXPECT_EQ(said(cases(24, 6), cases(24, 6)), "6 launches then and now tell none of 24 cases FASTER or SLOWER, however far apart: 7 --repetitions do");
  EXPECT_EQ(said(cases(85, 7), cases(85, 7)), "");
  EXPECT_NE(said(cases(86, 7), cases(86, 7)), "");
  EXPECT_EQ(said(cases(321, 8), cases(321, 8)), "");
  EXPECT_NE(said(cases(322, 8), cases(322, 8)), "");
  EXPECT_EQ(said(cases(7, 5), cases(7, 8)), "") << "one side has more, and may tell";
}

TEST(Paced, RepetitionsThatMayBeOfOneLaunchAreOne) {
  Timings before = timed_with(1, 0.5, 3000), now = timed_with(1.5, 0.5, 3000);
  EXPECT_EQ(paced({before}, {now}).at(0).became, Became::slower);
  for (Repetition& r : before.repetitions) r.launch = 0;
  EXPECT_EQ(paced({before}, {now}).at(0).became, Became::unsure);
  EXPECT_FALSE(paced({before}, {now}).at(0).ratio);
}

TEST(Paced, WithoutAControlItIsSaidInHowManyRunsItWasSeen) {
  const Timings before = timed_with(1, 0.5, 3000), now = timed_with(1.5, 0.5, 3000);
  EXPECT_EQ(paced({before}, {now}).at(0).seen, "seen in one run of each, of a backend that has no control");
  EXPECT_EQ(paced({before}, {before}).at(0).seen, "");
}

TEST(Paced, ARunWhoseRepetitionsDifferIsNoFasterWhereAnotherDiffersByNoMore) {
  const auto with = [](double least, double most) {
    Timings t = timed_with(1, 0.5, 3000);
    for (std::size_t i = 0; i < t.repetitions.size(); ++i)
      t.repetitions[i].samples.nanoseconds = {i % 2 ? least : most};
    return t;
  };
  const Timings before = with(1000, 1300);
  EXPECT_EQ(paced({before}, {with(1301, 1500)}).at(0).became, Became::unsure);
  EXPECT_EQ(paced({with(1301, 1500)}, {before}).at(0).became, Became::unsure);
  EXPECT_EQ(paced({before}, {with(1900, 2000)}).at(0).became, Became::slower);
  EXPECT_EQ(paced({with(1900, 2000)}, {before}).at(0).became, Became::faster);
}

}  // namespace
}  // namespace plumb
