#include "reference/hlo/prove/ways.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/run/fold.h"

namespace plumb::hlo {
namespace {

bool picks(Opcode opcode) {
  return opcode == Opcode::minimum || opcode == Opcode::maximum || opcode == Opcode::clamp;
}

bool folds(Opcode opcode) { return opcode == Opcode::reduce || opcode == Opcode::reduce_window; }

// A reduction of one array by nothing but a minimum or a maximum.
bool folds_by_picking(const Module& module, const Instruction& i) {
  if (!folds(i.opcode) || i.operands.size() != 2) return false;
  for (const std::int64_t f : get<Calls>(i, Key::to_apply).computations) {
    const auto operation = only_operation(module.computations[static_cast<std::size_t>(f)]);
    if (operation && picks(*operation)) return true;
  }
  return false;
}

// Says yes or no of each element: a comparison, or whether all or some of many predicates hold.
bool answers_whether(const Instruction& i) {
  return i.opcode == Opcode::compare || i.opcode == Opcode::is_finite ||
         (i.opcode == Opcode::reduce && i.shape.type == Type::pred);
}

const Instruction& operand_of(const Computation& c, const Instruction& i, std::size_t n) {
  return c.instructions[static_cast<std::size_t>(i.operands[n])];
}

// Predicates that are of comparisons of integers alone. Operands stand above: each is looked at once.
std::set<const Instruction*> of_integers(const Module& module) {
  std::set<const Instruction*> all;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const auto is = [&](std::int64_t o) {
        const Instruction& from = c.instructions[static_cast<std::size_t>(o)];
        return from.shape.type != Type::pred || all.contains(&from);
      };
      if (i.opcode == Opcode::constant ||
          (i.opcode == Opcode::compare && !is_real(operand_of(c, i, 0).shape.type)) ||
          (i.opcode != Opcode::compare && i.opcode != Opcode::is_finite && i.opcode < Opcode::call &&
           !i.operands.empty() && std::ranges::all_of(i.operands, is)))
        all.insert(&i);
    }
  return all;
}

// Whether a float is no number: `x != x`, or `x == x`, or `is_finite(x)`.
bool asks_for_nan(const Computation& c, const Instruction& i) {
  if (i.opcode == Opcode::is_finite) return true;
  if (i.opcode != Opcode::compare) return false;
  const auto direction = get<std::string>(i, Key::direction);
  return i.operands[0] == i.operands[1] && is_real(operand_of(c, i, 0).shape.type) &&
         (direction == "NE" || direction == "EQ");
}

bool chooses(const Module& module, const Instruction& i) {
  return is_real(i.shape.type) && (picks(i.opcode) || folds_by_picking(module, i));
}

// A constant, or one in every place, that is greater or less than all numbers: it is no choice.
bool is_infinite(const Computation& c, const Instruction& i) {
  const Instruction* of = &i;
  while (of->opcode == Opcode::broadcast || of->opcode == Opcode::reshape || of->opcode == Opcode::convert)
    of = &operand_of(c, *of, 0);
  return of->opcode == Opcode::constant && !of->literal.reals.empty() &&
         std::ranges::all_of(of->literal.reals, [](double x) { return std::isinf(x); });
}

// Calls f(element of `held`, that of `other` in the same place) until it says yes, and says whether it did. A
// scalar is in every place. Lanes are those of devices, or of elements where there are none.
template <typename F>
bool any_place(const Array<Twin>& held, const Array<Twin>& other, F f) {
  const std::int64_t size = count(held.dims), step = other.dims.empty() ? 0 : 1;
  const std::int64_t lanes = held.lanes == 1 ? 1 : held.holders ? std::ssize(*held.holders) : held.lanes;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const Twin* a = held.reals.data() + begin_on(held, lane, size);
    const Twin* b = other.reals.data() + begin_on(other, lane, step == 0 ? 1 : size);
    for (std::int64_t n = 0; n < size; ++n)
      if (f(a[n], b[n * step])) return true;
  }
  return false;
}

}  // namespace

