#include "reference/hlo/prove/bounds.h"

#include <algorithm>
#include <set>

#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

// Where the numbers of a value come from: parameters of the module, and iotas of so many.
struct Origin {
  std::set<std::int64_t> parameters;
  bool changed = false;      // they are no longer the parameters' own
  std::int64_t counted = 0;  // 0: no iota
  std::vector<Origin> parts;
  bool operator==(const Origin&) const = default;
};

void join(Origin& to, const Origin& from) {
  to.parameters.insert(from.parameters.begin(), from.parameters.end());
  to.changed = to.changed || from.changed;
  to.counted = std::max(to.counted, from.counted);
  to.parts.resize(std::max(to.parts.size(), from.parts.size()));
  for (std::size_t n = 0; n < from.parts.size(); ++n) join(to.parts[n], from.parts[n]);
}

constexpr std::int64_t kSmall = 8;

// Whether the numbers of an instruction are those of its operands, somewhere else.
bool moves(Opcode opcode) {
  static const std::set<Opcode> kMoves = {Opcode::broadcast, Opcode::concatenate, Opcode::convert,
                                          Opcode::copy,      Opcode::custom_call, Opcode::dynamic_slice,
                                          Opcode::gather,    Opcode::reshape,     Opcode::reverse,
                                          Opcode::slice,     Opcode::transpose};
  return kMoves.contains(opcode);
}

// The number that an operand is throughout.
std::optional<std::int64_t> number_throughout(const Computation& c, std::int64_t operand) {
  const Instruction* of = &c.instructions[static_cast<std::size_t>(operand)];
  while (of->opcode == Opcode::broadcast || of->opcode == Opcode::reshape || of->opcode == Opcode::convert)
    of = &c.instructions[static_cast<std::size_t>(of->operands[0])];
  const auto& numbers = of->literal.integers;
  return of->opcode == Opcode::constant && numbers.size() == 1 ? std::optional(numbers[0]) : std::nullopt;
}

bool is_ragged(Opcode opcode) { return opcode == Opcode::ragged_dot || opcode == Opcode::ragged_all_to_all; }

struct Following {
  const Module& module;
  std::vector<Bounds>& bounds;
  std::int64_t walked = 0;  // instructions

  void narrow(const Origin& origin, std::int64_t extent) {
    for (const std::int64_t p : origin.parameters) {
      Bounds& b = bounds[static_cast<std::size_t>(p)];
      if (extent < 1) continue;
      b = {0, b.indexes ? std::min(b.high, extent - 1) : extent - 1, true, false, b.asked};
    }
  }

  // What the two sides of a comparison ask of each other.
  void ask(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    constexpr std::size_t kMost = 4;
    const auto direction = get<std::string>(i, Key::direction);
    if (i.opcode != Opcode::compare || (direction != "EQ" && direction != "NE")) return;
    for (const std::size_t side : {0, 1}) {
      const auto x = number_throughout(c, i.operands[1 - side]);
      if (!x || operands[side].changed) continue;
      for (const std::int64_t p : operands[side].parameters) {
        const Computation& main = entry(module);
        const auto at = static_cast<std::size_t>(main.parameters[static_cast<std::size_t>(p)]);
        std::vector<std::int64_t>& asked = bounds[static_cast<std::size_t>(p)].asked;
        if (asked.size() < kMost && std::ranges::count(asked, *x) == 0 &&
            has_number(main.instructions[at].shape.type, *x))
          asked.push_back(*x);
      }
    }
  }

  // What an index into the operand may not exceed.
  void index(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    if (i.operands.empty()) return;
    const Shape& of = c.instructions[static_cast<std::size_t>(i.operands[0])].shape;
    const auto mapped = [&](Key key, std::size_t indices) {
      for (const std::int64_t d : get<Integers>(i, key))
        if (d >= 0 && d < std::ssize(of.dims))
          narrow(operands[indices], of.dims[static_cast<std::size_t>(d)]);
    };
    mapped(Key::start_index_map, 1);                                 // of a gather
    mapped(Key::scatter_dims_to_operand_dims, operands.size() / 2);  // of a scatter
    const std::size_t first = i.opcode == Opcode::dynamic_slice ? 1 : 2;
    if (i.opcode == Opcode::dynamic_slice || i.opcode == Opcode::dynamic_update_slice)
      for (std::size_t d = 0; d + first < operands.size() && d < of.dims.size(); ++d)
        narrow(operands[d + first], of.dims[d]);
    for (std::size_t sizes = 2; is_ragged(i.opcode) && sizes < operands.size(); ++sizes)
      narrow(operands[sizes], kSmall);  // so many rows, and where they begin
    if (i.opcode != Opcode::compare || get<std::string>(i, Key::direction) != "EQ") return;
    for (std::size_t side = 0; side < 2; ++side)
      if (operands[side].parameters.empty() && operands[side].counted > 0)
        narrow(operands[1 - side], operands[side].counted);
  }

