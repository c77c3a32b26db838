#include "reference/hlo/module/attribute.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

// clang-format off
constexpr KeyRow kKeys[] = {
    {Key::batch_group_count, "batch_group_count", Form::integer},
    {Key::body, "body", Form::computation},
    {Key::branch_computations, "branch_computations", Form::computations},
    {Key::called_computations, "called_computations", Form::computations},
    {Key::calls, "calls", Form::computation},
    {Key::channel_id, "channel_id", Form::integer},
    {Key::collapsed_slice_dims, "collapsed_slice_dims", Form::integers},
    {Key::condition, "condition", Form::computation},
    {Key::custom_call_has_side_effect, "custom_call_has_side_effect", Form::boolean},
    {Key::custom_call_target, "custom_call_target", Form::text},
    {Key::dim_labels, "dim_labels", Form::word},
    {Key::dimensions, "dimensions", Form::integers},
    {Key::direction, "direction", Form::word},
    {Key::dynamic_slice_sizes, "dynamic_slice_sizes", Form::integers},
    {Key::feature_group_count, "feature_group_count", Form::integer},
    {Key::index, "index", Form::integer},
    {Key::index_vector_dim, "index_vector_dim", Form::integer},
    {Key::indices_are_sorted, "indices_are_sorted", Form::boolean},
    {Key::input_batching_dims, "input_batching_dims", Form::integers},
    {Key::inserted_window_dims, "inserted_window_dims", Form::integers},
    {Key::iota_dimension, "iota_dimension", Form::integer},
    {Key::is_stable, "is_stable", Form::boolean},
    {Key::k, "k", Form::integer},
    {Key::kind, "kind", Form::word},
    {Key::largest, "largest", Form::boolean},
    {Key::lhs_batch_dims, "lhs_batch_dims", Form::integers},
    {Key::lhs_contracting_dims, "lhs_contracting_dims", Form::integers},
    {Key::lhs_ragged_dims, "lhs_ragged_dims", Form::integers},
    {Key::offset_dims, "offset_dims", Form::integers},
    {Key::operand_batching_dims, "operand_batching_dims", Form::integers},
    {Key::padding, "padding", Form::padding},
    {Key::replica_groups, "replica_groups", Form::groups},
    {Key::rhs_batch_dims, "rhs_batch_dims", Form::integers},
    {Key::rhs_contracting_dims, "rhs_contracting_dims", Form::integers},
    {Key::rhs_group_dims, "rhs_group_dims", Form::integers},
    {Key::scatter, "scatter", Form::computation},
    {Key::scatter_dims_to_operand_dims, "scatter_dims_to_operand_dims", Form::integers},
    {Key::scatter_indices_batching_dims, "scatter_indices_batching_dims", Form::integers},
    {Key::select, "select", Form::computation},
    {Key::slice, "slice", Form::ranges},
    {Key::slice_sizes, "slice_sizes", Form::integers},
    {Key::source_target_pairs, "source_target_pairs", Form::pairs},
    {Key::start_index_map, "start_index_map", Form::integers},
    {Key::start_indices_batching_dims, "start_indices_batching_dims", Form::integers},
    {Key::to_apply, "to_apply", Form::computation},
    {Key::type, "type", Form::word},
    {Key::unique_indices, "unique_indices", Form::boolean},
    {Key::update_window_dims, "update_window_dims", Form::integers},
    {Key::use_global_device_ids, "use_global_device_ids", Form::boolean},
    {Key::window, "window", Form::window},
    {Key::exponent_bits, "exponent_bits", Form::integer},
    {Key::mantissa_bits, "mantissa_bits", Form::integer},
    {Key::algorithm, "algorithm", Form::word},  // of random bits; of a dot: rounding
    {Key::sharding, "sharding", Form::sharding},
    {Key::frontend_attributes, "frontend_attributes", Form::frontend},
    {Key::metadata, "metadata", Form::metadata},
    {Key::control_predecessors, "control-predecessors", Form::harmless},  // an order in time
    {Key::origin, "origin", Form::harmless},                              // a debugger's
    {Key::operand_precision, "operand_precision", Form::harmless},        // rounding
    {Key::backend_config, "backend_config", Form::harmless},              // schedules; of a custom-call kept
    {Key::result_accuracy, "result_accuracy", Form::harmless},            // rounding
    {Key::async_execution_thread, "async_execution_thread", Form::harmless},          // who does it
    {Key::output_to_operand_aliasing, "output_to_operand_aliasing", Form::harmless},  // memory
    {Key::api_version, "api_version", Form::harmless},                                // how it is called
    {Key::operand_layout_constraints, "operand_layout_constraints", Form::harmless},  // memory
};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < std::size(kKeys); ++i)
    if (static_cast<std::size_t>(kKeys[i].key) != i) return false;
  return true;
}());

}  // namespace

const KeyRow& row(Key key) { return kKeys[static_cast<int>(key)]; }

std::optional<Key> key_named(std::string_view name) {
  for (const KeyRow& row : kKeys)
    if (row.name == name) return row.key;
  return std::nullopt;
}

}  // namespace plumb::hlo
