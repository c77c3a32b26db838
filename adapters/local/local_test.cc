#include "adapters/local/local.h"

#include <gtest/gtest.h>

#include "adapters/local/testing/trial.h"
#include "reference/words/enumerate.h"
#include "reference/words/text.h"

namespace plumb::local {
namespace {

// Right blocks, and a trace that says what the counter counted.
testing::AssertionResult right(const Case& c, Style style) {
  Local local;
  local.style = style;
  const trial::Trial t = trial::run(c, local);
  if (const auto* unsupported = std::get_if<Unsupported>(&t.reply))
    return testing::AssertionFailure() << print(c) << ": " << unsupported->reason;
  if (const std::string fault = trial::fault(t); !fault.empty())
    return testing::AssertionFailure() << print(c) << ": " << fault;
  if (trial::moved(t.outcome()) != t.outcome().received)
    return testing::AssertionFailure() << print(c) << ": the trace says " << trial::moved(t.outcome())
                                       << " bytes, the counter " << *t.outcome().received;
  return testing::AssertionSuccess();
}

class EveryReshard : public testing::TestWithParam<const char*> {};

TEST_P(EveryReshard, IsRightByBothPlans) {
  const Case like = parse_case(GetParam());
  Choices all = all_reshards(like.mesh, like.op.operands[0].dtype, shape(like.op.operands[0]), true);
  all.like.rule = like.rule;
  for (std::int64_t n = 0; n < count(all); ++n)
    for (Style style : {Style::direct, Style::ring, Style::calls}) ASSERT_TRUE(right(nth(all, n), style));
}

INSTANTIATE_TEST_SUITE_P(SmallMeshes, EveryReshard,
                         testing::Values("on x=2: reshard f32[3] -> f32[3]",
                                         "on x=2,y=3: reshard f32[7] -> f32[7]",
                                         "on x=2,y=3: reshard s32[7] -> s32[7] nested",
                                         "on x=2,y=2 ids=3,1,0,2: reshard f32[4,3] -> f32[4,3]",
                                         "on x=2,y=2: reshard f32[] -> f32[]",
                                         "on x=2,y=2: reshard f32[0,2] -> f32[0,2]",
                                         "on x=2,y=1,z=3 ids=5,0,2,1,4,3: reshard f32[5] -> f32[5] nested",
                                         "on x=2,y=2: reshard bf16[5,2,3] -> bf16[5,2,3]",
                                         "on x=2,y=2,z=2: reshard f32[3,2] -> f32[3,2]"));

// Every layout of an operand or result, the others fixed: n-th of each list in turn.
class EveryProduct : public testing::TestWithParam<const char*> {};

TEST_P(EveryProduct, IsRightByBothPlans) {
  Choices all{parse_case(GetParam()), {}};
  for (const Spec& spec : all.like.op.operands)
    all.specs.push_back(all_specs(all.like.mesh, spec.dtype, shape(spec), true));
  all.specs.push_back(all_specs(all.like.mesh, result(all.like).dtype, shape(result(all.like)), true));
  // One case in thirteen, prime to the lengths of the lists, so that all layouts of each still meet.
  for (std::int64_t n = 0; n < count(all); n += 13)
    for (Style style : {Style::direct, Style::ring, Style::calls}) ASSERT_TRUE(right(nth(all, n), style));
}

INSTANTIATE_TEST_SUITE_P(
    SmallMeshes, EveryProduct,
    testing::Values("on x=2,y=2: einsum mk,kn->mn f32[3,4] f32[4,2] -> f32[3,2]",
                    "on x=2,y=2: einsum km,kn->nm f32[3,2] f32[3,4] -> f32[4,2] nested",
                    "on x=2,y=2 ids=2,0,3,1: einsum bsh,bsf->hf f32[2,3,2] f32[2,3,2] -> f32[2,2]",
                    "on x=2,y=2: einsum bmk,bkn->bmn bf16[2,2,3] bf16[2,3,2] -> f32[2,2,2]",
                    "on x=3: einsum k,k-> s32[5] s32[5] -> s32[]", "on x=3: einsum k,k-> s8[5] s8[5] -> s8[]",
                    "on x=2,y=2: einsum gt,tg->tg f32[3,2] f32[2,3] -> f32[2,3]",
                    "on x=2,y=3: grouped fwd f32[6,2] f32[3,2,2] sizes=2,0,3 -> f32[6,2]",
                    "on x=2,y=2: grouped fwd f32[6,2] f32[3,2,2] sizes=1,0,2/0,3,0 -> f32[6,2] nested",
                    "on x=2,y=2: grouped dgrad f32[6,2] f32[3,3,2] sizes=1,3,1 -> f32[6,3]",
                    "on x=2,y=2: grouped wgrad f32[6,2] f32[6,3] sizes=1,0,4 -> f32[3,2,3]",
                    "on x=2,y=2: grouped wgrad f32[6,2] f32[6,3] sizes=1,2/0,3 -> f32[2,2,3]"));

TEST(Local, IsRightOnTheseLines) {
  for (const char* line : {
           "on x=1,y=1: reshard f32[3@x]+y -> f32[3]",
           "on x=2,y=2: reshard e8m0[5@x.y] -> e8m0[5]",
           "on x=2,y=2: reshard f8e4m3[5]+x -> f8e4m3[5@x]",
           "on x=2,y=2: reshard f16[5]+x.y -> f16[5@x] -> f16[5]",
           "on x=2,y=2: reshard bf16[5]+y.x -> bf16[5@x]+y -> bf16[5] -> bf16[5]+x wire=f32",
           "on x=2,y=2: reshard f64[5]+x.y -> f64[5@x]",
           "on x=2,y=2: reshard s8[300]+x.y -> s8[300@x]",
           "on x=2,y=2: einsum mk,kn->mn bf16[8@x,4@y] bf16[4@x,8] -> bf16[8,8]+y -> bf16[8@x,8] acc=f64 "
           "wire=f32",
           "on x=2,y=2: einsum mk,kn->mn s8[8@x,4@y] s8[4@x,8] -> s32[8,8]+y -> s32[8@x,8]",
           "on x=2,y=2: einsum mk,kn->mn f16[2@x,3@y] f16[3@x,2] -> f16[2,2] acc=f16",
           "on dp=2,fsdp=4,tp=2: einsum bsh,bsf->hf f32[8@dp.fsdp,2,4] f32[8@dp.fsdp,2,6@tp] -> "
           "f32[4,6@tp]+dp.fsdp -> f32[4@fsdp,6@tp]",
           "on x=11: reshard f32[7@x,2] -> f32[7,2@x]",
           "on x=2,y=2: einsum mk,kn->mn f32[8,4@y] f32[4@y,8] -> f32[8,8@x]+y -> f32[8,8]?",
           "on x=2,y=2: reshard f32[5@x] -> f32[5]?",
           "on x=2,y=2,z=3: reshard f32[5]+avg(x.y)+z -> f32[5@z]",
           "on x=2,y=2,z=3: reshard f32[5]+z+avg(x) -> f32[5@y]+avg(x) -> f32[5]+z -> f32[5@y]",
           "on x=2,y=2: reshard f32[5@x]+avg(y) -> f32[5]+avg(y)",
           "on x=2,y=3: reshard f32[5]+max(x.y) -> f32[5@x]",
           "on x=2,y=3: reshard s8[5@x]+max(y) -> s8[5]+max(y) -> s8[5@y]+max(x)",
           "on x=2,y=3: reshard bf16[5@y]+min(x) -> bf16[5] -> bf16[5]+min(x.y) -> bf16[5]",
           "on z=2,x=2 of x=2,y=2,z=2: reshard f32[5]+x.z -> f32[5@z.x]",
           "on z=2,x=2 of x=2,y=2,z=2 ids=7,6,5,4,0,1,2,3: reshard f32[5@z.x] -> f32[5]+max(x) -> f32[5@x]",
           "on y=2 of x=2,y=2: einsum mk,kn->mn f32[4,6@y] f32[6@y,4] -> f32[4,4]+y -> f32[4,4]?",
           "on ep=2 of dp=2,ep=2: grouped wgrad f32[6@ep,2] f32[6@ep,3] sizes=1,0,4 -> f32[3@ep,2,3]",
           "on x=256,y=256: reshard f32[64@x]+y -> f32[64@y]",
       })
    for (Style style : {Style::direct, Style::ring, Style::calls})
      EXPECT_TRUE(right(parse_case(line), style));
}

TEST(Local, SaysWhatItHolds) {
  Local local;
  const trial::Trial t = trial::run(parse_case("on x=2,y=2: reshard f32[5@x] -> f32[5@y.x]"), local);
  const std::vector<std::vector<Range>> last{{{4, 5}}};  // device 1 is at y.x = 2
  EXPECT_EQ(t.outcome().claims, (std::vector<std::optional<std::string>>{"f32[5@y.x]"}));
  EXPECT_EQ(t.outcome().blocks[1].claim, std::optional(last));
}

// Where it is made; a sum in the layout that costs a reduce-scatter.
TEST(Local, LeavesAFreeResultWhereItIsCheapest) {
  const struct {
    const char *line, *claim;
    std::int64_t received;
  } rows[] = {
      {"on x=2: einsum mk,kn->mn f32[8@x,4] f32[4,8] -> f32[8,8]?",        "f32[8@x,8]",   0  },
      {"on x=2,y=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]?",  "f32[8@x.y,8]", 256},
      {"on x=2: einsum k,k-> f32[64@x] f32[64@x] -> f32[]?",               "f32[]",        8  },
      {"on x=2: grouped fwd f32[8@x,4] f32[2,4,6] sizes=3,5 -> f32[8,6]?", "f32[8@x,6]",   0  },
      {"on x=2: reshard f32[8@x] -> f32[8]?",                              "f32[8@x]",     0  },
      {"on x=4: reshard f32[8]+x -> f32[8]?",                              "f32[8@x]",     96 },
  };
  for (const auto& row : rows) {
    Local local;
    const trial::Trial t = trial::run(parse_case(row.line), local);
    EXPECT_EQ(t.outcome().claims.front(), row.claim) << row.line;
    EXPECT_EQ(t.outcome().received, row.received) << row.line;
  }
}

// What is quantized in a slice is what the slice alone would move, once for each slice; a history is
// gathered.
TEST(Local, CountsWhatAQuantizationMoves) {
  const struct {
    const char* line;
    std::int64_t received;
  } rows[] = {
      {"on tp=4: quantize fp8 bf16[8@tp,6] -> f8e4m3[8@tp,6] f32[]",                                    24    },
      {"on tp=4 of dp=3,tp=4: quantize fp8 bf16[8@tp,6] -> f8e4m3[8@tp,6] f32[]",                       3 * 24},
      {"on tp=4: quantize fp8 bf16[8,6] f32[8@tp] f32[] -> f8e4m3[8,6] f32[] f32[8@tp] f32[]",          96    },
      {"on tp=4 of tp=4,dp=2: quantize fp8 f32[8,6] f32[8@tp] f32[] -> f8e4m3[8,6] f32[] f32[8] f32[]",
       2 * 96                                                                                                 },
      {"on tp=2 of dp=2,tp=2: einsum mk,kn->mn f32[4,6@tp]~fp8 f32[6@tp,4] -> f32[4,4]+tp",             2 * 8 },
  };
  for (const auto& row : rows) {
    Local local;
    const trial::Trial t = trial::run(parse_case(row.line), local);
    EXPECT_EQ(t.outcome().received, row.received) << row.line;
    EXPECT_EQ(trial::moved(t.outcome()), row.received) << row.line;
  }
}

TEST(Local, RefusesWhatNoMemoryHolds) {
  Local local;
  const Case c = parse_case("on x=65536: reshard f32[65536@x] -> f32[65536]");
  Request request{.id = 1, .c = c, .operands = {}};
  EXPECT_TRUE(local.prepare(request));
}

TEST(Blocks, BlocksLieApartInPoison) {
  const Case c = parse_case("on x=3: reshard f32[7@x] -> f32[7]");
  Blocks ranks = allocate(holder_of_all(c.mesh, c.rule), c.op.operands[0], DType::f32, Contents::poison);
  EXPECT_TRUE(intact(ranks));
  for (std::int64_t device = 0; device < 3; ++device) {
    EXPECT_FALSE(finite(DType::f32, load(DType::f32, ranks.block(device))));
    ranks.block(device)[ranks.elements(device) * 4] = std::byte{0};
    EXPECT_FALSE(intact(ranks)) << "one byte past block " << device;
    ranks.block(device)[ranks.elements(device) * 4] = std::byte{0xff};
  }
}

TEST(Seams, EachIsOfferedItsValue) {
  Local local;
  std::vector<Moment> moments;
  bool planned = false;
  local.seams.plan = [&](Plan& plan) { planned = plan.product.has_value(); };
  local.seams.block = [&](Moment moment, Blocks&) { moments.push_back(moment); };
  local.seams.reply = [](Reply, const Request&, Arena&) { return Reneged{"no", ""}; };
  const auto t = trial::run(parse_case("on x=2: einsum mk,kn->mn f32[2,4@x] f32[4@x,2] -> f32[2,2]"), local);
  EXPECT_TRUE(planned);
  using enum Moment;
  EXPECT_EQ(moments, (std::vector{loaded, ready, loaded, ready, multiplied, result}));
  EXPECT_TRUE(std::holds_alternative<Reneged>(t.reply));
}

// The checks above can fail: a send left out, sent twice, or sent elsewhere is seen.
TEST(Local, AWrongPlanIsSeen) {
  const Case c = parse_case("on x=2,y=2: reshard f32[6]+x -> f32[6@y]");
  const std::vector<std::function<void(Plan&)>> damages{
      [](Plan& p) { p.legs[0].rounds[0].sends.pop_back(); },
      [](Plan& p) { p.legs[0].rounds[0].sends.push_back(p.legs[0].rounds[0].sends.back()); },
      [](Plan& p) { p.legs[0].rounds[1].sends.pop_back(); },
      [](Plan& p) { p.legs[0].rounds[0].sends[0].from ^= 2; },
      [](Plan& p) { p.legs[0].rounds[1].sends[0].cell ^= 1; },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    Local local;
    local.seams.plan = damages[i];
    const trial::Trial t = trial::run(c, local);
    EXPECT_TRUE(!trial::fault(t).empty() || trial::moved(t.outcome()) != t.outcome().received) << i;
  }
}

}  // namespace
}  // namespace plumb::local
