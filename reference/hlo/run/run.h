// The interpreter: what each instruction of a module means, for all devices at once.
#pragma once

#include <cassert>

#include "reference/hlo/run/async.h"
#include "reference/hlo/run/collective.h"
#include "reference/hlo/run/control.h"
#include "reference/hlo/run/custom.h"
#include "reference/hlo/run/move.h"
#include "reference/hlo/run/ragged.h"
#include "reference/hlo/run/random.h"
#include "reference/hlo/run/sort.h"

namespace plumb::hlo {

// An instruction with the values of its operands.
template <typename Numbers>
struct Line {
  using Number = typename Numbers::Number;
  const Machine<Numbers>& machine;
  const Computation& computation;
  const Instruction& is;
  const std::vector<Value<Number>>& operands;
  const Active& active;
  const Holders holders{};  // of what is computed lane by lane

  const Array<Number>& array(std::size_t n) const {
    require(n < operands.size() && operands[n].array, "an array as operand");
    return *operands[n].array;
  }
  Pointers<Number> arrays(std::size_t from = 0) const {
    Pointers<Number> list;
    for (std::size_t n = from; n < operands.size(); ++n) list.push_back(&array(n));
    return list;
  }
  // The operand as it was written, with its layout.
  const Shape& written(std::size_t n) const {
    return computation.instructions[static_cast<std::size_t>(is.operands[n])].shape;
  }
  Shape shape(std::size_t n) const { return {array(n).type, array(n).dims, {}, {}, {}}; }
  // One array, or a tuple of them, as the instruction's shape says.
  Value<Number> packed(Arrays<Numbers> all) const {
    if (is.shape.type != Type::tuple && all.size() == 1) return made(std::move(all[0]));
    Value<Number> result;
    for (auto& one : all) result.parts.push_back(made(std::move(one)));
    return result;
  }
  Value<Number> made(Array<Number> array) const {
    if (!array.holders && array.lanes > 1) array.holders = holders;
    return value(machine.by_structure ? std::move(array) : regrouped(std::move(array), machine.devices));
  }
};

// Everything between devices.
template <typename Numbers>
Value<typename Numbers::Number> collective(const Line<Numbers>& line) {
  const auto& machine = line.machine;
  const Instruction& i = line.is;
  if (i.opcode == Opcode::collective_permute) {
    const Integers source = sources_of(i, machine.devices);
    for (std::size_t d = 0; d < source.size(); ++d)
      if (source[d] >= 0)
        check_met(
            {
                {static_cast<std::int64_t>(d), source[d]}
        },
            line.active);
    Arrays<Numbers> all;
    for (const auto* a : line.arrays()) all.push_back(fetched(machine, *a, source));
    return line.packed(std::move(all));
  }
  const std::vector<Integers> groups = groups_of(i, machine.devices);
  check_met(groups, line.active);
  if (i.opcode == Opcode::all_reduce) return line.packed(all_reduce(machine, i, groups, line.arrays()));
  if (i.opcode == Opcode::reduce_scatter)
    return line.packed(reduce_scatter(machine, i, groups, line.arrays()));
  if (i.opcode == Opcode::all_to_all && !find(i, Key::dimensions))
    return line.packed(all_to_all(machine, groups, line.arrays()));
  if (i.opcode == Opcode::ragged_all_to_all)
    return line.packed({ragged_all_to_all(machine, groups, line.arrays())});
  Arrays<Numbers> result;
  for (const auto* a : line.arrays()) {
    if (i.opcode == Opcode::all_gather) result.push_back(all_gather(machine, i, groups, *a));
    if (i.opcode == Opcode::all_to_all) result.push_back(all_to_all(machine, i, groups, *a));
    if (i.opcode == Opcode::collective_broadcast) result.push_back(broadcast(machine, groups, *a));
  }
  return line.packed(std::move(result));
}

// A collective that goes on while other things are done, or the end of one. What it brings is known at its
// beginning.
template <typename Numbers>
Value<typename Numbers::Number> apart(const Line<Numbers>& line) {
  const Instruction& i = line.is;
  if (i.opcode == Opcode::all_reduce_done) return line.operands[0];
  if (waits(i.opcode)) return ended(line.operands[0], 1);
  Instruction plain = i;
  plain.opcode = begun(i.opcode);
  if (i.opcode == Opcode::all_reduce_start)
    return collective(Line<Numbers>{line.machine, line.computation, plain, line.operands, line.active});
  require(i.shape.parts.size() >= 2, "a tuple of what is given and what comes of it");
  plain.shape = i.shape.parts[1];
  return under_way(
      line.machine.numbers, i, line.operands,
      collective(Line<Numbers>{line.machine, line.computation, plain, line.operands, line.active}));
}

// The elements of an array by the bytes that they are.
template <typename Numbers>
Value<typename Numbers::Number> bitcast(const Line<Numbers>& line) {
  const Instruction& i = line.is;
  const auto& a = line.array(0);
  auto result = taken(a, bitcast_map(line.written(0), i.shape), {a.type, i.shape.dims, {}, {}, {}});
  return line.made(a.type == i.shape.type ? std::move(result) : bitcast_convert(line.machine, i, result));
}

// What is sent over a channel comes to the targets of its pairs; to others zeros. It is on its way from the
// send to the end of the recv, whichever of the two began first.
template <typename Numbers>
Value<typename Numbers::Number> over_channel(const Line<Numbers>& line) {
  const Instruction& i = line.is;
  const auto& machine = line.machine;
  if (i.opcode == Opcode::send_done) return {};  // a token
  if (i.opcode == Opcode::recv) return blank(machine.numbers, i.shape);
  auto& sent = (*machine.sent)[get<std::int64_t>(i, Key::channel_id)];
  if (i.opcode == Opcode::send) {
    require(all_active(line.active), "unsupported: a send that some devices alone reach");
    sent.push_back(fetched(machine, line.array(0), sources_of(i, machine.devices)));
    require(i.shape.parts.size() == 3, "a tuple of what is sent, a number and a token");
    Value<typename Numbers::Number> all = blank(machine.numbers, i.shape);
    all.parts[0] = line.operands[0];
    return all;
  }
  require(!sent.empty(), "nothing was sent over its channel");
  Value<typename Numbers::Number> all;
  all.parts = {line.made(std::move(sent.front())), {}};
  sent.pop_front();
  return all;
}

// Operations that move elements.
template <typename Numbers>
Value<typename Numbers::Number> moved(const Line<Numbers>& line) {
  const Instruction& i = line.is;
  const auto& a = line.array(0);
  const auto dimensions = [&] { return get<Integers>(i, Key::dimensions); };
  switch (i.opcode) {
    case Opcode::broadcast:
      return line.made(taken(a, broadcast_map(line.shape(0), dimensions(), i.shape), i.shape));
    case Opcode::transpose:
      return line.made(taken(a, transpose_map(line.shape(0), dimensions(), i.shape), i.shape));
    case Opcode::reverse:
      return line.made(taken(a, reverse_map(line.shape(0), dimensions(), i.shape), i.shape));
    case Opcode::slice:
      return line.made(
          taken(a, slice_map(line.shape(0), get<std::vector<Range>>(i, Key::slice), i.shape), i.shape));
    case Opcode::pad:
      require(line.array(1).dims.empty() && line.array(1).type == a.type, "a scalar fills");
      return line.made(taken(a, pad_map(line.shape(0), get<std::vector<Pad>>(i, Key::padding), i.shape),
                             i.shape, &line.array(1)));
    case Opcode::reshape:
      return line.made(reshaped(a, i.shape));
    case Opcode::concatenate:
      require(dimensions().size() == 1 && !i.shape.dims.empty(), "one dimension");
      return line.made(concatenate(line.arrays(), dimensions()[0], i.shape));
    case Opcode::dynamic_slice:
      require(get<Integers>(i, Key::dynamic_slice_sizes) == i.shape.dims,
              "the result has the sizes of the slice");
      return line.made(dynamic_slice(a, line.arrays(1), i.shape));
    case Opcode::dynamic_update_slice:
      return line.made(dynamic_update_slice(a, line.array(1), line.arrays(2)));
    case Opcode::gather:
      return line.made(gather(i, a, line.array(1)));
    default:
      return line.packed(scatter(line.machine, i, line.arrays()));
  }
}

template <typename Numbers>
Value<typename Numbers::Number> computed(const Line<Numbers>& line) {
  const auto& machine = line.machine;
  const Instruction& i = line.is;
  switch (i.opcode) {
    case Opcode::clamp: {
      const auto& x = line.array(1);
      const auto low = binary(machine, Opcode::maximum, spread(line.array(0), x.dims), x);
      return line.made(binary(machine, Opcode::minimum, low, spread(line.array(2), x.dims)));
    }
    case Opcode::compare:
      return line.made(compare(machine, i, line.array(0), line.array(1)));
    case Opcode::select:
      return line.made(chosen(machine, line.array(0), line.array(1), line.array(2)));
    case Opcode::convert:
      return line.made(convert(machine, i, line.array(0)));
    case Opcode::bitcast_convert:
      return line.made(bitcast_convert(machine, i, line.array(0)));
    case Opcode::dot:
      return line.made(dot(machine, i, line.array(0), line.array(1)));
    case Opcode::convolution:
      return line.made(convolution(machine, i, line.array(0), line.array(1)));
    case Opcode::ragged_dot:
      return line.made(ragged_dot(machine, i, line.arrays()));
    case Opcode::select_and_scatter:
      return line.made(select_and_scatter(machine, i, line.arrays()));
    case Opcode::map:
      return line.packed(map(machine, i, line.arrays()));
    case Opcode::reduce:
      return line.packed(reduce(machine, i, line.arrays()));
    case Opcode::rng_bit_generator:
      return line.packed(random_bits(i, line.array(0)));
    case Opcode::reduce_window:
      return line.packed(reduce_window(machine, i, line.arrays()));
    case Opcode::sort:
      return line.packed(sort(machine, i, line.arrays()));
    case Opcode::topk:
      return line.packed(topk(machine, i, line.array(0)));
    default:
      assert(false);
      return {};
  }
}

template <typename Numbers>
Value<typename Numbers::Number> structural(const Line<Numbers>& line) {
  const Instruction& i = line.is;
  switch (i.opcode) {
    case Opcode::constant:
      return constant(line.machine, i);
    case Opcode::iota:
      return iota(line.machine, i);
    case Opcode::partition_id:
      return partition_id(line.machine, i);
    case Opcode::replica_id:
      return value(Array<typename Numbers::Number>{i.shape.type, i.shape.dims, 1, {0}, {}});
    case Opcode::copy:
    case Opcode::opt_barrier:
    case Opcode::reduce_precision:
      return line.operands[0];
    case Opcode::after_all:
      return {};
    case Opcode::bitcast:
      return lane_by_lane(line, bitcast<Numbers>);
    case Opcode::async_update:
      return line.operands[0];
    case Opcode::async_done:
      return ended(line.operands[0], 1);
    case Opcode::copy_done:
      return ended(line.operands[0], 0);
    case Opcode::copy_start:
      return under_way(line.machine.numbers, i, line.operands, line.operands[0]);
    case Opcode::async_start:
      return under_way(
          line.machine.numbers, i, line.operands,
          evaluate(line.machine, called(line.machine, i, Key::calls), line.operands, line.active));
    case Opcode::tuple:
      return {nullptr, line.operands};
    case Opcode::get_tuple_element: {
      const auto index = get<std::int64_t>(i, Key::index);
      require(index >= 0 && index < std::ssize(line.operands[0].parts), "index= is of the tuple");
      return line.operands[0].parts[static_cast<std::size_t>(index)];
    }
    case Opcode::call:
      return evaluate(line.machine, called(line.machine, i, Key::to_apply), line.operands, line.active);
    case Opcode::fusion:
      return evaluate(line.machine, called(line.machine, i, Key::calls), line.operands, line.active);
    case Opcode::while_:
      return loop(line.machine, i, line.operands[0], line.active);
    case Opcode::conditional:
      return conditional(line.machine, i, line.operands, line.active);
    case Opcode::recv:
    case Opcode::recv_done:
    case Opcode::send:
    case Opcode::send_done:
      return over_channel(line);
    case Opcode::custom_call:
      return custom_call(line.machine, line.computation, i, line.operands);
    default:
      return lane_by_lane(line, computed<Numbers>);
  }
}

// An operation that each lane does by itself: on operands in lanes that they share. Those of one large
// operand find its lanes themselves.
template <typename Numbers, typename F>
Value<typename Numbers::Number> lane_by_lane(const Line<Numbers>& line, F f) {
  const Opcode opcode = line.is.opcode;
  const auto all = line.arrays();
  const bool itself = opcode == Opcode::dot || opcode == Opcode::gather || opcode == Opcode::dynamic_slice ||
                      opcode == Opcode::dynamic_update_slice;
  if (itself || all.empty()) return f(line);
  const Joint joint = joined(all);
  if (joint.same())
    return f(
        Line<Numbers>{line.machine, line.computation, line.is, line.operands, line.active, joint.holders});
  auto operands = line.operands;
  for (std::size_t n = 0; n < operands.size(); ++n)
    if (!joint.of[n].empty()) operands[n] = value(with_lanes(*all[n], joint.of[n], joint.holders));
  return f(Line<Numbers>{line.machine, line.computation, line.is, operands, line.active, joint.holders});
}

template <typename Numbers>
Value<typename Numbers::Number> meaning(const Line<Numbers>& line) {
  const Opcode opcode = line.is.opcode;
  using L = Line<Numbers>;
  if (opcode <= Opcode::tanh)
    return lane_by_lane(line, [](const L& l) { return l.made(unary(l.machine, l.is, l.array(0))); });
  if (opcode <= Opcode::xor_)
    return lane_by_lane(
        line, [](const L& l) { return l.made(binary(l.machine, l.is.opcode, l.array(0), l.array(1))); });
  if (opcode >= Opcode::broadcast && opcode <= Opcode::transpose) return lane_by_lane(line, moved<Numbers>);
  if (opcode >= Opcode::all_gather_start) return apart(line);
  if (opcode >= Opcode::all_gather) return collective(line);
  return structural(line);
}

// Whether a value is of the shape that its instruction says.
template <typename Number>
bool fits(const Value<Number>& value, const Shape& shape) {
  if (shape.type == Type::token) return true;
  if (shape.type != Type::tuple)
    return value.array && value.array->type == shape.type && value.array->dims == shape.dims;
  if (value.parts.size() != shape.parts.size()) return false;
  for (std::size_t n = 0; n < shape.parts.size(); ++n)
    if (!fits(value.parts[n], shape.parts[n])) return false;
  return true;
}

// For each instruction how many later ones read it: the last lets go of its value.
inline Integers readers(const Computation& computation) {
  Integers uses(computation.instructions.size());
  for (const Instruction& i : computation.instructions)
    for (const std::int64_t operand : i.operands) ++uses[static_cast<std::size_t>(operand)];
  ++uses[static_cast<std::size_t>(computation.root)];
  return uses;
}

template <typename Numbers>
Value<typename Numbers::Number> evaluate(const Machine<Numbers>& machine, const Computation& computation,
                                         std::vector<Value<typename Numbers::Number>> arguments,
                                         const Active& active) {
  using Number = typename Numbers::Number;
  std::vector<Value<Number>> values(computation.instructions.size());
  Integers left = readers(computation);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const Instruction& i = computation.instructions[n];
    if (machine.pulse.each) machine.pulse.each(computation, n);
    std::vector<Value<Number>> operands;
    try {
      if (i.opcode == Opcode::parameter) {
        const auto number = get<std::int64_t>(i, Key::index);
        require(number < std::ssize(arguments), "as many arguments as parameters");
        values[n] = std::move(arguments[static_cast<std::size_t>(number)]);
      } else {
        for (const std::int64_t operand : i.operands) {
          Value<Number>& held = values[static_cast<std::size_t>(operand)];
          operands.push_back(held);
          if (--left[static_cast<std::size_t>(operand)] == 0) held = {};
        }
        values[n] = meaning(Line<Numbers>{machine, computation, i, operands, active});
      }
      require(fits(values[n], i.shape), "the result has another shape");
    } catch (const Misfit& misfit) {
      refuse(machine.module, i, misfit.what());
    } catch (Disagreement& disagreement) {
      if (!disagreement.at) disagreement.at = &i;
      throw;
    }
    if (machine.instead) machine.instead(i, operands, values[n]);
    if (machine.seen) machine.seen(i, operands, values[n]);
    if (left[n] == 0) values[n] = {};
  }
  return values[static_cast<std::size_t>(computation.root)];
}

extern template Value<double> evaluate<Reals>(const Machine<Reals>&, const Computation&,
                                              std::vector<Value<double>>, const Active&);

}  // namespace plumb::hlo
