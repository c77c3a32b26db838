// What nvcc makes of the kernels that write data (its PTX, by adapters/cuda/testing), against the recipe: a backend's
// own proofs use these kernels too, and would believe them.
#include <gtest/gtest.h>

#include <set>

#include "reference/check/device/testing/written.h"
#include "reference/words/testing/draw_line.h"

namespace plumb {
namespace {

constexpr int kCases = 3000;

TEST(CardData, IsWhatTheRecipeSays) {
  Random random{std::mt19937_64(17)};
  std::set<Fill> fills;
  for (int i = 0; i < kCases && !testing::Test::HasFatalFailure(); ++i) {
    const Case c = draw_to_run(random);
    expect_as_the_recipe_says(check_on_card(), c);
    fills.insert(c.fill);
  }
  EXPECT_EQ(fills.size(), 4u);
}

}  // namespace
}  // namespace plumb
