#include "reference/hlo/prove/origin.h"

#include <algorithm>
#include <utility>

#include "reference/hlo/run/array.h"
#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

constexpr std::size_t kMostNumbers = 64, kMostChains = 8;

Integers counted_to(std::int64_t n) {
  Integers all;
  const auto most = std::min(n, static_cast<std::int64_t>(kMostNumbers));
  for (std::int64_t k = 0; k < most; ++k) all.push_back(most < 2 ? 0 : k * (n - 1) / (most - 1));
  return few(std::move(all));
}

void join(Origin& to, const Origin& from) {
  to.parameters.insert(from.parameters.begin(), from.parameters.end());
  to.indices.insert(from.indices.begin(), from.indices.end());
  to.changed = to.changed || from.changed;
  to.by_device = to.by_device || from.by_device;
  to.unknown = to.unknown || from.unknown;
  to.counted = std::max(to.counted, from.counted);
  to.summed = std::max(to.summed, from.summed);
  to.at_zero.insert(to.at_zero.end(), from.at_zero.begin(), from.at_zero.end());
  to.at_zero = few(std::move(to.at_zero));
  for (const Chain& chain : from.chains)
    if (to.chains.size() < kMostChains && std::ranges::count(to.chains, chain) == 0)
      to.chains.push_back(chain);
  to.columns.clear();
  to.parts.resize(std::max(to.parts.size(), from.parts.size()));
  for (std::size_t n = 0; n < from.parts.size(); ++n) join(to.parts[n], from.parts[n]);
}

// Numbers that are there, whatever the parameters are.
bool is_fixed(const Origin& origin) { return origin.parameters.empty() && !origin.unknown; }

// But for the ways they came about.
bool alike(const Origin& a, const Origin& b) {
  return a.parameters == b.parameters && a.changed == b.changed && a.by_device == b.by_device &&
         a.unknown == b.unknown && a.counted == b.counted && a.summed == b.summed && a.at_zero == b.at_zero &&
         a.columns.size() == b.columns.size() && std::ranges::equal(a.parts, b.parts, alike);
}

// f of each of a and each of b.
Integers all_pairs(Integers a, Integers b, Opcode opcode, Type type) {
  constexpr std::size_t kSome = 16;
  if (a.size() * b.size() > kMostNumbers * 4) a = few(std::move(a), kSome), b = few(std::move(b), kSome);
  Integers all;
  for (const std::int64_t x : a)
    for (const std::int64_t y : b) all.push_back(integer_binary(opcode, type, x, y));
  return few(std::move(all));
}

bool of_two(Opcode opcode) {
  return opcode >= Opcode::add && opcode <= Opcode::xor_ && opcode != Opcode::atan2;
}

// Whether the numbers of an instruction are those of its first operand, somewhere else.
bool is_elsewhere(Opcode opcode) {
  static const std::set<Opcode> kMoves = {Opcode::broadcast,     Opcode::convert,    Opcode::bitcast,
                                          Opcode::gather,        Opcode::copy,       Opcode::reshape,
                                          Opcode::reverse,       Opcode::slice,      Opcode::transpose,
                                          Opcode::dynamic_slice, Opcode::custom_call};
  return kMoves.contains(opcode) || opcode >= Opcode::all_gather;
}

// Whether no number of an instruction is another than its operands'.
bool moves(Opcode opcode) {
  return opcode == Opcode::concatenate || (is_elsewhere(opcode) && opcode < Opcode::all_gather);
}

bool is_by_element(Opcode opcode) {
  return of_two(opcode) || opcode == Opcode::select || opcode == Opcode::clamp || opcode == Opcode::convert ||
         opcode == Opcode::compare || opcode == Opcode::negate || opcode == Opcode::not_ ||
         opcode == Opcode::custom_call;
}

// Along which dimension of an instruction the elements lie that lie along one of its operand; -1: none.
std::int64_t moved(const Instruction& i, const Integers& from, std::int64_t along) {
  const Integers &to = i.shape.dims, dimensions = get<Integers>(i, Key::dimensions);
  const auto at = static_cast<std::size_t>(along);
  if (i.opcode == Opcode::broadcast) return at < dimensions.size() ? dimensions[at] : -1;
  if (i.opcode == Opcode::transpose) {
    const auto found = std::ranges::find(dimensions, along);
    return found == dimensions.end() ? -1 : found - dimensions.begin();
  }
  if (i.opcode == Opcode::slice) return to[at] == from[at] ? along : -1;
  if (i.opcode != Opcode::reshape) return to == from ? along : -1;
  std::int64_t before = 1;
  for (std::size_t d = 0; d < at; ++d) before *= from[d];
  for (std::size_t d = 0; d < to.size(); before /= to[d++]) {
    if (before == 1 && to[d] == from[at]) return static_cast<std::int64_t>(d);
    if (to[d] < 1 || before % to[d] != 0) break;
  }
  return -1;
}

struct Following {
  const Module& module;
  const Pause& pause;
  const std::function<void(const Followed&)>& visit;
  std::int64_t walked = 0;  // instructions
  bool counting = false;    // within the condition of a loop

