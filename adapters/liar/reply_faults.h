// Faults of replies.
#pragma once

#include <functional>

#include "adapters/protocol/serve.h"

namespace plumb::liar {

using ReplyFault = std::function<Reply(Reply, const Request&, Arena&)>;

// A fault that changes an outcome; other replies pass.
ReplyFault of_outcome(std::function<void(Outcome&)>);

Reply hang(Reply, const Request&, Arena&);            // never replies
Reply die(Reply, const Request&, Arena&);             // aborts
Reply leave(Reply, const Request&, Arena&);           // exits with 0
Reply babble(Reply, const Request&, Arena&);          // half a line of JSON before the reply
Reply truncate_arena(Reply, const Request&, Arena&);  // shortens the file that it was lent
Reply scribble(Reply, const Request&, Arena&);        // a byte of the operand that it was lent
Reply renege(Reply, const Request&, Arena&);          // an error from what it had said it could do
Reply refuse(Reply, const Request&, Arena&);          // unsupported, from inside its capabilities
Reply refuse_long(Reply, const Request&, Arena&);     // the same, where an operand has more rows than any array of the tests
Reply renege_long(Reply, const Request&, Arena&);     // an error, there
Reply hang_on_long(Reply, const Request&, Arena&);    // no reply, there

void lose_device(Outcome&);        // no block of the last device
void repeat_device(Outcome&);      // the first device's block twice
void share_block(Outcome&);        // two devices' blocks are one
void point_outside(Outcome&);      // a block beyond the end of the arena
void point_at_operands(Outcome&);  // a block among the operands
void lengthen_block(Outcome&);     // a block larger than the slice that it claims
void undercount(Outcome&);         // the trace moves less than was received
Reply move_along_another(Reply, const Request&,
                         Arena&);                   // reports collectives along the other axes of the mesh
Reply keep_on_one(Reply, const Request&, Arena&);   // says that the first device has all, the others nothing
Reply reduce_apart(Reply, const Request&, Arena&);  // a scatter for each axis, and a group of all
void hide_collective(Outcome&);                     // the last one is not in the trace
void move_nothing(Outcome&);                        // none is, and there is a trace
void hide_behind_slices(Outcome&);                  // the same, and nothing is claimed but slices
void gather_nothing(Outcome&);                      // reports collectives whose operands have no bytes
void lose_count(Outcome&);                          // says of no collective how many bytes it moved
void invent_axis(Outcome&);                         // a collective along an axis that the mesh lacks
void claim_otherwise(Outcome&);                     // claims to hold nothing of any axis
void claim_last_otherwise(Outcome&);                // of the last result
void say_nothing(Outcome&);                         // neither layout nor slices
void swap_slices(Outcome&);                         // two devices claim each other's slice

// The answer is made of the operands of the first case of these dtypes and shapes.
ReplyFault keep_operands();

// A line is answered once; whatever its seed, later runs get the same bytes.
ReplyFault keep_answers();

// Every second run of the same case ends in another bit.
ReplyFault change_reruns();

}  // namespace plumb::liar
