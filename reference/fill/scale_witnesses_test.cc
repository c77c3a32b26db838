// Laws of data that tell how they were quantized: no other way to compute a scale in f32, or to use it, goes
// unseen.
#include "reference/fill/scale_witnesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reference/fill/fill.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

float largest(DType codes) { return static_cast<float>(format(codes).largest); }

std::uint64_t code(DType codes, float scaled) {
  return encode(codes, std::clamp<double>(scaled, -largest(codes), largest(codes)));
}

float narrowed(float x) { return static_cast<float>(decode(DType::bf16, encode(DType::bf16, x))); }

TEST(ScaleWitnesses, IsWhatItSays) {
  for (DType codes : {DType::f8e4m3, DType::f8e5m2}) {
    const float most = largest(codes);
    for (DType values : {DType::bf16, DType::f16, DType::f32})
      for (const ScaleWitness& t : scale_witnesses(values, codes)) {
        const float amax = static_cast<float>(t.amax), scale = most / amax, inverse = 1 / scale;
        EXPECT_NE(amax / most, inverse);
        EXPECT_NE(amax * (1 / most), inverse);
        EXPECT_EQ(decode(DType::bf16, encode(DType::bf16, t.amax)), t.amax);
        for (double v : t.quotient) {
          const float x = static_cast<float>(v);
          EXPECT_EQ(decode(values, encode(values, 64 * v)), 64 * v);
          EXPECT_NE(code(codes, x * scale), code(codes, x / inverse));
        }
        for (double v : t.narrow) {
          const float x = static_cast<float>(v);
          EXPECT_EQ(decode(values, encode(values, 64 * v)), 64 * v);
          EXPECT_NE(code(codes, x * scale), code(codes, narrowed(x * scale)));
        }
      }
    for (double a : next_scale_witnesses(codes)) {
      const float amax = static_cast<float>(a), scale = most / amax;
      EXPECT_NE(scale, 1 / (amax / most));
      EXPECT_NE(scale, most * (1 / amax));
      EXPECT_NE(scale, 1 / (amax * (1 / most)));
    }
  }
}

// The values of each tile that a device holds, by where its block begins.
using Pieces = std::map<std::vector<std::int64_t>, std::map<std::int64_t, std::vector<float>>>;

Pieces pieces(const Case& c, const Tensor& x) {
  const Tiles t = tiles(c.op);
  Pieces all;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const Slice slice = block(c.mesh, c.op.operands[0], c.rule, device);
    std::vector<std::int64_t> begin;
    for (const Range& range : slice) begin.push_back(range.begin);
    if (all.contains(begin)) continue;
    each_run(x.shape, slice, [&](std::int64_t from, std::int64_t, std::int64_t count) {
      for (std::int64_t i = from; i < from + count; ++i) {
        std::int64_t tile = 0, rest = elements(x.shape), index = i;
        for (std::size_t d = 0; d < x.shape.size() && tile >= 0; ++d) {
          rest /= x.shape[d];
          const std::int64_t along = t.along[d][index / rest];
          tile = along < 0 ? -1 : tile * t.count[d] + along, index %= rest;
        }
        if (tile >= 0) all[begin][tile].push_back(static_cast<float>(value(x, i)));
      }
    });
  }
  return all;
}

class Told : public testing::TestWithParam<const char*> {};

TEST_P(Told, ForEverySeedOnEveryDeviceThatHasRoom) {
  Case c = parse_case(GetParam());
  const DType codes = codes_of(std::get<Quantize>(c.op.kind).scheme);
  const float most = largest(codes);
  const bool delayed = c.op.operands.size() > 1;
  for (c.seed = 0; c.seed < 200U; ++*c.seed) {
    SCOPED_TRACE(print(c));
    const Pieces all = pieces(c, fill(c, 0));
    std::map<std::int64_t, float> amax;
    for (const auto& [begin, tiles] : all)
      for (const auto& [tile, values] : tiles)
        for (float x : values) amax[tile] = std::max(amax[tile], std::fabs(x));
    if (delayed) {
      float of_history = amax[0];
      const Tensor history = fill(c, 1);
      for (std::int64_t i = 1; i < history.shape[0]; ++i)
        of_history = std::max(of_history, static_cast<float>(value(history, i)));
      EXPECT_TRUE(is_next_scale_witness(of_history, codes)) << "the next scale";
    }
    const float given = delayed ? static_cast<float>(value(fill(c, 2), 0)) : 0;
    for (const auto& [tile, a] : amax) {
      if (delayed) continue;
      EXPECT_NE(a / most, 1 / (most / a));
      EXPECT_NE(a * (1 / most), 1 / (most / a));
    }
    for (const auto& [begin, tiles] : all)
      for (const auto& [tile, values] : tiles) {
        const float scale = delayed ? given : most / amax[tile], inverse = 1 / scale;
        std::int64_t divided = 0, narrow = 0;
        for (float x : values) {
          divided += code(codes, x * scale) != code(codes, x / inverse);
          narrow += code(codes, x * scale) != code(codes, narrowed(x * scale));
        }
        EXPECT_TRUE(divided > 0 || values.size() < 2);
        EXPECT_TRUE(narrow > 0 || values.size() < 3);
      }
  }
}

// The cases of suite quantize with one scale for a tile, and more layouts and groups.
INSTANTIATE_TEST_SUITE_P(
    Quantize, Told,
    testing::Values(
        "on x=4: quantize fp8 bf16[8@x,16] -> f8e4m3[8@x,16] f32[]",
        "on x=2,y=2: quantize fp8 bf16[8@x,16@y] -> f8e4m3[8@x,16@y] f32[]",
        "on x=2,y=2: quantize fp8 f32[8@y.x,16] -> f8e4m3[8,16@x.y] f32[]",
        "on x=2,y=3: quantize fp8e5 f16[8@y,16] -> f8e5m2[8@y,16@x] f32[]",
        "on x=4: quantize fp8 bf16[5@x,3] -> f8e4m3[5@x,3] f32[]",
        "on x=2,y=2: quantize fp8 bf16[8@y.x,6] -> f8e4m3[8,6@x] f32[]",
        "on x=2,y=2: quantize fp8 bf16[8,6] -> f8e4m3[8@x,6@y] f32[]",
        "on x=4: quantize fp8 f32[4@x,8,9] -> f8e4m3[4,8,9] f32[4]",
        "on x=3: quantize fp8 bf16[64@x,8] sizes=20,0,33,1 -> f8e4m3[64,8] f32[4]",
        "on x=2: quantize fp8e5 f32[3@x] -> f8e5m2[3@x] f32[]",
        "on x=4: quantize fp8 bf16[8@x,16] f32[16] f32[] -> f8e4m3[8@x,16] f32[] f32[16] f32[]",
        "on x=2,y=2: quantize fp8e5 bf16[8@x,16@y] f32[2] f32[] -> f8e5m2[8@y,16@x] f32[] f32[2] f32[]",
        "on x=2,y=2: quantize fp8 f32[8@x.y,16] f32[64] f32[] -> f8e4m3[8,16] f32[] f32[64@x] f32[]",
        "on x=4: quantize fp8e5 f16[8,16@x] f32[5@x] f32[] -> f8e5m2[8,16] f32[] f32[5] f32[]",
        "on x=2: quantize fp8 f16[8@x,6] f32[1] f32[] -> f8e4m3[8,6] f32[] f32[1] f32[]"));

}  // namespace
}  // namespace plumb
