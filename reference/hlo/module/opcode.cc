#include "reference/hlo/module/opcode.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

constexpr std::string_view kDot =
    "lhs_batch_dims rhs_batch_dims lhs_contracting_dims rhs_contracting_dims operand_precision algorithm";

// Of collectives, and of what begins and ends them.
constexpr std::string_view kGather =
    "replica_groups! dimensions! channel_id use_global_device_ids async_execution_thread";
constexpr std::string_view kReduce =
    "replica_groups! to_apply! channel_id use_global_device_ids async_execution_thread";
constexpr std::string_view kToAll = "replica_groups! dimensions channel_id async_execution_thread";
constexpr std::string_view kBroadcast = "replica_groups! channel_id async_execution_thread";
constexpr std::string_view kPermute = "source_target_pairs! channel_id async_execution_thread";
constexpr std::string_view kScatter =
    "replica_groups! dimensions! to_apply! channel_id use_global_device_ids async_execution_thread";
constexpr std::string_view kMeet = "channel_id! source_target_pairs";
constexpr std::string_view kDone = "calls channel_id async_execution_thread";

// clang-format off
constexpr OpcodeRow kOpcodes[] = {
    {Opcode::abs, "abs", 1, 1, ""},
    {Opcode::cbrt, "cbrt", 1, 1, "result_accuracy"},
    {Opcode::ceil, "ceil", 1, 1, ""},
    {Opcode::cosine, "cosine", 1, 1, "result_accuracy"},
    {Opcode::count_leading_zeros, "count-leading-zeros", 1, 1, ""},
    {Opcode::erf, "erf", 1, 1, "result_accuracy"},
    {Opcode::exponential, "exponential", 1, 1, "result_accuracy"},
    {Opcode::exponential_minus_one, "exponential-minus-one", 1, 1, "result_accuracy"},
    {Opcode::floor, "floor", 1, 1, ""},
    {Opcode::is_finite, "is-finite", 1, 1, ""},
    {Opcode::log, "log", 1, 1, "result_accuracy"},
    {Opcode::log_plus_one, "log-plus-one", 1, 1, "result_accuracy"},
    {Opcode::logistic, "logistic", 1, 1, "result_accuracy"},
    {Opcode::negate, "negate", 1, 1, ""},
    {Opcode::not_, "not", 1, 1, ""},
    {Opcode::popcnt, "popcnt", 1, 1, ""},
    {Opcode::round_nearest_afz, "round-nearest-afz", 1, 1, ""},
    {Opcode::round_nearest_even, "round-nearest-even", 1, 1, ""},
    {Opcode::rsqrt, "rsqrt", 1, 1, "result_accuracy"},
    {Opcode::sign, "sign", 1, 1, ""},
    {Opcode::sine, "sine", 1, 1, "result_accuracy"},
    {Opcode::sqrt, "sqrt", 1, 1, "result_accuracy"},
    {Opcode::tan, "tan", 1, 1, "result_accuracy"},
    {Opcode::tanh, "tanh", 1, 1, "result_accuracy"},
    {Opcode::add, "add", 2, 2, ""},
    {Opcode::and_, "and", 2, 2, ""},
    {Opcode::atan2, "atan2", 2, 2, ""},
    {Opcode::divide, "divide", 2, 2, ""},
    {Opcode::maximum, "maximum", 2, 2, ""},
    {Opcode::minimum, "minimum", 2, 2, ""},
    {Opcode::multiply, "multiply", 2, 2, ""},
    {Opcode::or_, "or", 2, 2, ""},
    {Opcode::power, "power", 2, 2, ""},
    {Opcode::remainder, "remainder", 2, 2, ""},
    {Opcode::shift_left, "shift-left", 2, 2, ""},
    {Opcode::shift_right_arithmetic, "shift-right-arithmetic", 2, 2, ""},
    {Opcode::shift_right_logical, "shift-right-logical", 2, 2, ""},
    {Opcode::subtract, "subtract", 2, 2, ""},
    {Opcode::xor_, "xor", 2, 2, ""},
    {Opcode::clamp, "clamp", 3, 3, ""},
    {Opcode::compare, "compare", 2, 2, "direction! type"},
    {Opcode::select, "select", 3, 3, ""},
    {Opcode::bitcast, "bitcast", 1, 1, ""},
    {Opcode::bitcast_convert, "bitcast-convert", 1, 1, ""},
    {Opcode::convert, "convert", 1, 1, ""},
    {Opcode::copy, "copy", 1, 1, ""},
    {Opcode::opt_barrier, "opt-barrier", 1, 1, ""},
    {Opcode::reduce_precision, "reduce-precision", 1, 1, "exponent_bits! mantissa_bits!"},
    {Opcode::after_all, "after-all", 0, kMany, ""},
    {Opcode::constant, "constant", 0, 0, ""},
    {Opcode::get_tuple_element, "get-tuple-element", 1, 1, "index!"},
    {Opcode::iota, "iota", 0, 0, "iota_dimension!"},
    {Opcode::parameter, "parameter", 0, 0, "index"},
    {Opcode::partition_id, "partition-id", 0, 0, ""},
    {Opcode::replica_id, "replica-id", 0, 0, ""},
    {Opcode::tuple, "tuple", 0, kMany, ""},
    {Opcode::broadcast, "broadcast", 1, 1, "dimensions!"},
    {Opcode::concatenate, "concatenate", 1, kMany, "dimensions!"},
    {Opcode::dynamic_slice, "dynamic-slice", 1, kMany, "dynamic_slice_sizes!"},
    {Opcode::dynamic_update_slice, "dynamic-update-slice", 2, kMany, ""},
    {Opcode::gather, "gather", 2, 2, "offset_dims! collapsed_slice_dims! start_index_map! index_vector_dim! "
     "slice_sizes! operand_batching_dims start_indices_batching_dims indices_are_sorted"},
    {Opcode::pad, "pad", 2, 2, "padding!"},
    {Opcode::reshape, "reshape", 1, 1, ""},
    {Opcode::reverse, "reverse", 1, 1, "dimensions!"},
    {Opcode::scatter, "scatter", 3, kMany, "update_window_dims! inserted_window_dims! scatter_dims_to_operand_dims! "
     "index_vector_dim! to_apply! input_batching_dims scatter_indices_batching_dims indices_are_sorted unique_indices"},
    {Opcode::slice, "slice", 1, 1, "slice!"},
    {Opcode::transpose, "transpose", 1, 1, "dimensions!"},
    {Opcode::convolution, "convolution", 2, 2, "window dim_labels! feature_group_count batch_group_count "
     "operand_precision"},
    {Opcode::dot, "dot", 2, 2, kDot},
    {Opcode::map, "map", 1, kMany, "dimensions to_apply!"},
    {Opcode::ragged_dot, "ragged-dot", 3, 3, "lhs_batch_dims rhs_batch_dims lhs_contracting_dims "
     "rhs_contracting_dims lhs_ragged_dims! rhs_group_dims operand_precision"},
    {Opcode::reduce, "reduce", 2, kMany, "dimensions! to_apply!"},
    {Opcode::reduce_window, "reduce-window", 2, kMany, "window to_apply!"},
    {Opcode::rng_bit_generator, "rng-bit-generator", 1, 1, "algorithm!"},
    {Opcode::select_and_scatter, "select-and-scatter", 3, 3, "window select! scatter!"},
    {Opcode::sort, "sort", 1, kMany, "dimensions! is_stable to_apply!"},
    {Opcode::topk, "topk", 1, 1, "k! largest!"},
    {Opcode::async_done, "async-done", 1, 1, "calls async_execution_thread"},
    {Opcode::async_start, "async-start", 0, kMany, "calls! async_execution_thread"},
    {Opcode::async_update, "async-update", 1, 1, "calls async_execution_thread"},
    {Opcode::call, "call", 0, kMany, "to_apply!"},
    {Opcode::conditional, "conditional", 2, kMany, "branch_computations!"},
    {Opcode::copy_done, "copy-done", 1, 1, ""},
    {Opcode::copy_start, "copy-start", 1, 1, ""},
    {Opcode::custom_call, "custom-call", 0, kMany, "custom_call_target! called_computations custom_call_has_side_effect api_version "
     "operand_layout_constraints output_to_operand_aliasing"},
    {Opcode::fusion, "fusion", 0, kMany, "kind calls! output_to_operand_aliasing"},
    {Opcode::recv, "recv", 1, 1, kMeet},
    {Opcode::recv_done, "recv-done", 1, 1, kMeet},
    {Opcode::send, "send", 2, 2, kMeet},
    {Opcode::send_done, "send-done", 1, 1, kMeet},
    {Opcode::while_, "while", 1, 1, "condition! body!"},
    {Opcode::all_gather, "all-gather", 1, kMany, kGather},
    {Opcode::all_reduce, "all-reduce", 1, kMany, kReduce},
    {Opcode::all_to_all, "all-to-all", 1, kMany, kToAll},
    {Opcode::collective_broadcast, "collective-broadcast", 1, kMany, kBroadcast},
    {Opcode::collective_permute, "collective-permute", 1, kMany, kPermute},
    {Opcode::ragged_all_to_all, "ragged-all-to-all", 6, 6, kBroadcast},
    {Opcode::reduce_scatter, "reduce-scatter", 1, kMany, kScatter},
    {Opcode::all_gather_start, "all-gather-start", 1, kMany, kGather},
    {Opcode::all_reduce_start, "all-reduce-start", 1, kMany, kReduce},
    {Opcode::all_to_all_start, "all-to-all-start", 1, kMany, kToAll},
    {Opcode::collective_broadcast_start, "collective-broadcast-start", 1, kMany, kBroadcast},
    {Opcode::collective_permute_start, "collective-permute-start", 1, kMany, kPermute},
    {Opcode::ragged_all_to_all_start, "ragged-all-to-all-start", 6, 6, kBroadcast},
    {Opcode::reduce_scatter_start, "reduce-scatter-start", 1, kMany, kScatter},
    {Opcode::all_gather_done, "all-gather-done", 1, 1, kDone},
    {Opcode::all_reduce_done, "all-reduce-done", 1, 1, kDone},
    {Opcode::all_to_all_done, "all-to-all-done", 1, 1, kDone},
    {Opcode::collective_broadcast_done, "collective-broadcast-done", 1, 1, kDone},
    {Opcode::collective_permute_done, "collective-permute-done", 1, 1, kDone},
    {Opcode::ragged_all_to_all_done, "ragged-all-to-all-done", 1, 1, kDone},
    {Opcode::reduce_scatter_done, "reduce-scatter-done", 1, 1, kDone},
};
// clang-format on

