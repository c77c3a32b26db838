// What a proof holds at most: the modules are gone through as the interpreter would, with sizes in the place
// of arrays.
#include "reference/hlo/prove/memory.h"

#include <algorithm>
#include <memory>

#include "reference/hlo/prove/twin.h"
#include "reference/hlo/run/runs.h"

namespace plumb::hlo {
namespace {

struct Meter {
  double now = 0, most = 0;
};

// An array that the interpreter would hold, for as long as it would.
struct Block {
  Meter& meter;
  double bytes = 0;
  bool on_each = false;  // a device holds its own
  Block(Meter& of, double size, bool many) : meter(of), bytes(size), on_each(many) {
    meter.now += bytes;
    meter.most = std::max(meter.most, meter.now);
  }
  ~Block() { meter.now -= bytes; }
  Block(const Block&) = delete;
};

struct Kept {
  std::shared_ptr<const Block> block;
  std::vector<Kept> parts;
};

bool on_each(const Kept& held) {
  return (held.block && held.block->on_each) || std::ranges::any_of(held.parts, on_each);
}

double bytes(const Kept& held) {
  double all = held.block ? held.block->bytes : 0;
  for (const Kept& part : held.parts) all += bytes(part);
  return all;
}

struct Walk {
  const Module& module;
  Meter& meter;

  Kept fresh(const Shape& shape, bool many) const {
    Kept held;
    for (const Shape& part : shape.parts) held.parts.push_back(fresh(part, many));
    if (row(shape.type).kind == Kind::none) return held;
    double size = is_real(shape.type) ? sizeof(Twin) : sizeof(std::int64_t);
    for (const std::int64_t n : shape.dims) size *= static_cast<double>(n);
    held.block = std::make_shared<const Block>(
        meter, many ? size * static_cast<double>(module.partitions) : size, many);
    return held;
  }

  Kept call(const Instruction& i, Key key, std::size_t n, const std::vector<Kept>& arguments) const {
    const Integers calls = get<Calls>(i, key).computations;
    if (n >= calls.size()) return fresh(i.shape, false);
    return run(module.computations[static_cast<std::size_t>(calls[n])], arguments);
  }

  // The one that the instruction's index= says. What does not fit is refused when it is run.
  Kept argument(const std::vector<Kept>& all, const Instruction& i) const {
    const auto n = static_cast<std::size_t>(get<std::int64_t>(i, Key::index));
    return n < all.size() ? all[n] : fresh(i.shape, false);
  }

  Kept custom(const Instruction& i, const std::vector<Kept>& operands) const {
    const auto target = get<std::string>(i, Key::custom_call_target);
    if (target == "SPMDFullToShardShape" || target == "xla.sdy.GlobalToLocalShape")
      return fresh(i.shape, true);
    if (target == "SPMDShardToFullShape" || target == "xla.sdy.LocalToGlobalShape")
      return fresh(i.shape, false);
    const bool marks = border_of(target).has_value() && operands.size() == 1;
    return marks ? operands[0] : fresh(i.shape, std::ranges::any_of(operands, on_each));
  }

  // Operations that need as much again as they read while they run.
  static bool rearranges(Opcode opcode) {
    return (opcode >= Opcode::convolution && opcode <= Opcode::topk) || opcode == Opcode::scatter ||
           opcode == Opcode::all_reduce || opcode == Opcode::reduce_scatter;
  }

  Kept meaning(const Instruction& i, const std::vector<Kept>& operands) const {
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
      case Opcode::while_:  // twice: what was one for all may come back as one for each
        return call(i, Key::body, 0, {call(i, Key::body, 0, operands)});
      case Opcode::conditional: {
        Kept held;
        for (std::size_t b = 0; b + 1 < operands.size(); ++b)
          if (Kept one = call(i, Key::branch_computations, b, {operands[b + 1]}); !held.block || on_each(one))
            held = std::move(one);
        return held;
      }
      case Opcode::custom_call:
        return custom(i, operands);
      default:
        break;
    }
    const bool many = i.opcode == Opcode::partition_id || i.opcode >= Opcode::all_gather ||
                      std::ranges::any_of(operands, on_each);
    double meanwhile = 0;
    if (rearranges(i.opcode))
      for (const Kept& operand : operands) meanwhile += bytes(operand);
    const Block work(meter, meanwhile, false);
    return fresh(i.shape, many);
  }

  Kept run(const Computation& c, const std::vector<Kept>& arguments) const {
    std::vector<Kept> values(c.instructions.size());
    Integers left(values.size());
    for (const Instruction& i : c.instructions)
      for (const std::int64_t o : i.operands) ++left[static_cast<std::size_t>(o)];
    ++left[static_cast<std::size_t>(c.root)];
    for (std::size_t n = 0; n < values.size(); ++n) {
      const Instruction& i = c.instructions[n];
      if (i.opcode == Opcode::parameter) {
        values[n] = argument(arguments, i);
      } else {
        std::vector<Kept> operands;
        for (const std::int64_t o : i.operands) {
          operands.push_back(values[static_cast<std::size_t>(o)]);
          if (--left[static_cast<std::size_t>(o)] == 0) values[static_cast<std::size_t>(o)] = {};
        }
        values[n] = meaning(i, operands);
      }
      if (left[n] == 0) values[n] = {};
    }
    return values[static_cast<std::size_t>(c.root)];
  }

  std::vector<Kept> arguments(bool many) const {
    std::vector<Kept> all;
    for (const std::int64_t p : entry(module).parameters)
      all.push_back(fresh(entry(module).instructions[static_cast<std::size_t>(p)].shape, many));
    return all;
  }
};

}  // namespace

std::int64_t memory_needed(const Subject& subject) {
  Meter meter;
  const Walk before{subject.before, meter}, after{subject.after, meter};
  const std::vector<Kept> whole = before.arguments(false);
  const Kept wanted = before.run(entry(subject.before), whole);
  const Kept got = after.run(entry(subject.after), after.arguments(subject.partitioned));
  return static_cast<std::int64_t>(std::min(meter.most, 0x1p62));
}

}  // namespace plumb::hlo
