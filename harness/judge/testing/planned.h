// A plan, for the tests of the judge.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"
#include "harness/trace/steps.h"

namespace plumb {

inline Collective sum_over(const std::string& axis, std::int64_t bytes) {
  Collective step;
  step.kind = "all-reduce", step.axes = {axis}, step.in = step.out = bytes;
  return step;
}

inline Collective gather_over(const std::string& axis, std::int64_t in, std::int64_t out) {
  Collective step;
  step.kind = "all-gather", step.axes = {axis}, step.in = in, step.out = out;
  return step;
}

// A product on a plan: how the operands meet, how the result lies, and the trace.
struct Planned : Trial {
  Planned(const std::string& line, ProductPlan plan, Trace trace) : Trial(line) {
    declared.data_none = true;
    outcome.blocks.clear();
    outcome.plan = std::move(plan);
    outcome.trace = std::move(trace);
  }
};

// A reshard by a trace, and what its verdict says; empty: it passes.
struct PlannedReshard {
  std::string line;
  Trace trace;
  const char* says;
};

// The same trace, its steps over groups of devices.
inline Trace by_groups(const Mesh& mesh, Trace trace) {
  for (Collective& step : trace) {
    step.groups = groups_of(mesh, step);
    step.axes.clear();
  }
  return trace;
}

inline void expect_judged(const PlannedReshard& row) {
  SCOPED_TRACE(row.line);
  const Verdict verdict = Planned(row.line, {}, row.trace).verdict();
  const Mesh mesh = parse_case(row.line).mesh;
  EXPECT_EQ(Planned(row.line, {}, by_groups(mesh, row.trace)).verdict().status, verdict.status)
      << "by groups";
  EXPECT_EQ(verdict.status, *row.says ? Status::wrong : Status::pass)
      << row.says << (verdict.facts.empty() ? "" : verdict.facts[0].text);
  if (*row.says && !verdict.facts.empty()) {
    EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr(row.says));
  }
}

inline const std::string row_times_column = "on x=2,y=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]";

}  // namespace plumb
