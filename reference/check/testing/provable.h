// Cases that can be proved in place, of every kind, and the blocks that they want.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/check/check.h"
#include "reference/fill/fill.h"
#include "reference/meaning/meaning.h"
#include "reference/words/text.h"

namespace plumb {

// A case, the blocks that its meaning wants, and what their proof says.
struct WantedBlocks {
  Case c;
  Prover made;
  Tensor whole;
  std::vector<Slice> slices;
  std::vector<std::vector<std::byte>> bytes;

  explicit WantedBlocks(const std::string& line) : c(parse_case(line)), made(prover(c)) {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.op.operands.size(); ++i) operands.push_back(fill(c, static_cast<int>(i)));
    whole = evaluate(c, operands);
    cut_all(whole);
  }
  void cut_all(const Tensor& from) {
    slices.clear(), bytes.clear();
    for (std::int64_t device = 0; device < devices(c.mesh); ++device) {
      slices.push_back(block(c.mesh, result(c), c.rule, device));
      bytes.emplace_back(elements(slices.back()) * format(whole.dtype).bytes);
      cut(whole.shape, slices.back(), from.bytes.data(), bytes.back().data(), format(whole.dtype).bytes);
    }
  }
  Proof proof(std::size_t device, std::uint64_t seed = 1) const {
    return prove(made, {0, slices[device], bytes[device]}, seed);
  }
  // How many blocks are refuted; every other one is proved.
  int refuted() const {
    int n = 0;
    for (std::size_t d = 0; d < bytes.size(); ++d) {
      const Proof p = proof(d);
      n += p.answer == Proof::Answer::refuted;
      EXPECT_NE(p.answer, Proof::Answer::unprovable) << p.text;
    }
    return n;
  }
};

inline const char* const kProvable[] = {
    "on x=4: reshard f32[8@x] -> f32[8]",
    "on x=2,y=3: reshard bf16[5@x,4@y] -> bf16[5@y,4]",
    "on x=4: reshard f8e4m3[300@x,7] -> f8e4m3[300,7@x]",
    "on a=2,b=2: reshard e8m0[5@a.b] -> e8m0[5] nested",
    "on x=2: reshard f64[3@x] -> f64[3] fill=normal",
    "on x=2: reshard f32[] -> f32[]",
    "on x=2: reshard f32[0,3@x] -> f32[0,3]",
    "on x=2,y=2: reshard f32[300,200@x]+y -> f32[300@y,200]",
    "on x=3,y=2: reshard bf16[7]+avg(x)+y -> bf16[7@x]",
    "on x=3,y=2: reshard f16[7,5]+max(x.y) -> f16[7@x,5]",
    "on x=4: reshard s8[7]+min(x) -> s8[7]",
    "on x=4: reshard s32[70]+x -> s32[70@x]",
    "on x=4: reshard s8[70]+x -> s8[70@x]",
    "on x=2: reshard s32[7]+x -> s32[7] wire=s8",
    "on x=2,y=2: reshard f8e5m2[64]+x.y -> f8e5m2[64@x]",
    "on y=2 of x=2,y=2: reshard f32[5]+y -> f32[5@y]",
    "on x=2,y=2: einsum mk,kn->mn f32[9@x,64@y] f32[64@y,7] -> f32[9@x,7]",
    "on x=2,y=2: einsum mk,kn->nm bf16[9@x,64] bf16[64,7@y] -> bf16[7@y,9@x]",
    "on x=2,y=2: einsum km,nk->mn f16[33,5@x] f16[6,33] -> f32[5,6@y]",
    "on x=2,y=2: einsum bmk,bkn->bmn f32[4@x,3,8] f32[4,8,5@y] -> f32[4@x,3,5@y]",
    "on x=2,y=2: einsum mbk,knb->nmb f32[3,4,6] f32[6,5,4@y] -> f32[5,3@x,4]",
    "on x=2,y=2: einsum akbl,lckb->ca f32[2,3,4,5@x] f32[5,6@y,3,4] -> f32[6@y,2]",
    "on x=2,y=2: einsum bsh,bsf->hf f64[4@x,3,8] f64[4,3,5@y] -> f64[8,5@y]",
    "on x=2: einsum k,k-> f32[7@x] f32[7] -> f32[]",
    "on x=2: einsum m,n->mn f32[3] f32[4@x] -> f32[3@x,4]",
    "on x=2: einsum mk,kn->mn f32[3,0] f32[0,5] -> f32[3@x,5]",
    "on x=2,y=3: einsum mk,kn->mn bf16[6,8]+x f32[8,5@x]+y -> f32[6@y,5]",
    "on x=2: einsum mk,kn->mn s8[5,9@x] s8[9,6] -> s32[5@x,6]",
    "on x=2: einsum mk,kn->mn s8[5,9]+x s8[9,6] -> s8[5@x,6]",
    "on x=2: einsum mk,kn->mn s32[5,9@x] s32[9,6] -> s32[5,6@x] wire=s8",
    "on x=2: grouped fwd f32[12@x,6] f32[3,6,5] sizes=3,0,5 -> f32[12@x,5]",
    "on x=2: grouped fwd bf16[12@x,6] bf16[3,6,5] sizes=1,2,1/0,0,6 -> bf16[12,5@x]",
    "on x=2: grouped dgrad f32[12,5] f32[3@x,6,5] sizes=3,4,5 -> f32[12,6@x]",
    "on x=2: grouped wgrad f32[12@x,6] f32[12,5] sizes=3,0,6 -> f32[3@x,6,5]",
    "on x=2: grouped wgrad s8[12@x,6] s8[12,5] sizes=1,2,1/2,0,3 -> s32[3,6@x,5]",
};

}  // namespace plumb
