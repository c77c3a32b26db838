// The operations of HLO that are known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/hlo/module/attribute.h"

namespace plumb::hlo {

// clang-format off
enum class Opcode : std::uint8_t {
  abs, cbrt, ceil, cosine, count_leading_zeros, erf, exponential, exponential_minus_one, floor, is_finite, log,
  log_plus_one, logistic, negate, not_, popcnt, round_nearest_afz, round_nearest_even, rsqrt, sign, sine, sqrt, tan,
  tanh,
  add, and_, atan2, divide, maximum, minimum, multiply, or_, power, remainder, shift_left, shift_right_arithmetic,
  shift_right_logical, subtract, xor_,
  clamp, compare, select,
  bitcast, bitcast_convert, convert, copy, opt_barrier, reduce_precision,
  after_all, constant, get_tuple_element, iota, parameter, partition_id, replica_id, tuple,
  broadcast, concatenate, dynamic_slice, dynamic_update_slice, gather, pad, reshape, reverse, scatter, slice,
  transpose,
  convolution, dot, map, ragged_dot, reduce, reduce_window, rng_bit_generator, select_and_scatter, sort, topk,
  async_done, async_start, async_update, call, conditional, copy_done, copy_start, custom_call, fusion, recv, recv_done,
  send, send_done, while_,
  // Collectives; those that begin one, in the same order; those that wait for it.
  all_gather, all_reduce, all_to_all, collective_broadcast, collective_permute, ragged_all_to_all, reduce_scatter,
  all_gather_start, all_reduce_start, all_to_all_start, collective_broadcast_start, collective_permute_start,
  ragged_all_to_all_start, reduce_scatter_start,
  all_gather_done, all_reduce_done, all_to_all_done, collective_broadcast_done, collective_permute_done,
  ragged_all_to_all_done, reduce_scatter_done
};
// clang-format on

constexpr int kMany = -1;

// The least and the most operands, and the keys of the attributes: those marked with ! must stand there.
struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  int least, most;
  std::string_view keys;
};

const OpcodeRow& row(Opcode);
std::optional<Opcode> opcode_named(std::string_view);

// Whether the operation may carry the attribute. A few keys stand on every operation.
bool takes(Opcode, Key);

// The first key that must stand there and is not among those given; empty where there is none.
std::string_view lacking(Opcode, const std::vector<Attribute>&);

}  // namespace plumb::hlo
