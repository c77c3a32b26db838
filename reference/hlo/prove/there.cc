#include "reference/hlo/prove/there.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "reference/hlo/prove/unfinished.h"
#include "reference/hlo/run/groups.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Told = Printed::Told;

// A collective of AFTER.
struct Collective {
  const Computation* in = nullptr;
  const Instruction* is = nullptr;
  const Told* told = nullptr;                     // null: it has not run, or gives several
  bool gives_value = false, takes_value = false;  // of the program, laid out somehow, or parts of one
};

std::vector<Collective> collectives_for(const Module& after, const Printed& prints,
                                        const std::string& op_name) {
  std::vector<Collective> all;
  for (const Computation& c : after.computations)
    for (const Instruction& i : c.instructions) {
      if (i.opcode < Opcode::all_gather || op_name.empty() || i.op_name != op_name) continue;
      const auto told = prints.told.find(&i);
      all.push_back({&c, &i, told == prints.told.end() ? nullptr : &told->second, false, false});
    }
  return all;
}

bool is_sum(const Instruction& i) {
  return i.opcode == Opcode::all_reduce || i.opcode == Opcode::reduce_scatter;
}

using Right = std::unordered_set<std::uint64_t>;

// What AFTER computes, what the program should, and the prints of the latter.
struct Known {
  const Printed& prints;
  const Sought::Events& events;
  const Right right;
};

// The prints of what instructions should be, whole or as they are laid out.
Right right_of(const Sought::Events& events) {
  Right right;
  for (const auto& [is, event] : events)
    for (const auto& print : {event.print, event.whole})
      if (print) right.insert(*print);
  return right;
}

bool is_right(const Right& right, const Told& told) {
  return std::ranges::any_of(told.prints, [&](std::uint64_t print) { return right.contains(print); });
}

// Whether a sum, that of several values aside, is none of this shape's: of another type, or a number of arrays.
bool is_of_another(const Instruction& sum, const Shape& lost) {
  if (sum.shape.type == Type::tuple) return false;
  return sum.shape.type != lost.type || (sum.shape.dims.empty() && !lost.dims.empty());
}

// Without those that give what some instruction should be; nor is a sum of another shape this value's.
std::vector<Collective> unknown(std::vector<Collective> all, const Right& right, const Shape& lost) {
  std::erase_if(all, [&](const Collective& c) {
    return (c.told && is_right(right, *c.told)) || (is_sum(*c.is) && is_of_another(*c.is, lost));
  });
  return all;
}

// Looks for what they take and give among the values of the program.
void look_for_values(Search& search, std::vector<Collective>& all) {
  const auto seen = [&](const Instruction& i, const auto&, const Value<Twin>& held) {
    if (!held.array || i.opcode == Opcode::constant || i.opcode == Opcode::iota) return;
    for (Collective& c : all) {
      if (!c.told) continue;
      c.gives_value = c.gives_value || is_laid_out(search.pairs, *held.array, c.told->given);
      c.takes_value = c.takes_value || is_laid_out(search.pairs, *held.array, c.told->taken);
    }
  };
  run_propagated(search, seen);
}

// Of those for one operation, but sums of integers that give a value of the program, in their order: the first that takes a value of the program and gives none;
// else the first that gives none, or the one before it where it sums up what are no parts. Where all give
// some, in a layout that nobody wanted, the first that lays out anew. Integers may be places, which are
// values of nobody but a device.
const Collective* at_fault(Search& search, const std::vector<Collective>& all,
                           std::vector<Collective>& open) {
  const auto only = [&] { return open.empty() ? nullptr : &open[0]; };
  if (open.empty() || (open.size() == 1 && is_real(open[0].is->shape.type))) return only();
  look_for_values(search, open);
  std::erase_if(open, [](const Collective& c) {
    return c.gives_value && is_sum(*c.is) && is_integer(c.is->shape.type);
  });
  if (open.size() < 2) return only();
  const auto first = [&](const auto& is) {
    const auto at = std::ranges::find_if(open, is);
    return at == open.end() ? nullptr : &*at;
  };
  const auto gives_none = [](const Collective& c) { return !c.gives_value && is_real(c.is->shape.type); };
  if (const auto* lost = first([&](const Collective& c) { return gives_none(c) && c.takes_value; }))
    return lost;
  if (const auto* lost = first(gives_none)) {
    const auto same = std::ranges::find(all, lost->is, &Collective::is);
    return is_sum(*lost->is) && same != all.begin() ? &*std::prev(same) : lost;
  }
  const auto* laid_anew = first([](const Collective& c) { return !is_sum(*c.is); });
  return laid_anew ? laid_anew : &open.back();
}

