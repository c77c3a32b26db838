// Gathers by reductions, each member's block among zeros.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trace/untrue.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string lie_in(const std::string& line, const Trace& trace) {
  return untrue(parse_case(line), trace, true);
}

Collective reduced_by(const std::string& op) {
  return {.kind = "all-reduce", .axes = {"x"}, .in = 32, .out = 32, .op = op};
}

// Each member's bits among zeros: a gather, where there are as many as two members have.
TEST(UntrueGathers, BitsThatAreJoinedMayBeAGather) {
  const auto bits = [](std::int64_t bytes, const char* dtype) {
    Collective one = reduced_by("or");
    one.in = one.out = bytes, one.dtype = dtype;
    return one;
  };
  const std::string moved = "on x=4: reshard f32[8@x] -> f32[8]", sum = "on x=4: reshard f32[8]+x -> f32[8]",
                    most = "on x=4: reshard f32[8]+max(x) -> f32[8]",
                    amax = "on x=4: quantize fp8 bf16[64@x] -> f8e4m3[64@x] f32[]",
                    product = "on x=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]";
  for (const char* dtype : {"", "s32", "u8", "s8"}) {
    EXPECT_EQ(lie_in(moved, {bits(32, dtype)}), "") << dtype;
    for (const std::string& line : {sum, most}) {
      EXPECT_EQ(lie_in(line, {bits(128, dtype)}), "") << line << dtype;
      EXPECT_EQ(lie_in(line, {bits(32, dtype), bits(32, dtype)}), "") << line << dtype;
      EXPECT_THAT(lie_in(line, {bits(32, dtype)}), HasSubstr("it takes the or, where ")) << line << dtype;
    }
    EXPECT_EQ(lie_in(amax, {bits(8, dtype)}), "") << dtype;
    EXPECT_THAT(lie_in(amax, {bits(2, dtype)}), HasSubstr("it takes the or, where ")) << dtype;
    EXPECT_EQ(lie_in(product, {bits(512, dtype)}), "") << dtype;
    EXPECT_THAT(lie_in(product, {bits(256, dtype)}), HasSubstr("it takes the or, where sums are due"))
        << dtype;
  }
  EXPECT_EQ(lie_in("on x=2: reshard s32[8@x] -> s32[8]", {bits(32, "s8")}), "") << "their bytes";
  for (const char* left : {"f32[8]+max(x)", "f32[8]+min(x)", "f32[8]+x", "f32[8@y]+x"})
    EXPECT_EQ(lie_in(fmt::format("on x=2,y=2: reshard f32[8@x] -> {}", left), {bits(32, "u8")}), "") << left;
  for (const char* added : {"f32[8]+x.y -> f32[8]+y", "f32[8@x] -> f32[8]+x -> f32[8]"})
    EXPECT_THAT(lie_in(fmt::format("on x=2,y=2: reshard {}", added), {bits(32, "u8")}),
                HasSubstr("it takes the or"))
        << added;
  EXPECT_THAT(lie_in(sum, {reduced_by("prod")}), HasSubstr("where sums are due"));
}

// A product's operands may be joined by sums among zeros: of fewer values than the product has.
TEST(UntrueGathers, SumsMayBringTheFactors) {
  const auto adds = [](std::int64_t bytes) {
    Collective one = reduced_by("add");
    one.in = one.out = bytes;
    return one;
  };
  const std::string outer = "on x=2: einsum mk,kn->mn f32[8,2@x] f32[2@x,8] -> f32[8,8]";
  EXPECT_EQ(lie_in(outer, {adds(64), adds(64)}), "");
  EXPECT_THAT(lie_in(outer, {adds(64)}), HasSubstr("its sums make 16 of the 32"));
  const std::string rows = "on x=2: grouped wgrad f32[8@x,4] f32[8@x,4] sizes=3,5 -> f32[2,4,4]";
  EXPECT_EQ(lie_in(rows, {adds(128)}), "");
  EXPECT_THAT(lie_in(rows, {adds(64)}), HasSubstr("its sums make 16 of the 32"));
}

// What each device has already nobody has to bring: one operand among zeros is enough, by sums or by bits.
TEST(UntrueGathers, SumsMayBringTheOneOperandThatIsSplit) {
  const auto makes = [](const std::string& line, const char* op, std::int64_t bytes) {
    Collective one = reduced_by(op);
    one.in = one.out = bytes;
    return lie_in("on x=2,y=2: " + line, {one}).empty();
  };
  for (const auto& [line, split] : std::vector<std::pair<std::string, std::int64_t>>{
           {"einsum mk,kn->mn f32[8,4] f32[4@x,8] -> f32[8,8]",              128},
           {"einsum mk,k->m f32[4,2] f32[2@x] -> f32[4]",                    8  },
           {"grouped wgrad f32[8,4] f32[8@x,2] sizes=3,5 -> f32[2,4,2]",     64 },
           {"grouped wgrad f32[8,8@y] f32[8@x,2] sizes=3,5 -> f32[2,8@y,2]", 64 },
  })
    for (const char* op : {"add", "bor"}) {
      EXPECT_TRUE(makes(line, op, split)) << line << op;
      EXPECT_FALSE(makes(line, op, split - 4)) << line << op;
    }
}

}  // namespace
}  // namespace plumb
