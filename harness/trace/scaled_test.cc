// Codes are multiplied once their scale is known.
#include "harness/trace/scaled.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/trace/slices.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::HasSubstr;

std::string scaled_wrongly(const std::string& line, const Trace& trace) {
  const Case c = parse_case(line);
  return scaled_too_early(c, held_slices(c, {}, 0), trace);
}

Collective among_all(const char* kind, std::int64_t in, std::int64_t out, const char* op = "") {
  return {.kind = kind, .axes = {"x"}, .in = in, .out = out, .op = op};
}

TEST(Scaled, ASumHasTermsWhoseScaleIsKnown) {
  const std::string two = "on x=2: einsum mk,kn->mn bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]",
                    four = "on x=4: einsum mk,kn->mn bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]";
  const Collective sum = among_all("all-reduce", 256, 256, "add"),
                   amax = among_all("all-reduce", 4, 4, "max"), one = among_all("collective-broadcast", 4, 4),
                   codes = among_all("all-gather", 4, 8), four_codes = among_all("all-gather", 4, 16);
  const std::string too_early = "the largest magnitude of all is due before";
  for (const std::string& line : {two, four}) {
    EXPECT_THAT(scaled_wrongly(line, {sum}), HasSubstr(too_early)) << line;
    EXPECT_THAT(scaled_wrongly(line, {one, sum}), HasSubstr(too_early))
        << line << " one device's, told to all";
    EXPECT_THAT(scaled_wrongly(line, {sum, amax}), testing::IsEmpty()) << line << " the last may be the sum";
    EXPECT_EQ(scaled_wrongly(line, {amax, sum}), "") << line;
    EXPECT_EQ(scaled_wrongly(line, {amax, amax, sum}), "") << line;
    EXPECT_EQ(scaled_wrongly(line, {among_all("all-reduce", 16, 16, "add"), sum}), "")
        << line << " among zeros";
    EXPECT_EQ(scaled_wrongly(line, {among_all("all-reduce", 4096, 4096, "add")}), "")
        << line << " operands among zeros";
  }
  EXPECT_EQ(scaled_wrongly(two, {codes, sum}), "");
  EXPECT_EQ(scaled_wrongly(four, {four_codes, sum}), "");
  EXPECT_EQ(scaled_wrongly(four, Trace{one, one, one, one, sum}), "") << "of each in turn";
  EXPECT_THAT(scaled_wrongly(four, Trace{one, one, one, sum}), HasSubstr(too_early));
  EXPECT_EQ(
      scaled_wrongly("on x=2: einsum mk,kn->mn bf16[8,64@x]~mxfp8 bf16[64@x,8]~mxfp8 -> f32[8,8]", {sum}),
      "");
}

// Results are gathered as sums are: their scale is known by then, or values are gathered.
TEST(Scaled, RowsAreGatheredOfTermsWhoseScaleIsKnown) {
  const std::string line = "on x=2: einsum mk,kn->mn bf16[8@x,64]~fp8 bf16[64,8]~fp8 -> f32[8,8]";
  const Collective results = among_all("all-gather", 128, 256);
  EXPECT_THAT(scaled_wrongly(line, {among_all("collective-broadcast", 4, 4), results}),
              HasSubstr("of operand 0"));
  EXPECT_EQ(scaled_wrongly(line, {among_all("all-reduce", 4, 4, "max"), results}), "");
  EXPECT_EQ(scaled_wrongly(line, {among_all("all-gather", 512, 1024)}), "") << "the values";
  EXPECT_EQ(scaled_wrongly(line, {among_all("all-reduce", 4, 4, "max"), among_all("all-gather", 256, 512)}),
            "")
      << "codes";
}

TEST(Scaled, WhatOthersHaveAsWellTheyMultiplyThemselves) {
  const Collective sum = among_all("all-reduce", 256, 256, "add");
  EXPECT_EQ(scaled_wrongly("on x=2: einsum mk,kn->mn bf16[8,64]~fp8 bf16[64,8]~fp8 -> f32[8,8]", {sum}), "");
  EXPECT_EQ(scaled_wrongly("on x=2: einsum mk,kn->mn bf16[8@x,64]~fp8 bf16[64,8]~fp8 -> f32[8@x,8]", {sum}),
            "");
  EXPECT_EQ(scaled_wrongly("on x=2: einsum mk,kn->mn bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]+x", {sum}),
            "");
  EXPECT_EQ(scaled_wrongly("on x=2: einsum mk,kn->mn bf16[8,0@x]~fp8 bf16[0@x,8]~fp8 -> f32[8,8]", {sum}),
            "");
}

// What eight have alike any of them may tell, also part of it: here all of both operands, among zeros.
TEST(Scaled, WhatSeveralHaveTheyTellTogether) {
  const std::string product = "on x=2,y=8: einsum mk,kn->mn ";
  Collective all = among_all("all-reduce", 2048, 2048, "add"), ones = among_all("all-reduce", 8, 8, "add");
  all.axes = ones.axes = {"x", "y"};
  EXPECT_EQ(scaled_wrongly(product + "bf16[8,64@x]~fp8 bf16[64@x,8]~fp8 -> f32[8,8]", {all}), "");
  EXPECT_EQ(scaled_wrongly(product + "bf16[1,2@x]~fp8 bf16[2@x,1]~fp8 -> f32[1,1]", {ones}), "");
}

}  // namespace
}  // namespace plumb
