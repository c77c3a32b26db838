#include <gtest/gtest.h>

#include <set>

#include "adapters/cuda/cuda.h"
#include "adapters/protocol/prove_here.h"
#include "reference/check/freivalds.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// By which vectors the blocks of a case that is made ready will be proved.
std::vector<std::vector<std::uint64_t>> vectors(const Case& c) {
  cuda::Cuda cuda;
  cuda.device = &cuda::this_processor();
  std::vector<std::vector<std::uint64_t>> all;
  for (const Awaited& block : awaited_sums(awaiting(c, cuda.memory()))) {
    std::vector<std::uint64_t> drawn;
    for (const auto& one : block.prime)
      drawn.insert(drawn.end(), one.r.begin(), one.r.end());
    for (const auto& one : block.words)
      for (const auto& weight : one.r) drawn.insert(drawn.end(), weight.begin(), weight.end());
    all.push_back(drawn);
  }
  return all;
}

// A vector that could be known beforehand could be satisfied by a wrong result.
TEST(Awaited, IsDrawnAnewEachTimeThatACaseIsMadeReady) {
  for (const char* line : {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,6] -> f32[4@x,6]",
                           "on x=2: einsum mk,kn->mn s32[4,8@x] s32[8@x,6] -> s32[4@x,6]",
                           "on x=2: grouped fwd bf16[8@x,4] bf16[2,4,6] sizes=3,5 -> f32[8@x,6]"}) {
    std::set<std::vector<std::uint64_t>> seen;
    for (int time = 0; time < 3; ++time) {
      const auto blocks = vectors(parse_case(line));
      ASSERT_EQ(blocks.size(), 2u) << line;
      ASSERT_FALSE(blocks[0].empty()) << line;
      seen.insert(blocks[0]);
    }
    EXPECT_EQ(seen.size(), 3u) << line;
  }
}

}  // namespace
}  // namespace plumb
