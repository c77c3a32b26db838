// What AFTER's devices tell each other for an operation, or should.
#pragma once

#include "reference/hlo/prove/where.h"

namespace plumb::hlo {

// What locating goes by.
struct Search {
  const Subject& subject;
  const Pulse& pulse;
  Pairs pairs;
  const Proof& proof;
  Sought& sought;
};

// Runs the module after propagation, or AFTER, on the proof's draw.
void run_propagated(Search&, const Watch<Twin>&);
void run_after(Search&, const Watch<Twin>&);

// Of an instruction of the module after propagation whose value comes about nowhere: the collective of AFTER
// that is at fault; or the sum that AFTER lacks, where it holds parts that add up to the value and nobody
// adds them. Nothing where AFTER has no collective for that operation.
//
//   %all-reduce.4 = f32[8] all-reduce(%dot.3), ...  (and 1 more of this operation)
//   no all-reduce: %dot.3 is left as 4 parts, on devices 0,2,4,6
//   not known, of 2 of this operation
std::string told_there(Search&, const Printed&, const Sought::Events&, const Instruction& lost);

}  // namespace plumb::hlo
