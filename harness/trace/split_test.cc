#include "harness/trace/split.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

bool split_otherwise(const char* line, std::vector<std::string> axes) {
  return another_split(parse_case(line), {
                                             {.kind = "all-reduce", .axes = std::move(axes)}
  });
}

TEST(Split, IsTheCasesWhereEveryPieceIsMadeOfItsBlocks) {
  const char* crossed = "on x=2,y=2: einsum mk,kn->mn bf16[8,512@x] bf16[512@y,8] -> bf16[8,8]";
  EXPECT_FALSE(split_otherwise(crossed, {"x"}));
  EXPECT_FALSE(split_otherwise(crossed, {"y"}));
  EXPECT_TRUE(split_otherwise(crossed, {"x", "y"})) << "in four where each operand cuts in two";
  const char* nested_cuts = "on x=2,y=2: einsum mk,kn->mn bf16[8,512@x] bf16[512@y.x,8] -> bf16[8,8]";
  EXPECT_FALSE(split_otherwise(nested_cuts, {"x", "y"}));
  const char* letters = "on x=2,y=2: einsum bsm,bsn->mn bf16[4@x,8,8] bf16[4,8@y,8] -> bf16[8,8]";
  EXPECT_FALSE(split_otherwise(letters, {"x", "y"})) << "one axis each of two letters";
  EXPECT_TRUE(split_otherwise("on x=2,y=2: reshard f32[8]+x -> f32[8]", {"x", "y"}));
  EXPECT_FALSE(split_otherwise("on x=2,y=2: reshard f32[8]+x -> f32[8]", {"x"}));
  EXPECT_FALSE(split_otherwise("on x=2,y=1: reshard f32[8]+x -> f32[8]", {"x", "y"}));
}

}  // namespace
}  // namespace plumb
