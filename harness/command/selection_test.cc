#include "harness/command/selection.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace plumb {
namespace {

TEST(Selection, InWordsAndBackIsTheSame) {
  Selection s;
  EXPECT_EQ(selection_in_words(s).size(), 0u) << "what is not given is not said";
  s.lines = {"on x=2: reshard f32[N@x] -> f32[N]"}, s.suites = {"smoke", "reshard:2x3"},
  s.files = {"my.cases"};
  s.sizes = {"N=1Ki:1Mi:4"}, s.where = "op=reshard", s.shard = "2/3", s.sample = 7,
  s.seed = ~std::uint64_t{0};
  const Selection back = selection_from_words(selection_in_words(s));
  EXPECT_EQ(back.lines, s.lines);
  EXPECT_EQ(back.suites, s.suites);
  EXPECT_EQ(back.files, s.files);
  EXPECT_EQ(back.sizes, s.sizes);
  EXPECT_EQ(back.where, s.where);
  EXPECT_EQ(back.shard, s.shard);
  EXPECT_EQ(back.sample, s.sample);
  EXPECT_EQ(back.seed, s.seed);
}

}  // namespace
}  // namespace plumb
