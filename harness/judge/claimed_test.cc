// Results whose layout the backend chooses.
#include "harness/judge/claimed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/trial.h"
#include "harness/trace/cost.h"
#include "reference/words/enumerate.h"

namespace plumb {
namespace {

const char* const free_line = "on x=2,y=2: einsum mk,kn->mn f32[4@x,8@y] f32[8@y,4] -> f32[4,4]?";

// The free case with the honest answer of the same case in which the result is asked for as `spec`.
Trial answered(const std::string& spec) {
  std::string line = free_line;
  line.replace(line.rfind("f32"), std::string::npos, spec);
  Trial trial(line);
  trial.c = parse_case(free_line);
  return trial;
}

TEST(FreeResult, EveryFinishedLayoutPasses) {
  const Mesh mesh = parse_mesh("x=2,y=2");
  for (const Spec& spec : all_specs(mesh, DType::f32, {4, 4}, false))
    EXPECT_EQ(answered(print(mesh, spec)).verdict().status, Status::pass) << print(mesh, spec);
}

TEST(FreeResult, TheBlocksMustBeWhereTheClaimSays) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {"f32[4@y,4]"};
  EXPECT_EQ(trial.verdict().status, Status::misplaced);
  // Where the framework says no slices its claim is what the values are compared by.
  Trial silent = answered("f32[4@x,4]");
  for (Block& block : silent.outcome.blocks) block.claim.reset();
  EXPECT_EQ(silent.verdict().status, Status::pass);
  silent.outcome.claims = {"f32[4@y,4]"};
  EXPECT_EQ(silent.verdict().status, Status::wrong);
}

TEST(FreeResult, TheClaimMustBeALayoutOfTheResult) {
  for (const char* claim : {"bf16[4@x,4]", "f32[4@x,2]", "f32[16@x]", "f32[4@x,4]+y"}) {
    Trial trial = answered("f32[4@x,4]");
    trial.outcome.claims = {claim};
    const Verdict verdict = trial.verdict();
    EXPECT_EQ(verdict.status, Status::misplaced) << claim;
    EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("which the free result cannot be")) << claim;
  }
}

TEST(FreeResult, WithoutAClaimItsSlicesAreJudged) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {std::nullopt};
  EXPECT_EQ(trial.verdict().status, Status::pass);

  Trial wrong = trial;
  wrong.element<float>(3, 0) += 1;
  EXPECT_EQ(wrong.verdict().status, Status::wrong);
  EXPECT_THAT(wrong.verdict().facts.back().text, testing::HasSubstr("1 device holds other bits"))
      << "device 2 says the same slice";

  Trial silent = trial;
  silent.outcome.blocks[2].claim.reset();
  EXPECT_EQ(silent.verdict().status, Status::misplaced);

  Trial apart = trial;
  apart.outcome.blocks[1].claim = {
      {{0, 1}, {1, 2}},
      {{0, 2}, {3, 4}}
  };
  EXPECT_EQ(apart.verdict().status, Status::misplaced);

  // Nobody says that it holds the lower half.
  Trial partial = trial;
  for (std::int64_t device : {2, 3}) {
    partial.memory[device] = partial.memory[0];
    partial.outcome.blocks[device].claim = partial.outcome.blocks[0].claim;
  }
  const Verdict verdict = partial.verdict();
  EXPECT_EQ(verdict.status, Status::misplaced);
  EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("no device says that it holds element 8"));
}

