#include "reference/rounding/probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "reference/rounding/testing/emulate.h"

namespace plumb {
namespace {

using Sum = std::function<double(const std::vector<float>&)>;  // of terms, each times 1

double f32_of(double x) { return static_cast<float>(x); }

double one_by_one(const std::vector<float>& terms) {
  double sum = 0;
  for (float term : terms) sum = f32_of(sum + term);
  return sum;
}

double backwards(const std::vector<float>& terms) { return one_by_one({terms.rbegin(), terms.rend()}); }

// As vectors of so many lanes add, and then their lanes.
Sum in_lanes(std::size_t lanes) {
  return [lanes](const std::vector<float>& terms) {
    std::vector<float> sums(lanes);
    for (std::size_t i = 0; i < terms.size(); ++i) sums[i % lanes] += terms[i];
    return one_by_one(sums);
  };
}

double by_pairs(const std::vector<float>& terms) {
  if (terms.size() == 1) return terms[0];
  const auto half = terms.begin() + std::ssize(terms) / 2;
  return f32_of(by_pairs({terms.begin(), half}) + by_pairs({half, terms.end()}));
}

Sum in_blocks(const TermBlocks& blocks) {
  return [blocks](const std::vector<float>& terms) {
    const std::vector<float> ones(terms.size(), 1);
    return add_in_blocks(blocks, terms.data(), ones.data(), std::ssize(terms));
  };
}

// Blocks of which the sum is rounded, not truncated.
double rounded_blocks(const std::vector<float>& terms) {
  double sum = 0;
  for (std::size_t k = 0; k < terms.size(); k += 8) {
    int largest = sum == 0 ? -1000 : std::ilogb(sum);
    for (std::size_t i = k; i < k + 8; ++i)
      if (terms[i] != 0) largest = std::max(largest, std::ilogb(terms[i]));
    double block = truncated_to(sum, largest - 24);
    for (std::size_t i = k; i < k + 8; ++i) block += truncated_to(terms[i], largest - 24);
    sum = f32_of(block);
  }
  return sum;
}

// One by one, each sum rounded to a narrower format.
Sum narrowed_to(DType dtype) {
  return [dtype](const std::vector<float>& terms) {
    double sum = 0;
    for (float term : terms) sum = nearest(dtype, sum + term);
    return sum;
  };
}

// Two halves by two accumulators, of which the second forgets its last term.
double forgetful(const std::vector<float>& terms) {
  std::vector<float> most(terms);
  most[63] = 0;
  return one_by_one(most);
}

// One by one, but that a last term which is larger than the sum cuts it off.
double cut_by_the_last(const std::vector<float>& terms) {
  const double sum = one_by_one({terms.begin(), terms.end() - 1}), exact = sum + terms.back();
  const double nearest = f32_of(exact);
  if (std::fabs(terms.back()) <= std::fabs(sum) || std::fabs(nearest) <= std::fabs(exact)) return nearest;
  return std::nextafter(static_cast<float>(nearest), 0.0F);
}

// What a split in two does whose halves meet in bf16.
double meets_in_bf16(const std::vector<float>& terms) {
  const auto half = terms.begin() + std::ssize(terms) / 2;
  return nearest(DType::bf16, one_by_one({terms.begin(), half})) +
         nearest(DType::bf16, one_by_one({half, terms.end()}));
}

// One by one, each sum rounded away from zero.
double away(const std::vector<float>& terms) {
  double sum = 0;
  for (float term : terms) {
    const double exact = sum + term;
    sum = f32_of(exact);
    if (std::fabs(sum) < std::fabs(exact))
      sum = std::nextafter(static_cast<float>(sum), std::copysign(HUGE_VALF, static_cast<float>(exact)));
  }
  return sum;
}

std::vector<double> sums_by(const Sum& engine, DType dtype) {
  const Tensor rows = probe_rows(dtype);
  std::vector<double> sums;
  for (std::int64_t i = 0; i < rows.shape[0]; ++i) {
    std::vector<float> terms(kProbeTerms);
    for (std::int64_t k = 0; k < kProbeTerms; ++k)
      terms[k] = static_cast<float>(value(rows, i * kProbeTerms + k));
    sums.push_back(engine(terms));
  }
  return sums;
}

struct Row {
  const char* name;
  Sum engine;
  std::optional<Engine> picks;
};

std::vector<Row> engines() {
  std::vector<Row> rows{
      {"one by one",          one_by_one,                                    Engine::ieee  },
      {"backwards",           backwards,                                     Engine::ieee  },
      {"in 4 lanes",          in_lanes(4),                                   Engine::ieee  },
      {"in 16 lanes",         in_lanes(16),                                  Engine::ieee  },
      {"by pairs",            by_pairs,                                      Engine::ieee  },
      {"rounded blocks",      rounded_blocks,                                Engine::matrix},
      {"away from zero",      away,                                          Engine::matrix},
      {"cut by the last",     cut_by_the_last,                               Engine::matrix},
      {"bf16",                narrowed_to(DType::bf16),                      std::nullopt  },
      {"f16",                 narrowed_to(DType::f16),                       std::nullopt  },
      {"12 bits",             in_blocks({"", 32, 12, 12, Engine::matrix}),   std::nullopt  },
      {"12 bits of fraction", in_blocks({"", 32, 12, 23, Engine::matrix}),   std::nullopt  },
      {"12 bits of the sum",  in_blocks({"", 16, 25, 12, Engine::matrix}),   std::nullopt  },
      {"meets in bf16",       meets_in_bf16,                                 std::nullopt  },
      {"forgets a term",      forgetful,                                     std::nullopt  },
      {"says nothing",        [](const std::vector<float>&) { return 0.0; }, std::nullopt  }
  };
  for (const TermBlocks& blocks : kBlocks)
    rows.push_back({blocks.name.data(), in_blocks(blocks), blocks.engine});
  return rows;
}

Probed probed_by(const Sum& engine, DType dtype, DType result = DType::f32) {
  std::vector<double> sums = sums_by(engine, dtype);
  for (double& sum : sums) sum = nearest(result, sum);
  return probed(probes(dtype), result, sums);
}

// Law: the probe finds the row of each engine, of which every row has one, and none for what is none.
TEST(Probe, FindsTheRowOfEachEngine) {
  for (DType dtype : {DType::bf16, DType::f16, DType::f8e5m2})
    for (const Row& row : engines()) {
      const Probed found = probed_by(row.engine, dtype);
      EXPECT_EQ(found.engine, row.picks) << row.name << " " << format(dtype).name << ": " << found.text;
    }
  for (const EngineModel& model : kEngines)
    EXPECT_TRUE(std::ranges::any_of(engines(), [&](const Row& row) { return row.picks == model.engine; }))
        << model.name;
}

// How wide it is shows in sums that were rounded to a format of fewer bits too, and whether it truncates; of two
// terms alone it does not.
TEST(Probe, FindsTheRowInNarrowerResults) {
  for (DType result : {DType::bf16, DType::f16})
    for (const Row& row : engines()) {
      const std::string_view name = row.name;
      if (name == "away from zero" || name == "cut by the last" || name == "rounded blocks" || name == "bf16") continue;
      const Probed found = probed_by(row.engine, DType::bf16, result);
      EXPECT_EQ(found.engine, row.picks) << row.name << " " << format(result).name << ": " << found.text;
    }
}

// What a format of few bits holds asks less, and condemns no engine: 15 bits below the largest of f8e4m3.
TEST(Probe, AsksAFormatForWhatItHolds) {
  for (const Row& row : engines()) {
    const Probed found = probed_by(row.engine, DType::f8e4m3);
    const bool few = row.picks == Engine::matrix_f8;
    EXPECT_EQ(found.engine, row.picks == Engine::matrix ? Engine::ieee : row.picks) << row.name << few << found.text;
  }
}

// It is no burden to who multiplies slowly.
TEST(Probe, IsSmall) {
  for (DType dtype : {DType::f32, DType::bf16, DType::f8e5m2}) EXPECT_LE(std::ssize(probes(dtype)), 1500);
}

// One sum that comes out otherwise is enough.
TEST(Probe, OneWrongSumIsNoEngine) {
  const std::vector<double> right = sums_by(one_by_one, DType::bf16);
  for (std::size_t i = 0; i < right.size(); i += 13) {
    std::vector<double> sums = right;
    sums[i] += 0x1p-12;
    EXPECT_EQ(probed(probes(DType::bf16), DType::f32, sums).engine, std::nullopt) << i;
  }
}

TEST(Probe, SaysHowWideAnEngineIs) {
  const auto text = [](std::string_view name) {
    const auto* at = std::ranges::find(kBlocks, name, &TermBlocks::name);
    return probed_by(in_blocks(*at), DType::bf16).text;
  };
  EXPECT_EQ(
      text("Volta"),
      "sums are truncated, of 4 terms or more, aligned to the largest: 23 bits below the largest are seen");
  EXPECT_EQ(
      text("Ampere"),
      "sums are truncated, of 8 terms or more, aligned to the largest: 24 bits below the largest are seen");
  EXPECT_EQ(
      text("Hopper"),
      "sums are truncated, of 16 terms or more, aligned to the largest: 25 bits below the largest are seen");
  EXPECT_EQ(
      text("Hopper fp8"),
      "sums are truncated, of 32 terms or more, aligned to the largest: 13 bits below the largest are seen");
  EXPECT_EQ(probed_by(by_pairs, DType::bf16).text, "sums of two are rounded to the nearest");
}

}  // namespace
}  // namespace plumb
