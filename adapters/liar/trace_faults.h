// Faults of what is said of a right result: of its trace, and of plans that were never run.
#pragma once

#include "adapters/liar/reply_faults.h"

namespace plumb {

// Traces that cannot be true.
void overcount(Outcome&);              // more bytes than all the operands have, to everybody
void hide_in(Outcome&);                // an operand far larger than what was moved
void reduce_half(Outcome&);            // an all-reduce of half the bytes in place of all collectives
void hide_gather(Outcome&);            // the first collective, and a sum of all that the last made
void call_broadcast_gather(Outcome&);  // a gather that joins nothing
void take_maximum(Outcome&);           // op max
void narrow_trace(Outcome&);           // dtype bf16
void take_amax(Outcome&);
void move_halves(Outcome&);
void reverse_trace(Outcome&);          // the last collective first
void exchange_axes(Outcome&);          // the first two axes that it names, everywhere
void reduce_integers(Outcome&);        // dtype s8 of what reduces
void call_scatter_exchange(Outcome&);  // a reduce-scatter all-to-all, with its op or without
void call_scatter_plain_exchange(Outcome&);
void broadcast_gathers(Outcome&);  // an all-gather collective-broadcast, of all that it makes
void send_a_million_times(Outcome&);

// Plans of other cases.
Reply scatter_along_another(Reply, const Request&,
                            Arena&);               // over the last axis, then an all-reduce over the first
Reply permute_all(Reply, const Request&, Arena&);  // devices that keep what they have are paired too
Reply reduce_too_little(Reply, const Request&, Arena&);  // an all-reduce of a block of the result
void leave_out_sums(Outcome&);
void sum_again(Outcome&);                            // each sum twice
Reply sum_over_last(Reply, const Request&, Arena&);  // over the last axis of the mesh

}  // namespace plumb
