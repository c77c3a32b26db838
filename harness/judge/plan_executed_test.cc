// A plan is executed: what computes another case is wrong, whatever it moves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/testing/planned.h"

namespace plumb {
namespace {

using testing::HasSubstr;

Collective over(const std::string& kind, std::vector<std::string> axes, std::int64_t in, std::int64_t out) {
  Collective step;
  step.kind = kind, step.axes = std::move(axes), step.in = in, step.out = out;
  return step;
}

Collective permute(std::vector<std::pair<std::int64_t, std::int64_t>> pairs, std::int64_t bytes) {
  Collective step;
  step.kind = "collective-permute", step.pairs = std::move(pairs), step.in = step.out = bytes;
  return step;
}

TEST(Executed, APlanOfAReshardMakesItsLayoutAndNoOther) {
  const auto ar = [](const std::string& axis, std::int64_t bytes) {
    return over("all-reduce", {axis}, bytes, bytes);
  };
  const auto rs = [](std::vector<std::string> axes, std::int64_t in, std::int64_t out) {
    return over("reduce-scatter", std::move(axes), in, out);
  };
  const auto ag = [](std::vector<std::string> axes, std::int64_t in, std::int64_t out) {
    return over("all-gather", std::move(axes), in, out);
  };
  const auto among = [](std::vector<std::vector<std::int64_t>> groups) {
    Collective step = over("all-reduce", {}, 32, 32);
    step.groups = std::move(groups);
    return step;
  };
  const auto rs_of =
      [](std::vector<std::int64_t> group) {  // what other groups scatter is of no use to this one
        Collective step = over("reduce-scatter", {}, 16, 8);
        step.groups = {std::move(group)};
        return step;
      };
  const PlannedReshard table[] = {
  // clang-format off
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]", {rs({"y"}, 32, 16), ar("x", 16)}, "gives the group of device 0 at most 4 of the 8 elements"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]", {rs({"x"}, 32, 16), ar("y", 16)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]", {ar("x", 32), ar("y", 32)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]", {rs({"x", "y"}, 32, 8), ag({"y"}, 8, 16)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]", {rs({"x", "y"}, 32, 8), ag({"x"}, 8, 16)}, "does not leave"},
      {"on x=2: reshard f32[8]+x -> f32[8]", {ar("x", 16), ar("x", 16)}, ""},  // a sum in pieces
      {"on x=2: reshard f32[8]+x -> f32[8]", {ar("x", 8), ar("x", 8), ar("x", 16)}, ""},
      {"on x=2: reshard f32[8]+x -> f32[8@x]", {rs({"x"}, 16, 8), rs({"x"}, 16, 8)}, ""},
      {"on x=2: reshard f32[8]+x -> f32[8]", {ar("x", 16), ar("x", 12)}, "twice"},
      {"on x=2: reshard f32[8]+x -> f32[8]", {ar("x", 16), ar("x", 20)}, "twice"},
      {"on x=2: reshard f32[8]+x -> f32[8]", {ar("x", 32), ar("x", 32)}, "twice"},
      {"on x=2: reshard bf16[8]+x -> bf16[8]", {ar("x", 16), ar("x", 16)}, "twice"},
      {"on x=2,y=2: reshard f32[8@y]+x -> f32[8]", {ag({"y"}, 16, 32), ar("x", 16), ar("x", 16)}, ""},
      {"on x=2,y=2: reshard f32[8@y]+x -> f32[8]", {ar("x", 16), ar("x", 16), ag({"y"}, 16, 32)}, "twice"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y -> f32[8]", {ar("x", 16), ar("x", 16), ar("y", 24), ar("y", 8)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]", {ar("x", 16), ar("x", 16), ar("y", 16), ar("y", 16)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]", {ar("x", 16), ar("x", 16), ar("y", 16), ar("y", 8)}, "twice"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x.y]", {rs({"x"}, 32, 16), rs({"y"}, 16, 8)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@y.x]", {rs({"x"}, 32, 16), rs({"y"}, 16, 8)}, ""},  // strided pieces
      {"on x=2,y=2: reshard f32[8]+x -> f32[8@y.x]", {rs_of({0, 2}), rs_of({1, 3})}, ""},
      {"on x=2,y=2: reshard f32[8]+x -> f32[8@y.x]", {rs_of({0, 2}), rs_of({0, 2})}, "across x"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y", {ar("x", 32)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]+y", {rs({"x"}, 32, 16)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]+y", {rs({"x", "y"}, 32, 8), ag({"x"}, 8, 16)}, ""},  // half a sum, and zeros
      {"on x=2,y=2: reshard f32[8@x]+y -> f32[8@y.x]", {rs({"y"}, 16, 8), ag({"x"}, 16, 32)}, "its reduce-scatter gives device 0 at most 2 of the 4 elements"},
      {"on x=2,y=2: reshard f32[8@x]+y -> f32[8@y.x]", {rs({"y"}, 16, 8), ag({"y"}, 8, 16), ag({"x"}, 16, 32)}, ""},
      {"on x=4: reshard f32[8]+x -> f32[8@x]", {ar("x", 8)}, "its all-reduce gives the group of device 0 at most 2 of the 8 elements"},
      {"on x=4: reshard f32[8]+x -> f32[8@x]", {ar("x", 32)}, ""},
      {"on x=4: reshard f32[8]+x -> f32[8@x]", {rs({"x"}, 32, 8)}, ""},
      {"on x=2: reshard f32[8]+x -> f32[8]", {}, "takes no sum over x"},
      {"on x=2: reshard f32[8]+x -> f32[8]", {permute({{0, 1}, {1, 0}}, 32)}, ""},  // and added up there
      {"on x=4: reshard f32[8]+x -> f32[8]", {permute({{0, 1}, {1, 0}, {2, 3}, {3, 2}}, 32)}, "no collective takes it there across x"},
      {"on x=4: reshard f32[8]+x -> f32[8]", {ag({"x"}, 32, 128)}, ""},
      {"on x=4: reshard f32[8]+x -> f32[8]", {ag({"x"}, 8, 32)}, "it moves 96 bytes, its layouts need 128"},
      {"on x=4: reshard f32[8]+x -> f32[8@x]", {over("all-to-all", {"x"}, 32, 32)}, ""},
      {"on x=4: reshard f32[8]+x -> f32[8@x]", {over("all-to-all", {"x"}, 8, 8)}, "it moves 24 bytes, its layouts need 32"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]", {ar("x", 32), ag({"y"}, 32, 64)}, ""},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]", {ar("x", 32), ag({"x"}, 32, 64)}, "takes no sum over y"},
      {"on x=2,y=2: reshard f32[8]+x.y -> f32[8]", {ar("x", 32), over("collective-broadcast", {"y"}, 32, 32)}, "across y"},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", {permute({{0, 3}, {1, 2}, {2, 1}, {3, 0}}, 8)}, "does not leave [0:2] of the result on device 0"},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", {permute({{0, 0}, {1, 2}, {2, 1}, {3, 3}}, 8)}, ""},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", {permute({{1, 2}, {2, 1}}, 8)}, ""},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]", {over("all-to-all", {"x"}, 8, 8), permute({{1, 2}, {2, 1}}, 8)}, ""},
      {"on x=4: reshard f32[8@x] -> f32[8]", {permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 8), permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 8), permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 8)}, ""},  // a ring
      {"on x=4: reshard f32[8@x] -> f32[8]", {permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 8), permute({{0, 1}, {1, 2}, {2, 3}, {3, 0}}, 64)}, "no collective takes it there"},
      {"on x=2,y=2: reshard f32[8@x] -> f32[8]", {over("collective-broadcast", {"x"}, 32, 32)}, "device 0 (x=0,y=0) needs element [4] of device 2"},
      {"on x=2: reshard f32[8@x] -> f32[8]", {over("collective-broadcast", {"x"}, 16, 16), over("collective-broadcast", {"x"}, 16, 16)}, ""},  // from each in turn
      {"on x=4: reshard f32[8@x] -> f32[8]", Trace(4, over("collective-broadcast", {"x"}, 8, 8)), ""},
      {"on x=4: reshard f32[8@x] -> f32[8]", Trace(3, over("collective-broadcast", {"x"}, 32, 32)), " of device 1 (x=1), and no collective takes it there"},
      {"on x=8: reshard f32[8@x] -> f32[8]", Trace(3, over("collective-broadcast", {"x"}, 32, 32)), " of device 1 (x=1), and no collective takes it there"},
      {"on x=8: reshard f32[8@x] -> f32[8]", Trace(4, over("collective-broadcast", {"x"}, 32, 32)), ""},  // taken for gathers
      {"on x=2,y=64: reshard f32[128@y.x] -> f32[128@x.y]", {over("all-to-all", {"x", "y"}, 4, 4)}, ""},
      {"on x=2,y=64: reshard f32[128]+x.y -> f32[128@y]", {rs({"y"}, 512, 8), ar("x", 8)}, ""},
      {"on x=2,y=64: reshard f32[128]+x.y -> f32[128@y]", {rs({"y"}, 512, 8)}, "takes no sum over x"},
      {"on x=2: reshard f32[8@x] -> f32[8]", {ar("x", 32)}, ""},  // each block among zeros
      {"on x=2: reshard f32[8@x] -> f32[8]", {ar("x", 16)}, "makes at most 4 of the 8 elements that device 0 holds"},
      {"on x=2,y=2: reshard f32[8@x] -> f32[8]", {over("all-reduce", {"x", "y"}, 32, 32)}, "it sums over y, over which nothing is unfinished"},
      {"on x=2,y=2: reshard f32[8@x]+y -> f32[8]", {over("all-reduce", {"x", "y"}, 32, 32)}, ""},
      {"on x=2,y=2: reshard f32[8@x] -> f32[8@y]", {over("reduce-scatter", {"x"}, 32, 16)}, "does not leave"},
      {"on x=2,y=2: reshard f32[8@x] -> f32[8@y]", {ar("x", 16)}, ""},
      // Blocks of 6, 6, 3 and 0 are joined among zeros, and each group adds up 5 of all 15.
      {"on x=66,y=4: reshard f32[5@y,3]+x -> f32[5,3]", {ar("y", 60), ar("x", 20), ag({"y"}, 20, 60)}, ""},
      // Nobody keeps what he had, and each half of the columns is joined; were it kept, no sum would be needed.
      {"on x=2,y=2: reshard f32[8@x,4] -> f32[8,4]", {permute({{1, 2}, {2, 1}}, 64), ar("y", 64), ag({"x"}, 64, 128)}, ""},
      {"on x=2,y=2: reshard f32[4@y] -> f32[4@x]", {ag({"x"}, 8, 16), ag({"y"}, 8, 16)}, ""},
      {"on x=2,y=2: reshard f32[4@y] -> f32[4@x]", {ag({"x"}, 8, 16), ag({"y"}, 4, 8)}, "device 1 can have learnt at most 1 of the 2 elements of its block"},
      {"on x=2,y=2,z=256: reshard f32[4@y] -> f32[4@x]", {ag({"x"}, 8, 16), ag({"y"}, 4, 8)}, "brought at most 4 bytes of what its fibre lacks, and needs 8"},
      {"on x=2,y=2: reshard f32[8@x,4] -> f32[8,4]", {ag({"x"}, 64, 128), ar("y", 128)}, "over y, over which nothing is unfinished"},
      {"on x=2: reshard f32[8@x] -> f32[8]+x", {}, ""},
      {"on x=2: reshard f32[8@x] -> f32[8]+x -> f32[8]", {ar("x", 32)}, ""},
      {"on x=2: reshard f32[8]+max(x) -> f32[8]", {ar("x", 32)}, ""},
      // Device 2 has {1}, {2} and {0,1}: a maximum takes all three, a sum no two that overlap.
      {"on x=4: reshard f32[8]+max(x) -> f32[8]", {permute({{1, 2}}, 32), among({{0, 1}}), permute({{1, 2}}, 32), among({{2, 3}}), among({{0, 2}, {1, 3}})}, ""},
      {"on x=4: reshard f32[8]+x -> f32[8]", {permute({{1, 2}}, 32), among({{0, 1}}), permute({{1, 2}}, 32), among({{2, 3}}), among({{0, 2}, {1, 3}})}, "does not leave"},
      {"on x=2,y=2: reshard f32[8]+x -> f32[8@y] -> f32[8]", {rs({"x"}, 32, 16), ag({"x"}, 16, 32)}, ""},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@x.y] -> f32[8@y.x]", {permute({{1, 2}, {2, 1}}, 8)}, ""},
      {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@x.y] -> f32[8@y.x]", {permute({{0, 3}, {1, 2}, {2, 1}, {3, 0}}, 8)}, "does not leave [0:2] of the result on device 0"},
  // clang-format on
  };
  for (const PlannedReshard& row : table) expect_judged(row);
}