std::set<const Computation*> of_elements(const Module& module) {
  std::set<const Computation*> all;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if (i.opcode == Opcode::call) continue;
      for (const Key key : {Key::to_apply, Key::select, Key::scatter})
        for (const std::int64_t f : get<Calls>(i, key).computations)
          all.insert(&module.computations[static_cast<std::size_t>(f)]);
    }
  return all;
}

Answers answers_of(const Module& module, const std::set<const Instruction*>& free_of_parameters) {
  Answers answers;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const bool asks = !i.operands.empty() && asks_for_nan(c, i);
      if (free_of_parameters.contains(&i) ||
          (!asks && (i.operands.size() < 2 || i.operands[0] == i.operands[1])))
        continue;
      if (answers_whether(i)) answers.compares.insert(&i);
      if (chooses(module, i)) answers.choices.insert(&i);
    }
  return answers;
}

void Answers::note(Pairs& pairs, const Instruction& i, const std::vector<Value<Twin>>& operands,
                   const Value<Twin>& held, Paths& paths) const {
  const auto goes = [&](std::int64_t answer, const auto& is) {
    if (!paths.contains({&i, answer}) && is()) paths.insert({&i, answer});
  };
  if (compares.contains(&i))
    for (const std::int64_t answer : {0, 1})
      goes(answer,
           [&] { return std::ranges::find(held.array->integers, answer) != held.array->integers.end(); });
  if (!choices.contains(&i)) return;
  const auto same = [&](const Twin& x, const Twin& y) { return pairs.same(x, y); };
  const auto other = [&](const Twin& x, const Twin& y) { return !pairs.same(x, y); };
  if (folds(i.opcode)) {
    goes(0, [&] { return any_place(*held.array, *operands[1].array, other); });
    goes(1, [&] { return any_place(*held.array, *operands[1].array, same); });
    return;
  }
  for (std::size_t n = 0; n < operands.size(); ++n)
    goes(static_cast<std::int64_t>(n), [&] { return any_place(*held.array, *operands[n].array, same); });
}

bool went(const Paths& paths, const Way& way) { return paths.contains({way.at, way.answer}); }

std::string print(const Way& way) {
  const std::string at = "%" + way.at->name;
  if (way.at->opcode == Opcode::while_) return at;
  if (answers_whether(*way.at)) return at + (way.answer ? " true" : " false");
  const bool operand = picks(way.at->opcode) || folds(way.at->opcode);
  return at + (operand ? " operand " : " branch ") + std::to_string(way.answer);
}

std::vector<Way> untaken(const Module& module, const Paths& paths) {
  std::vector<Way> all;
  const auto add = [&](const Way& way) {
    if (!went(paths, way)) all.push_back(way);
  };
  const std::set<const Computation*> inner = of_elements(module);
  const std::set<const Instruction*> integers = of_integers(module);
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const std::int64_t branches = std::ssize(get<Calls>(i, Key::branch_computations).computations);
      for (std::int64_t b = 0; b < branches; ++b) add({&i, b});
      if (i.opcode == Opcode::while_) add({&i, 1});
      const bool reached = went(paths, {&i, 0}) || went(paths, {&i, 1}) || went(paths, {&i, 2});
      if (!reached) continue;
      const auto kind = i.shape.dims.empty() && !inner.contains(&c) ? Way::scalar : Way::array;
      if (answers_whether(i))
        for (const std::int64_t answer : {0, 1})
          add({&i, answer,
               integers.contains(&i) ? Way::integers
               : asks_for_nan(c, i)  ? Way::no_number
                                     : kind});
      if (!chooses(module, i)) continue;
      for (std::size_t n = 0; n < i.operands.size(); ++n)
        if (!is_infinite(c, operand_of(c, i, n))) add({&i, static_cast<std::int64_t>(n), kind});
    }
  return all;
}

}  // namespace plumb::hlo