// An instruction of AFTER that holds parts of what is lost, the devices whose parts add up to the first
// one's, and the next sum over devices of what it holds, however that is moved before; null: none.
struct Left {
  const Instruction* is = nullptr;
  Integers devices{};
  const Instruction* sum = nullptr;
  bool sliced = false;              // before that
  const Instruction* by = nullptr;  // a sum that left these parts of what it should have added up
};

// What the program's instruction first holds, where each device may hold all of it.
Printed::Held value_of(Search& search, const Sought::Events& events, const Instruction& lost) {
  if (const auto at = events.find(&lost); at != events.end() && at->second.held) return at->second.held;
  Printed::Held value;
  run_propagated(search, [&](const Instruction& i, const auto&, const Value<Twin>& held) {
    if (&i == &lost && !value) value = held.array;
  });
  return value;
}

bool is_kept(const Printed& prints) {
  return std::ranges::all_of(prints.held, [](const auto& one) { return one.second != nullptr; });
}

// Tells of what each instruction of AFTER first holds, in their order.
template <typename F>
void each_held(Search& search, const Printed& prints, F f) {
  if (is_kept(prints)) {
    for (const auto& [is, held] : prints.held) f(*is, *held);
    return;
  }
  std::unordered_set<const Instruction*> ran;
  run_after(search, [&](const Instruction& i, const auto&, const Value<Twin>& held) {
    if (held.array && ran.insert(&i).second) f(i, *held.array);
  });
}

bool is_moved(Opcode opcode) {
  static const std::set<Opcode> kMove = {Opcode::bitcast, Opcode::copy, Opcode::reshape, Opcode::transpose};
  return kMove.contains(opcode);
}

bool is_sliced(Opcode opcode) { return opcode == Opcode::dynamic_slice || opcode == Opcode::slice; }

// The first device's parts that are still apart when those of its group are added up; all where the group has
// others too. Devices are numbers along axes: one is another by what they differ along each.
Integers still_apart(const Integers& devices, const Integers& group) {
  const std::set<std::int64_t> all(devices.begin(), devices.end());
  if (!std::ranges::all_of(group, [&](std::int64_t device) { return all.contains(device); })) return devices;
  Integers apart;
  std::set<std::int64_t> known;
  for (const std::int64_t device : all) {
    if (known.contains(device)) continue;
    apart.push_back(device);
    for (const std::int64_t member : group) known.insert(device + member);
  }
  return apart;
}

Integers group_of_first(const Instruction& collective, std::int64_t devices) {
  for (const Integers& group : groups_of(collective, devices))
    if (std::ranges::find(group, 0) != group.end()) return group;
  return {0};
}

// Looks for the sum of what it holds.
void follow(const Module& after, Left& left) {
  const Computation& c = home(after, left.is);
  std::map<std::int64_t, bool> moved = {
      {left.is - c.instructions.data(), false}
  };  // and sliced
  for (std::int64_t n = moved.begin()->first + 1; n < std::ssize(c.instructions); ++n) {
    const Instruction& i = c.instructions[static_cast<std::size_t>(n)];
    const auto from = i.operands.empty() ? moved.end() : moved.find(i.operands[0]);
    if (from == moved.end()) continue;
    const bool slices = is_sliced(i.opcode);
    if (is_sum(i)) {
      left.sum = &i, left.sliced = from->second;
      return;
    }
    if (slices || is_moved(i.opcode)) moved[n] = from->second || slices;
  }
}

