// What a proof holds at most: the modules are gone through as the interpreter would, with sizes in the place
// of arrays.
#include "reference/hlo/prove/memory.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "reference/hlo/prove/twin.h"
#include "reference/hlo/prove/whole.h"
#include "reference/hlo/run/run.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

struct Meter {
  double now = 0, most = 0;
  std::int64_t walked = 0;  // instructions
};

using Plain = Value<double>;

// An array that the interpreter would hold, for as long as it would: without its elements.
struct Block {
  Meter& meter;
  Array<double> array;
  double bytes = 0;
  Block(Meter& of, Array<double> held) : meter(of), array(std::move(held)) {
    bytes = is_real(array.type) ? sizeof(Twin) : sizeof(std::int64_t);
    for (const std::int64_t n : array.dims) bytes *= static_cast<double>(n);
    bytes *= static_cast<double>(array.lanes);
    meter.now += bytes;
    meter.most = std::max(meter.most, meter.now);
  }
  ~Block() { meter.now -= bytes; }
  Block(const Block&) = delete;
};

struct Kept {
  std::shared_ptr<const Block> block;
  std::vector<Kept> parts;
  Plain known{};  // small integers that no data decide: offsets of devices
};

double bytes(const Kept& held) {
  double all = held.block ? held.block->bytes : 0;
  for (const Kept& part : held.parts) all += bytes(part);
  return all;
}

// Another turn of a loop has other numbers, but shares what it shared.
Kept forgotten(Kept held) {
  held.known = {};
  for (Kept& part : held.parts) part = forgotten(std::move(part));
  return held;
}

bool same_lanes(const Kept& a, const Kept& b) {
  if (!a.block != !b.block || a.parts.size() != b.parts.size()) return false;
  for (std::size_t n = 0; n < a.parts.size(); ++n)
    if (!same_lanes(a.parts[n], b.parts[n])) return false;
  return !a.block || same_holders(a.block->array.lanes, a.block->array.holders, b.block->array.holders,
                                  b.block->array.lanes);
}

void list_blocks(const Kept& held, Pointers<double>& all) {
  if (held.block) all.push_back(&held.block->array);
  for (const Kept& part : held.parts) list_blocks(part, all);
}

// Which devices share a lane.
struct Lanes {
  std::int64_t count = 1;
  Holders holders;
};

struct Walk {
  const Module& module;
  Meter& meter;
  Reals& reals;

  Machine<Reals> machine() const { return {module, reals, module.partitions}; }
  Lanes each() const { return {module.partitions, nullptr}; }

  Kept fresh(const Shape& shape, const Lanes& lanes) const {
    Kept held;
    for (const Shape& part : shape.parts) held.parts.push_back(fresh(part, lanes));
    if (row(shape.type).kind != Kind::none)
      held.block = std::make_shared<const Block>(
          meter, Array<double>{shape.type, shape.dims, lanes.count, {}, {}, lanes.holders});
    return held;
  }

  Kept call(const Instruction& i, Key key, std::size_t n, const std::vector<Kept>& arguments) const {
    const Integers calls = get<Calls>(i, key).computations;
    if (n >= calls.size()) return fresh(i.shape, each());
    return run(module.computations[static_cast<std::size_t>(calls[n])], arguments);
  }

