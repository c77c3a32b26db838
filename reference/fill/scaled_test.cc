// Laws of the data that are quantized: forgetting the scale, or taking it from a part, cannot go unseen.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/fill/fill.h"
#include "reference/fill/testing/tile.h"
#include "reference/words/text.h"
#include "reference/words/tiles.h"

namespace plumb {
namespace {

using Magnitudes = std::map<std::int64_t, double>;  // by tile

struct Seen {
  Magnitudes whole;
  std::map<std::vector<std::int64_t>, Magnitudes> pieces;  // by where a device's block begins
};

Seen seen(const Case& c, int operand, const Tiles& t) {
  const Spec& spec = c.op.operands[operand];
  const std::vector<std::int64_t> sizes = shape(spec);
  const Tensor x = fill(c, operand);
  Seen s;
  for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
    const Slice slice = block(c.mesh, spec, c.rule, device);
    std::vector<std::int64_t> begin;
    for (const Range& range : slice) begin.push_back(range.begin);
    each_run(sizes, slice, [&](std::int64_t from, std::int64_t, std::int64_t count) {
      for (std::int64_t i = from; i < from + count; ++i) {
        const std::int64_t tile = tile_of(t, sizes, i);
        const double magnitude = std::fabs(value(x, i));
        if (tile < 0) {
          EXPECT_TRUE(std::isnan(magnitude)) << "a row of no group is poison";
          continue;
        }
        double &all = s.whole[tile], &here = s.pieces[begin][tile];
        all = std::max(all, magnitude), here = std::max(here, magnitude);
      }
    });
  }
  return s;
}

int block_exponent(double amax, DType codes) {
  return static_cast<int>(std::ceil(std::log2(amax / format(codes).largest)));
}

class Data : public testing::TestWithParam<const char*> {};

TEST_P(Data, EveryPieceHasAnotherLargestMagnitude) {
  Case c = parse_case(GetParam());
  const Scheme scheme = std::get<Quantize>(c.op.kind).scheme;
  const Tiles t = tiles(c.op);
  for (c.seed = 0; c.seed < 20U; ++*c.seed) {
    const Seen s = seen(c, 0, t);
    for (const auto& [tile, amax] : s.whole) {
      std::set<double> all;
      std::int64_t have = 0, right = 0;
      for (const auto& [begin, pieces] : s.pieces) {
        const auto piece = pieces.find(tile);
        if (piece == pieces.end()) continue;
        ++have, all.insert(piece->second);
        right += in_blocks(scheme) ? block_exponent(piece->second, codes_of(scheme)) ==
                                         block_exponent(amax, codes_of(scheme))
                                   : piece->second == amax;
      }
      EXPECT_EQ(right, 1) << "tile " << tile << ": one piece alone gives its scale, " << print(c);
      if (!in_blocks(scheme)) {
        EXPECT_EQ(std::ssize(all), have) << "all differ";
      }
    }
  }
}

// A value that is a code times a power of two has at most the digits of a code.
TEST_P(Data, EveryValueChangesWhateverPowerOfTwoIsItsScale) {
  const Case c = parse_case(GetParam());
  const Scheme scheme = std::get<Quantize>(c.op.kind).scheme;
  const Tensor x = fill(c, 0);
  const Tiles t = tiles(c.op);
  std::int64_t changed = 0, all = 0;
  for (std::int64_t i = 0; i < elements(x.shape); ++i) {
    if (tile_of(t, x.shape, i) < 0) continue;
    int exponent = 0;
    const double digits = std::ldexp(std::frexp(value(x, i), &exponent), format(codes_of(scheme)).digits);
    ++all, changed += digits != std::nearbyint(digits);
  }
  const std::int64_t peaks = in_blocks(scheme) ? 0 : size(t) * devices(c.mesh);
  EXPECT_GE(changed, all - peaks);
}

INSTANTIATE_TEST_SUITE_P(
    Scaled, Data,
    testing::Values("on x=2,y=3: quantize fp8 bf16[32@x,33@y] -> f8e4m3[32,33] f32[]",
                    "on x=4: quantize fp8e5 f16[5@x,64] -> f8e5m2[5,64] f32[]",
                    "on x=4: quantize fp8 f32[4@x,8,9] -> f8e4m3[4,8,9] f32[4]",
                    "on x=3: quantize fp8 bf16[64@x,8] sizes=20,0,33,1 -> f8e4m3[64,8] f32[4]",
                    "on x=2: quantize mxfp8 bf16[8,96@x] -> f8e4m3[8,96] e8m0[8,3]",
                    "on x=3: quantize mxfp8e5 f16[80@x,8] -> f8e5m2[80,8] e8m0[3,8]",
                    "on x=4: quantize mxfp8 f32[130@x,4] sizes=48,0,80 -> f8e4m3[130,4] "
                    "e8m0[5,4]"));

// What the codes of a value mean under a scale of its codes.
double quantized(double value, double scale, DType codes) {
  const double largest = format(codes).largest;
  return decode(codes, encode(codes, std::clamp(value / scale, -largest, largest))) * scale;
}

class Products : public testing::TestWithParam<const char*> {};

// Quantized, every value is an integer in the unit of its tile; as it is given it is not, but for the large.
// With the scale of a piece that lacks the large value it becomes another one.
TEST_P(Products, AreIntegersOnceTheyAreQuantized) {
  Case c = parse_case(GetParam());
  for (int operand : {0, 1}) {
    const Spec& spec = c.op.operands[operand];
    if (spec.scheme == Scheme::none) continue;
    const DType codes = codes_of(spec.scheme);
    const Tiles t = *tiles(c.op, operand);
    const Seen s = seen(c, operand, t);
    const Tensor x = fill(c, operand);
    std::set<double> scales;
    std::map<std::int64_t, std::int64_t> changed, finer;
    for (std::int64_t i = 0; i < elements(x.shape); ++i) {
      const std::int64_t tile = tile_of(t, x.shape, i);
      if (tile < 0) continue;
      const double amax = s.whole.at(tile);
      const double scale =
          in_blocks(spec.scheme) ? std::ldexp(1, block_exponent(amax, codes)) : amax / format(codes).largest;
      scales.insert(scale);
      const double got = quantized(value(x, i), scale, codes);
      const double unit = scale * (codes == DType::f8e4m3 ? 0x1p-9 : 0x1p-7);
      EXPECT_EQ(got / unit, std::nearbyint(got / unit)) << i;
      EXPECT_EQ(std::exp2(std::nearbyint(std::log2(scale))), scale) << "a power of two";
      changed[tile] += got != value(x, i);
      if (std::fabs(value(x, i)) < amax / 2) finer[tile] += quantized(value(x, i), scale / 2, codes) != got;
    }
    for (const auto& [tile, n] : changed) {
      EXPECT_GT(n, 0) << "tile " << tile << " does not change";
      EXPECT_GT(finer[tile], 0) << "tile " << tile << " does not show a finer scale";
    }
    if (in_blocks(spec.scheme)) {
      EXPECT_GT(scales.size(), 1u) << "one scale for all tiles";
    }
  }
  EXPECT_NE(certificate(c).scope, Certificate::Scope::none) << certificate(c).text;
  EXPECT_NE(certificate(c).text.find("fine"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Coded, Products,
    testing::Values(
        "on x=2: einsum mk,kn->mn bf16[4,96@x]~mxfp8 bf16[96@x,4]~mxfp8 -> f32[4,4]",
        "on x=2,y=2: einsum mk,kn->mn f16[8@x,64@y]~fp8 bf16[64,4@x]~fp8 -> f32[8,4@x]",
        "on x=2: einsum bsh,bsf->hf f32[2@x,40,3]~mxfp8 bf16[2,40@x,5] -> f32[3,5]",
        "on e=2: grouped fwd bf16[8@e,64]~mxfp8 bf16[2@e,64,4]~fp8 sizes=3,4 -> f32[8@e,4]",
        "on e=2: grouped dgrad bf16[8@e,64]~fp8 bf16[2@e,8,64]~mxfp8 sizes=3,5 -> f32[8@e,8]",
        "on e=2: grouped wgrad bf16[130@e,4]~mxfp8 bf16[130@e,6]~fp8 sizes=48,80 -> f32[2@e,4,6]"));

TEST(Certificates, SayWhereSumsDoNotFit) {
  const auto scope = [](const std::string& line) { return certificate(parse_case(line)).scope; };
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4,64@x]~mxfp8 bf16[64@x,4] -> bf16[4,4]"),
            Certificate::Scope::none);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4@x,64]~mxfp8 bf16[64,4] -> bf16[4@x,4]"),
            Certificate::Scope::this_split);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4,64@x]~mxfp8 bf16[64@x,4] -> bf16[4,4] wire=f32"),
            Certificate::Scope::any_split);
  EXPECT_EQ(scope("on x=2: einsum mk,kn->mn bf16[4,2048@x]~mxfp8 bf16[2048@x,4]~mxfp8 -> f32[4,4]"),
            Certificate::Scope::any_split);
  const Certificate coarse = certificate(
      parse_case("on x=2: einsum mk,kn->mn bf16[4,2048@x]~mxfp8 bf16[2048@x,4]~mxfp8 -> f32[4,4]"));
  EXPECT_NE(coarse.text.find("coarse"), std::string::npos) << coarse.text;
}

}  // namespace
}  // namespace plumb
