// What a grouped matmul must gather and scatter, scenario by scenario, over all devices. W is an expert's
// weights, of 64 x 32 bf16, or 4096 bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/bytes/bytes.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

struct Scenario {
  const char* line;
  std::int64_t each;  // bytes that each of the four devices receives
  const char* what;
};

// Rows lie with their experts: each device has rows of the experts of its ep.
constexpr auto two = "32,32,0,0/40,24,0,0/0,0,1,63/0,0,33,31";
constexpr auto four = "64,64,64,64,0,0,0,0/1,3,251,1,0,0,0,0/0,0,0,0,253,1,1,1/0,0,0,0,64,64,64,64";

void expect(const Scenario& s, const std::string& sizes) {
  std::string line = s.line;
  if (const std::size_t at = line.find("SIZES"); at != line.npos) line.replace(at, 5, sizes);
  const BestKnown best = best_known(parse_case(line));
  EXPECT_EQ(best.bytes, 4 * s.each) << line << "\n" << best.family;
  EXPECT_THAT(best.family, testing::HasSubstr(s.what)) << line;
}

TEST(Grouped, WeightsOfTheExpertsAreGatheredAlongFsdpAlone) {
  expect({"on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64@fsdp,32] sizes=SIZES -> "
          "bf16[256@ep.fsdp,32]",
          4096, "lhs moves 0 bytes, rhs 16384, the result 0"},
         two);
  expect({"on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64,32@fsdp] sizes=SIZES -> "
          "bf16[256@ep.fsdp,32]",
          4096, "lhs moves 0 bytes, rhs 16384, the result 0"},
         two);
  expect({"on ep=2,fsdp=2: grouped dgrad bf16[256@ep.fsdp,32] bf16[4@ep,64@fsdp,32] sizes=SIZES -> "
          "bf16[256@ep.fsdp,64]",
          4096, "lhs moves 0 bytes, rhs 16384, the result 0"},
         two);
}

TEST(Grouped, GradientsAreScatteredAlongFsdpAlone) {
  expect({"on ep=2,fsdp=2: grouped wgrad bf16[256@ep.fsdp,64] bf16[256@ep.fsdp,32] sizes=SIZES -> "
          "bf16[4@ep,64@fsdp,32]",
          4096, "lhs moves 0 bytes, rhs 0, the result 16384"},
         two);
  expect({"on ep=2,fsdp=2: grouped wgrad bf16[256@ep.fsdp,64] bf16[256@ep.fsdp,32] sizes=SIZES -> "
          "bf16[4@ep,64@fsdp,32] "
          "wire=f32",
          8192, "lhs moves 0 bytes, rhs 0, the result 32768"},
         two);
}

// Experts stored along ep and fsdp: two of four are gathered, two of four are scattered. With fewer rows it
// is cheaper to send the rows to their experts.
TEST(Grouped, ExpertsStoredAlongFsdp) {
  expect({"on ep=2,fsdp=2: grouped fwd bf16[1024@ep.fsdp,64] bf16[8@ep.fsdp,64,32] sizes=SIZES -> "
          "bf16[1024@ep.fsdp,32]",
          8192, "lhs moves 0 bytes, rhs 32768, the result 0"},
         four);
  expect({"on ep=2,fsdp=2: grouped wgrad bf16[1024@ep.fsdp,64] bf16[1024@ep.fsdp,32] sizes=SIZES -> "
          "bf16[8@ep.fsdp,64,32]",
          8192, "lhs moves 0 bytes, rhs 0, the result 32768"},
         four);
}

// A reduce-scatter along fsdp, 4096 bytes of 8192, then an all-reduce of these along dp: 4096 more.
TEST(Grouped, GradientsAreSummedOverEveryAxisThatSplitsTokens) {
  expect({"on dp=2,fsdp=2: grouped wgrad bf16[256@dp.fsdp,64] bf16[256@dp.fsdp,32] sizes=SIZES -> "
          "bf16[2,64@fsdp,32]",
          8192, "lhs moves 0 bytes, rhs 0, the result 32768"},
         "32,32/1,63/60,4/32,32");
}

// A group whose rows lie with one dp is summed over fsdp alone, and copied over dp.
TEST(Grouped, AGroupThatAnAxisDoesNotSplitIsNotSummedOverIt) {
  expect({"on dp=2,fsdp=2: grouped wgrad bf16[256@dp.fsdp,64] bf16[256@dp.fsdp,32] sizes=128,128 -> "
          "bf16[2,64@fsdp,32]",
          4096, "lhs moves 0 bytes, rhs 0, the result 16384"},
         "");
}

