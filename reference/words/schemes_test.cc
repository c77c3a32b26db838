// What quantize and schemes refuse, and which values share a scale.
#include <gtest/gtest.h>

#include "reference/words/testing/refused.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

TEST(Schemes, ABadLineGivesOneMessageWithACaretAtTheCharacter) {
  const struct {
    const char *line, *message;
    std::size_t caret;
  } rows[] = {
      {"on x=2: quantize fp7 bf16[8] -> f8e4m3[8] f32[]",                                       "expected a scheme (fp8, fp8e5, mxfp8, mxfp8e5)",
       17                                                                                                                                           },
      {"on x=2: quantize fp8 f64[8] -> f8e4m3[8] f32[]",                                        "bf16, f16 and f32 are quantized",                21},
      {"on x=2: quantize fp8 bf16[8]+x -> f8e4m3[8] f32[]",                                     "quantize takes and gives finished values",       28},
      {"on x=2: quantize fp8 bf16[8] -> f8e5m2[8] f32[]",                                       "codes of this scheme are f8e4m3",                32},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[9] f32[]",                                       "codes have the shape of the values",             32},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[8] e8m0[]",                                      "scales of this scheme are f32",                  42},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[8] f32[8]",                                      "expected the scales of all values, [], or of",
       42                                                                                                                                           },
      {"on x=2: quantize fp8 bf16[8] sizes=4,4 -> f8e4m3[8] f32[]",                             "expected one scale for each group",              52},
      {"on x=2: quantize fp8 bf16[8] sizes=4,5 -> f8e4m3[8] f32[2]",                            "the groups have more rows than the 8",
       35                                                                                                                                           },
      {"on x=2: quantize fp8 bf16[] sizes=4 -> f8e4m3[] f32[1]",                                "a scalar has no rows",                           34},
      {"on x=2: quantize mxfp8 bf16[64,96] -> f8e4m3[64,96] e8m0[64,4]",
       "expected the shape of the values with one dimension in blocks of 32",                                                                     52},
      {"on x=2: quantize mxfp8 bf16[8] f32[4] f32[] -> f8e4m3[8] e8m0[] f32[4] f32[]",
       "blocks have no delayed scaling",                                                                                                          31},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] -> f8e4m3[8] f32[] f32[3] f32[]",
       "the history keeps its length",                                                                                                            61},
      {"on x=2: quantize fp8 bf16[8] f32[0] f32[] -> f8e4m3[8] f32[] f32[0] f32[]",
       "a history is one dimension of at least one magnitude",                                                                                    29},
      {"on x=2: quantize fp8 bf16[8] f32[2,2] f32[] -> f8e4m3[8] f32[] f32[2,2] f32[]",
       "a history is one dimension of at least one magnitude",                                                                                    29},
      {"on x=2: quantize fp8 bf16[8] f32[] f32[] -> f8e4m3[8] f32[] f32[] f32[]",
       "a history is one dimension of at least one magnitude",                                                                                    29},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] -> f8e4m3[8] f32[] f32[4] f32[] fill=normal",
       "delayed scaling has scaled data",                                                                                                         79},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] sizes=4,4 -> f8e4m3[8] f32[] f32[4] f32[]",
       "delayed scaling has one scale: groups are not for it",                                                                                    29},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[2] -> f8e4m3[8] f32[] f32[4] f32[]",
       "delayed scaling has one scale, []",                                                                                                       36},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] -> f8e4m3[8] f32[1] f32[4] f32[]",
       "delayed scaling has one scale, []",                                                                                                       55},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] -> f8e4m3[8] f32[] f32[4] f32[1]",
       "delayed scaling has one scale, []",                                                                                                       68},
      {"on x=2: quantize fp8 bf16[8] bf16[4] f32[] -> f8e4m3[8] f32[] f32[4] f32[]",
       "history and scale of this scheme are f32",                                                                                                29},
      {"on x=2: quantize fp8 bf16[8] f32[4] f32[] -> f8e4m3[8] f32[] f32[4] bf16[]",
       "history and scale of this scheme are f32",                                                                                                68},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[8]",                                             "expected a dtype",                               41},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[8] f32[] -> f32[]",                              "expected '->', nested, acc=",                    48},
      {"on x=2: quantize fp8 bf16[8] -> f8e4m3[8] f32[] fill=cancel",
       "data that are quantized are scaled or normal",                                                                                            53},
      {"on x=2: reshard bf16[8]~fp8 -> bf16[8]",                                                "a scheme is for an operand of a product",        23},
      {"on x=2: einsum k,k-> bf16[8]~fp8 bf16[8] -> f32[]~fp8",                                 "a scheme is for an operand of a product",
       49                                                                                                                                           },
      {"on x=2: einsum k,k-> bf16[8]+x~fp8 bf16[8] -> f32[]",                                   "an unfinished sum is not quantized",             30},
      {"on x=2: einsum k,k->k bf16[8]~mxfp8 bf16[8] -> f32[8]",                                 "blocks run along a contracted dimension",
       29                                                                                                                                           },
      {"on x=2: einsum k,k-> bf16[8]~fp8 bf16[8] -> f32[] fill=normal",
       "a product of quantized operands has scaled data",                                                                                         55},
      {"on x=2: reshard f32[8] -> f32[8] fill=scaled",                                          "scaled is for data that are quantized",          38},
  };
  for (const auto& row : rows) expect_refused(row.line, row.message, row.caret);
}