// Slices that divide the result evenly are a layout that the mesh's axes may have no name for.
TEST(FreeResult, WithoutAClaimItsSlicesAreThoseOfSomeLayout) {
  const auto said = [](const std::vector<Range>& rows) {
    Trial trial = answered("f32[4,4]");
    trial.outcome.claims = {std::nullopt};
    for (std::size_t d = 0; d < rows.size(); ++d) {
      trial.outcome.blocks[d].claim = {{rows[d]}, {{0, 4}}};
      std::vector<std::byte>& bytes = trial.memory[d];
      bytes.assign(bytes.begin() + rows[d].begin * 16, bytes.begin() + rows[d].end * 16);
      trial.outcome.blocks[d].bytes = bytes.size();
    }
    return trial.verdict();
  };
  using Rows = std::vector<Range>;
  EXPECT_EQ(said({
                     {0, 4},
                     {0, 4},
                     {0, 4},
                     {0, 4}
  })
                .status,
            Status::pass);
  EXPECT_EQ(said({
                     {3, 4},
                     {1, 2},
                     {2, 3},
                     {0, 1}
  })
                .status,
            Status::pass)
      << "in any order";
  EXPECT_EQ(said({
                     {0, 2},
                     {2, 4},
                     {2, 4},
                     {0, 2}
  })
                .status,
            Status::pass)
      << "over no axis";
  const Rows none[] = {
      {{0, 4}, {0, 0}, {0, 0}, {0, 0}},
      {{0, 2}, {2, 4}, {0, 0}, {0, 0}},
      {{0, 4}, {0, 4}, {0, 0}, {0, 0}},
      {{0, 4}, {0, 4}, {0, 4}, {0, 0}},
      {{0, 3}, {3, 4}, {3, 4}, {0, 3}},
      {{0, 4}, {0, 2}, {2, 4}, {0, 4}},
      {{0, 2}, {2, 4}, {0, 2}, {0, 2}},
      {{0, 4}, {0, 2}, {2, 4}, {2, 4}},
      {{0, 2}, {2, 3}, {3, 4}, {0, 0}},
      {{0, 0}, {2, 3}, {3, 4}, {0, 2}},
  };
  for (const Rows& rows : none) {
    const Verdict verdict = said(rows);
    EXPECT_EQ(verdict.status, Status::misplaced) << rows[0].end << rows[1].end;
    EXPECT_THAT(verdict.facts[0].text, testing::HasSubstr("do not divide it evenly over the devices"));
  }
}

// Law: every layout of a mesh divides evenly, by either rule.
TEST(FreeResult, SlicesOfEveryLayoutAreThoseOfOne) {
  const Mesh mesh = parse_mesh("x=2,y=3");
  for (const char* rule : {"", " nested"})
    for (const Spec& spec : all_specs(mesh, DType::f32, {5, 3}, false)) {
      Trial trial("on x=2,y=3: reshard f32[5,3] -> " + print(mesh, spec) + rule);
      trial.c.op.chain.back() = parse_spec("f32[5,3]?", mesh);
      trial.outcome.claims = {std::nullopt};
      EXPECT_EQ(trial.verdict().status, Status::pass) << print(mesh, spec) << rule;
      const Case found = as_claimed(trial.c, trial.outcome);
      ASSERT_FALSE(result(found).free) << print(mesh, spec) << rule;
      for (std::int64_t device = 0; device < 6; ++device)
        EXPECT_EQ(elements(block(mesh, result(found), found.rule, device)),
                  elements(block(mesh, spec, found.rule, device)));
    }
}

TEST(FreeResult, APlanThatClaimsNothingIsMistrusted) {
  Trial trial = answered("f32[4@x,4]");
  trial.outcome.claims = {std::nullopt};
  trial.outcome.blocks.clear();
  trial.declared.data_none = true;
  EXPECT_EQ(trial.verdict().status, Status::mistrusted);
}

// A layout over an axis of which the program knows nothing is none, nor is it priced.
TEST(FreeResult, LiesOverTheSubmesh) {
  for (const char* line :
       {"on x=2 of x=2,more=1: reshard f32[8@x] -> f32[8]?",
        "on x=2 of x=2,more=1: grouped dgrad bf16[3,6@x] bf16[1,6,6] sizes=0 -> f32[3,6]?"}) {
    Trial trial(line);
    for (Block& block : trial.outcome.blocks) block.claim.reset();
    const std::string own = trial.whole.shape.size() == 1 ? "f32[8]" : "f32[3,6]";
    trial.outcome.claims = {own};
    EXPECT_FALSE(result(as_claimed(trial.c, trial.outcome)).free) << line;
    trial.outcome.claims = {own.substr(0, own.find_first_of(",]")) + "@more" +
                            own.substr(own.find_first_of(",]"))};
    EXPECT_TRUE(result(as_claimed(trial.c, trial.outcome)).free) << line;
    EXPECT_EQ(trial.verdict().status, Status::misplaced) << line;
    EXPECT_GE(cost(as_claimed(trial.c, trial.outcome), trial.outcome).best_known, 0) << line;
  }
}

}  // namespace
}  // namespace plumb
