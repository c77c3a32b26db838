// The attributes that instructions carry, each with the form of its value.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/hlo/module/order.h"

namespace plumb::hlo {

// clang-format off
enum class Key : std::uint8_t {
  batch_group_count, body, branch_computations, called_computations, calls, channel_id, collapsed_slice_dims, condition,
  custom_call_has_side_effect, custom_call_target, dim_labels, dimensions, direction, dynamic_slice_sizes,
  feature_group_count, index, index_vector_dim, indices_are_sorted, input_batching_dims, inserted_window_dims,
  iota_dimension, is_stable, k, kind, largest, lhs_batch_dims, lhs_contracting_dims, lhs_ragged_dims, offset_dims,
  operand_batching_dims, padding, replica_groups, rhs_batch_dims, rhs_contracting_dims, rhs_group_dims,
  scatter, scatter_dims_to_operand_dims, scatter_indices_batching_dims, select, slice, slice_sizes,
  source_target_pairs, start_index_map, start_indices_batching_dims, to_apply, type, unique_indices,
  update_window_dims, use_global_device_ids, window, exponent_bits, mantissa_bits, algorithm,
  // Of every instruction.
  sharding, frontend_attributes, metadata, control_predecessors, origin, operand_precision, backend_config,
  result_accuracy, async_execution_thread, output_to_operand_aliasing, api_version, operand_layout_constraints
};
// clang-format on

// How a value is written.
enum class Form : std::uint8_t {
  boolean,       // true
  integer,       // 3
  integers,      // {0,1}
  word,          // LT
  text,          // "Sharding"
  computation,   // %add
  computations,  // {%a, %b}
  ranges,        // {[0:4], [1:8:2]}
  padding,       // 1_2x0_3_1
  window,        // {size=3x3 stride=2x2 pad=1_1x1_1}
  pairs,         // {{0,1},{1,0}}
  groups,        // {{0,1},{2,3}}
  sharding,      // {replicated}
  frontend,      // {key="value",other={...}}
  metadata,      // {op_name="add" stack_frame_id=3}
  harmless       // whatever stands there says nothing of values
};

struct KeyRow {
  Key key;
  std::string_view name;
  Form form;
};

const KeyRow& row(Key);
std::optional<Key> key_named(std::string_view);

struct Range {
  std::int64_t begin = 0, end = 0, step = 1;
  bool operator==(const Range&) const = default;
};
struct Pad {
  std::int64_t low = 0, high = 0, inside = 0;
  bool operator==(const Pad&) const = default;
};
// One dimension of a window that moves over an array.
struct WindowDim {
  std::int64_t size = 1, stride = 1, low = 0, high = 0, base_dilation = 1, dilation = 1;
  bool reversed = false;
  bool operator==(const WindowDim&) const = default;
};
struct Calls {
  Integers computations;  // indices into the module
  bool operator==(const Calls&) const = default;
};

using Pair = std::array<std::int64_t, 2>;
using Setting = std::variant<bool, std::int64_t, Integers, std::string, Calls, std::vector<Range>,
                             std::vector<Pad>, std::vector<WindowDim>, std::vector<Pair>, Groups>;

struct Attribute {
  Key key;
  Setting value;
  bool operator==(const Attribute&) const = default;
};

}  // namespace plumb::hlo
