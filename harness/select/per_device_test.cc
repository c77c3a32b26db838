#include "harness/select/per_device.h"

#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

std::string grown(const std::string& line) { return print(per_device(parse_case(line))); }

TEST(PerDevice, WhatIsSplitHasAsManyElementsOnEachDevice) {
  EXPECT_EQ(grown("on dp=4: reshard f32[8@dp] -> f32[8]"), "on dp=4: reshard f32[32@dp] -> f32[32]");
  EXPECT_EQ(grown("on dp=4: reshard f32[8]+dp -> f32[8@dp]"), "on dp=4: reshard f32[32]+dp -> f32[32@dp]");
  EXPECT_EQ(grown("on dp=4: reshard f32[8]+dp -> f32[8]"), "on dp=4: reshard f32[8]+dp -> f32[8]");
  EXPECT_EQ(grown("on dp=2,tp=3: reshard f32[6@dp,6] -> f32[6@dp.tp,6]"),
            "on dp=2,tp=3: reshard f32[36@dp,6] -> f32[36@dp.tp,6]");
  EXPECT_EQ(grown("on dp=2: einsum mk,kn->mn f32[8@dp,4] f32[4,4] -> f32[8@dp,4]"),
            "on dp=2: einsum mk,kn->mn f32[16@dp,4] f32[4,4] -> f32[16@dp,4]");
  EXPECT_EQ(grown("on dp=2: einsum bm,bn->mn f32[8@dp,4] f32[8@dp,4] -> f32[4,4]"),
            "on dp=2: einsum bm,bn->mn f32[16@dp,4] f32[16@dp,4] -> f32[4,4]");
  EXPECT_THROW(grown("on ep=2: grouped fwd f32[8@ep,4] f32[2@ep,4,4] sizes=4,4 -> f32[8@ep,4]"), BadInput);
}

}  // namespace
}  // namespace plumb