// Every device of the mesh a block of its own, before and after: more than is executed, by way of a spec too.
TEST(Executed, APlanOfTooManyBlocksIsNotBelieved) {
  const Collective all = over("all-to-all", {"x", "y"}, 16, 16);
  for (const char* line : {"on x=64,y=64: reshard f32[16384@x.y] -> f32[16384@y.x]",
                           "on x=64,y=64: reshard f32[16384@x.y] -> f32[16384@x.y] -> f32[16384@y.x]"}) {
    const Verdict verdict = Planned(line, {}, {all}).verdict();
    ASSERT_EQ(verdict.status, Status::mistrusted) << line;
    EXPECT_THAT(verdict.facts[0].text, HasSubstr("too many devices and blocks to execute")) << line;
  }
}

TEST(Executed, AMeanIsOfAnAveragedAxis) {
  const auto judged = [](const std::string& line, Collective step) {
    step.op = "avg";
    return Planned(line, {}, {step}).verdict();
  };
  const std::string sum = "on x=2,y=2: reshard f32[8]+x -> f32[8]",
                    mean = "on x=2,y=2: reshard f32[8]+avg(x) -> f32[8]";
  Collective axes = sum_over("x", 32), groups = axes, crossed = axes;
  groups.axes.clear(), groups.groups = {
                           {0, 2},
                           {1, 3}
  };
  crossed.axes.clear(), crossed.groups = {
                            {0, 3},
                            {1, 2}
  };
  EXPECT_EQ(judged(mean, axes).status, Status::pass);
  EXPECT_EQ(judged(mean, groups).status, Status::pass);
  for (const Collective& step : {axes, groups, crossed}) EXPECT_EQ(judged(sum, step).status, Status::wrong);
  EXPECT_THAT(judged(sum, groups).facts[0].text, HasSubstr("it takes the avg over x, where the sum is due"));
  EXPECT_THAT(judged(sum, crossed).facts[0].text, HasSubstr("it takes the avg over its groups"));
}

