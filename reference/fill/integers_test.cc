// Integers wrap: their sums are exact modulo the words of the result, however they are split.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "reference/fill/fill.h"
#include "reference/fill/testing/sums.h"
#include "reference/fill/unit.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Integers, WrapExactly) {
  std::mt19937_64 random(7);
  for (const char* line : {
           "on x=5: reshard s8[6]+x -> s8[6]",
           "on x=4: reshard s32[6]+x -> s32[6]+x",
           "on x=2: einsum mk,kn->mn s8[3,9@x] s8[9@x,3] -> s8[3,3]",
           "on x=2: einsum mk,kn->mn s8[3,9@x] s8[9@x,3] -> s32[3,3]",
           "on x=2: einsum mk,kn->mn s32[3,9@x] s32[9@x,3] -> s32[3,3] wire=s32",
           "on x=2: grouped wgrad s8[9@x,3] s8[9@x,4] sizes=4,3 -> s32[2,3,4]",
       }) {
    const Case c = parse_case(line);
    ASSERT_TRUE(wraps(c)) << line;
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    for (const auto& terms : all_terms(c, operands)) {
      const DType out = result(c).dtype;
      std::int64_t devices[3] = {0, 0, 0};
      for (const Term& t : terms) {
        EXPECT_NE(
            encode(out, static_cast<double>(static_cast<std::int64_t>(t.a) * static_cast<std::int64_t>(t.b) &
                                            0xffffffff)),
            0u)
            << "a term that nobody would miss";
        std::int64_t& sum = devices[random() % 3];
        sum =
            static_cast<std::int32_t>(sum + static_cast<std::int64_t>(t.a) * static_cast<std::int64_t>(t.b));
      }
      std::uint64_t got = 0;
      for (std::int64_t sum : devices)
        got = encode(c.wire, static_cast<double>(got) + static_cast<double>(sum));
      EXPECT_EQ(encode(out, static_cast<double>(got)),
                encode(out, static_cast<double>(static_cast<std::int32_t>(exact(terms, 0)))));
    }
  }
}

// On a wire, or in an accumulator, narrower than the result they would not wrap as it does: no sum leaves its
// range.
TEST(Integers, FitWhatIsNarrowerThanTheResult) {
  for (const char* line : {
           "on x=5: reshard s32[6]+x -> s32[6] wire=s8",
           "on x=4: reshard s32[6]+x -> s32[6]+x wire=s8",
           "on x=2: einsum mk,kn->mn s8[3,9@x] s8[9@x,3] -> s32[3,3] wire=s8",
           "on x=2: einsum mk,kn->mn s32[3,9@x] s32[9@x,3] -> s32[3,3] wire=s8",
           "on x=2: grouped wgrad s8[9@x,3] s8[9@x,4] sizes=4,3 -> s32[2,3,4] wire=s8",
       }) {
    const Case c = parse_case(line);
    EXPECT_FALSE(wraps(c)) << line;
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    for (const auto& terms : all_terms(c, operands)) {
      std::map<std::int64_t, double> blocks;
      for (const Term& t : terms) blocks[t.block * 4096 + t.part] += t.a * t.b;
      double carried = 0;
      for (const auto& [block, sum] : blocks) carried += std::fabs(sum);
      EXPECT_LE(carried, 127) << line;
      EXPECT_GT(carried, 0) << line;
    }
  }
}

// An even split rounds nothing; where no word but zero can be split so, nothing is claimed.
TEST(Integers, ThatAreLeftInPartsSplitEvenly) {
  for (const char* line : {
           "on x=2: reshard s8[64] -> s8[64]+x",
           "on x=3: reshard s32[64] -> s32[64]+x",
           "on x=6: reshard s8[64] -> s8[64]+x",
           "on x=64: reshard s8[64] -> s8[64]+x",
           "on x=3,y=2: reshard s32[64]+x -> s32[64]+y",
           "on x=2,y=3: reshard s32[64]+x -> s32[64]+y",
       }) {
    const Case c = parse_case(line);
    const Tensor x = fill(c, 0);
    const std::int64_t n = elements(c.op.operands[0]), count = parts(c.mesh, c.op.operands[0]);
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < count; ++p) sum += value(x, p * n + i);
      EXPECT_EQ(std::fmod(sum, parts(c.mesh, result(c))), 0) << line;
      EXPECT_NE(value(x, i), 0) << line;
    }
    EXPECT_EQ(certificate(c).scope, Certificate::Scope::any_split) << line;
  }
  for (const char* line : {"on x=128: reshard s8[64] -> s8[64]+x",
                           "on x=128: einsum mk,kn->mn s8[3,9] s8[9,3] -> s32[3,3]+x wire=s32",
                           "on x=128: einsum mk,kn->mn s32[3,9] s32[9,3] -> s8[3,3]+x"})
    EXPECT_EQ(certificate(parse_case(line)).scope, Certificate::Scope::none) << line;
}

// An operand in parts may be added up before it is multiplied, or after: only where no sum of its parts wraps
// is that the same.
TEST(Integers, InPartsAddUpToWhatTheirDtypeHolds) {
  for (const char* line : {
           "on x=2: einsum mk,kn->mn s8[3,9]+x s8[9,3] -> s32[3,3]",
           "on x=5: einsum mk,kn->mn s8[3,9] s8[9,3]+x -> s8[3,3]",
           "on x=2,y=32: einsum mk,kn->mn s8[3,9]+x s8[9,3] -> s32[3,3]+y wire=s32",
           "on x=2,y=2: einsum mk,kn->mn s8[3,9]+x s8[9,3]+y -> s32[3,3]+y wire=s32",
       }) {
    const Case c = parse_case(line);
    std::vector<Tensor> operands;
    for (int operand : {0, 1}) {
      const Spec& spec = c.op.operands[operand];
      const Tensor& x = operands.emplace_back(fill(c, operand));
      for (std::int64_t i = 0; i < elements(spec); ++i) {
        double sum = 0;
        for (std::int64_t p = 0; p < parts(c.mesh, spec); ++p)
          sum += std::fabs(value(x, p * elements(spec) + i));
        EXPECT_LE(sum, 128) << line;
      }
    }
    for (const auto& terms : all_terms(c, operands))
      EXPECT_EQ(static_cast<std::int64_t>(exact(terms, 0)) % parts(c.mesh, result(c)), 0) << line;
  }
}

}  // namespace
}  // namespace plumb
