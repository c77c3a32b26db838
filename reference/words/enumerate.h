// Every spec of a mesh, and every case that they make.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/words/op.h"

namespace plumb {

// Every way to lay an array out on a mesh: each axis replicates, splits a dimension (in every order
// with the others there), or, where asked for, leaves the sum unfinished (in the order of the mesh).
// Order: an odometer over the axes, the last axis fastest, and for each axis: replicate; split
// dimension 0 as the most major axis so far, the next, ... the most minor; dimension 1; ...; unfinished.
//   x=2, rank 1, unfinished     f32[8]  f32[8@x]  f32[8]+x
//   x=2,y=2, rank 1             f32[8]  f32[8@y]  f32[8@x]  f32[8@y.x]  f32[8@x.y]
//   three axes, rank 2          49 finished, 92 in all
std::vector<Spec> all_specs(const Mesh&, DType, const std::vector<std::int64_t>& shape, bool unfinished);

// A case of which every spec may be chosen: specs[i] for operand i, the last list for the result.
struct Choices {
  Case like;
  std::vector<std::vector<Spec>> specs;
};

// The cases of `choices`, counted like an odometer, the result fastest. 0 <= n < count.
std::int64_t count(const Choices& choices);
Case nth(const Choices& choices, std::int64_t n);

// Every reshard of an array, and every sharded matmul mk,kn->mn with finished operands and results.
Choices all_reshards(const Mesh&, DType, const std::vector<std::int64_t>& shape, bool unfinished);
struct MatmulSize {
  std::int64_t m, k, n;
};
Choices all_matmuls(const Mesh&, DType, MatmulSize);

}  // namespace plumb