// Law: of a reduction the order within a group means nothing: of every numbering of the devices, and of every
// order of the members of an all-reduce, the verdict is that by axes.
TEST(Executed, AReductionAsksForNoOrderOfItsGroup) {
  const std::pair<const char*, const char*> reductions[] = {
      {"x",      "add"},
      {"avg(x)", "avg"},
      {"max(x)", "max"},
      {"min(x)", "min"}
  };
  for (std::vector<int> ids{0, 1, 2, 3}; const auto& [parts, op] : reductions) do
      for (const char* taken : {op, "min"}) {
        const std::string line = fmt::format("on x=2,y=2 ids={}: reshard f32[8]+{} -> f32[8", fmt::join(ids, ","), parts);
        const char* says = std::string_view(op) == taken ? "" : "takes the min over ";
        Collective sum = sum_over("x", 32);
        sum.op = taken;
        expect_judged({line + "]", {sum}, says});
        sum.kind = "reduce-scatter", sum.out = 16;
        expect_judged({line + "@x]", {sum}, says});
        Trace turned = by_groups(parse_case(line + "]").mesh, {sum});
        turned[0].kind = "all-reduce", turned[0].out = 32;
        for (auto& group : turned[0].groups) std::ranges::reverse(group);
        expect_judged({line + "]", turned, says});
      }
    while (std::ranges::next_permutation(ids).found);
}