constexpr std::string_view kEverywhere = "sharding frontend_attributes metadata control-predecessors origin";

static_assert([] {
  for (std::size_t i = 0; i < std::size(kOpcodes); ++i)
    if (static_cast<std::size_t>(kOpcodes[i].opcode) != i) return false;
  return true;
}());

// The keys of a list one by one; whether each must stand there.
template <typename F>
void each_key(std::string_view keys, F f) {
  while (!keys.empty()) {
    const std::string_view key = keys.substr(0, keys.find(' '));
    keys.remove_prefix(std::min(key.size() + 1, keys.size()));
    const bool needed = key.ends_with('!');
    f(key.substr(0, key.size() - needed), needed);
  }
}

}  // namespace

const OpcodeRow& row(Opcode opcode) { return kOpcodes[static_cast<int>(opcode)]; }

std::optional<Opcode> opcode_named(std::string_view name) {
  for (const OpcodeRow& row : kOpcodes)
    if (row.name == name) return row.opcode;
  return std::nullopt;
}

bool takes(Opcode opcode, Key key) {
  bool found = key == Key::backend_config;
  const auto look = [&](std::string_view name, bool) { found = found || name == row(key).name; };
  each_key(row(opcode).keys, look);
  each_key(kEverywhere, look);
  return found;
}

std::string_view lacking(Opcode opcode, const std::vector<Attribute>& given) {
  std::string_view missing;
  each_key(row(opcode).keys, [&](std::string_view name, bool needed) {
    const auto is = [&](const Attribute& a) { return row(a.key).name == name; };
    if (needed && missing.empty() && std::ranges::none_of(given, is)) missing = name;
  });
  return missing;
}

}  // namespace plumb::hlo
