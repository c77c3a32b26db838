// Tiles by hand: the judge and the embedded backend share tiles.cc, so that nothing but these tables would
// see a mistake in it.
#include "reference/words/tiles.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using List = std::vector<std::int64_t>;

// `of` repeated so many times, one pair after the other.
List runs(const std::vector<std::pair<std::int64_t, std::int64_t>>& all) {
  List list;
  for (const auto& [of, count] : all) list.insert(list.end(), count, of);
  return list;
}

Tiles of_op(const std::string& line) { return tiles(parse_case(line).op); }
Tiles of_operand(const std::string& line, int operand) { return *tiles(parse_case(line).op, operand); }

TEST(Tiles, OfOneScale) {
  const Tiles t = of_op("on x=2: quantize fp8 bf16[3@x,2] -> f8e4m3[3@x,2] f32[]");
  EXPECT_EQ(t.count, (List{1, 1}));
  EXPECT_EQ(t.along, (std::vector{
                         List{0, 0, 0},
                         List{0, 0 }
  }));
}

TEST(Tiles, OfOneScaleForEachIndexOfTheFirstDimension) {
  const Tiles t = of_op("on x=3: quantize fp8 bf16[3@x,2,2] -> f8e4m3[3@x,2,2] f32[3@x]");
  EXPECT_EQ(t.count, (List{3, 1, 1}));
  EXPECT_EQ(t.along, (std::vector{
                         List{0, 1, 2},
                         List{0, 0 },
                         List{0, 0}
  }));
}

// A tail has no tile: its rows are quantized to zeros and touch no scale.
TEST(Tiles, OfAScaleForEachGroup) {
  const Tiles one = of_op("on x=2: quantize fp8 bf16[8@x,1] sizes=2,0,3 -> f8e4m3[8@x,1] f32[3]");
  EXPECT_EQ(one.count, (List{3, 1}));
  EXPECT_EQ(one.along[0], (List{0, 0, 2, 2, 2, -1, -1, -1}));
  const Tiles two = of_op("on x=2: quantize fp8 bf16[8@x,1] sizes=1,1/0,3 -> f8e4m3[8@x,1] f32[2]");
  EXPECT_EQ(two.along[0], (List{0, 1, -1, -1, 1, 1, 1, -1}));
}

TEST(Tiles, OfBlocksOfARow) {
  const Tiles t = of_op("on x=2: quantize mxfp8 bf16[2@x,70] -> f8e4m3[2@x,70] e8m0[2@x,3]");
  EXPECT_EQ(t.count, (List{2, 3}));
  EXPECT_EQ(t.along, (std::vector{
                         List{0,        1     },
                         runs({ {0, 32}, {1, 32}, {2, 6}}
                         )
  }));
}

TEST(Tiles, OfBlocksOfAColumn) {
  const Tiles t = of_op("on x=2: quantize mxfp8 bf16[70@x,2] -> f8e4m3[70@x,2] e8m0[3,2]");
  EXPECT_EQ(t.along, (std::vector{
                         runs({{0, 32}, {1, 32}, {2, 6}}
                         ), List{0,       1             }
  }));
}

// 40 rows of one group, 24 of the next, a tail of 6.
TEST(Tiles, BeginAnewWithEachGroup) {
  const Tiles t = of_op("on x=2: quantize mxfp8 bf16[70@x,2] sizes=40,24 -> f8e4m3[70@x,2] e8m0[3,2]");
  EXPECT_EQ(t.count, (List{3, 2}));
  EXPECT_EQ(t.along[0], runs({
                            {0,  32},
                            {1,  8 },
                            {2,  24},
                            {-1, 6 }
  }));
}

