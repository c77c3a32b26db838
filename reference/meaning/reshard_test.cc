#include <gtest/gtest.h>

#include "reference/meaning/meaning.h"
#include "reference/meaning/testing/naive.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

// NaN payloads, infinities and minus zero go through untouched where nothing is summed.
TEST(Reshard, KeepsEveryBit) {
  for (const Format& f : formats()) {
    const Case c =
        parse_case("on x=2: reshard " + std::string(f.name) + "[256@x] -> " + std::string(f.name) + "[256]");
    std::mt19937_64 random(1);
    Tensor t = zeros(f.dtype, {256});
    for (std::byte& b : t.bytes) b = static_cast<std::byte>(random());
    EXPECT_EQ(evaluate(c, {t}), t) << f.name;
  }
}

TEST(Reshard, FinishesASum) {
  std::mt19937_64 random(2);
  for (const char* line :
       {"on x=3: reshard f32[5]+x -> f32[5@x]", "on x=2,y=3: reshard s32[5,2]+y.x -> s32[5,2]",
        "on x=2,y=3: reshard bf16[5@x,2]+y -> bf16[5@y,2]+x", "on x=1: reshard f16[]+x -> f16[]"}) {
    const Case c = parse_case(line);
    const Tensor parts = naive::operand(c, 0, 20, random);
    const Tensor whole = evaluate(c, {parts});
    EXPECT_EQ(whole.shape, shape(result(c)));
    for (std::int64_t i = 0; i < elements(whole.shape); ++i)
      EXPECT_EQ(value(whole, i), static_cast<double>(naive::finished(c, 0, parts, i))) << line;
  }
}

TEST(Reshard, FinishesMeansMaximaAndMinima) {
  std::mt19937_64 random(3);
  for (const char* line :
       {"on x=3,y=2: reshard f32[5]+avg(x.y) -> f32[5]", "on x=3,y=2: reshard f64[5]+avg(y)+x -> f64[5@x]",
        "on x=3,y=2: reshard bf16[5@y]+avg(x) -> bf16[5]+avg(y)", "on x=3: reshard s8[9]+max(x) -> s8[9@x]",
        "on x=3,y=2: reshard f16[9]+min(y.x) -> f16[9]", "on x=1: reshard f32[5]+max(x) -> f32[5]"}) {
    const Case c = parse_case(line);
    const Spec& spec = c.op.operands[0];
    const Tensor given = naive::operand(c, 0, 20, random);
    const Tensor whole = evaluate(c, {given});
    const std::int64_t n = elements(whole.shape), count = parts(c.mesh, spec);
    for (std::int64_t i = 0; i < n; ++i) {
      double want = value(given, i);
      for (std::int64_t p = 1; p < count; ++p) {
        const double next = value(given, p * n + i);
        want = spec.reduction == Reduce::sum   ? want + next
               : spec.reduction == Reduce::max ? std::max(want, next)
                                               : std::min(want, next);
      }
      want /= static_cast<double>(axes_size(c.mesh, spec.averaged));
      EXPECT_EQ(value(whole, i), decode(spec.dtype, encode(spec.dtype, want))) << line;
    }
  }
}

TEST(Reshard, IntegersWrapAndFloatsRoundOnce) {
  const Case s8 = parse_case("on x=2: reshard s8[1]+x -> s8[1]");
  EXPECT_EQ(naive::values(evaluate(s8,
                                   {
                                       Tensor{DType::s8, {2, 1}, {std::byte{100}, std::byte{100}}}
  })),
            (std::vector<std::int64_t>{200 - 256}));
  const Case bf16 = parse_case("on x=3: reshard bf16[1]+x -> bf16[1]");
  Tensor parts = zeros(DType::bf16, {3, 1});  // 256 + 1 + 1: rounding after each would give 256
  for (int p = 0; p < 3; ++p)
    store(DType::bf16, parts.bytes.data() + 2 * p, encode(DType::bf16, p ? 1 : 256));
  EXPECT_EQ(naive::values(evaluate(bf16, {parts})), (std::vector<std::int64_t>{258}));
}

}  // namespace
}  // namespace plumb
