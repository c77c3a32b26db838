// A mask beside what brings the values is no lie; a mask in its place is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/contradiction.h"
#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

const char* const line = "on x=2: reshard f32[8@x] -> f32[8]";

Collective gather_of(const std::string& dtype) {
  Collective gather = gather_over("x", 16, 32);
  gather.dtype = dtype;
  return gather;
}

// Of a trace beside right values, and of the same as a plan.
void expect_brought(const Trace& trace, const std::string& idle) {
  const Planned plan(line, {}, trace);
  const auto doubt = contradiction(plan.c, plan.outcome, {});
  const Verdict verdict = plan.verdict();
  SCOPED_TRACE(trace[0].dtype);
  EXPECT_EQ(doubt.has_value(), !idle.empty());
  ASSERT_EQ(verdict.status, idle.empty() ? Status::pass : Status::wrong);
  if (idle.empty()) return;
  const std::string says = fmt::format("its all-gather of {} brings no value", idle);
  EXPECT_THAT(doubt->text, testing::HasSubstr(says));
  EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr(says));
}

TEST(IdleMoves, BringNobodyAValue) {
  for (const char* dtype : {"", "f32", "u8", "s8", "s32", "u32"}) expect_brought({gather_of(dtype)}, "");
  for (const char* dtype : {"pred", "s2", "u4", "f4e2m1fn", "s16"}) {
    expect_brought({gather_of(dtype)}, dtype);
    expect_brought({gather_of(dtype), gather_of(dtype)}, dtype);
    expect_brought({gather_of(dtype), gather_of("f32")}, "");
    expect_brought({gather_of("u8"), gather_of(dtype)}, "");
  }
}

}  // namespace
}  // namespace plumb
