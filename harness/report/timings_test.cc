#include "harness/report/timings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "harness/measure/require.h"
#include "harness/report/doubts.h"
#include "harness/report/expected.h"
#include "harness/report/growth.h"
#include "harness/report/testing/made_timings.h"
#include "harness/report/timings_table.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Timings, AreARowForEachCase) {
  const std::string table = timings_table({timed(reduce, 2000)});
  EXPECT_THAT(table, HasSubstr("4 KiB"));
  EXPECT_THAT(table, HasSubstr("2.04"));     // the median, in microseconds
  EXPECT_THAT(table, HasSubstr("2..2.08"));  // the repetitions
  EXPECT_THAT(table, HasSubstr("2(n-1)/n"));
  EXPECT_THAT(table, HasSubstr("1 (100 %)"));
  EXPECT_THAT(table, Not(HasSubstr("GFLOP/s"))) << "no case has them";
}

// One repetition took a hundred quick samples, the others one slow one each, 2.02 to 2.08 us: none counts
// more than another.
TEST(Timings, ARepetitionCountsNoMoreWhateverNumberOfSamplesItTook) {
  Timings t = timed(reduce, 2000);
  t.repetitions[0].samples.nanoseconds.assign(100, 1000), t.repetitions[0].samples.slowest.assign(100, 1);
  const Figured f = figures_of(t);
  EXPECT_EQ(f.metrics.at("median"), 2.04);
  EXPECT_EQ(f.metrics.at("p95"), 2.08);
  EXPECT_EQ(f.metrics.at("p99"), 2.08);
  EXPECT_EQ(f.metrics.at("IQR"), 0.04) << "from 2.02 to 2.06";
  EXPECT_EQ(f.metrics.at("min"), 1);
  EXPECT_EQ(f.metrics.at("algbw"), 4096 / 2040.0);
  EXPECT_THAT(timings_table({t}), HasSubstr("104"));
}

TEST(Timings, ALimitIsPrintedAndWhichShareOfItIsReached) {
  // 4 KiB in 2.04 us, times 1.5, of 4 KiB sent in 1.02 us: three quarters.
  const Timings t = beside(timed(reduce, 2000), "send", 1020);
  EXPECT_THAT(timings_table({t}), HasSubstr("send 4.02 GB/s  75 % (74..76)"));
  EXPECT_THAT(timings_table({beside(timed(reduce, 2000), "send", 2040)}),
              HasSubstr("send 2.01 GB/s  UNSURE (147..153)"))
      << "it is beaten";
  Timings few = t;
  few.repetitions.resize(3);
  EXPECT_THAT(timings_table({few}), HasSubstr("send 4.02 GB/s    UNSURE\n"));
  EXPECT_THAT(timings_table({beside(timed(gather, 2000), "call", 1020)}),
              HasSubstr("call 1.02 us  50 % (49..51)"));
}

// A slice is a copy of what stays, 1 KiB; each limit of a case has a line, and a time's share is how little of it is more.
TEST(Timings, EachLimitIsNamedBesideWhatIsHeldToIt) {
  const std::string slice = "on x=4: reshard f32[1024] -> f32[1024@x]";
  const std::string sliced = timings_table({beside(timed(slice, 2000), "copy", 1020)});
  EXPECT_THAT(sliced, HasSubstr("1 KiB"));
  EXPECT_THAT(sliced, HasSubstr("copy 1.02 us  50 % (49..51)"));
  EXPECT_THAT(sliced, Not(HasSubstr("busbw")));
  const std::string all =
      timings_table({beside(beside(beside(timed(gather, 2000), "send", 1020), "call", 2040), "copy", 510)});
  EXPECT_THAT(all, testing::ContainsRegex("4 KiB .* send 4[.]02 GB/s    38 % [(]37..38[)]\n +call 2[.]04 us  "
                                          "100 % [(]98..102[)]\n +copy 0[.]51 us    25 % [(]25..26[)]\n"));
}

