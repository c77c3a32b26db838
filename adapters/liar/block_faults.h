// Faults of blocks. Each looks at the moment and acts on one kind.
#pragma once

#include <functional>

#include "adapters/local/local.h"

namespace plumb {

using BlockFault = std::function<void(Moment, Ranks&)>;

void zero_operand(Moment, Ranks&);   // the last element of each operand of a product is taken for zero
void misalign_part(Moment, Ranks&);  // a part of a product is half a block off, row n on row 0
// An operand split over its last dimension is cut as if over the others: as many elements, another matrix.
void divide_other_side(Moment, Ranks&);
void multiply_padding(Moment, Ranks&);  // the device with the shortest block multiplies padding, which is NaN
void leave_poison(Moment, Ranks&);      // one element of the result was never written
void swap_blocks(Moment, Ranks&);       // two devices have each other's block
void leave_half_an_ulp(Moment, Ranks&);   // zeros of an unfinished f32 sum are 2^-60
void add_one_ulp(Moment, Ranks&);         // the last bit of the last element is wrong
void shift_short(Moment, Ranks&);         // blocks shorter than the first are off by one element
void truncate_moves(Moment, Ranks&);      // elements pass through half their bytes
void negate_zeros(Moment, Ranks&);        // the last device has -0 for 0
void negate_moved_zeros(Moment, Ranks&);  // every zero is -0
void change_replica(Moment, Ranks&);      // the last bit of the last device's first element differs

// Two devices have each other's block of one operand.
BlockFault pair_others();

// The f32 operands of a product are rounded to so many digits: 11 for TF32, 8 for bf16.
BlockFault round_operands(int digits);

// A block of the case before is handed over, where one of its size is left.
BlockFault stale_block();

}  // namespace plumb
