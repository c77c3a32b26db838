// What a block needs is what it depends on.
#include "harness/trace/needs.h"

#include <gtest/gtest.h>

#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::vector<Tensor> filled_operands(const Case& c) {
  std::vector<Tensor> all;
  for (int i = 0; i < std::ssize(c.op.operands); ++i) all.push_back(fill(c, i));
  return all;
}

Slice slice_at(const std::vector<std::int64_t>& shape, std::int64_t element) {
  Slice slice(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; element /= shape[d])
    slice[d] = {element % shape[d], element % shape[d] + 1};
  return slice;
}

bool holds(const std::vector<Slice>& slices, const Slice& one) {
  for (const Slice& slice : slices) {
    bool in = true;
    for (std::size_t d = 0; d < one.size(); ++d)
      in &= slice[d].begin <= one[d].begin && one[d].end <= slice[d].end;
    if (in) return true;
  }
  return false;
}

// changed[r][element of the result]: whether some value of one element of an operand changes it, of data of
// several seeds: a code may be zero by any scale.
using Changed = std::vector<std::vector<char>>;
Changed dependents(Case c, int operand, std::int64_t element) {
  Changed changed;
  for (c.seed = 0; c.seed < 4U; ++*c.seed) {
    std::vector<Tensor> operands = filled_operands(c);
    const std::vector<Tensor> before = evaluate_all(c, operands);
    changed.resize(before.size());
    Tensor& spoilt = operands[operand];
    for (double v : {0., 1e5, -3e30}) {
      store(spoilt.dtype, spoilt.bytes.data() + element * format(spoilt.dtype).bytes,
            encode(spoilt.dtype, v));
      const std::vector<Tensor> after = evaluate_all(c, operands);
      for (std::size_t r = 0; r < after.size(); ++r) {
        changed[r].resize(elements(after[r].shape));
        for (std::size_t i = 0; i < changed[r].size(); ++i)
          changed[r][i] |=
              bits(after[r], static_cast<std::int64_t>(i)) != bits(before[r], static_cast<std::int64_t>(i));
      }
    }
  }
  return changed;
}

void expect_dependence(const std::string& line) {
  const Case c = parse_case("on x=2: " + line);
  for (int i = 0; i < std::ssize(c.op.operands); ++i)
    for (std::int64_t e = 0; e < elements(c.op.operands[i]); ++e) {
      const Changed changed = dependents(c, i, e);
      const Slice one = slice_at(shape(c.op.operands[i]), e);
      for (std::size_t r = 0; r < changed.size(); ++r)
        for (std::int64_t at = 0; at < std::ssize(changed[r]); ++at)
          EXPECT_EQ(holds(needed(c.op, r, i, slice_at(shape(results(c)[r]), at)), one), changed[r][at] != 0)
              << line << ": element " << at << " of result " << r << ", " << e << " of operand " << i;
    }
}

TEST(Needs, WhatABlockDependsOn) {
  for (const char* line : {
           "reshard f32[2,3] -> f32[2,3]",
           "einsum bmk,bkn->bmn f32[2,2,3] f32[2,3,2] -> f32[2,2,2] fill=normal",
           "einsum mk,kn->mn bf16[2,3]~fp8 bf16[3,2] -> f32[2,2]",
           "einsum mk,kn->mn bf16[2,33]~mxfp8 bf16[33,2] -> f32[2,2]",
           "grouped fwd f32[5,2] f32[3,2,3] sizes=1,0,3 -> f32[5,3] fill=normal",
           "grouped fwd f32[6,2] f32[2,2,3] sizes=1,1/0,2 -> f32[6,3] fill=normal",
           "grouped dgrad f32[5,2] f32[3,2,2] sizes=1,0,3 -> f32[5,2] fill=normal",
           "grouped wgrad f32[6,2] f32[6,3] sizes=1,1/0,2 -> f32[2,2,3] fill=normal",
           "grouped fwd bf16[4,3]~fp8 bf16[2,3,2]~fp8 sizes=1,2 -> f32[4,2]",
           "quantize fp8 bf16[3,4] -> f8e4m3[3,4] f32[]",
           "quantize fp8 bf16[3,4] -> f8e4m3[3,4] f32[3]",
           "quantize fp8 bf16[5,3] sizes=2,2 -> f8e4m3[5,3] f32[2]",
           "quantize mxfp8 bf16[2,34] -> f8e4m3[2,34] e8m0[2,2]",
           "quantize mxfp8 bf16[34,2] -> f8e4m3[34,2] e8m0[2,2]",
           "quantize mxfp8 bf16[6,2] sizes=2,3 -> f8e4m3[6,2] e8m0[2,2]",
           "quantize fp8 bf16[3,2] f32[4] f32[] -> f8e4m3[3,2] f32[] f32[4] f32[]",
           "quantize fp8 bf16[3,2] f32[1] f32[] -> f8e4m3[3,2] f32[] f32[1] f32[]",
       })
    expect_dependence(line);
}

TEST(Needs, WhatIsTheSameWhateverTheOperandsHold) {
  const auto constant = [](const std::string& line, std::size_t r) {
    return is_constant(parse_case("on x=2: " + line), r);
  };
  EXPECT_TRUE(constant("grouped fwd f32[3,2] f32[1,2,2] sizes=0 -> f32[3,2]", 0));
  EXPECT_FALSE(constant("grouped fwd f32[3,2] f32[1,2,2] sizes=1 -> f32[3,2]", 0));
  EXPECT_TRUE(constant("grouped wgrad f32[3,2] f32[3,2] sizes=0 -> f32[1,2,2]", 0));
  EXPECT_TRUE(constant("einsum mk,kn->mn f32[2,0] f32[0,2] -> f32[2,2]", 0));
  EXPECT_FALSE(constant("reshard f32[0] -> f32[0]", 0)) << "nothing is wanted";
  const std::string delayed = "quantize fp8 bf16[3] f32[1] f32[] -> f8e4m3[3] f32[] f32[1] f32[]";
  EXPECT_FALSE(constant(delayed, 0));
  EXPECT_TRUE(constant(delayed, 2));
}

}  // namespace
}  // namespace plumb
