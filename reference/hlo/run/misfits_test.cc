// Lines that are read and cannot mean anything: each is refused with its place when it runs.
#include <gtest/gtest.h>

#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

constexpr const char* kComputations = R"(
%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}

%swap (x: f32[], y: f32[]) -> (f32[], f32[]) {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = (f32[], f32[]) tuple(%y, %x)
}

%whole (x: f32[], y: f32[]) -> s32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = s32[] constant(1)
}

%wide (x: f32[], y: f32[]) -> f32[1] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[1] broadcast(%x), dimensions={}
}

%where (x: f32[], y: f32[]) -> u32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = u32[] partition-id()
}

%told (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] all-reduce(%x), replica_groups={}, to_apply=%add
}

%less (x: f32[], y: f32[]) -> pred[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = pred[] compare(%x, %y), direction=LT
}

%same (x: f32[2,4]) -> f32[2,4] {
  ROOT %x = f32[2,4] parameter(0)
}

%no (x: f32[2,4]) -> pred[] {
  %x = f32[2,4] parameter(0)
  ROOT %p = pred[] constant(false)
}

%sure (x: f32[2,4]) -> pred[1] {
  %x = f32[2,4] parameter(0)
  ROOT %p = pred[1] constant({0})
}

ENTRY %e {
  %a = f32[2,4] iota(), iota_dimension=1
  %f3 = f32[3] iota(), iota_dimension=0
  %h = f16[2,4] iota(), iota_dimension=1
  %n = s32[2,4] iota(), iota_dimension=1
  %p = pred[] constant(true)
  %p2 = pred[2] constant({1, 0})
  %x = f32[] constant(1)
  %i = s32[] constant(1)
  %i2 = s32[2] constant({0, 1})
  %u = u32[] partition-id()
  %d = s32[] convert(%u)
  %t = (f32[], s32[]) tuple(%x, %i)
  )";

std::string message(const std::string& line) {
  const std::string text =
      "HloModule m, num_partitions=2\n" + std::string(kComputations) + "ROOT " + line + "\n}\n";
  const Module module = parse(text, "m.txt");
  Reals reals;
  try {
    evaluate(Machine<Reals>{module, reals, 2, {}}, entry(module), {}, {});
    return "no error";
  } catch (const BadModule& error) {
    const std::string said = error.what();
    const bool shown = said.find("ROOT %") != said.npos || said.find("%r = ") != said.npos;
    EXPECT_TRUE(shown) << said;
    return said.substr(said.find(": ") + 2, said.find('\n') - said.find(": ") - 2);
  }
}

