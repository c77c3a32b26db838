// Meshes of production: openxla/xla#40034 at the 4,096 devices it was reported from, both factorisations of
// them and both partitioners, and a training step on 256.
#include <gtest/gtest.h>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/where.h"

namespace plumb::hlo {
namespace {

struct Outcome {
  Proof proof;
  std::optional<Place> place;
};

Outcome of_folder(const std::string& name, const char* propagated_by, const char* partitioned_by) {
  const auto folder = std::filesystem::path(PLUMB_DUMPS) / "large" / name;
  const auto module = [&](const char* part) { return parse(read(dump(folder, part)), part); };
  const Module before = module("before_optimizations"), after = module(partitioned_by),
               propagated = module(propagated_by);
  const Subject subject{before, after, &propagated};
  Outcome outcome{prove(subject, {}), {}};
  outcome.place = locate(subject, outcome.proof);
  return outcome;
}

TEST(Large, TheGradientLeftUnfinishedAtItsReportedSize) {
  for (const std::string dp : {"2", "4"}) {
    const Outcome wrong = of_folder("xla_40034_dp" + dp + ".gspmd", "after_sharding-propagation",
                                    "after_tpu-spmd-partitioning");
    EXPECT_EQ(name(wrong.proof.finding), "refuted");
    EXPECT_EQ(wrong.proof.devices, 4096);
    ASSERT_EQ(wrong.proof.differences.size(), 1u);
    EXPECT_EQ(wrong.proof.differences[0].devices, 4096);
    ASSERT_TRUE(wrong.place);
    EXPECT_EQ(wrong.place->op_name, "jit(gradient)/reshard");
    EXPECT_EQ(wrong.place->there, "no all-reduce: %copy.1 is left as 1024 parts, on devices 0,4,8,12,...");
    const Outcome right =
        of_folder("xla_40034_dp" + dp + ".shardy", "after_shardy-xla", "after_tpu-spmd-partitioning");
    EXPECT_EQ(name(right.proof.finding), "proven");
    EXPECT_EQ(right.proof.devices, 4096);
  }
}

TEST(Large, ATrainingStepOn256Devices) {
  const Outcome step = of_folder("transformer_256", "after_shardy-xla", "after_spmd-partitioning");
  EXPECT_EQ(name(step.proof.finding), "proven");
  EXPECT_EQ(step.proof.results, 26);
}

}  // namespace
}  // namespace plumb::hlo
