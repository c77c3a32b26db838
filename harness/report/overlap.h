// What communication costs a sharded product, and how much of it is hidden.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// A product as what each device multiplies, on one device, and what is sent before it and after it, each a
// case of the same mesh: letters of the result are split as the result is, but by no axis over which both
// operands split a letter that is summed; operands are laid out anew for that, and so is the result, of which
// the sum over those axes is left.
//   on tp=4: einsum mk,kn->mn f32[8,8@tp] f32[8@tp,8] -> f32[8,8]
//     on x=1: einsum mk,kn->mn f32[8,2] f32[2,8] -> f32[8,8]
//     on tp=4: reshard f32[8,8]+tp -> f32[8,8]
struct Apart {
  Case local;
  std::vector<Case> sent;
};

// Nothing of a case that is no einsum of one device's size by another's, as of one device, of a submesh, with
// a chain, or whose operands are unfinished, quantized or of uneven blocks.
std::optional<Apart> apart(const Case&);

// A row for each sharded product whose local part the same backend was timed with: what it takes more than
// that, which is what communication costs, and where all that is sent was timed, too, how much of that is
// hidden: by how much both together take longer than the case. In brackets what the least and the largest
// median of each repetition allow; UNSURE where that is on both sides of 0, repetitions are fewer than four, or
// devices share cores, or nobody says where they run. Empty where there is none.
std::string overlap_table(const std::vector<Timings>&);

}  // namespace plumb