// The longest of what is timed on any mesh of the suites: a screen has a hundred columns.
TEST(Timings, TheTableFitsAScreen) {
  Timings t = beside(beside(timed(reduce, 1234567), "send", 543210), "call", 1234567);
  t.backend = "jax@0.10.2,style=explicit";
  for (Repetition& r : t.repetitions) r.samples.skew = {12345}, r.samples.nanoseconds.push_back(98765432), r.samples.slowest.push_back(11);
  std::istringstream lines(timings_table({t}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

// Of four ranks a link carries 1.5 times what an all-reduce is fed, and three quarters of what a gather
// makes.
TEST(Timings, AlgorithmBandwidthCanReachItsLimit) {
  for (const auto& [line, share] : {
           std::pair{reduce,  0.75 },
           {scatter, 0.375},
           {gather,  0.375}
  }) {
    Timings t = beside(timed(line, 2048), "send", 1024);
    for (Repetition& r : t.repetitions) r.samples.nanoseconds = {2048};
    const Figured f = figures_of(t);
    for (const char* metric : {"algbw", "busbw"}) {
      EXPECT_EQ(met(parse_requirement(fmt::format("{}>={}*limit", metric, share)), f), Met::yes) << line;
      EXPECT_EQ(met(parse_requirement(fmt::format("{}>{}*limit", metric, share)), f), Met::no) << line;
    }
    EXPECT_EQ(limit_of(f, "busbw")->value, 4) << "4096 bytes in 1024 ns";
    EXPECT_EQ(limit_of(f, "algbw")->value, 4 / (line == reduce ? 1.5 : 0.75)) << line;
  }
}

TEST(Timings, WhatBeganLateAndHowFarEntriesAreApartIsInTheTable) {
  Timings t = timed(reduce, 2000);
  EXPECT_THAT(timings_table({t}), Not(HasSubstr("late")));
  EXPECT_THAT(timings_table({t}), Not(HasSubstr("skew")));
  for (Repetition& r : t.repetitions) r.samples.late = 38, r.samples.skew = {700};
  EXPECT_THAT(timings_table({t}), HasSubstr("samples  late  "));
  EXPECT_THAT(timings_table({t}), HasSubstr(" 190 "));
  EXPECT_THAT(timings_table({t}), HasSubstr("skew"));
  EXPECT_THAT(timings_table({t}), HasSubstr(" 0.7 "));
  EXPECT_THAT(timings_table({t}), HasSubstr("factor (p2p)"));
}

TEST(Growth, ItsMedianIsThatOfTheTimes) {
  Timings two = timed("on dp=2: reshard f32[1024@dp] -> f32[1024]", 1000),
          four = timed("on dp=4: reshard f32[1024@dp] -> f32[1024]", 1800);
  four.repetitions[0].samples.nanoseconds.assign(100, 7000),
      four.repetitions[0].samples.slowest.assign(100, 1);
  const double median = figures_of(four).metrics.at("median");
  EXPECT_THAT(growth_table({two, four}), HasSubstr(fmt::format(" {:.4g} ", median)));
  EXPECT_THAT(timings_table({two, four}), HasSubstr(fmt::format(" {:.4g} ", median)));
}

TEST(Growth, BackendsOfAsManyRanksAsTheirMeshHasAreOne) {
  Timings two = timed("on dp=2: reshard f32[1024@dp] -> f32[1024]", 1000),
          four = timed("on dp=4: reshard f32[1024@dp] -> f32[1024]", 1800);
  two.backend = "mpi,np=2", four.backend = "mpi,np=4";
  EXPECT_THAT(growth_table({two, four}), HasSubstr("1.80"));
  Timings eight = timed("on dp=8: reshard f32[1024@dp] -> f32[1024]", 4000);
  eight.backend = "mpi";
  EXPECT_THAT(growth_table({two, four, eight}), HasSubstr("4.00")) << "eight is what its name leaves out";
  two.backend = "mpi,np=16";
  EXPECT_EQ(growth_table({two, four}), "") << "fourteen more ranks were started";
}

// Times of two backends of long names that grow by hundreds, of arrays as large as a machine holds.
TEST(Growth, TheTableFitsAScreen) {
  std::vector<Timings> all;
  for (const auto& [devices, nanoseconds] : {std::pair{2, 3e6}, {4, 3e8}, {8, 15e9}}) {
    all.push_back(timed(fmt::format("on dp={}: reshard f32[1073741824@dp] -> f32[1073741824]", devices), nanoseconds));
    for (int i = 0; i < 5; ++i) all.back().repetitions[static_cast<std::size_t>(i)].samples.nanoseconds[0] *= 1 + i;
    all.back().backend = "torch@2.15.0", all.back().over = {{"dp", 4e9 * devices}};
  }
  std::istringstream lines(growth_table(all));
  for (std::string one; std::getline(lines, one);) EXPECT_LE(one.size(), 100U) << one;
}

TEST(Growth, OfAProductNobodyKnowsTheBytesThatAreDue) {
  const Timings two = timed("on dp=2: einsum bm,bn->mn f32[8@dp,4] f32[8@dp,4] -> f32[4,4]", 1000),
                four = timed("on dp=4: einsum bm,bn->mn f32[8@dp,4] f32[8@dp,4] -> f32[4,4]", 1000);
  EXPECT_THAT(growth_table({two, four}), HasSubstr("  1.02          -  "));
  EXPECT_THAT(growth_table({two, four}), testing::ContainsRegex(" 1[.]00 +-\n")) << "nothing is uncertain of itself";
  EXPECT_THAT(growth_table({two, four}), HasSubstr("\ntime grew: the middle of all ratios of a repetition"));
}

TEST(Timings, WhoSharesCoresHasNoShareOfALimit) {
  Timings t = beside(timed(reduce, 2000), "send", 1020), product = timed(
      "on x=4: einsum mk,kn->mn f32[8@x,4] f32[4,4] -> f32[8@x,4]", 2000);
  for (Repetition& r : t.repetitions) r.places = {"0-3: host 0, cores 0-1"};
  EXPECT_THAT(timings_table({t}), HasSubstr("send 4.02 GB/s    UNSURE\n"));
  product = beside(product, "gemm", 500);
  EXPECT_THAT(timings_table({product}), HasSubstr("gemm 0.512 GFLOP/s  25 %"));
  for (Repetition& r : product.repetitions) r.places = {"0-3: host 0, cores 0-1"}, r.samples.skew = {3000};
  EXPECT_THAT(timings_table({product}), HasSubstr("UNSURE  gemm UNSURE    UNSURE\n"));
  EXPECT_THAT(doubts_in_words({product}), HasSubstr("UNSURE  b: bandwidth or FLOP/s of 1 case: 4 ranks share 2 cores, and"));
}

TEST(Timings, WhoLagsIsTheSlowestRankOfTheTable) {
  Timings t = timed(gather, 2000);
  for (Repetition& r : t.repetitions) r.outside = {100, 100, 1900, 100};
  EXPECT_THAT(timings_table({t}), HasSubstr("2 lags"));
}

TEST(Growth, IsFromTheSmallestMeshOnBesideThatOfTheBytes) {
  Timings two = timed("on dp=2: reshard f32[1024@dp] -> f32[1024]", 1000),
          four = timed("on dp=4: reshard f32[1024@dp] -> f32[1024]", 1800),
          more = timed("on dp=4: reshard f32[2048@dp] -> f32[2048]", 3000);
  two.over =
      {
          {"dp", 2100}
  },
  four.over = {{"dp", 4200}}, more.over = {{"dp", 6300}};
  const std::string table = growth_table({four, two, more});
  EXPECT_THAT(table, HasSubstr("2048          dp 2100        1.00       1.00"));
  EXPECT_THAT(table, HasSubstr("3072          dp 4200        2.00       1.80"));
  EXPECT_THAT(table, Not(HasSubstr("f32[2048]"))) << "of other arrays";
  EXPECT_EQ(growth_table({two, more}), "");
  two.share = "on dp=2: reshard f32[512@dp] -> f32[512]",
  more.share = "on dp=4: reshard f32[512@dp] -> f32[512]";
  const std::string shares = growth_table({two, more});
  EXPECT_THAT(shares, HasSubstr("6144          dp 6300        3.00       3.00"));
  EXPECT_EQ(growth_table({two}), "");
}

// Each case is named once, as it is on the smallest mesh.
TEST(Growth, FitsAScreen) {
  std::vector<Timings> all;
  for (const int dp : {2, 4, 8}) {
    all.push_back(timed(fmt::format("on dp={}: einsum bm,bn->mn f32[256@dp,64] f32[256@dp,64] -> f32[64,64]", dp), 1'234'567));
    all.back().backend = fmt::format("mpi,np={}", dp), all.back().over = {{"dp", 1234567}};
  }
  std::istringstream lines(growth_table(all));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(growth_table(all), HasSubstr("\non dp=2: einsum bm,bn->mn f32[256@dp,64] f32[256@dp,64] -> f32[64,64], arrays fixed\n"));
  EXPECT_THAT(growth_table(all), Not(HasSubstr("on dp=4")));
}

// Of times of two sorts the quotient of both medians may lie where no ratio of one to the other does.
TEST(Growth, LiesInItsOwnInterval) {
  Timings two = timed("on dp=2: reshard f32[1024@dp] -> f32[1024]", 1000),
          four = timed("on dp=4: reshard f32[1024@dp] -> f32[1024]", 1000);
  two.repetitions.resize(5, two.repetitions[0]), four.repetitions.resize(5, four.repetitions[0]);
  const auto take = [](Timings& t, std::vector<double> each) {
    for (std::size_t i = 0; i < each.size(); ++i) t.repetitions[i].samples.nanoseconds = {each[i]};
  };
  take(two, {1000, 1000, 1000, 9000, 9000}), take(four, {1000, 1000, 9000, 9000, 9000});
  EXPECT_THAT(growth_table({two, four}), HasSubstr(" 1.00  0.11..9.00"));
}

// Of a device's share of another size or type nothing grows.
TEST(Growth, OfADevicesShareIsOfOneSizeAndOneType) {
  std::vector<Timings> all;
  for (const char* share :
       {"f32[512@dp] -> f32[512]", "f32[2048@dp] -> f32[2048]", "f64[512@dp] -> f64[512]"})
    for (const int dp : {2, 4}) {
      const std::string type(share, 3);
      const int size = dp * std::atoi(share + 4);
      all.push_back(
          timed(fmt::format("on dp={}: reshard {}[{}@dp] -> {}[{}]", dp, type, size, type, size), 1000 * dp));
      all.back().share = fmt::format("on dp={}: reshard {}", dp, share);
    }
  const std::string table = growth_table(all);
  std::istringstream lines(table);
  int first = 0, second = 0;
  for (std::string one; std::getline(lines, one);)
    first += one.find(" 1.00 ") != one.npos, second += one.find(" 2.00 ") != one.npos;
  EXPECT_EQ(std::pair(first, second), std::pair(3, 3)) << table;
}

TEST(Growth, SaysWhatGoesOverEachAxis) {
  Timings two = timed("on dp=2,tp=2: reshard f32[1024@dp] -> f32[1024]", 1000),
          four = timed("on dp=4,tp=2: reshard f32[1024@dp] -> f32[1024]", 1800);
  two.over = {
      {"dp", 2048},
      {"tp", 64  }
  };
  const std::string table = growth_table({two, four});
  EXPECT_THAT(table, HasSubstr("2048   dp 2048, tp 64        1.00"));
  EXPECT_THAT(table, HasSubstr("3072                -           -")) << "its trace says nothing";
}

TEST(Timings, OfARecordComeTogetherByCaseAndBackend) {
  std::vector<Record> records;
  for (const Repetition& r : timed(reduce, 100).repetitions) {
    records.emplace_back();
    records.back().line = reduce, records.back().backend = "b", records.back().bench = r;
    records.emplace_back();  // one that was not timed
    records.back().line = gather, records.back().backend = "b";
  }
  const auto all = timings_of(records);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(medians(all[0]), ElementsAre(100, 101, 102, 103, 104));
}

// Files of one run joined twice.
TEST(Timings, WhatARunRecordedOnceIsOneRepetition) {
  std::vector<Record> records;
  for (const char* run : {"one", "one", "another"})
    for (const Repetition& r : timed(reduce, 100).repetitions) {
      Record& record = records.emplace_back();
      record.line = reduce, record.backend = "b", record.run = run, record.bench = r;
    }
  EXPECT_EQ(timings_of(records).at(0).repetitions.size(), 2 * timed(reduce, 100).repetitions.size());
}

TEST(Timings, MinutesOfASoakAreNoRepetitionsBesideOthers) {
  std::vector<Record> records;
  for (const char* stop : {"soak", "interval", "soak"}) {
    Record& r = records.emplace_back();
    r.line = reduce, r.backend = "b", r.bench = timed(reduce, 100).repetitions[0], r.bench->stop = stop;
  }
  EXPECT_EQ(timings_of(records).at(0).repetitions.size(), 1U);
  std::erase_if(records, [](const Record& r) { return r.bench->stop != "soak"; });
  EXPECT_EQ(timings_of(records).at(0).repetitions.size(), 2U);
}

// A run that is resumed times a repetition again whose limits were not all known.
TEST(Timings, ARepetitionWithoutItsLimitsGivesWayToThatOfItsNumber) {
  std::vector<Record> records;
  for (const auto& [number, lost, run] : {std::tuple{1, "", "a"}, {2, "call: crashed", "a"}, {3, "call: crashed", "a"}, {2, "", "b"}}) {
    Record& r = records.emplace_back();
    r.line = reduce, r.backend = "b", r.bench = timed(reduce, 100).repetitions[0], r.run = run;
    r.bench->number = number, r.bench->lost = lost;
  }
  std::vector<std::int64_t> numbers;
  const std::vector<Timings> all = timings_of(records);
  for (const Repetition& r : all.at(0).repetitions) numbers.push_back(r.number);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 2));
}

TEST(Rules, AnAllReduceTakesNoLongerThanItsParts) {
  EXPECT_THAT(broken_rules({timed(reduce, 1900), timed(scatter, 1000), timed(gather, 1000)}), IsEmpty());
  EXPECT_THAT(broken_rules({timed(reduce, 2100), timed(scatter, 1000), timed(gather, 1000)}),
              ElementsAre(HasSubstr("its medians are 2.1 us at least, those of its reduce-scatter and all-gather 1.04 us and 1.04 us at most")));
  EXPECT_THAT(broken_rules({timed(reduce, 2050), timed(scatter, 1000), timed(gather, 1000)}), IsEmpty())
      << "within the noise";
  Timings other = timed(gather, 1000);
  other.backend = "another";
  EXPECT_THAT(broken_rules({timed(reduce, 2100), timed(scatter, 1000), other}), IsEmpty());
}

TEST(Rules, AReshardTakesNoLongerThanTheWholeAndACopy) {
  const std::string swap = "on x=4: reshard f32[64@x,64] -> f32[64,64@x]",
                    whole = "on x=4: reshard f32[64@x,64] -> f32[64,64]",
                    other = "on x=4: reshard f32[64,64@x] -> f32[64,64]";
  Timings made = timed(whole, 1000);  // 1040 at most
  EXPECT_THAT(broken_rules({timed(swap, 1200), made}), IsEmpty()) << "nobody knows what a copy takes";
  made.repetitions[2].limits["copy"] = 100;
  EXPECT_THAT(broken_rules({timed(swap, 1139), made}), IsEmpty());
  EXPECT_THAT(
      broken_rules({timed(swap, 1141), made}),
      ElementsAre(HasSubstr("at least, those of making the whole 1.04 us at most, and of copying it 0.1 us: " + whole)));
  Timings of_other = made;
  of_other.line = other;
  EXPECT_THAT(broken_rules({timed(swap, 1141), of_other}), IsEmpty());
}

TEST(Rules, AGroupedProductTakesNoLongerThanItsLoop) {
  const std::string grouped =
                        "on ep=2: grouped fwd f32[64@ep,8] f32[4@ep,8,6] sizes=16,16,16,16 -> f32[64@ep,6]",
                    skewed =
                        "on ep=2: grouped fwd f32[64@ep,8] f32[4@ep,8,6] sizes=16,16,0,32 -> f32[64@ep,6]",
                    expert = "on ep=2: einsum bmk,bkn->bmn f32[2@ep,16,8] f32[2@ep,8,6] -> f32[2@ep,16,6]";
  EXPECT_THAT(broken_rules({timed(grouped, 2080), timed(expert, 1000)}), IsEmpty());
  EXPECT_THAT(broken_rules({timed(grouped, 2081), timed(expert, 1000)}),
              ElementsAre(HasSubstr("one of the 2 experts of a device, over which a loop goes 2 times, 1.04 us at most: " + expert)));
  EXPECT_THAT(broken_rules({timed(skewed, 9000), timed(expert, 1000)}), IsEmpty());
}

TEST(Rules, MoreDataTakeNoLessTime) {
  const std::string larger = "on x=4: reshard f32[4096@x] -> f32[4096]";
  EXPECT_THAT(broken_rules({timed(gather, 1000), timed(larger, 990)}), IsEmpty());
  EXPECT_THAT(broken_rules({timed(gather, 1000), timed(larger, 900)}),
              ElementsAre(HasSubstr("and those of less data 1 us at least: " + gather)));
  EXPECT_THAT(broken_rules({timed(gather, 1000), timed("on x=4: reshard bf16[8192@x] -> bf16[8192]", 900)}),
              IsEmpty());
}

// Beside its line where both fit a screen of a hundred columns.
TEST(TimingsTable, ABackendWithoutRoomBesideItsLineHasOneToItself) {
  for (const std::size_t length : {1U, 59U, 60U, 200U}) {
    Timings t = timed("on x=4: reshard f32[1024]+x -> f32[1024@x]", 1000);
    t.backend = std::string(length, 'b');
    EXPECT_THAT(timings_table({t}), testing::HasSubstr("\n" + t.line + (t.line.size() + 2 + length > 100 ? "\n  on " : "  ") + t.backend + "\n"));
  }
}

}  // namespace
}  // namespace plumb
