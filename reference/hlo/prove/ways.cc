#include "reference/hlo/prove/ways.h"

#include <algorithm>

namespace plumb::hlo {
namespace {

bool chooses(Opcode opcode) {
  return opcode == Opcode::minimum || opcode == Opcode::maximum || opcode == Opcode::clamp;
}

std::vector<const Instruction*> operands_of(const Computation& c, const Instruction& i) {
  std::vector<const Instruction*> operands;
  for (const std::int64_t o : i.operands) operands.push_back(&c.instructions[static_cast<std::size_t>(o)]);
  return operands;
}

}  // namespace

Answers answers_of(const Module& module, const std::set<const Instruction*>& free_of_parameters) {
  Answers answers;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if (free_of_parameters.contains(&i) || (i.opcode != Opcode::compare && !chooses(i.opcode))) continue;
      const auto operands = operands_of(c, i);
      if (operands[0] == operands[1]) continue;
      if (i.opcode == Opcode::compare)
        answers.compares.insert(&i);
      else if (i.shape.dims.empty() && is_real(i.shape.type))
        answers.choices[&i] = operands;
    }
  for (const auto& [choice, operands] : answers.choices)
    for (const Instruction* operand : operands) answers.scalars[operand];
  return answers;
}

void Answers::note(Pairs& pairs, const Instruction& i, const Value<Twin>& held, Paths& paths) {
  if (const auto scalar = scalars.find(&i); scalar != scalars.end()) scalar->second = held;
  if (compares.contains(&i))
    for (const std::int64_t answer : {0, 1})
      if (!paths.contains({&i, answer}) && std::ranges::count(held.array->integers, answer) > 0)
        paths.insert({&i, answer});
  const auto choice = choices.find(&i);
  if (choice == choices.end()) return;
  for (std::size_t n = 0; n < choice->second.size(); ++n) {
    const Value<Twin>& operand = scalars.at(choice->second[n]);
    const auto is = [&](const Twin& x) {
      return std::ranges::any_of(operand.array->reals, [&](const Twin& y) { return pairs.same(x, y); });
    };
    if (operand.array && std::ranges::any_of(held.array->reals, is))
      paths.insert({&i, static_cast<std::int64_t>(n)});
  }
}

bool went(const Paths& paths, const Way& way) { return paths.contains({way.at, way.answer}); }

std::string print(const Way& way) {
  const std::string at = "%" + way.at->name;
  if (way.at->opcode == Opcode::while_) return at;
  if (way.at->opcode == Opcode::compare) return at + (way.answer ? " true" : " false");
  return at + (chooses(way.at->opcode) ? " operand " : " branch ") + std::to_string(way.answer);
}

std::vector<Way> untaken(const Module& module, const Paths& paths) {
  std::vector<Way> all;
  const auto add = [&](const Way& way) {
    if (!went(paths, way)) all.push_back(way);
  };
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const std::int64_t branches = std::ssize(get<Calls>(i, Key::branch_computations).computations);
      for (std::int64_t b = 0; b < branches; ++b) add({&i, b});
      if (i.opcode == Opcode::while_) add({&i, 1});
      const bool reached = went(paths, {&i, 0}) || went(paths, {&i, 1}) || went(paths, {&i, 2});
      if (i.opcode == Opcode::compare && reached) {
        const bool floats = is_real(operands_of(c, i)[0]->shape.type);
        const auto kind = !floats ? Way::integers : i.shape.dims.empty() ? Way::scalar : Way::array;
        for (const std::int64_t answer : {0, 1}) add({&i, answer, kind});
      }
      if (chooses(i.opcode) && reached)
        for (std::int64_t n = 0; n < std::ssize(i.operands); ++n) add({&i, n});
    }
  return all;
}

}  // namespace plumb::hlo
