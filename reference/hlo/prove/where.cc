#include "reference/hlo/prove/where.h"

#include <algorithm>
#include <map>
#include <set>

#include "reference/hlo/prove/there.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using TwinValue = Value<Twin>;
using Event = Sought::Event;
using Events = Sought::Events;

// Those that say nothing of a fault: they are moved, merged and made again, or hand on what others compute.
bool idle(const Instruction& i) {
  return i.opcode == Opcode::constant || i.opcode == Opcode::iota || i.opcode == Opcode::broadcast ||
         i.opcode == Opcode::parameter || i.opcode == Opcode::partition_id || i.opcode == Opcode::call ||
         i.opcode == Opcode::get_tuple_element || i.shape.type == Type::tuple;
}

template <typename Note>
Watch<Twin> told_to(std::shared_ptr<Note> note) {
  return [note](const Instruction& i, const std::vector<TwinValue>& operands, const TwinValue& held) {
    note->note(i, operands, held);
  };
}

// Those that the root of their computation comes of.
std::set<const Instruction*> read_by_roots(const Module& module) {
  std::set<const Instruction*> all;
  for (const Computation& c : module.computations) {
    all.insert(&c.instructions[static_cast<std::size_t>(c.root)]);
    for (std::size_t k = c.instructions.size(); k-- > 0;)
      if (all.contains(&c.instructions[k]))
        for (const std::int64_t n : c.instructions[k].operands)
          all.insert(&c.instructions[static_cast<std::size_t>(n)]);
  }
  return all;
}

// Elements of what is no tuple itself but gives several values: a sort, a top-k. Each with what gives it.
std::map<const Instruction*, const Instruction*> elements_given(const Module& module) {
  static const std::set<Opcode> kGive = {Opcode::custom_call, Opcode::reduce, Opcode::reduce_window,
                                         Opcode::scatter,     Opcode::sort,   Opcode::topk,
                                         Opcode::all_reduce,  Opcode::map};
  std::map<const Instruction*, const Instruction*> all;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      if (i.opcode != Opcode::get_tuple_element) continue;
      const Instruction& from = c.instructions[static_cast<std::size_t>(i.operands[0])];
      if (kGive.contains(from.opcode)) all[&i] = &from;
    }
  return all;
}

// What is looked for. What nobody reads AFTER needs not have.
struct Foreseen {
  const Module& module;
  const std::set<const Instruction*> read = read_by_roots(module);
  const std::map<const Instruction*, const Instruction*> given = elements_given(module);

  bool is_asked(const Instruction& i) const { return (!idle(i) || given.contains(&i)) && read.contains(&i); }
  // Where it is laid out, and not as parts.
  std::optional<Division> division_of(const Instruction& i) const {
    if (!is_asked(i) || i.sharding.empty()) return std::nullopt;
    auto division = divide_within(i.sharding[0], i.shape.dims.size(), module.partitions);
    if (division && division->parts > 1) return std::nullopt;
    return division;
  }
};

// Notes what each instruction should be, but for whether it is there. In a manual region each device knows a
// whole of its own, or all the same.
struct Foreseeing {
  const Foreseen foreseen;
  Events& events;
  std::int64_t elements = 0;

  void note(const Instruction& i, const std::vector<TwinValue>&, const TwinValue& held) {
    const auto by = foreseen.given.find(&i);
    const auto [at, first] =
        events.try_emplace(&i, Event{by == foreseen.given.end() ? &i : by->second, std::ssize(events)});
    if (!first || !held.array || !can_differ(*held.array)) return;
    Event& event = at->second;
    event.whole = print_of(*held.array, foreseen.module.partitions);
    elements += held.array->lanes * count(held.array->dims);
    if (elements <= kMostKept) event.held = held.array;
    if (!foreseen.is_asked(i)) return;
    if (i.sharding.empty()) return void(event.print = event.whole);
    if (const auto division = foreseen.division_of(i)) event.print = print_of(*held.array, *division);
  }
};

// Of all that is sought and not evenly divided.
std::set<Ends> ends_of(const Module& module) {
  const Foreseen foreseen{module};
  std::set<Ends> all;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (const auto division = foreseen.division_of(i))
        if (auto ends = ends_of(i.shape.dims, *division)) all.insert(*std::move(ends));
  return all;
}

Printed printed_of(Search& search) {
  const Subject& subject = search.subject;
  Printed printed;
  const auto printing = std::make_shared<Printing>(ends_of(*subject.propagated), search.pairs,
                                                   subject.after.partitions, printed);
  run_after(search, told_to(printing));
  return printed;
}

// Whether the module ran to its end.
bool is_complete(const Module& module, const Events& events) {
  const Computation& main = entry(module);
  return events.contains(&main.instructions[static_cast<std::size_t>(main.root)]);
}

Events& events_of(Search& search) {
  const Module& module = *search.subject.propagated;
  Events& events = search.sought.events[search.proof.seed];
  if (is_complete(module, events)) return events;
  events = {};
  run_propagated(search, told_to(std::make_shared<Foreseeing>(Foreseen{module}, events)));
  return events;
}

// An instruction's value, or one element of it where it is a tuple.
struct Part {
  const Instruction* is;
  std::optional<std::int64_t> element;
  auto operator<=>(const Part&) const = default;
};

