#include "reference/rounding/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reference/rounding/testing/emulate.h"

namespace plumb {
namespace {

Statistics judged(const Specimen& run) { return statistics(run.reduction, run.exact, run.got, run.partials); }

TEST(Statistics, RaiseNoFalseAlarmIn40Seeds) {
  double most = 0, rms = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (std::int64_t parts : {8, 64})
      for (double mean : {0.0, 2.0}) {
        const Statistics s = judged(emulate({32, 1024, parts, mean, DType::bf16, "", seed}));
        EXPECT_TRUE(s.alarms.empty())
            << s.alarms.front() << " seed " << seed << " parts " << parts << " mean " << mean;
        rms = std::max(rms, s.rms / s.rms_limit), most = std::max(most, std::fabs(s.bias) / s.limit);
        for (double z : s.slope_score) most = std::max(most, std::fabs(z) / s.limit);
      }
  RecordProperty("largest rms over limit", std::to_string(rms));
  RecordProperty("largest score over limit", std::to_string(most));
}

// What the bound of one element cannot see over 64 ranks, and which rank it was.
TEST(Statistics, FindAndAttributeADroppedRank) {
  const Specimen run = emulate({48, 2048, 64, 0, DType::bf16, "drop a rank"});
  EXPECT_EQ(outside(run.reduction, run.exact, run.got), 0);
  const Statistics s = judged(run);
  EXPECT_EQ(s.slope_score.size(), 64U);
  ASSERT_FALSE(s.alarms.empty());
  EXPECT_THAT(s.alarms.back(), testing::HasSubstr("follow the sum of rank 1: slope -"));
  EXPECT_LT(s.slope_score[1], -s.limit);
  EXPECT_EQ(std::ranges::min_element(s.slope_score) - s.slope_score.begin(), 1);
}

// A weak accumulator is not among them: it drowns in the noise of a bf16 wire. Exact fills see it, and
// on a wide wire the bound does.
TEST(Statistics, SeeFaultsOnANarrowWire) {
  for (std::string_view fault :
       {"drop a rank", "count a rank twice", "drop a term", "drop 32 terms", "stale shard", "truncating wire",
        "scale a rank", "drop a rank in a tile", "swap two rows"})
    for (std::int64_t parts : {8, 64}) {
      const Specimen subject = emulate({48, 2048, parts, 0, DType::bf16, fault});
      const bool seen =
          !judged(subject).alarms.empty() || outside(subject.reduction, subject.exact, subject.got) > 0;
      EXPECT_TRUE(seen) << fault << " on " << parts;
    }
}

// On positive data every rank's sum is much like the others', but a truncating wire stands out.
TEST(Statistics, SeeFaultsOnPositiveData) {
  for (std::string_view fault : {"drop a rank", "count a rank twice", "drop 32 terms", "truncating wire"}) {
    const Statistics s = judged(emulate({48, 2048, 8, 2, DType::bf16, fault}));
    EXPECT_FALSE(s.alarms.empty()) << fault;
  }
}

// So many elements, each the sum of one number of each rank, all of one format.
Specimen sums(DType dtype, std::int64_t parts, const Emulated& how) {
  constexpr std::int64_t count = std::int64_t{1} << 17;
  std::mt19937_64 random(how.seed);
  std::normal_distribution<double> normal;
  Specimen run{
      {DType::f32, dtype, dtype, 0, parts},
      {    },
      zeros(DType::f64, {parts,      count}
      ), zeros(dtype, {count     }
      )
  };
  Emulated of = how;
  of.parts = parts, of.wire = dtype;
  std::vector<double> all(parts);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t p = 0; p < parts; ++p) {
      all[p] = nearest(dtype, normal(random));
      store(DType::f64, run.partials.bytes.data() + 8 * (p * count + i), encode(DType::f64, all[p]));
    }
    store(dtype, run.got.bytes.data() + format(dtype).bytes * i, encode(dtype, reduced(of, i, all)));
  }
  run.exact = exact_sum(run.partials);
  return run;
}

