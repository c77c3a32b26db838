#include "harness/compare/told.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

Record crash(const std::string& backend, const std::string& line, const std::string& words) {
  Record r;
  r.backend = backend, r.line = line, r.last_words = words;
  r.verdict.facts = {fact(Status::crashed, "killed by signal 6 (Aborted)")};
  decide(r.verdict);
  return r;
}

TEST(Told, IsTheFirstOfACauseWholeAndTheOthersByTheirLayouts) {
  Told told;
  EXPECT_TRUE(is_first(
      told, crash("jax@0.9.1", "on x=2: reshard f32[8@x] -> f32[8]", "spmd.cc:17] Check failed: a")));
  EXPECT_EQ(told_text(told, false), "") << "it was told";
  EXPECT_TRUE(is_first(told, crash("jax@0.9.1", "on x=2: reshard f32[8@x] -> f32[8]", "Check failed: b")));
  EXPECT_FALSE(is_first(
      told, crash("jax@0.10.2", "on y=4: reshard f32[8@y] -> f32[8]", "spmd.cc:4] Check failed: a")));
  EXPECT_FALSE(
      is_first(told, crash("jax@0.9.1", "on y=4: reshard f32[8]+y -> f32[8]", "spmd.cc:4] Check failed: a")));
  EXPECT_EQ(told_text(told, false),
            "   3 crashed  jax@0.10.2 (1), jax@0.9.1 (2)  killed by signal N (Aborted): Check "
            "failed: a\n"
            "         2  reshard [A] -> []   on x=2: reshard f32[8@x] -> f32[8]\n"
            "         1  reshard []+A -> []  on y=4: reshard f32[8]+y -> f32[8]\n");
}

// A thousand findings are a screen.
TEST(Told, IsShortHoweverManyPatternsThereAre) {
  Told told;
  std::string layouts = "8";
  for (int i = 0; i < 12; ++i, layouts += ",8")
    is_first(told,
             crash("jax", "on x=2: reshard f32[" + layouts + "] -> f32[" + layouts + "]", "Check failed: a"));
  const std::string text = told_text(told, false);
  EXPECT_EQ(std::ranges::count(text, '\n'), 7) << text;
  EXPECT_NE(text.find("and 7 more patterns of layouts\n"), text.npos) << text;
  const std::string whole = told_text(told, true);
  EXPECT_EQ(std::ranges::count(whole, '\n'), 13) << whole;
}

}  // namespace
}  // namespace plumb