using Along = std::vector<std::int64_t>;

// Runs of equal tiles as (tile, length).
std::vector<std::pair<std::int64_t, int>> runs(const Along& along) {
  std::vector<std::pair<std::int64_t, int>> all;
  for (std::int64_t tile : along)
    if (all.empty() || all.back().first != tile)
      all.push_back({tile, 1});
    else
      ++all.back().second;
  return all;
}

TEST(Tiles, TheExamplesOfTheHeader) {
  const Quantize fp8{Scheme::fp8, {}}, mx{Scheme::mxfp8, {}};
  EXPECT_EQ(tiles(fp8, {64, 96}, {})->count, (Along{1, 1}));
  EXPECT_EQ(tiles(fp8, {4, 64, 32}, {4})->count, (Along{4, 1, 1}));
  EXPECT_EQ(tiles(mx, {64, 96}, {64, 3})->count, (Along{64, 3}));
  EXPECT_EQ(tiles(mx, {64, 96}, {2, 96})->count, (Along{2, 96}));
  EXPECT_FALSE(tiles(mx, {64, 96}, {2, 3}));
  const Tiles groups = *tiles({Scheme::fp8, {{40, 24}}}, {66, 96}, {2});
  EXPECT_EQ(runs(groups.along[0]), (std::vector<std::pair<std::int64_t, int>>{
                                       {0,  40},
                                       {1,  24},
                                       {-1, 2 }
  }));
  const Tiles blocks = *tiles({Scheme::mxfp8, {{40, 0, 24}}}, {66, 96}, {3, 96});
  EXPECT_EQ(runs(blocks.along[0]), (std::vector<std::pair<std::int64_t, int>>{
                                       {0,  32},
                                       {1,  8 },
                                       {2,  24},
                                       {-1, 2 }
  }));
  const Tiles lists = *tiles(
      {
          Scheme::fp8, {{1, 2}, {2, 1}}
  },
      {6, 1}, {2});
  EXPECT_EQ(lists.along[0], (Along{0, 1, 1, 0, 0, 1}));
}

TEST(Tiles, OfOperandsRunAlongTheContractedDimension) {
  const auto counts = [](const std::string& line, int operand) {
    return tiles(parse_case(line).op, operand)->count;
  };
  const std::string einsum = "on x=1: einsum bsh,bsf->hf bf16[2,64,3]~mxfp8 bf16[2,64,5]~fp8 -> f32[3,5]";
  EXPECT_EQ(counts(einsum, 0), (Along{2, 2, 3}));
  EXPECT_EQ(counts(einsum, 1), (Along{1, 1, 1}));
  const std::string fwd = "on x=1: grouped fwd bf16[64,40]~mxfp8 bf16[2,40,5]~mxfp8 sizes=40,20 -> f32[64,5]";
  EXPECT_EQ(counts(fwd, 0), (Along{64, 2}));
  EXPECT_EQ(counts(fwd, 1), (Along{2, 2, 5}));
  const std::string dgrad =
      "on x=1: grouped dgrad bf16[64,5]~fp8 bf16[2,40,5]~mxfp8 sizes=40,20 -> f32[64,40]";
  EXPECT_EQ(counts(dgrad, 0), (Along{2, 1}));
  EXPECT_EQ(counts(dgrad, 1), (Along{2, 40, 1}));
  const std::string wgrad = "on x=1: grouped wgrad bf16[64,4]~mxfp8 bf16[64,5]~fp8 sizes=40,20 -> f32[2,4,5]";
  EXPECT_EQ(counts(wgrad, 0), (Along{3, 4}));
  EXPECT_EQ(counts(wgrad, 1), (Along{2, 1}));
}

}  // namespace
}  // namespace plumb
