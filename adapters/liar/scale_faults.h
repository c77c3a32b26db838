// Faults of quantization.
#pragma once

#include "adapters/liar/block_faults.h"
#include "adapters/plan/plan.h"

namespace plumb::liar {

void use_unquantized(Plan&);      // multiplies the operands as they are
void cast_unscaled(Plan&);        // codes are the values themselves, the scale is 1
void scale_locally(Plan&);        // every device takes the largest magnitude of what it has
void forget_one_axis(Plan&);      // the largest magnitudes are not reduced along the last of the axes
void scale_along_another(Plan&);  // they are reduced along the first axes of the mesh, not those that split
void round_scales_down(Plan&);    // the scale of a block is rounded down, and the largest value clipped
void invert_otherwise(Plan&);     // the scale of codes is amax / largest, not 1 / (largest / amax)
void divide_by_scale(Plan&);      // values are divided by the scale of codes
void round_ties_away(Plan&);      // takes what lies half way between two codes away from zero
void restart_blocks(Plan&);       // blocks begin anew at the edge of a shard
void transpose_scales(Plan&);     // scales along the other dimension
void share_scales(Plan&);         // all groups have the scale of the first
void scale_the_tail(Plan&);       // rows of no group belong to the last one

void gather_no_history(Plan&);  // what a device lacks of the history is 0 to it

void keep_history(Moment, Blocks&);  // a history as it was before it moved
void leak_scales(Moment, Blocks&);   // the last scale is padding

}  // namespace plumb::liar