// The sum that left these parts, moved since; null: none, or it added up some of more parts.
template <typename PartsTaken>
const Instruction* wrongly_left_by(const Module& after, const Left& left, const PartsTaken& parts_taken) {
  const Computation& c = home(after, left.is);
  const Instruction* is = left.is;
  while (is_moved(is->opcode)) is = &c.instructions[static_cast<std::size_t>(is->operands[0])];
  if (!is_sum(*is)) return nullptr;
  const std::optional<Integers> parts = parts_taken(*is);
  const bool some = parts && parts->size() > left.devices.size() &&
                    still_apart(*parts, group_of_first(*is, after.partitions)) == left.devices;
  return some ? nullptr : is;
}

// That of the fewest parts, and of these the first; of the same operation, if AFTER has that. What is added
// up rightly is no loss.
std::optional<Left> left_of(Search& search, const Known& known, const Instruction& lost) {
  const auto& [prints, events, right] = known;
  const Module& after = search.subject.after;
  const Printed::Held value = value_of(search, events, lost);
  if (!value || !can_differ(*value)) return std::nullopt;
  const Array<Twin>& whole = *value;
  const bool has_own = prints.of.contains(lost.op_name);
  std::optional<Left> best;
  const auto parts_taken = [&](const Instruction& sum) -> std::optional<Integers> {
    const auto told = prints.told.find(&sum);
    if (told == prints.told.end()) return std::nullopt;
    return parts_of_first(search.pairs, whole, told->second.taken);
  };
  each_held(search, prints, [&](const Instruction& i, const Array<Twin>& held) {
    if ((has_own && i.op_name != lost.op_name) || !may_be_tile(whole, held.type, held.dims)) return;
    const Sums sums = sums_of(search.pairs, held, after.partitions);
    // A value that all devices hold is no part of twice that.
    if (std::ranges::count(sums.of, sums.of[0]) == after.partitions && right.contains(print_of(held, after.partitions)))
      return;
    auto devices = parts_of_first(search.pairs, whole, sums);
    if (!devices || devices->size() == 1) return;
    Left one{&i, *std::move(devices)};
    follow(after, one);
    const auto told = prints.told.find(one.sum);
    if (told != prints.told.end() &&
        (is_right(right, told->second) || is_laid_out(search.pairs, whole, told->second.given)))
      return;
    if (!best || one.devices.size() < best->devices.size()) best = std::move(one);
  });
  if (best) best->by = wrongly_left_by(after, *best, parts_taken);
  return best;
}

// Whether what a collective takes is known to be right, or not known to be wrong: what the program has, moved
// or sliced.
struct Feeding {
  std::unordered_map<const Instruction*, Printed::Held> held;
  const Right& right;
  std::int64_t devices;

  bool is_right(const Collective& c) const {
    const auto operand = [&](const Instruction& i) {
      return &c.in->instructions[static_cast<std::size_t>(i.operands.at(0))];
    };
    for (const Instruction* is = operand(*c.is);; is = operand(*is)) {
      const auto at = held.find(is);
      if (is->opcode == Opcode::parameter || at == held.end() || !can_differ(*at->second)) return true;
      if (right.contains(print_of(*at->second, devices))) return true;
      if (!is_moved(is->opcode) && !is_sliced(is->opcode)) return false;
    }
  }
};

// Sums of what is no value of the program, nor parts of one: what they take is wrong already.
void leave_out_fed_wrongly(Search& search, const Known& known, std::vector<Collective>& open) {
  const Printed& prints = known.prints;
  if (!is_kept(prints)) return;
  const Feeding feeding{
      {prints.held.begin(), prints.held.end()},
      known.right, search.subject.after.partitions
  };
  std::vector<Collective> doubted = open;
  std::erase_if(doubted, [&](const Collective& c) { return !is_sum(*c.is) || feeding.is_right(c); });
  if (doubted.empty()) return;
  look_for_values(search, doubted);
  for (const Collective& c : doubted)
    if (!c.takes_value) std::erase_if(open, [&](const Collective& one) { return one.is == c.is; });
}

// An all-reduce whose devices are each alone.
bool is_alone(const Module& after, const Instruction& i) {
  return i.opcode == Opcode::all_reduce && groups_of(i, after.partitions)[0].size() == 1;
}

