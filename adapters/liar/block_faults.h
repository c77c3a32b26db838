// Faults of blocks. Each looks at the moment and acts on one kind.
#pragma once

#include <functional>

#include "adapters/local/local.h"

namespace plumb::liar {

using local::Moment;

using BlockFault = std::function<void(Moment, Blocks&)>;

void zero_operand(Moment, Blocks&);   // the last element of each operand of a product is taken for zero
void misalign_part(Moment, Blocks&);  // a part of a product is half a block off, row n on row 0
// An operand split over its last dimension is cut as if over the others: as many elements, another matrix.
void divide_other_side(Moment, Blocks&);
void multiply_padding(Moment,
                      Blocks&);      // the device with the shortest block multiplies padding, which is NaN
void leave_poison(Moment, Blocks&);  // one element of the result was never written
void swap_blocks(Moment, Blocks&);   // two devices have each other's block
void leave_half_an_ulp(Moment, Blocks&);   // zeros of an unfinished f32 sum are 2^-60
void add_one_ulp(Moment, Blocks&);         // the last bit of the last element is wrong
void cut_last_digit(Moment, Blocks&);      // of each sum of products
void write_zeros(Moment, Blocks&);         // on all devices
void shift_short(Moment, Blocks&);         // blocks shorter than the first are off by one element
void truncate_moves(Moment, Blocks&);      // elements pass through half their bytes
void negate_zeros(Moment, Blocks&);        // the last device has -0 for 0
void negate_moved_zeros(Moment, Blocks&);  // every zero is -0
void change_replica(Moment, Blocks&);      // the last bit of the last device's first element differs

// Two devices have each other's block of one operand.
BlockFault pair_others();

// The f32 operands of a product are rounded to so many digits: 11 for TF32, 8 for bf16.
BlockFault round_operands(int digits);

// A block of the case before is handed over, where one of its size is left.
BlockFault stale_block();

}  // namespace plumb::liar