// Of group 1 each device has half a part: 4096 bytes to add them up once, 3 * 4096 to copy the sums. Of group
// 0 two devices have half, two have nothing.
TEST(Grouped, PartsOfGradientsThatLieApartAreAddedUpWhereTheyLie) {
  expect({"on dp=2,tp=2: grouped wgrad bf16[256@dp,64@tp] bf16[256@dp,32] sizes=100,156 -> bf16[2,64,32]",
          7168, "lhs moves 0 bytes, rhs 0, the result 28672"},
         "");
  expect({"on dp=2,tp=2: grouped wgrad bf16[256@dp,64] bf16[256@dp,32@tp] sizes=100,156 -> bf16[2,64,32]",
          7168, "lhs moves 0 bytes, rhs 0, the result 28672"},
         "");
}

// Tensor parallelism over n is free in fwd; in dgrad n is contracted, and the parts stay unfinished.
TEST(Grouped, TensorParallelExpertsMoveNothing) {
  expect({"on ep=2,tp=2: grouped fwd bf16[128@ep,64] bf16[4@ep,64,32@tp] sizes=32,32,0,0/0,0,1,63 -> "
          "bf16[128@ep,32@tp]",
          0, "lhs moves 0 bytes, rhs 0, the result 0"},
         "");
  expect({"on ep=2,tp=2: grouped dgrad bf16[128@ep,32@tp] bf16[4@ep,64,32@tp] sizes=32,32,0,0/0,0,1,63 -> "
          "bf16[128@ep,64]+tp",
          0, "lhs moves 0 bytes, rhs 0, the result 0"},
         "");
}

// A tuple of axes on the weights: they are gathered, not the activations.
TEST(Einsum, WeightsSplitByATupleAreGathered) {
  expect({"on fsdp=2,expert=2: einsum bsk,kn->bsn bf16[64@fsdp.expert,128,64] bf16[64,64@fsdp.expert] -> "
          "bf16[64@fsdp.expert,128,64]",
          6144, "lhs moves 0 bytes, rhs 24576, the result 0"},
         "");
}

// Operands that are quantized move as codes: half of the bytes of bf16, and 4 for each magnitude.
TEST(Quantized, CodesMoveInPlaceOfValues) {
  expect({"on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64,32@fsdp]~mxfp8 sizes=SIZES -> "
          "bf16[256@ep.fsdp,32]",
          2048, "largest magnitudes move 0 bytes"},
         two);
  // One scale for each expert: two magnitudes are reduced between the two devices that share an expert.
  expect({"on ep=2,fsdp=2: grouped fwd bf16[256@ep.fsdp,64] bf16[4@ep,64,32@fsdp]~fp8 sizes=SIZES -> "
          "bf16[256@ep.fsdp,32]",
          2048 + 8, "largest magnitudes move 32 bytes"},
         two);
}

TEST(Quantize, MagnitudesAreReducedWhereATileIsShared) {
  // An all-reduce of 4 bytes; codes stay.
  expect({"on x=2,y=2: quantize fp8 bf16[8@x,8@y] -> f8e4m3[8@x,8@y] f32[]", 6, "magnitudes move 24 bytes"},
         "");
  // Blocks of rows that lie on one device.
  expect({"on x=4: quantize mxfp8 bf16[8@x,64] -> f8e4m3[8@x,64] e8m0[8@x,2]", 0, "magnitudes move 0 bytes"},
         "");
  // Scales gathered: 12 of 16.
  expect({"on x=4: quantize mxfp8 bf16[8@x,64] -> f8e4m3[8@x,64] e8m0[8,2]", 12, "the scales 48"}, "");
  // 48 columns on each of two: 8 blocks in the middle are shared by both, on each of two copies.
  expect({"on x=2,y=2: quantize mxfp8 bf16[8,96@x] -> f8e4m3[8,96@x] e8m0[8,3]", 32 + 8, "the scales 32"},
         "");
}

// Of old places 0 to 7 the new history has 2 to 7 at 1 to 6. Split, two on a device, each of the first three
// lacks the next one's first; three receipts bring the largest to one device, three take it to the others.
TEST(Quantize, AHistoryMovesOnByOnePlace) {
  const struct {
    const char* history;
    std::int64_t each;
    const char* what;
  } rows[] = {
      {"f32[8] f32[] -> f8e4m3[8,16] f32[] f32[8@x]",   0,  "the history 0" },
      {"f32[8@x] f32[] -> f8e4m3[8,16] f32[] f32[8@x]", 9,  "the history 36"},
      {"f32[8@x] f32[] -> f8e4m3[8,16] f32[] f32[8]",   24, "the history 96"},
      {"f32[2@x] f32[] -> f8e4m3[8,16] f32[] f32[2@x]", 3,  "the history 12"},
      {"f32[1@x] f32[] -> f8e4m3[8,16] f32[] f32[1@x]", 0,  "the history 0" },
  };
  for (const auto& row : rows) {
    const std::string line = "on x=4: quantize fp8 bf16[8,16] " + std::string(row.history) + " f32[]";
    expect({line.c_str(), row.each, row.what}, "");
  }
}

}  // namespace
}  // namespace plumb