  Origin call(const Instruction& i, Key key, const std::vector<Origin>& arguments) {
    Origin all;
    for (const std::int64_t c : get<Calls>(i, key).computations)
      join(all, follow(module.computations[static_cast<std::size_t>(c)], arguments));
    return all;
  }

  // What a loop carries: from one round to the next an element may come from another.
  Origin carried(const Instruction& i, Origin state) {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      Origin next = state;
      call(i, Key::condition, {state});
      join(next, call(i, Key::body, {state}));
      if (next == state) break;
      state = std::move(next);
    }
    return state;
  }

  Origin meaning(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    index(i, c, operands), ask(i, c, operands);
    Origin all;
    switch (i.opcode) {
      case Opcode::iota: {
        const auto d = get<std::int64_t>(i, Key::iota_dimension);
        if (d >= 0 && d < std::ssize(i.shape.dims)) all.counted = i.shape.dims[static_cast<std::size_t>(d)];
        return all;
      }
      case Opcode::tuple:
        all.parts = operands;
        return all;
      case Opcode::get_tuple_element: {
        const auto n = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
        return n < operands[0].parts.size() ? operands[0].parts[n] : Origin{};
      }
      case Opcode::call:
        return call(i, Key::to_apply, operands);
      case Opcode::fusion:
        return call(i, Key::calls, operands);
      case Opcode::while_:
        return carried(i, operands[0]);
      case Opcode::copy:
      case Opcode::opt_barrier:
        return operands[0];
      case Opcode::sort:
        all.parts = operands;
        return operands.size() > 1 ? all : operands[0];
      case Opcode::conditional:
        for (std::size_t b = 0; b + 1 < operands.size(); ++b) {
          const Integers branches = get<Calls>(i, Key::branch_computations).computations;
          if (b < branches.size())
            join(all, follow(module.computations[static_cast<std::size_t>(branches[b])], {operands[b + 1]}));
        }
        return all;
      default:
        break;
    }
    if (i.shape.type == Type::tuple || !is_integer(i.shape.type)) return all;
    for (const Origin& operand : operands) join(all, operand);
    all.changed = all.changed || !moves(i.opcode);
    return all;
  }

  Origin follow(const Computation& c, const std::vector<Origin>& arguments) {
    if (walked > kMostWalked) return {};
    walked += std::ssize(c.instructions);
    std::vector<Origin> values;
    for (const Instruction& i : c.instructions) {
      const auto number = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
      if (i.opcode == Opcode::parameter) {
        values.push_back(number < arguments.size() ? arguments[number] : Origin{});
        continue;
      }
      std::vector<Origin> operands;
      for (const std::int64_t o : i.operands) operands.push_back(values[static_cast<std::size_t>(o)]);
      values.push_back(meaning(i, c, operands));
    }
    return values[static_cast<std::size_t>(c.root)];
  }
};

// Integers that index nothing: small ones of a signed type, of which a single one may count the rounds of a
// loop; any of an unsigned.
Bounds unbounded(const Shape& shape) {
  const bool any = elements(shape) > 1;
  if (row(shape.type).kind == Kind::signed_integer)
    return {shape.dims.empty() ? 0 : -kSmall, kSmall - 1, false, any};
  const int bits = std::min(row(shape.type).bits, 62);
  return {0, (std::int64_t{1} << bits) - 1, false, any};
}

}  // namespace

bool has_number(Type type, std::int64_t n) { return wrap(type, n) == n; }

std::vector<Bounds> bounds_of(const Module& module) {
  const Computation& main = entry(module);
  std::vector<Bounds> bounds;
  std::vector<Origin> arguments(main.parameters.size());
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    bounds.push_back(unbounded(shape));
    if (is_integer(shape.type)) arguments[p].parameters = {static_cast<std::int64_t>(p)};
  }
  Following{module, bounds}.follow(main, arguments);
  return bounds;
}

}  // namespace plumb::hlo
