// What begins and ends by itself: while it is under way its value is a tuple of what it was given, what comes
// of it and whatever else the shape says.
#pragma once

#include "reference/hlo/run/array.h"

namespace plumb::hlo {

inline bool waits(Opcode opcode) {
  return opcode >= Opcode::all_gather_done && opcode <= Opcode::reduce_scatter_done;
}

// The collective that begins.
inline Opcode begun(Opcode opcode) {
  return static_cast<Opcode>(static_cast<int>(opcode) - static_cast<int>(Opcode::all_gather_start) +
                             static_cast<int>(Opcode::all_gather));
}

// Zeros, where nobody looks.
template <typename Numbers>
Value<typename Numbers::Number> blank(Numbers& numbers, const Shape& shape) {
  using Number = typename Numbers::Number;
  Value<Number> result;
  for (const Shape& part : shape.parts) result.parts.push_back(blank(numbers, part));
  if (row(shape.type).kind == Kind::none) return result;
  Array<Number> array{shape.type, shape.dims, 1, {}, {}};
  const auto size = static_cast<std::size_t>(elements(shape));
  if (is_real(shape.type))
    array.reals.assign(size, numbers.constant(0));
  else
    array.integers.assign(size, 0);
  return value(std::move(array));
}

// Where in the tuple the result stands: a copy begins with it, all others with what they were given.
constexpr std::size_t result_of(Opcode opcode) { return opcode == Opcode::copy_start ? 0 : 1; }

template <typename Numbers>
Value<typename Numbers::Number> under_way(Numbers& numbers, const Instruction& i,
                                          const std::vector<Value<typename Numbers::Number>>& operands,
                                          Value<typename Numbers::Number> result) {
  require(i.shape.parts.size() >= 2, "a tuple of what is given and what comes of it");
  Value<typename Numbers::Number> all;
  for (const Shape& part : i.shape.parts) {
    const std::size_t n = all.parts.size();
    if (n == result_of(i.opcode))
      all.parts.push_back(std::move(result));
    else if (n > 1)
      all.parts.push_back(blank(numbers, part));
    else if (part.type == Type::tuple)
      all.parts.push_back({nullptr, operands});
    else
      all.parts.push_back(operands.at(0));
  }
  return all;
}

template <typename Number>
Value<Number> ended(const Value<Number>& under_way, std::size_t n) {
  require(n < under_way.parts.size(), "what was begun");
  return under_way.parts[n];
}

}  // namespace plumb::hlo
