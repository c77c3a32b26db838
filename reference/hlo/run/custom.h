// Custom calls: markers of shardings, borders of manual regions, and others that each device computes by
// itself.
#pragma once

#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/opaque.h"
#include "reference/hlo/run/region.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {

template <typename Numbers>
Array<typename Numbers::Number> enter(const Machine<Numbers>& machine,
                                      const Array<typename Numbers::Number>& whole, const Crossing& border,
                                      const Shape& shape) {
  return cut(whole, division_at(border, whole.dims, shape.dims), poison(machine.numbers, whole.type));
}

template <typename Numbers>
bool same_array(Numbers& numbers, const Array<typename Numbers::Number>& a,
                const Array<typename Numbers::Number>& b) {
  using Number = typename Numbers::Number;
  return a.integers == b.integers &&
         std::ranges::equal(a.reals, b.reals,
                            [&](const Number& x, const Number& y) { return numbers.same(x, y); });
}

// Where the region lies in another, each place of that has a whole of its own; those that are the same are
// held once.
template <typename Numbers>
Array<typename Numbers::Number> leave(const Machine<Numbers>& machine,
                                      const Array<typename Numbers::Number>& held, const Crossing& border,
                                      const Shape& shape) {
  const Division division = division_at(border, shape.dims, held.dims);
  const Holding holding = holding_at(border, division, lanes_of(held, machine.devices));
  std::vector<Array<typename Numbers::Number>> distinct;
  std::vector<std::int32_t> lane_of;  // of each whole
  for (const Integers& devices : holding.devices) {
    auto whole = assemble(machine.numbers, held, shape.dims, Together{division, devices});
    const auto same = std::ranges::find_if(
        distinct, [&](const auto& other) { return same_array(machine.numbers, whole, other); });
    lane_of.push_back(static_cast<std::int32_t>(same - distinct.begin()));
    if (same == distinct.end()) distinct.push_back(std::move(whole));
  }
  auto result = std::move(distinct.at(0));
  if (distinct.size() == 1) return result;
  for (auto other = distinct.begin() + 1; other != distinct.end(); ++other) {
    result.reals.insert(result.reals.end(), other->reals.begin(), other->reals.end());
    result.integers.insert(result.integers.end(), other->integers.begin(), other->integers.end());
  }
  result.lanes = std::ssize(distinct);
  std::vector<std::int32_t> holders;
  for (const std::int32_t whole : holding.of) holders.push_back(lane_of[static_cast<std::size_t>(whole)]);
  result.holders = std::make_shared<const std::vector<std::int32_t>>(std::move(holders));
  return result;
}

// Values that enter a manual region or leave it.
template <typename Numbers>
Value<typename Numbers::Number> crossed(const Machine<Numbers>& machine, const Computation& computation,
                                        const Instruction& i,
                                        const std::vector<Value<typename Numbers::Number>>& operands) {
  const Border border = *border_of(get<std::string>(i, Key::custom_call_target));
  const bool inwards = border == Border::enter || border == Border::sdy_enter;
  const std::vector<Crossing> ways = crossings(machine.module, computation, i);
  const std::vector<Shape> shapes = i.shape.type == Type::tuple ? i.shape.parts : std::vector{i.shape};
  require(ways.size() == operands.size() && shapes.size() == operands.size(), "a sharding for each value");
  Value<typename Numbers::Number> result;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    require(operands[n].array != nullptr, "an array");
    result.parts.push_back(value(inwards ? enter(machine, *operands[n].array, ways[n], shapes[n])
                                         : leave(machine, *operands[n].array, ways[n], shapes[n])));
  }
  return i.shape.type == Type::tuple ? result : result.parts.at(0);
}

template <typename Numbers>
Value<typename Numbers::Number> custom_call(const Machine<Numbers>& machine, const Computation& computation,
                                            const Instruction& i,
                                            const std::vector<Value<typename Numbers::Number>>& operands) {
  const auto border = border_of(get<std::string>(i, Key::custom_call_target));
  if (!border && gives_nothing(i.shape)) return {};
  if (!border) return opaque(machine, i, operands);
  if (border != Border::marker) return crossed(machine, computation, i, operands);
  require(operands.size() == 1, "one operand");
  return operands[0];
}

}  // namespace plumb::hlo
