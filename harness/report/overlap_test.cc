#include "harness/report/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ContainsRegex;
using testing::ElementsAreArray;
using testing::HasSubstr;

// What is multiplied on one device, then what is sent; nothing of what cannot be taken apart.
TEST(Overlap, AProductIsTakenApart) {
  const std::vector<std::vector<std::string>> rows = {
      {"on tp=4: einsum mk,kn->mn f32[8,8] f32[8,8@tp] -> f32[8,8@tp]",
       "on x=1: einsum mk,kn->mn f32[8,8] f32[8,2] -> f32[8,2]"},
      {"on tp=4: einsum mk,kn->mn f32[8,8@tp] f32[8@tp,8] -> f32[8,8]",
       "on x=1: einsum mk,kn->mn f32[8,2] f32[2,8] -> f32[8,8]", "on tp=4: reshard f32[8,8]+tp -> f32[8,8]"},
      {"on tp=4: einsum mk,kn->mn f32[8,8@tp] f32[8@tp,8] -> f32[8@tp,8]",
       "on x=1: einsum mk,kn->mn f32[8,2] f32[2,8] -> f32[8,8]", "on tp=4: reshard f32[8,8]+tp -> f32[8@tp,8]"},
      {"on tp=4: einsum mk,kn->mn f32[8@tp,8] f32[8,8@tp] -> f32[8,8@tp]",
       "on x=1: einsum mk,kn->mn f32[8,8] f32[8,2] -> f32[8,2]", "on tp=4: reshard f32[8@tp,8] -> f32[8,8]"},
      {"on dp=2,tp=2: einsum mk,kn->mn bf16[8@dp,8] bf16[8@dp,8@tp] -> f32[8@dp,8@tp]",
       "on x=1: einsum mk,kn->mn bf16[4,8] bf16[8,4] -> f32[4,4]", "on dp=2,tp=2: reshard bf16[8@dp,8@tp] -> bf16[8,8@tp]"},
      {"on dp=2,tp=2: einsum mk,kn->mn f32[8@dp,8@tp] f32[8@tp,8@dp] -> f32[8,8@tp]",
       "on x=1: einsum mk,kn->mn f32[8,4] f32[4,8] -> f32[8,8]", "on dp=2,tp=2: reshard f32[8@dp,8@tp] -> f32[8,8@tp]",
       "on dp=2,tp=2: reshard f32[8@tp,8@dp] -> f32[8@tp,8]", "on dp=2,tp=2: reshard f32[8,8]+tp -> f32[8,8@tp]"},
      {"on x=2: einsum bmk,bkn->bmn f32[4@x,8,8] f32[4@x,8,8] -> f32[4@x,8,8]",
       "on x=1: einsum bmk,bkn->bmn f32[2,8,8] f32[2,8,8] -> f32[2,8,8]"},
      {"on x=1: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]"                                                              },
      {"on x=2: reshard f32[8@x] -> f32[8]"     },
      {"on tp=4: einsum mk,kn->mn f32[6@tp,8] f32[8,8] -> f32[6@tp,8]"                                                              },
      {"on tp=4: einsum mk,kn->mn f32[8,8]+tp f32[8,8] -> f32[8,8]"       },
  };
  for (const auto& row : rows) {
    const auto parts = apart(parse_case(row[0]));
    std::vector<std::string> lines;
    if (parts) lines.push_back(print(parts->local));
    if (parts)
      for (const Case& one : parts->sent) lines.push_back(print(one));
    EXPECT_THAT(lines, ElementsAreArray(row.begin() + 1, row.end())) << row[0];
  }
}

Timings took(const std::string& line, double nanoseconds, int repetitions = 5) {
  Timings t{line, "b", {}};
  for (int i = 0; i < repetitions; ++i) {
    t.repetitions.emplace_back();
    t.repetitions.back().samples.nanoseconds = {nanoseconds + 1000 * i};
    t.repetitions.back().places = {"0-3: host 0, cores 0-3"};
  }
  return t;
}

const std::string whole = "on tp=4: einsum mk,kn->mn f32[8,8@tp] f32[8@tp,8] -> f32[8,8]",
                  local = "on x=1: einsum mk,kn->mn f32[8,2] f32[2,8] -> f32[8,8]",
                  sent = "on tp=4: reshard f32[8,8]+tp -> f32[8,8]";

TEST(Overlap, WhatTheWholeTakesMoreIsTheCostAndWhatItTakesLessThanBothIsHidden) {
  const std::string table = overlap_table({took(whole, 50'000), took(local, 20'000), took(sent, 40'000)});
  EXPECT_THAT(table, ContainsRegex("  52 +22 +30 \\(26 to 34\\) +42 +12 \\(6 to 18\\)"));
  const std::string serial = overlap_table({took(whole, 60'000), took(local, 20'000), took(sent, 40'000)});
  EXPECT_THAT(serial, HasSubstr("UNSURE (-4 to 8)"));
}

TEST(Overlap, IsOfWhatTheSameBackendWasTimedWith) {
  Timings other = took(local, 20'000);
  other.backend = "c";
  EXPECT_EQ(overlap_table({took(whole, 50'000), other, took(sent, 40'000)}), "");
  EXPECT_EQ(overlap_table({took(whole, 50'000), took(sent, 40'000)}), "");
  EXPECT_THAT(overlap_table({took(whole, 50'000), took(local, 20'000)}), HasSubstr("not timed: " + sent));
  EXPECT_THAT(overlap_table({took(whole, 50'000, 3), took(local, 20'000), took(sent, 40'000)}),
              HasSubstr("UNSURE"));
  Timings crowded = took(whole, 50'000);
  for (Repetition& r : crowded.repetitions) r.places = {"0-3: host 0, cores 0-1"};
  EXPECT_THAT(overlap_table({crowded, took(local, 20'000), took(sent, 40'000)}),
              ContainsRegex("UNSURE \\(26 to 34\\) +42 +UNSURE \\(6 to 18\\)"));
  Timings one_process = took(whole, 50'000);
  for (Repetition& r : one_process.repetitions) r.places.clear();
  EXPECT_THAT(overlap_table({one_process, took(local, 20'000), took(sent, 40'000)}),
              ContainsRegex("UNSURE \\(26 to 34\\) +42 +UNSURE \\(6 to 18\\)"));
  const std::string nothing = "on tp=4: einsum mk,kn->mn f32[8,8] f32[8,8@tp] -> f32[8,8@tp]";
  EXPECT_THAT(overlap_table({took(nothing, 50'000),
                             took("on y=1: einsum mk,kn->mn f32[8,8] f32[8,2] -> f32[8,2] seed=3", 20'000)}),
              HasSubstr("none"));
}

}  // namespace
}  // namespace plumb
