#include "adapters/liar/faults.h"

#include <fmt/format.h>

#include "adapters/liar/block_faults.h"
#include "adapters/liar/plan_faults.h"
#include "adapters/liar/reply_faults.h"
#include "adapters/liar/scale_faults.h"
#include "adapters/liar/trace_faults.h"
#include "adapters/protocol/json.h"

namespace plumb::liar {
namespace {

Seams reply(void (*fault)(Outcome&)) { return {.plan = {}, .block = {}, .reply = of_outcome(fault)}; }
Seams reply(ReplyFault fault) { return {.plan = {}, .block = {}, .reply = std::move(fault)}; }
Seams block(BlockFault fault) { return {.plan = {}, .block = std::move(fault), .reply = {}}; }
Seams plan(void (*fault)(Plan&)) { return {.plan = fault, .block = {}, .reply = {}}; }

constexpr auto gather = "on x=2: reshard f32[8@x] -> f32[8]";
constexpr auto swap = "on x=2,y=2: reshard f32[8@x] -> f32[8@y]";
constexpr auto sum_to_all = "on x=4: reshard f32[16]+x -> f32[16]";
constexpr auto matmul = "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8]";
constexpr auto left = "on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]?";
constexpr auto parts = "on x=2,y=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]+x -> f32[8,8]";
constexpr auto scattered = "on x=2,y=2: einsum mk,kn->mn f32[8,32@x] f32[32@x,8] -> f32[8@x,8]";
constexpr auto most = "on x=4: reshard f32[16]+max(x) -> f32[16@x]";
constexpr auto deep = "on x=2: einsum mk,kn->mn f32[4,256@x] f32[256@x,4] -> f32[4,4]";
constexpr auto long_sum = "on x=2: einsum mk,kn->mn f32[8,2048@x] f32[2048@x,8] -> f32[8,8]";
constexpr auto long_dot = "on x=2: einsum k,k-> f32[2048@x] f32[2048@x] -> f32[]";
constexpr auto long_parts = "on x=2: einsum mk,kn->mn f32[4,2048]+x f32[2048,4]+x -> f32[4,4]";
constexpr auto long_rows =
    "on ep=2: grouped wgrad f32[4096@ep,8] f32[4096@ep,8] sizes=2100,1900 -> f32[2,8,8]";
constexpr auto rounding = "on x=2: einsum mk,kn->mn f32[4@x,64] f32[64,4] -> f32[4@x,4] fill=normal";
constexpr auto rounding_rows = "on x=2: grouped wgrad f32[16,3] f32[16,2@x] sizes=9,7 -> f32[2,3,2@x] fill=normal";
constexpr auto forward = "on x=2: grouped fwd f32[8@x,4] f32[3,4,4] sizes=3,0,4 -> f32[8@x,4]";
constexpr auto weights = "on x=2: grouped wgrad f32[8@x,4] f32[8@x,4] sizes=3,0,5 -> f32[3,4,4]";

constexpr auto per_tensor = "on x=2,y=2: quantize fp8 bf16[8@x,8@y] -> f8e4m3[8@x,8@y] f32[]";
constexpr auto delayed =
    "on x=4: quantize fp8 bf16[8@x,16] f32[16] f32[] -> f8e4m3[8@x,16] f32[] f32[16] f32[]";
constexpr auto columnwise = "on x=2: quantize mxfp8 bf16[64@x,64] -> f8e4m3[64@x,64] e8m0[2,64]";
constexpr auto quantized = "on x=2: einsum mk,kn->mn bf16[4,64@x]~mxfp8 bf16[64@x,4]~mxfp8 -> f32[4,4]";

// clang-format off
const std::vector<Fault>& table() {
  static const std::vector<Fault> rows{
    // name, what it does, the verdict, flags, cases, the fault
    {"refuses", "says unsupported for what it said it could do", "unsupported", "", {gather}, reply(refuse)},
    {"hangs", "never replies", "hung", "--timeout 2", {gather}, reply(hang)},
    {"aborts", "dies of a failed check in the middle of a case", "crashed", "", {gather}, reply(die)},
    {"exits", "ends with exit code 0 and no reply", "crashed", "", {gather}, reply(leave)},
    {"babbles", "sends half a line of JSON before its reply", "malformed", "", {gather}, reply(babble)},
    {"truncates", "shortens the arena that it was lent", "crashed", "", {gather}, reply(truncate_arena)},
    {"scribbles", "writes into the operand that it was lent", "malformed", "", {gather}, reply(scribble)},
    {"loses-device", "returns no block of the last device", "malformed", "", {gather}, reply(lose_device)},
    {"repeats-device", "returns one device's block twice", "malformed", "", {gather}, reply(repeat_device)},
    {"shares-block", "returns one block for two devices and does not say that they are clones", "malformed", "", {gather}, reply(share_block)},
    {"points-outside", "returns a block beyond the end of the arena", "malformed", "", {gather}, reply(point_outside)},
    {"points-at-operands", "returns the operand's own bytes as a block", "malformed", "", {gather}, reply(point_at_operands)},
    {"lengthens-block", "returns a block larger than the slice it claims", "malformed", "", {gather}, reply(lengthen_block)},
    {"undercounts", "reports half of the bytes that were received", "malformed", "", {gather}, reply(undercount)},
    {"overcounts", "reports more bytes received than all operands have", "malformed", "", {gather, swap}, reply(overcount)},
    {"undercounts-in-secret", "reports a gather that moved fewer bytes than its operand has", "malformed", "", {gather}, reply(hide_in)},
    {"sends-a-million-times", "reports a send of a million times the bytes that anybody receives", "malformed", "", {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y]"}, reply(send_a_million_times)},
    {"adds-in-an-exchange", "calls a reduce-scatter an all-to-all that adds", "malformed", "", {sum_to_all}, reply(call_scatter_exchange)},
    {"takes-amax", "says that its sums took the amax, a word that nobody knows", "malformed", "", {"on x=4: reshard f32[16]+x -> f32[16@x]"}, reply(take_amax)},
    {"moves-halves", "says that it moved values of half, a word that nobody knows", "malformed", "", {gather}, reply(move_halves)},
    {"invents-axis", "reports a collective along an axis that the mesh lacks", "malformed", "", {gather}, reply(invent_axis)},
    {"reneges", "fails at what it said it could do", "reneged", "", {gather}, reply(renege)},

    {"stops-short", "leaves out the last reshard, and says so", "misplaced", "", {swap}, plan(stop_short)},
    {"swaps-axes", "splits a dimension by its axes from minor to major, and says so", "misplaced", "", {"on x=2,y=3: reshard f32[12] -> f32[12@x.y]"}, plan(swap_axes)},
    {"claims-otherwise", "returns the right blocks and claims that they are replicated", "misplaced", "", {"on x=2: reshard f32[8] -> f32[8@x]"}, reply(claim_otherwise)},
    {"swaps-slices", "returns the right blocks with the slices of two devices exchanged", "misplaced", "", {swap}, reply(swap_slices)},
    {"claims-scales-otherwise", "returns the right codes and scales and claims that the scales are replicated", "misplaced", "", {"on x=2: quantize mxfp8 bf16[4@x,64] -> f8e4m3[4@x,64] e8m0[4@x,2]"}, reply(claim_last_otherwise)},
    {"claims-another-choice", "says of a result that was left to it that it is replicated, and it is not", "misplaced", "", {left}, reply(claim_otherwise)},
    {"leaves-it-unfinished", "leaves a result that was left to it as a sum, and says so", "misplaced", "", {left}, plan(stop_short)},
    {"says-nothing", "says neither layout nor slices of a result that was left to it", "misplaced", "", {left}, reply(say_nothing)},
    {"keeps-on-one", "leaves a result that was left to it on one device", "misplaced", "", {"on x=2: reshard f32[8] -> f32[8]?"}, reply(keep_on_one)},
    {"leaves-a-sum", "leaves zeros beside the value where a maximum is asked for, and says that it is a sum", "misplaced", "", {"on x=2: reshard f32[8@x] -> f32[8]+max(x)"}, plan(leave_a_sum)},
    {"ignores-ids", "takes device p to be at position p of the mesh", "misplaced", "", {"on x=2,y=2 ids=3,1,0,2: reshard f32[8@x] -> f32[8@x.y]"}, plan(ignore_ids)},
    {"other-rule", "cuts unevenly by the other rule", "misplaced", "", {"on x=2,y=2: reshard f32[5] -> f32[5@x.y]"}, plan(other_rule)},

    {"leaves-poison", "never writes one element of a result", "leaked", "", {gather, "on x=2: grouped fwd f32[9@x,5] f32[1,5,4@x] sizes=0 -> f32[9@x,4]"}, block(leave_poison)},
    {"drops-copy", "one cell of a move never arrives", "leaked", "", {"on x=4: reshard f32[8@x] -> f32[8]"}, plan(drop_copy)},
    {"multiplies-padding", "does not mask the padding of an uneven contracted dimension, which is NaN", "leaked", "", {"on x=2: einsum mk,kn->mn f32[4,5@x] f32[5@x,4] -> f32[4,4]"}, block(multiply_padding)},

    {"leaves-one-axis", "does not sum over the first of the unfinished axes", "wrong", "", {"on dp=2,fsdp=4,tp=2: reshard f32[16,8@tp]+dp.fsdp -> f32[16@fsdp,8@tp]"}, plan(leave_one_axis)},
    {"sums-along-another", "sums along another axis of the same size", "wrong", "", {"on x=2,y=2: reshard f32[8]+x -> f32[8@x]"}, plan(sum_along_another)},
    {"sums-replicas", "sums along an axis on which the parts are replicas", "wrong", "", {"on x=2,y=3: reshard f32[8]+x -> f32[8@x]"}, plan(sum_replicas)},
    {"drops-part", "one part of a sum does not arrive", "wrong", "", {"on x=4: reshard f32[8]+x -> f32[8@x]", "on x=4: reshard s32[8]+x -> s32[8@x]", "on x=4: reshard s8[8]+x -> s8[8@x]"}, plan(drop_part)},
    {"repeats-part", "one part of a sum arrives twice", "wrong", "", {"on x=4: reshard f32[8]+x -> f32[8@x]"}, plan(repeat_part)},
    {"averages-all", "divides by the number of all parts, not of those that are averaged", "wrong", "", {"on dp=2,tp=2: reshard f32[8]+avg(dp)+tp -> f32[8@tp]"}, plan(average_all)},
    {"forgets-mean", "adds up what is to be averaged", "wrong", "", {"on x=4: reshard f32[8]+avg(x) -> f32[8@x]"}, plan(forget_mean)},
    {"drops-averaged-part", "one part of a mean does not arrive", "wrong", "", {"on x=4: reshard f32[8]+avg(x) -> f32[8@x]"}, plan(drop_part)},
    {"adds-for-max", "adds up where the largest part is asked for", "wrong", "", {most}, plan(add_instead)},
    {"min-for-max", "takes the smallest part for the largest", "wrong", "", {most}, plan(take_other)},
    {"keeps-own-part", "takes one part for the largest", "wrong", "", {most}, plan(keep_own_part)},
    {"drops-contender", "one part of a maximum does not arrive", "wrong", "", {most}, plan(drop_part)},
    {"adds-up-slices", "adds up along an axis that is not of the submesh", "wrong", "", {"on tp=2 of pp=2,tp=2: reshard f32[8]+tp -> f32[8@tp]"}, plan(sum_replicas)},
    {"scatters-along-another", "plans a scatter along another axis, which makes another layout", "wrong", "", {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]"}, reply(scatter_along_another), true},
    {"permutes-all", "plans a permute that overwrites what devices are to keep", "wrong", "", {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]"}, reply(permute_all), true},
    {"reduces-too-little", "plans an all-reduce of as many bytes as a block of the result has, where each device has another", "wrong", "", {"on x=4: reshard f32[8]+x -> f32[8@x]"}, reply(reduce_too_little), true},
    {"leaves-out-the-sum", "plans no sum of what a constraint leaves in parts, or of a product's terms", "wrong", "", {parts, scattered}, reply(leave_out_sums), true},
    {"sums-again", "plans each sum twice", "wrong", "", {parts, scattered}, reply(sum_again), true},
    {"sums-over-the-last", "plans its sums over another axis", "wrong", "", {parts, scattered}, reply(sum_over_last), true},
    {"narrow-accumulator", "accumulates in bf16 where f32 is asked for", "wrong", "", {deep}, plan(narrow_acc)},
    {"narrow-sums", "adds the products of f32 in 22 digits", "wrong", "", {long_sum}, plan(drop_two_digits)},
    {"tf32-products", "rounds the f32 operands of a product to the 11 digits of TF32", "wrong", "", {long_sum, long_rows}, block(round_operands(11))},
    {"tf32-dots", "rounds the operands of a dot product whose data show no digits so", "wrong", "", {long_dot}, block(round_operands(11))},
    {"tf32-parts", "rounds operands in parts so", "wrong", "", {long_parts}, block(round_operands(11))},
    {"bf16-products", "rounds the f32 operands of a product to bf16", "wrong", "", {long_sum, long_rows}, block(round_operands(8))},
    {"saturates", "integers stop at the largest word, where they wrap", "wrong", "", {"on x=4: reshard s8[64]+x -> s8[64@x]"}, plan(saturate_sums)},
    {"narrow-wire", "sends the parts of an f32 sum as bf16", "wrong", "", {"on x=4: reshard f32[64]+x -> f32[64@x]"}, plan(narrow_wire)},
    {"truncates-moves", "moves f32 through 16 bits", "wrong", "", {gather}, block(truncate_moves)},
    {"swaps-blocks", "exchanges the blocks of two devices", "wrong", "", {"on x=4: reshard f32[8] -> f32[8@x]"}, block(swap_blocks)},
    {"negates-moved-zeros", "has -0 for every 0, on all devices alike", "wrong", "", {"on x=4: reshard f8e4m3[4096@x] -> f8e4m3[4096]"}, block(negate_moved_zeros)},
    {"one-ulp", "the last bit of one element is wrong", "wrong", "", {"on x=4: reshard f32[8] -> f32[8@x]"}, block(add_one_ulp)},
    {"writes-zeros", "writes zeros for the whole result", "wrong", "", {matmul, "on x=32: einsum mk,kn->mn bf16[64,64]+x bf16[64,64] -> bf16[64,64] fill=normal"}, block(write_zeros)},
    {"leaves-half-an-ulp", "leaves what rounding hides in the parts of a sum", "wrong", "", {"on x=2: reshard f32[8@x] -> f32[8]+x", "on x=2,y=2: reshard f32[8]+x -> f32[8]+y"}, block(leave_half_an_ulp)},
    {"shifts-short", "blocks shorter than the first are off by one element", "wrong", "", {"on x=3: reshard f32[11,2@x] -> f32[11@x,2]"}, block(shift_short)},
    {"drops-kept", "forgets what a device holds already: a permute without the pairs i to i", "wrong", "", {"on x=2,y=2: reshard f32[8@x.y] -> f32[8@y.x]"}, plan(drop_kept)},
    {"stale-block", "returns a block of the case before", "wrong", "", {"on x=4: reshard f32[8] -> f32[8@x] seed=1", "on x=4: reshard f32[8] -> f32[8@x] seed=2"}, block(stale_block())},
    {"keeps-operands", "answers with the data of the first case of the same shapes", "wrong", "", {gather, swap}, reply(keep_operands())},
    {"keeps-answers", "answers a line once, and again with the same bytes, whatever the data", "wrong", "--reruns 1", {gather}, reply(keep_answers())},
    {"zeroes-operand", "takes the last element of an operand for zero: a lost term", "wrong", "", {matmul}, block(zero_operand)},
    {"pairs-others", "multiplies operand blocks that do not belong together", "wrong", "", {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]"}, block(pair_others())},
    {"divides-other-side", "cuts an operand that is split over its last dimension as if over the others", "wrong", "", {"on x=2: grouped fwd f32[8,4] f32[2,4,6@x] sizes=3,5 -> f32[8,6@x]"}, block(divide_other_side)},
    {"misaligns-part", "adds one part of a product half a block off: a row to another row", "wrong", "", {"on x=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,4] -> f32[8@x,4]"}, block(misalign_part)},
    {"transposes-operand", "takes a square operand for its transpose", "wrong", "", {matmul}, plan(transpose_operand)},
    {"shifts-boundary", "gives the first row of the second group to the first", "wrong", "", {"on x=2: grouped fwd f32[8@x,4] f32[2,4,4] sizes=3,5 -> f32[8@x,4]"}, plan(shift_boundary)},
    {"groups-the-tail", "multiplies rows that belong to no group by the last one's weights", "wrong", "", {forward}, plan(group_the_tail)},
    {"fills-empty-group", "gives an empty group the gradient of the next", "wrong", "", {weights}, plan(fill_empty_group)},
    {"rotates-groups", "multiplies every group by its neighbour's weights", "wrong", "", {forward}, plan(rotate_groups)},

    {"multiplies-unquantized", "multiplies operands as they are, not quantized", "wrong", "", {quantized}, plan(use_unquantized)},
    {"casts-unscaled", "casts values to codes without a scale", "wrong", "", {per_tensor}, plan(cast_unscaled)},
    {"scales-locally", "scales by the largest magnitude of the device's own block", "wrong", "", {per_tensor}, plan(scale_locally)},
    {"scales-operand-locally", "quantizes an operand by the largest magnitude of the device's own block", "wrong", "", {"on x=2,y=2: einsum mk,kn->mn bf16[8@x,32@y]~fp8 bf16[32,4]~fp8 -> f32[8@x,4]"}, plan(scale_locally)},
    {"forgets-one-axis", "reduces largest magnitudes along all axes but one", "wrong", "", {per_tensor}, plan(forget_one_axis)},
    {"scales-along-another", "reduces largest magnitudes along an axis that is not of the submesh", "wrong", "", {"on tp=2 of dp=2,tp=2: quantize fp8 bf16[8@tp,16] -> f8e4m3[8@tp,16] f32[]"}, plan(scale_along_another)},
    {"observes-locally", "keeps the largest magnitude of one device's block in the history", "wrong", "", {delayed}, plan(scale_locally)},
    {"gathers-no-history", "takes what a device lacks of a history for zero", "wrong", "", {"on x=4: quantize fp8 bf16[8@x,16] f32[16@x] f32[] -> f8e4m3[8@x,16] f32[] f32[16@x] f32[]"}, plan(gather_no_history)},
    {"keeps-history", "does not move the history on", "wrong", "", {delayed}, block(keep_history)},
    {"inverts-otherwise", "takes amax / largest code for the scale of codes, which 1 / (largest code / amax) is not in its last bit", "wrong", "", {per_tensor}, plan(invert_otherwise)},
    {"divides-by-scale", "divides values by the scale of codes, where they are multiplied by its inverse", "wrong", "", {per_tensor, delayed}, plan(divide_by_scale)},
    {"rounds-ties-away", "takes what lies half way between two codes away from zero", "wrong", "", {columnwise}, plan(round_ties_away)},
    {"rounds-scales-down", "rounds the scale of a block down, which clips its largest value", "wrong", "", {columnwise}, plan(round_scales_down)},
    {"clips-operand", "rounds the scales of an operand's blocks down", "wrong", "", {quantized}, plan(round_scales_down)},
    {"restarts-blocks", "begins blocks anew at the edge of a shard", "wrong", "", {"on x=2: einsum mk,kn->mn bf16[4,96@x]~mxfp8 bf16[96@x,4] -> f32[4,4]"}, plan(restart_blocks)},
    {"transposes-scales", "takes the codes of rows, turned around, for those of columns", "wrong", "", {columnwise}, plan(transpose_scales)},
    {"transposes-blocks", "quantizes an operand along the dimension that is not contracted", "wrong", "", {"on x=2: einsum mk,kn->mn bf16[8@x,64] bf16[64,64]~mxfp8 -> f32[8@x,64]"}, plan(transpose_scales)},
    {"shares-scales", "scales all groups by one scale", "wrong", "", {"on ep=2: grouped fwd bf16[8@ep,32]~fp8 bf16[4@ep,32,4]~fp8 sizes=2,1,3,2 -> f32[8@ep,4]"}, plan(share_scales)},
    {"scales-the-tail", "takes rows of no group into the last block", "leaked", "", {"on x=2: quantize mxfp8 bf16[96@x,4] sizes=33,31 -> f8e4m3[96@x,4] e8m0[3,4]"}, plan(scale_the_tail)},
    {"leaks-scales", "returns padding as the last scale", "leaked", "", {columnwise}, block(leak_scales)},

    {"negates-zeros", "one replica has -0 for 0", "diverged", "", {weights}, block(negate_zeros)},
    {"adds-from-own", "each device adds up all parts for itself, from its own place on", "diverged", "", {"on x=4: reshard f32[64]+x -> f32[64] fill=normal"}, plan(add_from_own)},
    {"changes-replica", "one replica's sum ends in another bit, within every bound", "diverged", "", {"on x=2: einsum mk,kn->mn f32[4,256@x] f32[256@x,4] -> f32[4,4] fill=normal"}, block(change_replica)},
    {"changes-reruns", "every second run of a case ends in another bit", "unstable", "--reruns 1", {gather}, reply(change_reruns())},

    {"truncates-sums", "adds up products in one digit less, and says that it has no such engine", "mistrusted", "", {rounding, rounding_rows}, block(cut_last_digit)},
    {"answers-no-question", "the same, and says unsupported when it is asked how its engine adds up", "mistrusted", "", {rounding, rounding_rows}, {.plan = {}, .block = cut_last_digit, .reply = refuse_long}},
    {"reneges-questions", "the same, and fails at what it is asked then", "mistrusted", "", {rounding, rounding_rows}, {.plan = {}, .block = cut_last_digit, .reply = renege_long}},
    {"hangs-on-questions", "the same, and never replies then", "mistrusted", "--timeout 2", {rounding}, {.plan = {}, .block = cut_last_digit, .reply = hang_on_long}},
    {"hides-a-collective", "leaves the collective that moved the bytes out of its trace", "mistrusted", "", {gather}, reply(hide_collective)},
    {"hides-its-sum", "leaves the sum of a result that was left to it out of its trace", "mistrusted", "", {"on x=2: reshard f32[8]+x -> f32[8]?"}, reply(hide_collective)},
    {"hides-a-gather", "says of a product a gather of one operand and a sum, and leaves the other gather out", "mistrusted", "", {"on x=2,y=2: einsum mk,kn->mn f32[8@x,8@y] f32[8@y,8@x] -> f32[8,8]"}, reply(hide_gather)},
    {"moves-along-another", "reports its collectives along the axes that they do not take", "mistrusted", "", {"on x=2,y=2: reshard f32[8@x] -> f32[8]"}, reply(move_along_another)},
    {"multiplies-what-it-lacks", "leaves the sum of a product out of its trace", "mistrusted", "", {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4@x,4]"}, reply(hide_collective)},
    {"moves-nothing", "says of groups and scales on several devices that no collective brought them together", "mistrusted", "", {weights, "on x=2: grouped fwd f32[8@x,4] f32[2@x,4,6] sizes=3,5 -> f32[8@x,6]", per_tensor, "on x=2: quantize mxfp8 bf16[64@x,96] -> f8e4m3[64,96] e8m0[64,3]"}, reply(move_nothing)},
    {"hides-behind-slices", "claims slices and no layout of a result that was left to it, and no collective", "mistrusted", "", {"on x=2: reshard f32[8]+x -> f32[8]?"}, reply(hide_behind_slices)},
    {"sums-half", "leaves the half of a product's sum that gathers it out of its trace", "mistrusted", "", {"on x=2,y=3: einsum mk,kn->mn f32[6@x,12@y] f32[12@y,4] -> f32[6@x,4]"}, reply(hide_collective)},
    {"gathers-nothing", "reports a collective that makes bytes of none", "mistrusted", "", {gather}, reply(gather_nothing)},
    {"hides-in-an-operand", "says that an operand was larger than any array of the case", "mistrusted", "", {swap}, reply(hide_in)},
    {"reduces-half", "says that it added up half of a product", "mistrusted", "", {"on x=2: einsum mk,kn->mn f32[4,8@x] f32[8@x,4] -> f32[4,4]", "on x=2: einsum mk,kn->mn f32[4,2@x] f32[2@x,4] -> f32[4,4]"}, reply(reduce_half)},
    {"gathers-one", "calls a broadcast a gather", "mistrusted", "", {gather}, reply(call_broadcast_gather)},
    {"takes-the-maximum", "says of a sum that the largest part was taken", "mistrusted", "", {"on x=4: reshard f32[16]+x -> f32[16@x]"}, reply(take_maximum)},
    {"says-bf16", "says that it moved exact sums of f32 as bf16", "mistrusted", "", {"on x=4: reshard f32[16]+x -> f32[16@x]"}, reply(narrow_trace)},
    {"reverses-order", "says that it gathered the parts of a sum, and then scattered it", "mistrusted", "", {sum_to_all}, reply(reverse_trace)},
    {"exchanges-axes", "says of a sum over two axes that the first was gathered, where it was the second", "mistrusted", "", {"on x=2,y=2: reshard f32[8]+x.y -> f32[8@x]"}, reply(exchange_axes)},
    {"adds-integers", "says that s8 were added up where sums of f32 were gathered then", "mistrusted", "", {sum_to_all}, reply(reduce_integers)},
    {"scatters-by-exchange", "calls a reduce-scatter an all-to-all", "mistrusted", "", {sum_to_all}, reply(call_scatter_plain_exchange)},
    {"broadcasts-gathers", "calls a gather of several devices' blocks a broadcast", "mistrusted", "", {gather, "on x=2,y=2: reshard f32[8@y]+x -> f32[8]"}, reply(broadcast_gathers)},
    {"loses-count", "does not say how many bytes moved where their number is limited", "mistrusted", "--max-waste 1", {gather}, reply(lose_count)},

    {"gathers-everything", "moves by way of the whole array on every device", "wasteful", "--max-waste 1", {swap}, plan(gather_everything)},
    {"gathers-what-is-free", "gathers the result that was left to it, and cuts it again", "wasteful", "--max-waste 1", {left}, plan(gather_everything)},
    {"gathers-operands", "multiplies whole operands on every device", "wasteful", "--max-waste 1", {matmul}, plan(gather_operands)},
    {"reduces-zeros", "adds zeros to a finished result", "wasteful", "--max-waste 1", {"on x=2,y=2: reshard f32[8@x] -> f32[8@y]"}, plan(reduce_zeros)},
    {"reduces-apart", "takes a reduce-scatter for each axis where it has a group of them all", "wasteful", "--max-collectives 1", {"on dp=2,pp=2,tp=2: reshard f32[8]+dp.pp.tp -> f32[8@dp.pp.tp]"}, reply(reduce_apart)},
    {"copies-twice", "moves every cell twice", "wasteful", "--max-waste 1", {gather}, plan(copy_twice)},
  };
  return rows;
}
// clang-format on

}  // namespace

std::span<const Fault> faults() { return table(); }

const Fault* fault_named(std::string_view name) {
  for (const Fault& fault : faults())
    if (fault.name == name) return &fault;
  return nullptr;
}

std::string list_faults() {
  std::string text;
  for (const Fault& f : faults())
    text += fmt::format(R"({{"name":{},"says":{},"status":{},"flags":{},"cases":{}}})", json_text(f.name),
                        json_text(f.says), json_text(f.status), json_text(f.flags), dump(f.cases)) +
            "\n";
  return text;
}

}  // namespace plumb::liar