// What a part was computed from: operands, and the roots of the computations that are called. An element of a
// tuple, or of what a loop carries, was computed from that element alone.
std::vector<Part> sources(const Module& module, const Computation& c, const Part& part) {
  const Instruction& i = *part.is;
  const auto operand = [&](std::int64_t n) {
    return &c.instructions[static_cast<std::size_t>(i.operands[static_cast<std::size_t>(n)])];
  };
  if (i.opcode == Opcode::tuple && part.element)
    return {
        {operand(*part.element), {}}
    };
  if (i.opcode == Opcode::get_tuple_element)
    return {
        {operand(0), get<std::int64_t>(i, Key::index)}
    };
  const bool carries = i.opcode == Opcode::while_ || i.opcode == Opcode::opt_barrier;
  std::vector<Part> all;
  for (std::int64_t n = 0; n < std::ssize(i.operands); ++n)
    all.push_back({operand(n), carries ? part.element : std::nullopt});
  for (const Attribute& a : i.attributes)
    if (const Calls* calls = std::get_if<Calls>(&a.value); calls && a.key != Key::condition)
      for (const std::int64_t n : calls->computations) {
        const Computation& f = module.computations[static_cast<std::size_t>(n)];
        all.push_back({&f.instructions[static_cast<std::size_t>(f.root)], part.element});
      }
  return all;
}

// From the last to the first: what a present value was computed from was right in some form.
void spread_presence(const Module& module, const Printed& prints, Events& events) {
  std::map<const Instruction*, std::set<Part>> reached;
  for (std::size_t n = module.computations.size(); n-- > 0;) {
    const Computation& c = module.computations[n];
    for (std::size_t k = c.instructions.size(); k-- > 0;) {
      const Instruction* is = &c.instructions[k];
      const auto at = events.find(is);
      if (at == events.end()) continue;
      Event& event = at->second;
      std::set<Part>& parts = reached[is];
      if (event.print && prints.contains(*event.print, is->op_name)) parts.insert({is, {}});
      event.reached = !parts.empty();
      for (const Part& part : parts)
        for (const Part& from : sources(module, c, part)) reached[from.is].insert(from);
    }
  }
}

// The first that is missing and from which nothing right was computed.
const Instruction* first_lost(const Events& events) {
  const Event* first = nullptr;
  for (const auto& [is, event] : events) {
    if (!event.print || event.reached) continue;
    if (!first || event.order < first->order) first = &event;
  }
  return first ? first->is : nullptr;
}

// The instruction of the user's that makes a result.
const Instruction* maker(const Module& module, std::int64_t result) {
  const Computation& c = entry(module);
  const auto operand = [&](const Instruction& i, std::int64_t n) {
    return &c.instructions[static_cast<std::size_t>(i.operands.at(static_cast<std::size_t>(n)))];
  };
  const Instruction* is = &c.instructions[static_cast<std::size_t>(c.root)];
  if (is->opcode == Opcode::tuple && result < std::ssize(is->operands)) is = operand(*is, result);
  while (is->op_name.empty() && (is->opcode == Opcode::copy || is->opcode == Opcode::get_tuple_element)) {
    const Instruction* from = operand(*is, 0);
    const bool element = is->opcode == Opcode::get_tuple_element && from->opcode == Opcode::tuple;
    is = element ? operand(*from, get<std::int64_t>(*is, Key::index)) : from;
  }
  return is;
}

// The instruction of the program that is of the same operation of the user's.
const Instruction& of_the_program(const Module& program, const Instruction& i) {
  for (const Computation& c : program.computations)
    for (const Instruction& one : c.instructions)
      if (!i.op_name.empty() && one.op_name == i.op_name) return one;
  return i;
}

// What the proof itself names.
Place place_at(const Subject& subject, const Spot& spot) {
  const Module& module = spot.before ? subject.before : subject.after;
  const Computation& c = module.computations[spot.computation];
  const Instruction& i = c.instructions[spot.instruction];
  const Instruction& is = spot.before ? i : of_the_program(subject.before, i);
  const std::string user = source(subject.before, is);
  return {is.name, user.empty() ? source(module, i) : user, is.op_name,
          spot.before ? "" : print(module, c, i)};
}

}  // namespace

std::function<Watch<Twin>(const Module&, const Proof&)> watching(const Subject& subject, Sought& sought) {
  sought.watched.reset();
  return [&](const Module& module, const Proof& draw) -> Watch<Twin> {
    if (!subject.propagated || draw.draws > 1 || draw.directed || !draw.meanings.empty()) return {};
    if (&module == subject.propagated) {
      Events& events = sought.events[draw.seed] = {};
      return told_to(std::make_shared<Foreseeing>(Foreseen{module}, events));
    }
    if (&module != &subject.after) return {};
    Printed& printed = sought.watched.emplace(draw.seed).printed;
    const auto printing = std::make_shared<Printing>(ends_of(*subject.propagated), Pairs{draw.seed},
                                                     module.partitions, printed);
    return [printing, &sought](const Instruction& i, const auto& operands, const TwinValue& held) {
      if (sought.watched) printing->note(i, operands, held);
      if (printing->elements > kMostKept) sought.watched.reset();
    };
  };
}

std::optional<Place> locate(const Subject& subject, const Proof& proof, const Pulse& pulse, Sought* shared) {
  if (proof.at) return place_at(subject, *proof.at);
  if (!subject.propagated || proof.differences.empty()) return std::nullopt;
  Sought own;
  Sought& sought = shared && proof.meanings.empty() && !proof.directed ? *shared : own;
  Search search{
      subject, pulse, {proof.seed, 0, &proof.meanings},
        proof, sought
  };
  Events events = events_of(search);  // what is reached differs from fault to fault
  const bool is_watched = sought.watched && sought.watched->seed == proof.seed;
  const Printed prints = is_watched ? std::move(sought.watched->printed) : printed_of(search);
  sought.watched.reset();
  spread_presence(*subject.propagated, prints, events);
  const Instruction* lost = first_lost(events);
  if (!lost) lost = maker(*subject.propagated, proof.differences[0].result);
  return Place{lost->name, source(*subject.propagated, *lost), lost->op_name,
               told_there(search, prints, events, *lost)};
}

}  // namespace plumb::hlo
