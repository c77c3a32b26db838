#include "reference/hlo/module/total_order.h"

#include <algorithm>
#include <optional>

namespace plumb::hlo {
namespace {

const Instruction& line_of(const Computation& c, std::int64_t n) {
  return c.instructions[static_cast<std::size_t>(n)];
}

// Whether it is an integer everywhere.
bool is_all(const Computation& c, std::int64_t n, std::int64_t value) {
  const Instruction& i = line_of(c, n);
  if (i.opcode == Opcode::broadcast) return is_all(c, i.operands[0], value);
  return i.opcode == Opcode::constant && !i.literal.integers.empty() &&
         std::ranges::count(i.literal.integers, value) == std::ssize(i.literal.integers);
}

// Whether it is the bits of floats, as integers of their width.
bool is_bits(const Computation& c, const Instruction& i) {
  if (i.opcode != Opcode::bitcast_convert && i.opcode != Opcode::bitcast) return false;
  const Shape& of = line_of(c, i.operands[0]).shape;
  return is_integer(i.shape.type) && is_real(of.type) && of.dims == i.shape.dims &&
         row(of.type).bits == row(i.shape.type).bits;
}

// The float of which an instruction has the bits in order: select(b < 0, largest xor b, b), where b are its
// bits.
std::optional<std::int64_t> ordered_float(const Computation& c, std::int64_t n) {
  const Instruction& chosen = line_of(c, n);
  if (chosen.opcode != Opcode::select || row(chosen.shape.type).kind != Kind::signed_integer)
    return std::nullopt;
  const std::int64_t bits = chosen.operands[2];
  const Instruction &below = line_of(c, chosen.operands[0]), &reversed = line_of(c, chosen.operands[1]);
  const auto largest = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - row(chosen.shape.type).bits));
  const auto is_largest = [&](std::int64_t o) { return is_all(c, o, largest); };
  const bool below_zero = below.opcode == Opcode::compare && below.operands[0] == bits &&
                          is_all(c, below.operands[1], 0) && get<std::string>(below, Key::direction) == "LT";
  const bool all_but_the_sign = reversed.opcode == Opcode::xor_ &&
                                std::ranges::count(reversed.operands, bits) == 1 &&
                                std::ranges::any_of(reversed.operands, is_largest);
  if (!below_zero || !all_but_the_sign || !is_bits(c, line_of(c, bits))) return std::nullopt;
  return line_of(c, bits).operands[0];
}

void compare_floats(Computation& c) {
  for (Instruction& i : c.instructions) {
    if (i.opcode != Opcode::compare) continue;
    const auto a = ordered_float(c, i.operands[0]), b = ordered_float(c, i.operands[1]);
    if (!a || !b) continue;
    i.operands = {*a, *b};
    std::erase_if(i.attributes, [](const Attribute& attribute) { return attribute.key == Key::type; });
    i.attributes.push_back({Key::type, std::string("TOTALORDER")});
  }
}

// Bits of floats that nothing reads any more.
void forget_bits(Computation& c) {
  std::vector<bool> read(c.instructions.size());
  read[static_cast<std::size_t>(c.root)] = true;
  for (std::size_t n = read.size(); n-- > 0;)
    if (read[n])
      for (const std::int64_t o : c.instructions[n].operands) read[static_cast<std::size_t>(o)] = true;
  for (std::size_t n = 0; n < read.size(); ++n) {
    Instruction& i = c.instructions[n];
    if (read[n] || !is_bits(c, i)) continue;
    i.opcode = Opcode::constant, i.operands = {};
    i.literal.integers.assign(static_cast<std::size_t>(elements(i.shape)), 0);
  }
}

// Whether the computation says which of its first two parameters is greater, or which is less.
std::optional<bool> is_greater(const Computation& c) {
  const Instruction& root = line_of(c, c.root);
  const auto direction = get<std::string>(root, Key::direction);
  if (root.opcode != Opcode::compare || c.parameters.size() < 2 ||
      root.operands != Integers{c.parameters[0], c.parameters[1]})
    return std::nullopt;
  return direction == "GT" ? std::optional(true) : direction == "LT" ? std::optional(false) : std::nullopt;
}

void take_top(const Module& module, Instruction& i) {
  if (i.opcode != Opcode::custom_call || get<std::string>(i, Key::custom_call_target) != "TopK") return;
  const Integers called = get<Calls>(i, Key::called_computations).computations;
  if (called.size() != 1 || i.operands.size() != 1 || i.shape.parts.size() != 2) return;
  const auto greater = is_greater(module.computations[static_cast<std::size_t>(called[0])]);
  const Integers& dims = i.shape.parts[0].dims;
  if (!greater || dims.empty()) return;
  i.opcode = Opcode::topk;
  i.attributes = {
      {Key::k,       dims.back()},
      {Key::largest, *greater   }
  };
}

}  // namespace

Module with_floats_compared(Module module) {
  for (Computation& c : module.computations) {
    compare_floats(c);
    forget_bits(c);
    for (Instruction& i : c.instructions) take_top(module, i);
  }
  return module;
}

}  // namespace plumb::hlo
