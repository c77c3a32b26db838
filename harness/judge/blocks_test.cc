#include "harness/judge/blocks.h"

#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"

namespace plumb {
namespace {

TEST(Blocks, EveryRowOfATailIsFreeTheFirstOfABlockToo) {
  Trial trial("on x=2: grouped fwd f32[8@x,4] f32[2,4,2] sizes=2,2 -> f32[8@x,2]");
  trial.declared.tail_undefined = true;
  for (int i = 0; i < 8; ++i) trial.element<float>(1, i) = 5;
  EXPECT_EQ(trial.verdict().status, Status::pass) << "device 1 has rows 4 to 7, none of a group";
  for (int i = 0; i < 8; ++i) {
    Trial other("on x=2: grouped fwd f32[8@x,4] f32[2,4,2] sizes=2,2 -> f32[8@x,2]");
    other.declared.tail_undefined = true;
    other.element<float>(0, i) += 5;
    EXPECT_EQ(other.verdict().status, Status::wrong) << "element " << i << " of row " << i / 2;
  }
}

}  // namespace
}  // namespace plumb
