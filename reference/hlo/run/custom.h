// Custom calls: markers of shardings, borders of manual regions, and others that each device computes by
// itself.
#pragma once

#include "reference/hlo/module/sdy.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/opaque.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {

inline Division division_of(const Sharding& sharding, std::size_t rank, std::int64_t devices) {
  const auto division = divide(sharding, rank, devices);
  require(division.has_value(),
          "unsupported: a manual region over some axes only, or a layout that is not said");
  return *division;
}

template <typename Numbers>
Value<typename Numbers::Number> enter(const Machine<Numbers>& machine,
                                      const Value<typename Numbers::Number>& whole, const Sharding& sharding,
                                      const Shape& shape) {
  require(whole.array != nullptr, "an array");
  const Division division = division_of(sharding, whole.array->dims.size(), machine.devices);
  require(tile_dims(whole.array->dims, division) == shape.dims, "the result is what a device holds");
  return value(cut(*whole.array, division, poison(machine.numbers, whole.array->type)));
}

template <typename Numbers>
Value<typename Numbers::Number> leave(const Machine<Numbers>& machine,
                                      const Value<typename Numbers::Number>& held, const Sharding& sharding,
                                      const Shape& shape) {
  require(held.array != nullptr, "an array");
  const Division division = division_of(sharding, shape.dims.size(), machine.devices);
  return value(assemble(machine.numbers, *held.array, shape.dims, division));
}

// The borders that Shardy writes: shardings of all operands, or of all results, in one attribute.
template <typename Numbers>
Value<typename Numbers::Number> sdy_border(const Machine<Numbers>& machine, const Instruction& i,
                                           const std::vector<Value<typename Numbers::Number>>& operands,
                                           bool inwards) {
  const auto shardings =
      sdy_shardings(machine.module, i, inwards ? "xla.sdy.in_shardings" : "xla.sdy.out_shardings");
  const std::vector<Shape> shapes = i.shape.type == Type::tuple ? i.shape.parts : std::vector{i.shape};
  require(shardings.size() == operands.size() && shapes.size() == operands.size(),
          "a sharding for each value");
  Value<typename Numbers::Number> result;
  for (std::size_t n = 0; n < operands.size(); ++n)
    result.parts.push_back(inwards ? enter(machine, operands[n], shardings[n], shapes[n])
                                   : leave(machine, operands[n], shardings[n], shapes[n]));
  return i.shape.type == Type::tuple ? result : result.parts.at(0);
}

template <typename Numbers>
Value<typename Numbers::Number> custom_call(const Machine<Numbers>& machine, const Computation& computation,
                                            const Instruction& i,
                                            const std::vector<Value<typename Numbers::Number>>& operands) {
  const auto target = get<std::string>(i, Key::custom_call_target);
  const auto only = [&]() -> const Value<typename Numbers::Number>& {
    require(operands.size() == 1, "one operand");
    return operands[0];
  };
  const auto sharding_of = [](const Instruction& x) {
    require(x.sharding.size() == 1, "a sharding");
    return x.sharding[0];
  };
  const auto border = border_of(target);
  if (!border) return opaque(machine, i, operands);
  switch (*border) {
    case Border::marker:
      return only();
    case Border::enter:
      return enter(machine, only(),
                   sharding_of(computation.instructions[static_cast<std::size_t>(i.operands[0])]), i.shape);
    case Border::leave:
      return leave(machine, only(), sharding_of(i), i.shape);
    default:
      return sdy_border(machine, i, operands, *border == Border::sdy_enter);
  }
}

}  // namespace plumb::hlo