// Law: sums of few digits, of which every other is a half, are no alarm in any order; a wire that truncates
// is. Two numbers of 3 bits make too few kinds of sums to tell.
TEST(Statistics, SumsOfFewDigitsLeanAsHalvesDo) {
  for (DType dtype : {DType::f8e4m3, DType::f8e5m2, DType::bf16})
    for (std::int64_t parts : {2, 4, 8}) {
      for (std::string_view order : {"ring", "tree", "wide"})
        for (std::uint64_t seed : {1, 2}) {
          const Statistics s = judged(sums(dtype, parts, {.seed = seed, .order = order}));
          EXPECT_TRUE(s.alarms.empty())
              << s.alarms.front() << ": " << format(dtype).name << " " << parts << " " << order;
        }
      if (dtype != DType::f8e5m2 || parts > 2) {
        EXPECT_FALSE(judged(sums(dtype, parts, {.fault = "truncating wire"})).alarms.empty())
            << format(dtype).name << " " << parts;
      }
    }
}

// Law: errors are too large exactly where a correct run has such with less than the chance of a false alarm.
// 256 sums of two numbers, of which more and more are off by four units, every other upwards.
TEST(Statistics, ErrorsAreTooLargeWhereTheirChanceIsTooSmall) {
  constexpr std::int64_t count = 256;
  Tensor partials = zeros(DType::f64, {2, count}), got = zeros(DType::f32, {count});
  const auto write = [](Tensor& to, std::int64_t i, double x) {
    store(to.dtype, to.bytes.data() + format(to.dtype).bytes * i, encode(to.dtype, x));
  };
  const auto sum = [](std::int64_t i) { return 1 + static_cast<double>(i) / count; };
  for (std::int64_t i = 0; i < count; ++i) {
    write(partials, i, 1), write(partials, count + i, sum(i) - 1), write(got, i, sum(i));
  }
  const Exact exact = exact_sum(partials);
  double before = 0;
  int alarms = 0;
  for (std::int64_t off = 0; off < count; ++off) {
    write(got, off, sum(off) + (off % 2 ? -0x1p-21 : 0x1p-21));
    const Statistics s = statistics({DType::f32, DType::f32, DType::f32, 0, 2}, exact, got, {});
    EXPECT_EQ(s.elements, count);
    EXPECT_GT(s.rms, before) << off;
    EXPECT_EQ(s.rms > s.rms_limit, s.chance < kFalseAlarm / 2) << off << ": of two tests, no rank is known";
    EXPECT_EQ(s.chance<1, s.rms> 1) << off;
    before = s.rms, alarms += s.rms > s.rms_limit;
  }
  EXPECT_GT(alarms, 0);
  EXPECT_LT(alarms, count);
}

// An engine that truncates leans towards zero: allowed where it is declared, an alarm where it is not.
TEST(Statistics, AllowTheDriftOfADeclaredEngine) {
  Specimen run = emulate({32, 1024, 1, 2, DType::f32, "truncating engine"});
  EXPECT_FALSE(judged(run).alarms.empty());
  run.reduction.engine = Engine::matrix;
  EXPECT_TRUE(judged(run).alarms.empty()) << judged(run).alarms.front();
  EXPECT_EQ(outside(run.reduction, run.exact, run.got), 0);
}

// Each engine passes where it is declared, and is condemned where it is not.
TEST(Statistics, TellADeclaredEngineFromNone) {
  for (const TermBlocks& blocks : kBlocks)
    for (double mean : {0.0, 2.0}) {
      Specimen run = emulate({48, 2048, 1, mean, DType::f32, "", 1, &blocks});
      const auto condemned = [&] {
        return !judged(run).alarms.empty() || outside(run.reduction, run.exact, run.got) > 0;
      };
      EXPECT_TRUE(condemned()) << blocks.name << " " << mean;
      run.reduction.engine = blocks.engine;
      EXPECT_FALSE(condemned()) << blocks.name << " " << mean;
    }
}

}  // namespace
}  // namespace plumb