// Whoever has the sum of a piece may divide it.
TEST(Executed, PiecesOfAMeanMayBeSums) {
  const auto judged = [](const std::string& line, const char* first, const char* second) {
    Trace pieces(2, sum_over("x", 16));
    pieces[0].op = first, pieces[1].op = second;
    return Planned(line, {}, pieces).verdict().status;
  };
  const std::string mean = "on x=2: reshard f32[8]+avg(x) -> f32[8]",
                    most = "on x=2: reshard f32[8]+max(x) -> f32[8]";
  EXPECT_EQ(judged(mean, "avg", "avg"), Status::pass);
  EXPECT_EQ(judged(mean, "avg", "add"), Status::pass);
  EXPECT_EQ(judged(mean, "avg", "max"), Status::wrong);
  EXPECT_EQ(judged(most, "max", "max"), Status::pass);
  EXPECT_EQ(judged(most, "max", "add"), Status::wrong);
}

// The type of the parts, or that of the wire to which they are rounded.
TEST(Executed, AReductionHoldsThePartsThatItAdds) {
  const auto judged = [](const std::string& line, ProductPlan plan, const char* dtype) {
    Collective step = sum_over("x", 32);
    step.op = "add", step.dtype = dtype;
    return Planned(line, std::move(plan), {step}).verdict();
  };
  for (const auto& [line, dtype, right] : std::vector<std::tuple<std::string, const char*, bool>>{
           {"on x=2: reshard f32[8]+x -> f32[8]",            "f32",  true },
           {"on x=2: reshard f32[8]+x -> f32[8]",            "f64",  true },
           {"on x=2: reshard f32[8]+x -> f32[8]",            "",     true },
           {"on x=2: reshard f32[8]+x -> f32[8]",            "bf16", false},
           {"on x=2: reshard f32[8]+x -> f32[8] wire=bf16",  "bf16", true },
           {"on x=2: reshard f32[8]+x -> f32[8] wire=bf16",  "f16",  false},
           {"on x=2: reshard bf16[8]+x -> bf16[8] wire=f32", "bf16", true },
           {"on x=2: reshard s8[8]+x -> s8[8] wire=s32",     "s8",   true },
           {"on x=2: reshard s32[8]+x -> s32[8]",            "s8",   false}
  }) {
    const Verdict verdict = judged(line, {}, dtype);
    EXPECT_EQ(verdict.status, right ? Status::pass : Status::wrong) << line << " " << dtype;
    if (!right) {
      EXPECT_THAT(verdict.facts[0].text,
                  HasSubstr(fmt::format("it reduces {} over x, which does not hold the parts", dtype)));
    }
  }
  Collective gather = gather_over("x", 16, 32);
  gather.dtype = "bf16";
  EXPECT_EQ(Planned("on x=2: reshard f32[8@x] -> f32[8]", {}, {gather}).verdict().status, Status::wrong);
  EXPECT_EQ(Planned("on x=2: reshard bf16[16@x] -> bf16[16]", {}, {gather}).verdict().status, Status::pass);
  const std::string product = "on x=2: einsum mk,kn->mn bf16[2,8@x] bf16[8@x,4] -> f32[2,4]";
  const ProductPlan meets{
      {"bf16[2,8@x]", "bf16[8@x,4]"},
      "f32[2,4]"
  };
  EXPECT_EQ(judged(product, meets, "f32").status, Status::pass);
  EXPECT_EQ(judged(product, meets, "bf16").status, Status::wrong);
  EXPECT_EQ(judged(product + " wire=bf16", meets, "bf16").status, Status::pass);
}

