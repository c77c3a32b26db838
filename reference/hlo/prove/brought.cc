#include "reference/hlo/prove/brought.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace plumb::hlo {
namespace {

// An instruction's value, or one element of it where it is a tuple.
struct Piece {
  const Computation* in;
  const Instruction* is;
  std::optional<std::int64_t> element;
  auto operator<=>(const Piece&) const = default;
};

bool only_decides_by(Opcode opcode) {
  return opcode == Opcode::compare || opcode == Opcode::sign || opcode == Opcode::is_finite ||
         opcode == Opcode::floor || opcode == Opcode::ceil || opcode == Opcode::round_nearest_afz ||
         opcode == Opcode::round_nearest_even;
}

struct Caller {
  const Computation* in;
  const Instruction* by;
  Key key;
  std::int64_t branch;
};

struct Reading {
  const Module& module;
  std::map<const Computation*, std::vector<Caller>> callers{};
  std::set<Piece> known{};
  std::vector<Piece> open{};

  void read(const Computation& c, const Instruction& i, std::optional<std::int64_t> element) {
    const Piece part{&c, &i, element};
    if (known.insert(part).second) open.push_back(part);
  }
  void operand(const Piece& of, std::size_t n, std::optional<std::int64_t> element = {}) {
    read(*of.in, of.in->instructions[static_cast<std::size_t>(of.is->operands.at(n))], element);
  }
  void operands(const Piece& of, std::size_t from = 0) {
    for (std::size_t n = from; n < of.is->operands.size(); ++n) operand(of, n);
  }
  void roots(const Piece& of, Key key, std::optional<std::int64_t> element) {
    for (const std::int64_t n : get<Calls>(*of.is, key).computations) {
      const Computation& c = module.computations[static_cast<std::size_t>(n)];
      read(c, c.instructions[static_cast<std::size_t>(c.root)], element);
    }
  }

  // What callers hand over.
  void parameter(const Piece& of) {
    const std::int64_t at = of.is - of.in->instructions.data();
    const auto number =
        static_cast<std::size_t>(std::ranges::find(of.in->parameters, at) - of.in->parameters.begin());
    for (const Caller& caller : callers[of.in]) {
      const Piece by{caller.in, caller.by, of.element};
      if (caller.key == Key::body)
        read(*caller.in, *caller.by, of.element);
      else if (caller.key == Key::branch_computations)
        operand(by, static_cast<std::size_t>(caller.branch) + 1, of.element);
      else if (number < caller.by->operands.size() && caller.key != Key::condition)
        operand(by, number, of.element);
    }
  }

  void go_on(const Piece& of) {
    switch (of.is->opcode) {
      case Opcode::parameter:
        return parameter(of);
      case Opcode::tuple:
        if (!of.element) return operands(of);
        return operand(of, static_cast<std::size_t>(*of.element));
      case Opcode::get_tuple_element:
        return operand(of, 0, get<std::int64_t>(*of.is, Key::index));
      case Opcode::opt_barrier:
        return operand(of, 0, of.element);
      case Opcode::while_:
        operand(of, 0, of.element);
        return roots(of, Key::body, of.element);
      case Opcode::call:
        return roots(of, Key::to_apply, of.element);
      case Opcode::conditional:
        return roots(of, Key::branch_computations, of.element);
      case Opcode::select:
        return operands(of, 1);
      default:
        if (only_decides_by(of.is->opcode)) return;
        roots(of, Key::calls, of.element), roots(of, Key::called_computations, of.element);
        return operands(of);
    }
  }
};

}  // namespace

std::set<const Instruction*> brought_to_results(const Module& module) {
  Reading reading{module};
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      for (const Attribute& a : i.attributes)
        if (const Calls* calls = std::get_if<Calls>(&a.value))
          for (std::int64_t b = 0; b < std::ssize(calls->computations); ++b)
            reading
                .callers[&module.computations[static_cast<std::size_t>(
                    calls->computations[static_cast<std::size_t>(b)])]]
                .push_back({&c, &i, a.key, b});
  const Computation& main = entry(module);
  reading.read(main, main.instructions[static_cast<std::size_t>(main.root)], {});
  while (!reading.open.empty()) {
    const Piece part = reading.open.back();
    reading.open.pop_back();
    reading.go_on(part);
  }
  std::set<const Instruction*> all;
  for (const Piece& part : reading.known) all.insert(part.is);
  return all;
}

}  // namespace plumb::hlo
