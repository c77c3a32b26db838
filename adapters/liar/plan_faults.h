// Faults of plans.
#pragma once

#include "adapters/plan/plan.h"

namespace plumb::liar {

// Sums.
void leave_one_axis(Plan&);     // does not sum over the first of the unfinished axes
void sum_along_another(Plan&);  // sums along another axis of the same size
void sum_replicas(Plan&);       // sums along one more axis, on which the parts are equal
void drop_part(Plan&);          // one part does not arrive
void repeat_part(Plan&);        // one part arrives twice
void add_from_own(Plan&);       // each device adds all parts up for itself, from its own place on
void narrow_acc(Plan&);         // accumulates in bf16
void drop_two_digits(Plan&);    // accumulates the f32 sums of a product in 22 digits
void saturate_sums(Plan&);      // integer sums stop at the largest word, where they wrap
void narrow_wire(Plan&);        // sends parts as bf16

// Means, maxima and minima.
void average_all(Plan&);    // divides by the number of all parts
void forget_mean(Plan&);    // does not divide
void add_instead(Plan&);    // adds up where the largest or smallest is asked for
void take_other(Plan&);     // takes the smallest for the largest
void keep_own_part(Plan&);  // takes one part for all
void leave_a_sum(Plan&);    // leaves zeros beside the value, a sum

// Products.
void transpose_operand(Plan&);  // takes a square right operand for its transpose
void shift_boundary(Plan&);     // the first group has one row more, the next one less
void group_the_tail(Plan&);     // the last group has the rows of the tail
void fill_empty_group(Plan&);   // an empty group has the rows of the next
void rotate_groups(Plan&);      // every group has the next one's rows

// Moves.
void drop_copy(Plan&);   // one cell never arrives
void drop_kept(Plan&);   // what a device holds already it forgets, and has zeros instead
void stop_short(Plan&);  // leaves out the last reshard
void swap_axes(Plan&);   // takes the axes of a dimension from minor to major
void ignore_ids(Plan&);  // takes device p to be at position p
void other_rule(Plan&);  // cuts nested for flat and flat for nested

// Cost.
void gather_everything(Plan&);  // goes by way of the whole array, finished, on every device
void gather_operands(Plan&);    // multiplies the whole operands on every device
void reduce_zeros(Plan&);       // splits the result into itself and zeros, and adds them up again
void copy_twice(Plan&);         // copies every cell twice

}  // namespace plumb::liar