  Origin call(const Instruction& i, Key key, const std::vector<Origin>& arguments) {
    Origin all;
    const Integers called = get<Calls>(i, key).computations;
    if (called.size() == 1)
      return follow(module.computations[static_cast<std::size_t>(called[0])], arguments);
    for (const std::int64_t c : called)
      join(all, follow(module.computations[static_cast<std::size_t>(c)], arguments));
    return all;
  }

  // What a loop carries: from one round to the next an element may come from another.
  Origin carried(const Instruction& i, Origin state) {
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds; ++round) {
      Origin next = state;
      const bool outer = std::exchange(counting, true);
      call(i, Key::condition, {state});
      counting = outer;
      join(next, call(i, Key::body, {state}));
      if (alike(next, state)) break;
      state = std::move(next);
    }
    return state;
  }

  // Of integers, what is computed of them.
  Origin computed(const Instruction& i, const std::vector<Origin>& operands) const {
    Origin all;
    // Of a choice what is taken else comes first: the index as it is, beside one that counts from the end.
    if (i.opcode == Opcode::select && operands.size() == 3) join(all, operands[2]);
    for (const Origin& operand : operands) join(all, operand);
    const auto numbers_of = [&](std::size_t n) {
      all.at_zero = operands[n].at_zero, all.chains = operands[n].chains, all.unknown = operands[n].unknown;
    };
    all.changed = all.changed || !moves(i.opcode);
    if (is_elsewhere(i.opcode)) {
      numbers_of(0);
      if (i.opcode == Opcode::gather || i.opcode == Opcode::dynamic_slice)
        for (std::size_t n = 1; n < operands.size(); ++n)
          all.indices.insert(operands[n].parameters.begin(), operands[n].parameters.end());
    } else if (i.opcode == Opcode::clamp) {
      numbers_of(1);
      Integers ends = operands[0].at_zero;
      ends.insert(ends.end(), operands[2].at_zero.begin(), operands[2].at_zero.end());
      ends = few(std::move(ends));
      for (Chain& chain : all.chains)
        chain = std::make_shared<const Made>(Made{chain, chain->parameter, i.opcode, i.shape.type, ends,
                                                  false, is_fixed(operands[0]) && is_fixed(operands[2])});
    } else if (i.opcode == Opcode::select) {
      all.unknown = operands[1].unknown || operands[2].unknown;
    } else if (of_two(i.opcode)) {
      const Origin &a = operands[0], &b = operands[1];
      all.chains.clear();
      const auto make = [&](const Origin& from, const Origin& other, bool second) {
        for (const Chain& chain : from.chains)
          if (!other.at_zero.empty() && all.chains.size() < kMostChains)
            all.chains.push_back(std::make_shared<const Made>(Made{
                chain, chain->parameter, i.opcode, i.shape.type, other.at_zero, second, is_fixed(other)}));
      };
      make(a, b, false), make(b, a, true);
      all.at_zero = all_pairs(a.at_zero, b.at_zero, i.opcode, i.shape.type);
    } else if (i.opcode == Opcode::negate || i.opcode == Opcode::not_) {
      const Opcode opcode = i.opcode == Opcode::negate ? Opcode::subtract : Opcode::xor_;
      const std::int64_t other = i.opcode == Opcode::negate ? 0 : -1;
      all.chains.clear();
      for (const Chain& chain : operands[0].chains)
        all.chains.push_back(std::make_shared<const Made>(
            Made{chain, chain->parameter, opcode, i.shape.type, {other}, true, true}));
      all.at_zero = all_pairs({other}, operands[0].at_zero, opcode, i.shape.type);
    } else if (i.opcode != Opcode::concatenate && i.opcode != Opcode::dynamic_update_slice &&
               i.opcode != Opcode::pad) {
      all.at_zero.clear(), all.chains.clear(), all.unknown = true;
    }
    return all;
  }

  // How many terms each sum of an instruction has; 0: it makes none.
  std::int64_t terms(const Instruction& i, const Computation& c) const {
    if (i.opcode != Opcode::reduce && i.opcode != Opcode::reduce_window) return 0;
    const Integers called = get<Calls>(i, Key::to_apply).computations;
    if (called.size() != 1) return 0;
    const Computation& by = module.computations[static_cast<std::size_t>(called[0])];
    if (by.instructions[static_cast<std::size_t>(by.root)].opcode != Opcode::add) return 0;
    std::int64_t all = 1;
    for (const WindowDim& w : get<std::vector<WindowDim>>(i, Key::window)) all *= w.size;
    const Shape& of = c.instructions[static_cast<std::size_t>(i.operands[0])].shape;
    return i.opcode == Opcode::reduce ? elements(of) / std::max<std::int64_t>(1, elements(i.shape)) : all;
  }

  // The columns of a concatenation, and what is computed of each column, or moved with the others.
  void add_columns(Origin& to, const Instruction& i, const Computation& c,
                   const std::vector<Origin>& operands) const {
    constexpr std::size_t kMostColumns = 8;
    const auto dims = [&](std::size_t n) -> const Integers& {
      return c.instructions[static_cast<std::size_t>(i.operands[n])].shape.dims;
    };
    if (i.opcode == Opcode::concatenate) {
      const Integers dimensions = get<Integers>(i, Key::dimensions);
      if (dimensions.size() != 1) return;
      to.along = dimensions[0];
      const auto at = static_cast<std::size_t>(to.along);
      if (at >= i.shape.dims.size() || i.shape.dims[at] > static_cast<std::int64_t>(kMostColumns)) return;
      for (std::size_t n = 0; n < operands.size(); ++n) {
        Origin one = operands[n];
        const std::vector<Origin> own = std::exchange(one.columns, {});
        if (!own.empty() && one.along == to.along)
          to.columns.insert(to.columns.end(), own.begin(), own.end());
        else
          to.columns.insert(to.columns.end(), static_cast<std::size_t>(dims(n)[at]), one);
      }
      return;
    }
    const auto first =
        std::ranges::find_if(operands, [](const Origin& operand) { return !operand.columns.empty(); });
    if (first == operands.end() || (!is_by_element(i.opcode) && !moves(i.opcode))) return;
    if (i.opcode == Opcode::gather || i.opcode == Opcode::dynamic_slice || i.opcode == Opcode::reverse)
      return;
    to.along = moved(i, dims(static_cast<std::size_t>(first - operands.begin())), first->along);
    if (to.along < 0) return;
    for (std::size_t k = 0; k < first->columns.size(); ++k) {
      std::vector<Origin> of;
      for (const Origin& operand : operands) {
        const bool told = operand.along == first->along && operand.columns.size() == first->columns.size();
        of.push_back(told ? operand.columns[k] : operand);
      }
      to.columns.push_back(computed(i, of));
    }
  }

  Origin meaning(const Instruction& i, const Computation& c, const std::vector<Origin>& operands) {
    visit({i, c, operands, counting});
    Origin all;
    switch (i.opcode) {
      case Opcode::constant:
        if (is_integer(i.shape.type)) all.at_zero = few(i.literal.integers);
        return all;
      case Opcode::partition_id:
        all.at_zero = counted_to(module.partitions), all.by_device = true;
        return all;
      case Opcode::replica_id:
        all.at_zero = {0};
        return all;
      case Opcode::iota: {
        const auto d = get<std::int64_t>(i, Key::iota_dimension);
        if (d >= 0 && d < std::ssize(i.shape.dims)) all.counted = i.shape.dims[static_cast<std::size_t>(d)];
        all.at_zero = counted_to(all.counted);
        return all;
      }
      case Opcode::tuple:
        all.parts = operands;
        return all;
      case Opcode::get_tuple_element: {
        const auto n = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
        return n < operands[0].parts.size() ? operands[0].parts[n] : Origin{.unknown = true};
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
      case Opcode::custom_call:  // the borders of manual regions
        if (i.shape.type != Type::tuple || i.shape.parts.size() != operands.size()) break;
        all.parts = operands;
        return all;
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
    if (operands.empty()) return {.unknown = true};
    if (i.shape.type == Type::pred) return computed(i, operands);
    if (!is_integer(i.shape.type)) return {.unknown = true};
    std::vector<Origin> numbers = operands;
    for (std::size_t n = 0; n < operands.size(); ++n)
      if (c.instructions[static_cast<std::size_t>(i.operands[n])].shape.type == Type::pred)
        numbers[n] = {.unknown = true};
    all = computed(i, numbers);
    all.summed = std::max(all.summed, terms(i, c));
    add_columns(all, i, c, numbers);
    return all;
  }

  Origin follow(const Computation& c, const std::vector<Origin>& arguments) {
    if (walked > kMostWalked) return {.unknown = true};
    if (pause) pause();
    walked += std::ssize(c.instructions);
    std::vector<Origin> values;
    for (const Instruction& i : c.instructions) {
      const auto number = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
      if (i.opcode == Opcode::parameter) {
        values.push_back(number < arguments.size() ? arguments[number] : Origin{.unknown = true});
        continue;
      }
      std::vector<Origin> operands;
      for (const std::int64_t o : i.operands) operands.push_back(values[static_cast<std::size_t>(o)]);
      values.push_back(meaning(i, c, operands));
    }
    return values[static_cast<std::size_t>(c.root)];
  }
};

}  // namespace

void each_origin(const Module& module, const Pause& pause, const std::function<void(const Followed&)>& visit) {
  const Computation& main = entry(module);
  std::vector<Origin> arguments(main.parameters.size());
  for (std::size_t p = 0; p < main.parameters.size(); ++p) {
    const auto n = static_cast<std::int64_t>(p);
    const Shape& shape = main.instructions[static_cast<std::size_t>(main.parameters[p])].shape;
    if (is_integer(shape.type))
      arguments[p] = {.parameters = {n},
                      .at_zero = {0},
                      .chains = {std::make_shared<const Made>(Made{nullptr, n, Opcode::copy, shape.type})}};
    else
      arguments[p].unknown = true;
  }
  Following{module, pause, visit}.follow(main, arguments);
}

}  // namespace plumb::hlo
