#include "reference/hlo/prove/printed.h"

namespace plumb::hlo {

bool Printed::contains(std::uint64_t print, const std::string& op_name) const {
  const auto own = of.find(op_name);
  return (own == of.end() ? all : own->second).contains(print);
}

void Printing::note(const Instruction& i, const std::vector<Value<Twin>>& operands, const Value<Twin>& held) {
  if (!held.array) return;
  // What is an operand, elsewhere, was printed.
  const bool is_operand = !operands.empty() && operands[0].array == held.array;
  if (!is_operand || held.array.get() != last) {
    last = held.array.get(), own = {print_of(*last, devices)}, elements += last->lanes * count(last->dims);
    for (const Ends& one : ends)
      if (one.tile == last->dims) own.push_back(print_of(*last, one));
  }
  printed.all.insert(own.begin(), own.end());
  printed.of[i.op_name].insert(own.begin(), own.end());
  if (ran.insert(&i).second) printed.held.emplace_back(&i, elements <= kMostKept ? held.array : nullptr);
  if (i.opcode < Opcode::all_gather || printed.told.contains(&i)) return;
  Printed::Told& told = printed.told[&i];
  told.prints = own, told.given = sums_of(pairs, *held.array, devices);
  if (!operands.empty() && operands[0].array) told.taken = sums_of(pairs, *operands[0].array, devices);
}

}  // namespace plumb::hlo