// clang-format off
TEST(Misfits, ATableOfLines) {
  const std::pair<const char*, const char*> table[] = {
      {"%r = f32[2,4] iota(), iota_dimension=2", "iota_dimension= is one of the result's"},
      {"%r = f32[2,4] iota(), iota_dimension=-1", "iota_dimension= is one of the result's"},
      {"%r = f32[2,4] negate(%t)", "an array as operand"},
      {"%r = f32[2,4] copy(%f3)", "the result has another shape"},
      {"%r = f16[2,4] copy(%a)", "the result has another shape"},
      {"%r = (f32[], s32[]) copy(%a)", "the result has another shape"},
      {"%r = f32[] copy(%t)", "the result has another shape"},
      {"%r = (f32[]) copy(%t)", "the result has another shape"},
      {"%r = (f32[], f32[]) copy(%t)", "the result has another shape"},
      {"%r = f32[4,2] negate(%a)", "the result has the operand's extents"},
      {"%r = f16[2,4] negate(%a)", "the result has the operand's type"},
      {"%r = pred[2,4] is-finite(%n)", "a predicate of floats"},
      {"%r = s32[2,4] is-finite(%a)", "a predicate of floats"},
      {"%r = s32[2,4] sine(%n)", "no operation of integers"},
      {"%r = f32[2,4] popcnt(%a)", "no operation of floats"},
      {"%r = f32[2,4] add(%a, %f3)", "operands of one shape"},
      {"%r = f32[2,4] add(%a, %h)", "operands of one shape"},
      {"%r = f32[2,4] and(%a, %a)", "no operation of floats"},
      {"%r = pred[2,4] compare(%a, %f3), direction=EQ", "a predicate of two operands of one shape"},
      {"%r = pred[2,4] compare(%a, %h), direction=EQ", "a predicate of two operands of one shape"},
      {"%r = pred[3] compare(%a, %a), direction=EQ", "a predicate of two operands of one shape"},
      {"%r = s32[2,4] compare(%a, %a), direction=EQ", "a predicate of two operands of one shape"},
      {"%r = pred[2,4] compare(%a, %a), direction=XX", "direction= is EQ, NE, LT, LE, GT or GE"},
      {"%r = pred[2,4] compare(%a, %a), direction=QN", "direction= is EQ, NE, LT, LE, GT or GE"},
      {"%r = pred[2,4] compare(%a, %a), direction=E", "direction= is EQ, NE, LT, LE, GT or GE"},
      {"%r = f32[2,4] select(%i, %a, %a)", "a predicate and two of one shape"},
      {"%r = f32[2,4] select(%p, %a, %h)", "a predicate and two of one shape"},
      {"%r = f32[2,4] select(%p, %a, %f3)", "a predicate and two of one shape"},
      {"%r = f32[2,4] select(%p2, %a, %a)", "a scalar, or as many elements as the others"},
      {"%r = f32[2,4] clamp(%f3, %a, %x)", "a scalar, or as many elements as the others"},
      {"%r = f16[4,2] convert(%a)", "the result has the operand's extents"},
      {"%r = f16[2,4] bitcast-convert(%a)", "integers whose bits are those of the operand"},
      {"%r = s32[4,2] bitcast-convert(%a)", "the result has the operand's extents"},
      {"%r = bf16[2,4] bitcast-convert(%h)", "floats of one format"},
      {"%r = f32[4,2] reshape(%f3)", "as many elements, of one type"},
      {"%r = f16[4,2] reshape(%a)", "as many elements, of one type"},
      {"%r = f16[4,2] transpose(%a), dimensions={1,0}", "the result has the operand's type"},
      {"%r = f32[2,4] concatenate(%a, %a), dimensions={0,1}", "one dimension"},
      {"%r = f32[] concatenate(%x, %x), dimensions={0}", "one dimension"},
      {"%r = f32[4,4] concatenate(%a, %h), dimensions={0}", "operands of one type"},
      {"%r = f32[5,4] concatenate(%a, %a), dimensions={0}", "the result holds the operands and no more"},
      {"%r = f32[3,4] concatenate(%a, %a), dimensions={0}", "the result holds the operands side by side"},
      {"%r = f32[2,5] pad(%a, %f3), padding=0_0x0_1", "a scalar fills"},
      {"%r = f32[2,5] pad(%a, %i), padding=0_0x0_1", "a scalar fills"},
      {"%r = f32[1,2] dynamic-slice(%a, %i, %i), dynamic_slice_sizes={1,3}", "the result has the sizes of the slice"},
      {"%r = f32[1,2] dynamic-slice(%a, %i), dynamic_slice_sizes={1,2}", "a start for each dimension"},
      {"%r = f32[1,2] dynamic-slice(%a, %i, %x), dynamic_slice_sizes={1,2}", "starts are integers"},
      {"%r = f32[1,2] dynamic-slice(%a, %i, %i2), dynamic_slice_sizes={1,2}", "starts are integers"},
      {"%r = f16[1,2] dynamic-slice(%a, %i, %i), dynamic_slice_sizes={1,2}", "the result has the operand's type"},
      {"%r = f32[1,5] dynamic-slice(%a, %i, %i), dynamic_slice_sizes={1,5}", "a block that is no larger than what it is cut of: XLA refuses such a module, too"},
      {"%r = f32[2,4] dynamic-update-slice(%a, %h, %i, %i)", "an update of the operand's type"},
      {"%r = f32[2,4] dynamic-update-slice(%a, %f3, %i, %i)", "an extent of the block for each dimension"},
      {"%r = f32[2,4] gather(%a, %x), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=0, slice_sizes={}",
       "integers that index, and the operand's type"},
      {"%r = f16[2,4] gather(%a, %i), offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim=0, slice_sizes={}",
       "integers that index, and the operand's type"},
      {"%r = f32[2,2] dot(%a, %n), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "floats, or integers"},
      {"%r = s32[2,2] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "floats, or integers"},
      {"%r = f32[2,4] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "contracted dimensions of one extent"},
      {"%r = f32[2,4,4] dot(%a, %a), lhs_batch_dims={0}, rhs_batch_dims={1}", "batch dimensions of one extent"},
      {"%r = f32[2,2] dot(%a, %a), lhs_contracting_dims={1}", "dimensions in pairs"},
      {"%r = f32[2,4,2,4] dot(%a, %a), lhs_batch_dims={0}", "dimensions in pairs"},
      {"%r = f32[4,2] dot(%a, %a), lhs_contracting_dims={1}, rhs_contracting_dims={1}", "the result has the batch, the rows and the columns"},
      {"%r = f32[2,2] convolution(%a, %n), dim_labels=bf_oi->bf", "floats, or integers"},
      {"%r = s32[2,2] convolution(%a, %a), dim_labels=bf_oi->bf", "floats, or integers"},
      {"%r = f32[2,4] reduce(%a, %x, %x), dimensions={}, to_apply=%add", "an initial value for each operand"},
      {"%r = f32[2,4] reduce(%a, %f3), dimensions={}, to_apply=%add", "operands of one extent, and an initial value of the type of each"},
      {"%r = f32[2,4] reduce(%a, %i), dimensions={}, to_apply=%add", "operands of one extent, and an initial value of the type of each"},
      {"%r = (f32[4], f32[4]) reduce(%a, %f3, %x, %x), dimensions={0}, to_apply=%swap", "operands of one extent, and an initial value of the type of each"},
      {"%r = f32[2] reduce(%a, %x), dimensions={2}, to_apply=%add", "a dimension that the operand has"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1,1}, to_apply=%add", "each dimension of the operand once"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%same", "a computation of as many scalars as there are operands, twice"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%swap", "a computation with a result for each operand"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%whole", "scalars of the operands' types"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%wide", "scalars of the operands' types"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%where", "no devices within a reduction"},
      {"%r = f32[2] reduce(%a, %x), dimensions={1}, to_apply=%told", "no collective within a reduction"},
      {"%r = f32[1] reduce-window(%f3, %x), window={size=3x1}, to_apply=%add", "a window for each dimension"},
      {"%r = f32[1,1] reduce-window(%f3, %x), window={size=3}, to_apply=%add", "the result has a place for each window"},
      {"%r = f32[2] reduce-window(%f3, %x), window={size=3}, to_apply=%add", "the result has a place for each window"},
      {"%r = f32[1] reduce-window(%f3, %x), window={size=3 rhs_reversal=1}, to_apply=%add", "a window that is not reversed"},
      {"%r = f32[2,4] map(%a, %f3), to_apply=%add", "operands of one extent"},
      {"%r = f32[2,4] map(%a, %a), to_apply=%swap", "one result"},
      {"%r = f32[2,4] map(%a, %a), to_apply=%whole", "the result has another shape"},
      {"%r = f32[2,4] sort(%a), dimensions={2}, to_apply=%less", "one dimension of the operands"},
      {"%r = f32[2,4] sort(%a), dimensions={-1}, to_apply=%less", "one dimension of the operands"},
      {"%r = f32[2,4] sort(%a), dimensions={0,1}, to_apply=%less", "one dimension of the operands"},
      {"%r = (f32[2,4], f32[3]) sort(%a, %f3), dimensions={0}, to_apply=%less", "operands of one extent"},
      {"%r = f32[2,4] sort(%a), dimensions={1}, to_apply=%add", "a computation whose result is a predicate"},
      {"%r = (f32[2,4], s32[2,4]) topk(%a), k=5, largest=true", "k of the last dimension"},
      {"%r = (f32[2,4], s32[2,4]) topk(%a), k=-1, largest=true", "k of the last dimension"},
      {"%r = (f32[]) topk(%x), k=0, largest=true", "k of the last dimension"},
      {"%r = (f32[2,4], f32[2,4]) topk(%a), k=4, largest=true", "places are integers"},
      {"%r = f32[] get-tuple-element(%t), index=2", "index= is of the tuple"},
      {"%r = f32[] get-tuple-element(%t), index=-1", "index= is of the tuple"},
      {"%r = f32[2,4] while(%a), condition=%same, body=%same", "a condition whose result is a predicate"},
      {"%r = f32[2,4] while(%a), condition=%sure, body=%same", "a condition whose result is a predicate"},
      {"%r = f32[2,4] conditional(%i, %a, %a), branch_computations={%same}", "an operand for each branch"},
      {"%r = f32[2,4] conditional(%i2, %a), branch_computations={%same}", "an operand for each branch"},
      {"%r = f32[2,4] conditional(%t, %a), branch_computations={%same}", "an operand for each branch"},
      {"%r = f32[2,4] conditional(%x, %a), branch_computations={%same}", "an s32 index, or a predicate of two"},
      {"%r = f32[2,4] conditional(%p, %a), branch_computations={%same}", "an s32 index, or a predicate of two"},
      {"%r = f32[2,4] call(), to_apply=%same", "as many arguments as parameters"},
      {"%r = f32[2,12] all-gather(%a), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={2}", "one dimension of the operand"},
      {"%r = f32[2,8] all-gather(%a), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={-1}", "one dimension of the operand"},
      {"%r = f32[2,8] all-gather(%a), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0,1}", "one dimension of the operand"},
      {"%r = f32[1] reduce-scatter(%f3), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=%add",
       "a chunk of the operand for each member"},
      {"%r = f32[3] all-to-all(%f3), channel_id=1, replica_groups={{0,1}}, dimensions={0}", "a chunk of the operand for each member"},
      {"%r = (f32[3]) all-to-all(%f3), channel_id=1, replica_groups={{0,1}}", "an operand for each member"},
      {"%r = (f32[2,4], f32[3]) all-to-all(%a, %f3), channel_id=1, replica_groups={{0,1}}", "operands of one shape"},
      {"%r = (f32[2,4], f16[2,4]) all-to-all(%a, %h), channel_id=1, replica_groups={{0,1}}", "operands of one shape"},
      {"%r = f32[2,4] custom-call(%a, %a), custom_call_target=\"Sharding\"", "one operand"},
      {"%r = f32[2,4] custom-call(%a), custom_call_target=\"SPMDFullToShardShape\"", "a sharding"},
      {"%r = f32[2,4] custom-call(%a), custom_call_target=\"SPMDShardToFullShape\"", "a sharding"},
      {"%r = f32[2,4] custom-call(%t), custom_call_target=\"SPMDShardToFullShape\", sharding={replicated}", "an array"},
      {"%r = f32[4,4] custom-call(%a), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[1,2]<=[2]}", "the tiles of the array that devices hold"},
      {"%r = f32[2,4] custom-call(%a), custom_call_target=\"SPMDShardToFullShape\", sharding={maximal device=1}",
       "unsupported: a border of a manual region whose layout is not said"},
      {"%r = (f32[2,4], f32[2,4]) scatter(%a, %f3, %i2, %a, %a), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%swap",
       "operands of one extent, and updates of the type of each"},
      {"%r = (f32[2,4], f32[2,4]) scatter(%a, %a, %i2, %a, %f3), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%swap",
       "operands of one extent, and updates of the type of each"},
      {"%r = (f32[2,4], f32[2,4]) scatter(%a, %a, %i2, %a, %h), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%swap",
       "operands of one extent, and updates of the type of each"},
      {"%r = f32[2,4] select-and-scatter(%a, %a, %f3), window={size=1x1}, select=%less, scatter=%add", "a source and an initial value of the operand's type"},
      {"%r = f32[2,4] select-and-scatter(%a, %a, %i), window={size=1x1}, select=%less, scatter=%add", "a source and an initial value of the operand's type"},
      {"%r = f32[2,4] select-and-scatter(%a, %n, %x), window={size=1x1}, select=%less, scatter=%add", "a source and an initial value of the operand's type"},
      {"%r = f32[2,4] select-and-scatter(%a, %f3, %x), window={size=1x1}, select=%less, scatter=%add", "the source has a place for each window"},
      {"%r = f32[2,4] select-and-scatter(%a, %a, %x), window={size=1}, select=%less, scatter=%add", "a window for each dimension"},
      {"%r = f32[2,4] select-and-scatter(%a, %a, %x), window={size=1x1}, select=%add, scatter=%add", "select= says which of two"},
      {"%r = f32[2,2] ragged-dot(%a, %a, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}", "integers are sizes"},
      {"%r = f32[2,2] ragged-dot(%a, %a, %i), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}", "a list of sizes"},
      {"%r = f32[2,2] ragged-dot(%a, %a, %i2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={2}", "one ragged dimension"},
      {"%r = f32[2,2] ragged-dot(%a, %a, %i2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0,1}", "one ragged dimension"},
      {"%r = f32[2,2] ragged-dot(%a, %a, %i2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}", "a matrix for each group"},
      {"%r = f32[4] ragged-dot(%a, %a, %i2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={1}", "a matrix for each group"},
      {"%r = f32[2,4] ragged-dot(%a, %a, %i2), lhs_contracting_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={1}", "batch and contracted dimensions of one extent"},
      {"%r = f32[2,4,1] ragged-dot(%a, %a, %i2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}, rhs_group_dims={1}", "rhs has groups where rows do"},
      {"%r = f32[4,4] ragged-dot(%a, %a, %i2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}", "the result has the groups, the batch, the rows and the columns"},
      {"%r = f32[2] ragged-dot(%a, %a, %a), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}", "integers are sizes"},
  };
  for (const auto& [line, want] : table) EXPECT_EQ(message(line), want) << line;
}
// clang-format on

// What is said of an attribute points at it.
TEST(Misfits, TheAttributeThatDoesNotFit) {
  const std::string text =
      "HloModule m, num_partitions=2\n\nENTRY %e {\n  %x = s32[] constant(1)\n"
      "  ROOT %r = s32[] collective-permute(%x), source_target_pairs={{0,1}}, channel_id=1, "
      "sharding={replicated}\n}\n";
  const Module module = parse(text, "m.txt");
  try {
    refuse(module, entry(module).instructions[1], "source_target_pairs= name each target once");
  } catch (const BadModule& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, 11), "m.txt:5:43:") << error.what();
  }
}

// Beside each of those stands one that is right.
TEST(Misfits, WhatFits) {
  for (const char* line :
       {"%r = f32[2,4] iota(), iota_dimension=0", "%r = f32[5,4] pad(%a, %x), padding=1_2x0_0",
        "%r = f32[2,4] select(%p, %a, %a)", "%r = f32[4,4] concatenate(%a, %a), dimensions={0}",
        "%r = (f32[2,0], s32[2,0]) topk(%a), k=0, largest=true",
        "%r = (f32[2,4], s32[2,4]) topk(%a), k=4, largest=true", "%r = s32[] get-tuple-element(%t), index=1",
        "%r = f32[2,4] conditional(%i, %a), branch_computations={%same}",
        "%r = f32[2,4] while(%a), condition=%no, body=%same", "%r = token[] after-all()",
        "%r = f32[] reduce-window(%x, %x), window={}, to_apply=%add",
        "%r = f32[2,4] reduce(%a, %x), dimensions={}, to_apply=%add",
        "%r = f32[2,4] select-and-scatter(%a, %a, %x), window={size=1x1}, select=%less, scatter=%add",
        "%r = f32[2] ragged-dot(%a, %a, %i2), lhs_batch_dims={0}, rhs_batch_dims={0}, "
        "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
        "%r = f32[2,4,4] ragged-dot(%a, %a, %i2), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
        "lhs_ragged_dims={0}"})
    EXPECT_EQ(message(line), "no error") << line;
}

}  // namespace
}  // namespace plumb::hlo