  // Until a turn shares what the one before did.
  Kept loop(const Instruction& i, Kept held) const {
    constexpr int kMostTurns = 8;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      Kept next = forgotten(call(i, Key::body, 0, {held}));
      if (same_lanes(next, held)) return next;
      held = std::move(next);
    }
    return call(i, Key::body, 0, {fresh(i.shape, each())});
  }

  // The one that the instruction's index= says. What does not fit is refused when it is run.
  Kept argument(const std::vector<Kept>& all, const Instruction& i) const {
    const auto n = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
    return n < all.size() ? all[n] : fresh(i.shape, each());
  }

  // The lanes of what crosses the border of a manual region.
  Lanes crossing(const Crossing& border, const Array<double>& held, const Shape& shape, bool inwards) const {
    const Integers lanes = lanes_of(held, module.partitions);
    if (inwards) {
      const auto [count, holders] = tiles_of(division_at(border, held.dims, shape.dims), lanes);
      return {count, holders};
    }
    Holding holding = holding_at(border, division_at(border, shape.dims, held.dims), lanes);
    if (holding.devices.size() == 1) return {};
    return {std::ssize(holding.devices),
            std::make_shared<const std::vector<std::int32_t>>(std::move(holding.of))};
  }

  Kept crossed(const Computation& c, const Instruction& i, const std::vector<Kept>& operands,
               bool inwards) const {
    const bool several = i.shape.type == Type::tuple;
    Kept result;
    try {
      const std::vector<Crossing> ways = crossings(module, c, i);
      require(ways.size() == operands.size() && (several ? i.shape.parts.size() : 1) == operands.size(),
              "a sharding for each value");
      for (std::size_t n = 0; n < operands.size(); ++n) {
        require(operands[n].block != nullptr, "an array");
        const Shape& shape = several ? i.shape.parts.at(n) : i.shape;
        result.parts.push_back(fresh(shape, crossing(ways[n], operands[n].block->array, shape, inwards)));
      }
    } catch (const Misfit&) {
      return fresh(i.shape, each());
    }
    return several ? result : result.parts.at(0);
  }

  Kept custom(const Computation& c, const Instruction& i, const std::vector<Kept>& operands) const {
    const auto border = border_of(get<std::string>(i, Key::custom_call_target));
    if (border && border != Border::marker)
      return crossed(c, i, operands, border == Border::enter || border == Border::sdy_enter);
    return border && operands.size() == 1 ? operands[0] : fresh(i.shape, shared(i, operands));
  }

  Lanes of_collective(const Instruction& i, const Pointers<double>& all) const {
    if (i.opcode == Opcode::collective_permute || i.opcode == Opcode::collective_permute_start) {
      const Array<double> got =
          fetched(machine(), Array<double>{Type::s32, {0}, all.at(0)->lanes, {}, {}, all[0]->holders},
                  sources_of(i, module.partitions));
      return {got.lanes, got.holders};
    }
    const Met met = met_in(groups_of(i, module.partitions), all, module.partitions);
    const bool one = i.opcode == Opcode::all_reduce || i.opcode == Opcode::all_gather ||
                     i.opcode == Opcode::collective_broadcast;
    Lanes lanes;
    share(met, one ? 1 : std::ssize(met.groups.at(0)), lanes.count, lanes.holders);
    return lanes;
  }

  // Which devices hold the same of what is computed of some operands.
  Lanes shared(const Instruction& i, const std::vector<Kept>& operands) const {
    Pointers<double> all;
    for (const Kept& operand : operands) list_blocks(operand, all);
    try {
      const bool by_offsets = i.opcode == Opcode::ragged_all_to_all || i.opcode == Opcode::recv;
      if (i.opcode >= Opcode::all_gather_start || by_offsets) return each();
      if (i.opcode >= Opcode::all_gather && i.opcode < Opcode::all_gather_start) return of_collective(i, all);
      const Joint joint = joined(all);
      return {joint.lanes, joint.holders};
    } catch (const Misfit&) {
      return each();
    }
  }

  // Offsets as each device computes them.
  Plain known(const Computation& c, const Instruction& i, const std::vector<Kept>& operands) const {
    constexpr std::int64_t kMost = 1 << 16;
    const bool computes = i.opcode < Opcode::async_done && i.opcode != Opcode::parameter;
    if (!computes || is_real(i.shape.type) || row(i.shape.type).kind == Kind::none ||
        count(i.shape.dims) * module.partitions > kMost)
      return {};
    std::vector<Plain> given;
    for (const Kept& operand : operands) {
      if (!operand.known.array) return {};
      given.push_back(operand.known);
    }
    try {
      return hlo::meaning(Line<Reals>{machine(), c, i, given, {}});
    } catch (const Misfit&) {
      return {};
    }
  }

  // Operations that need as much again as they read while they run; what one operation of floats reduces
  // does not.
  bool rearranges(const Instruction& i) const {
    if (i.opcode == Opcode::reduce || i.opcode == Opcode::all_reduce || i.opcode == Opcode::reduce_scatter)
      return !is_real(i.shape.type) || !only_operation(called(machine(), i, Key::to_apply));
    return (i.opcode >= Opcode::convolution && i.opcode <= Opcode::topk && i.opcode != Opcode::dot) ||
           i.opcode == Opcode::scatter;
  }

  Kept meaning(const Computation& c, const Instruction& i, const std::vector<Kept>& operands) const {
    switch (i.opcode) {
      case Opcode::tuple:
        return {nullptr, operands};
      case Opcode::get_tuple_element:
        return argument(operands[0].parts, i);
      case Opcode::copy:
      case Opcode::opt_barrier:
      case Opcode::reduce_precision:
        return operands[0];
      case Opcode::call:
        return call(i, Key::to_apply, 0, operands);
      case Opcode::fusion:
        return call(i, Key::calls, 0, operands);
      case Opcode::while_:
        return loop(i, forgotten(operands[0]));
      case Opcode::conditional:  // devices may part
        for (std::size_t b = 0; b + 1 < operands.size(); ++b)
          call(i, Key::branch_computations, b, {operands[b + 1]});
        return fresh(i.shape, each());
      case Opcode::custom_call:
        return custom(c, i, operands);
      default:
        break;
    }
    if (Plain numbers = known(c, i, operands); numbers.array) {
      Kept held = fresh(i.shape, {numbers.array->lanes, numbers.array->holders});
      held.known = std::move(numbers);
      return held;
    }
    double meanwhile = 0;
    if (rearranges(i))
      for (const Kept& operand : operands) meanwhile += bytes(operand);
    const Block work(
        meter, {Type::s64, {static_cast<std::int64_t>(meanwhile / sizeof(std::int64_t))}, 1, {}, {}, {}});
    return fresh(i.shape, shared(i, operands));
  }

  Kept run(const Computation& c, std::vector<Kept> arguments) const {
    // Then nothing is shared, and what is called holds its result alone.
    if (meter.walked > kMostWalked)
      return fresh(c.instructions[static_cast<std::size_t>(c.root)].shape, each());
    meter.walked += std::ssize(c.instructions);
    std::vector<Kept> values(c.instructions.size());
    Integers left(values.size());
    for (const Instruction& i : c.instructions)
      for (const std::int64_t o : i.operands) ++left[static_cast<std::size_t>(o)];
    ++left[static_cast<std::size_t>(c.root)];
    for (std::size_t n = 0; n < values.size(); ++n) {
      const Instruction& i = c.instructions[n];
      if (i.opcode == Opcode::parameter) {
        const auto number = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
        values[n] = number < arguments.size() ? std::move(arguments[number]) : fresh(i.shape, each());
      } else {
        std::vector<Kept> operands;
        for (const std::int64_t o : i.operands) {
          operands.push_back(values[static_cast<std::size_t>(o)]);
          if (--left[static_cast<std::size_t>(o)] == 0) values[static_cast<std::size_t>(o)] = {};
        }
        values[n] = meaning(c, i, operands);
      }
      if (left[n] == 0) values[n] = {};
    }
    return values[static_cast<std::size_t>(c.root)];
  }

  Kept parameter(std::size_t p, const Lanes& lanes) const {
    const Computation& main = entry(module);
    return fresh(main.instructions[static_cast<std::size_t>(main.parameters[p])].shape, lanes);
  }
};

}  // namespace

std::int64_t memory_needed(const Subject& subject) {
  Meter meter;
  Reals reals;
  const Walk before{subject.before, meter, reals}, after{subject.after, meter, reals};
  const std::vector<Division> cuts = parameter_layouts(subject);
  std::vector<Kept> whole, local;
  for (std::size_t p = 0; p < cuts.size(); ++p) whole.push_back(before.parameter(p, {}));
  const Kept wanted = before.run(entry(subject.before), std::move(whole));
  const double once = std::exchange(meter.most, meter.now);
  for (std::size_t p = 0; p < cuts.size(); ++p) {
    const auto [lanes, holders] = tiles_of(cuts[p]);
    local.push_back(after.parameter(p, {lanes, holders}));
  }
  const Kept got = after.run(entry(subject.after), std::move(local));
  // Two runs of BEFORE at once, or one and AFTER, with what another draw should be.
  const double most = runs_beside(subject.before)
                          ? std::max(2 * once, once + bytes(wanted) + meter.most)
                          : std::max(once, meter.most);
  return static_cast<std::int64_t>(std::min(most, 0x1p62));
}

}  // namespace plumb::hlo