// One gather cannot serve both operands, nor a sum scatter by an axis that the result is not split by.
TEST(Executed, APlanOfAProductDealsOutItsCollectives) {
  const std::string line = "on x=2: einsum mk,kn->mn f32[4,4@x] f32[4@x,4] -> f32[4,4]";
  const ProductPlan whole{
      {"f32[4,4]", "f32[4,4]"},
      "f32[4,4]"
  };
  const Collective gather = gather_over("x", 64, 128);
  EXPECT_EQ(Planned(line, whole, {gather, gather}).verdict().status, Status::pass);
  const Verdict once = Planned(line, whole, {gather}).verdict();
  ASSERT_EQ(once.status, Status::wrong);
  EXPECT_THAT(once.facts[0].text, HasSubstr("cannot be dealt out to both operands"));
  // The gather of the result is too small to bring rows of an operand as well.
  const std::string turned =
      "on x=2,y=2,z=2: einsum mk,kn->mn f32[8@y.x,16] f32[16,24@y.z.x] -> f32[8,24@z.y.x]";
  const ProductPlan rows{
      {"f32[8,16]", "f32[16,24@y.z.x]"},
      "f32[8,24@y.z.x]"
  };
  const Trace after{gather_over("z", 192, 384), gather_over("y", 384, 768)};
  const auto beside = [&](Trace trace) {
    trace.insert(trace.end(), after.begin(), after.end());
    return Planned(turned, rows, std::move(trace)).verdict();
  };
  const Collective by_x = gather_over("x", 128, 256), by_y = gather_over("y", 256, 512);
  EXPECT_EQ(beside({by_x, by_y, gather_over("x", 96, 192)}).status, Status::pass);
  EXPECT_EQ(beside({by_x, by_y}).status, Status::pass) << "each has the columns of its own x";
  const Verdict left_out = beside({by_y, gather_over("x", 96, 192)});
  ASSERT_EQ(left_out.status, Status::wrong);
  EXPECT_THAT(left_out.facts[0].text, HasSubstr("it moves 2816 bytes, its layouts need 3072"));
  const std::string scattered = "on x=2,y=2: einsum mk,kn->mn f32[4,4@x.y] f32[4@x.y,4] -> f32[4@x,4]";
  const ProductPlan meet{
      {"f32[4,4@x.y]", "f32[4@x.y,4]"},
      "f32[4@x,4]"
  };
  const Collective x = over("reduce-scatter", {"x"}, 64, 32), y = over("reduce-scatter", {"y"}, 64, 32);
  EXPECT_EQ(Planned(scattered, meet, {x, over("all-reduce", {"y"}, 32, 32)}).verdict().status, Status::pass);
  EXPECT_EQ(Planned(scattered, meet, {y, over("all-reduce", {"x"}, 32, 32)}).verdict().status, Status::wrong);
}

}  // namespace
}  // namespace plumb