// Numbered as the rows lie, not by group: group 0 has rows 0 to 32 and 70 to 72.
TEST(Tiles, LieInTheOrderOfTheRows) {
  const Tiles t = of_op("on x=2: quantize mxfp8 bf16[140@x,1] sizes=33,20/3,40 -> f8e4m3[140@x,1] e8m0[6,1]");
  EXPECT_EQ(t.count, (List{6, 1}));
  EXPECT_EQ(t.along[0], runs({
                            {0,  32},
                            {1,  1 },
                            {2,  20},
                            {-1, 17},
                            {3,  3 },
                            {4,  32},
                            {5,  8 },
                            {-1, 27}
  }));
}

TEST(Tiles, OfARowThatBelongsToNoGroup) {
  const Tiles t = of_op("on x=2: quantize mxfp8 bf16[6@x,40] sizes=1,2/2,0 -> f8e4m3[6@x,40] e8m0[6@x,2]");
  EXPECT_EQ(t.count, (List{6, 2}));
  EXPECT_EQ(t.along[0], (List{0, 1, 2, 3, 4, -1}));
  EXPECT_EQ(t.along[1], runs({
                            {0, 32},
                            {1, 8 }
  }));
}

TEST(Tiles, OfOperands) {
  const char* product = "on x=2: einsum mk,kn->mn bf16[2,40@x]~mxfp8 bf16[40@x,3]~mxfp8 -> f32[2,3]";
  EXPECT_EQ(of_operand(product, 0).along, (std::vector{
                                              List{0,       1     },
                                              runs({{0, 32}, {1, 8}}
                                              )
  }));
  EXPECT_EQ(of_operand(product, 1).along, (std::vector{
                                              runs({{0, 32}, {1, 8}}
                                              ), List{ 0,      1,      2}
  }));
  const char* forward = "on x=2: grouped fwd bf16[6@x,2]~fp8 bf16[2,2,3]~fp8 sizes=2,3 -> f32[6@x,3]";
  EXPECT_EQ(of_operand(forward, 0).along[0], (List{0, 0, 1, 1, 1, -1}));
  EXPECT_EQ(of_operand(forward, 1).along[0], (List{0, 1}));
  EXPECT_EQ(of_operand(forward, 1).count, (List{2, 1, 1}));
  const char* in_blocks = "on x=2: grouped fwd bf16[6@x,40]~mxfp8 bf16[2,40,3] sizes=2,3 -> f32[6@x,3]";
  EXPECT_EQ(of_operand(in_blocks, 0).along, (std::vector{
                                                List{0,  1, 2, 3, 4, -1},
                                                runs({{0, 32}, {1, 8}}
                                                )
  }));
  const char* weights =
      "on x=2: grouped wgrad bf16[80@x,2]~mxfp8 bf16[80@x,3]~fp8 sizes=33,2/4,30 -> f32[2,2,3]";
  EXPECT_EQ(of_operand(weights, 0).along[0],
            runs({
                {0,  32},
                {1,  1 },
                {2,  2 },
                {-1, 5 },
                {3,  4 },
                {4,  30},
                {-1, 6 }
  }));
  EXPECT_EQ(of_operand(weights, 1).along[0], runs({
                                                 {0,  33},
                                                 {1,  2 },
                                                 {-1, 5 },
                                                 {0,  4 },
                                                 {1,  30},
                                                 {-1, 6 }
  }));
}

TEST(Tiles, BlocksRunAlongTheLastContractedDimension) {
  const auto dim = [](const char* line, int operand) { return block_dim(parse_case(line).op, operand); };
  const char* two = "on x=2: einsum bsh,bsf->hf bf16[2,4,3] bf16[2,4,5] -> f32[3,5]";
  EXPECT_EQ(dim(two, 0), 1);
  EXPECT_EQ(dim(two, 1), 1);
  EXPECT_EQ(dim("on x=2: einsum m,n->mn bf16[2] bf16[3] -> f32[2,3]", 0), -1);
  const char* back = "on x=2: grouped dgrad bf16[6,3] bf16[2,4,3] sizes=2,3 -> f32[6,4]";
  EXPECT_EQ(dim(back, 0), 1);
  EXPECT_EQ(dim(back, 1), 2);
}

}  // namespace
}  // namespace plumb