// How many collectives a module has for an operation; `alone`: all-reduces whose devices are each alone.
std::ptrdiff_t count_of(const Module& module, const std::string& op_name, bool alone) {
  std::ptrdiff_t all = 0;
  for (const Computation& c : module.computations)
    all += std::ranges::count_if(c.instructions, [&](const Instruction& i) {
      return i.opcode >= Opcode::all_gather && i.op_name == op_name && (!alone || is_alone(module, i));
    });
  return all;
}

// Whether the program has, for the operation of a sum that it spells out, another one over these groups.
bool is_another_sum(const Module& program, const Instruction& lost, const std::vector<Integers>& groups) {
  if (groups_of(lost, program.partitions) == groups) return false;
  return std::ranges::any_of(program.computations, [&](const Computation& c) {
    return std::ranges::any_of(c.instructions, [&](const Instruction& i) {
      return is_sum(i) && i.op_name == lost.op_name && groups_of(i, program.partitions) == groups;
    });
  });
}

bool adds_nothing(const Collective& c) {
  return c.is->opcode == Opcode::all_reduce && c.told && c.told->given.of == c.told->taken.of;
}

// A sum of them, such as it is, is at fault; but where they are sliced before, and it is of some of them,
// none of the others.
template <typename Named>
std::string said_of(const Module& after, const Left& left, const Named& named) {
  if (left.by) return named(*left.by);
  Integers apart = left.devices;
  if (left.sum) {
    apart = still_apart(left.devices, group_of_first(*left.sum, after.partitions));
    if (!left.sliced || apart.size() == 1 || apart.size() == left.devices.size()) return named(*left.sum);
  }
  return parts_left(left.is->name, std::ssize(apart), apart);
}

}  // namespace

void run_propagated(Search& search, const Watch<Twin>& watch) {
  const Module& module = *search.subject.propagated;
  const Machine<Pairs> machine{module, search.pairs, module.partitions, watch, nullptr, search.pulse};
  evaluate(machine, entry(module), drawn(search.subject.before, search.proof.bounds, search.proof.seed), {});
}

void run_after(Search& search, const Watch<Twin>& watch) {
  const Module& module = search.subject.after;
  const Machine<Pairs> machine{module, search.pairs, module.partitions, watch, nullptr, search.pulse};
  evaluate(machine, entry(module),
           drawn(search.pairs, search.subject.before, search.proof.bounds, parameter_layouts(search.subject)),
           {});
}

std::string told_there(Search& search, const Printed& prints, const Sought::Events& events,
                       const Instruction& lost) {
  const Module& after = search.subject.after;
  const std::vector<Collective> all = collectives_for(after, prints, lost.op_name);
  const auto named = [&](const Instruction& is) {
    const auto others = std::ranges::count_if(all, [&](const Collective& c) { return c.is != &is; });
    return print(after, home(after, &is), is) +
           (others > 0 ? "  (and " + std::to_string(others) + " more of this operation)" : "");
  };
  const Known known{prints, events, right_of(events)};
  std::vector<Collective> open = unknown(all, known.right, lost.shape);
  for (const Collective& c : open)
    if (adds_nothing(c)) return named(*c.is);
  const Module& program = *search.subject.propagated;
  if (count_of(program, lost.op_name, true) == 0)  // none along an axis of size 1
    for (const Collective& c : open)
      if (is_alone(after, *c.is)) return named(*c.is);
  if (all.empty())
    if (std::string sum = sum_left_by(program, lost); !sum.empty()) return sum;
  if (const auto left = left_of(search, known, lost)) return said_of(after, *left, named);
  if (is_sum(lost) && std::ssize(all) < count_of(program, lost.op_name, false))
    std::erase_if(open, [&](const Collective& c) {
      return is_sum(*c.is) && is_another_sum(program, lost, groups_of(*c.is, after.partitions));
    });
  leave_out_fed_wrongly(search, known, open);
  if (const Collective* one = at_fault(search, all, open)) return named(*one->is);
  if (all.empty()) return {};
  return "not known, of " + std::to_string(all.size()) + " of this operation";
}

}  // namespace plumb::hlo
