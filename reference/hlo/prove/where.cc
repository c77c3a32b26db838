#include "reference/hlo/prove/where.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "reference/hlo/prove/unfinished.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using TwinValue = Value<Twin>;
using Event = Sought::Event;
using Events = Sought::Events;
using Told = Printed::Told;

// Those that say nothing of a fault: they are moved, merged and made again, or hand on what others compute.
bool idle(const Instruction& i) {
  return i.opcode == Opcode::constant || i.opcode == Opcode::iota || i.opcode == Opcode::broadcast ||
         i.opcode == Opcode::parameter || i.opcode == Opcode::partition_id || i.opcode == Opcode::call ||
         i.opcode == Opcode::get_tuple_element || i.shape.type == Type::tuple;
}

// What locating goes by.
struct Search {
  const Subject& subject;
  const Pulse& pulse;
  Pairs pairs;
  const Proof& proof;
  Sought& sought;
};

std::vector<TwinValue> whole_arguments(const Search& search) {
  return drawn(search.subject.before, search.proof.bounds, search.proof.seed);
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

  void note(const Instruction& i, const std::vector<TwinValue>&, const TwinValue& held) {
    const auto by = foreseen.given.find(&i);
    const auto [at, first] =
        events.try_emplace(&i, Event{by == foreseen.given.end() ? &i : by->second, std::ssize(events)});
    if (!first || !held.array || !can_differ(*held.array)) return;
    Event& event = at->second;
    event.whole = print_of(*held.array, foreseen.module.partitions);
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
  const Machine<Pairs> machine{subject.after,     search.pairs, subject.after.partitions,
                               told_to(printing), nullptr,      search.pulse};
  evaluate(machine, entry(subject.after),
           drawn(search.pairs, subject.before, search.proof.bounds, parameter_layouts(subject)), {});
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
  const auto foreseeing = std::make_shared<Foreseeing>(Foreseen{module}, events);
  const Machine<Pairs> machine{module,  search.pairs, module.partitions, told_to(foreseeing),
                               nullptr, search.pulse};
  evaluate(machine, entry(module), whole_arguments(search), {});
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

// Without those that give what some instruction should be, whole or as it is laid out.
std::vector<Collective> unknown(std::vector<Collective> all, const Events& events) {
  std::unordered_set<std::uint64_t> right;
  for (const auto& [is, event] : events)
    for (const auto& print : {event.print, event.whole})
      if (print) right.insert(*print);
  const auto is_right = [&](std::uint64_t print) { return right.contains(print); };
  std::erase_if(all,
                [&](const Collective& c) { return c.told && std::ranges::any_of(c.told->prints, is_right); });
  return all;
}

// Looks for what they take and give among the values of the program.
void look_for_values(Search& search, std::vector<Collective>& all) {
  const Module& module = *search.subject.propagated;
  const auto seen = [&](const Instruction& i, const auto&, const TwinValue& held) {
    if (!held.array || i.opcode == Opcode::constant || i.opcode == Opcode::iota) return;
    for (Collective& c : all) {
      if (!c.told) continue;
      c.gives_value = c.gives_value || is_laid_out(search.pairs, *held.array, c.told->given);
      c.takes_value = c.takes_value || is_laid_out(search.pairs, *held.array, c.told->taken);
    }
  };
  const Machine<Pairs> machine{module, search.pairs, module.partitions, seen, nullptr, search.pulse};
  evaluate(machine, entry(module), whole_arguments(search), {});
}

bool is_sum(const Collective& c) {
  return c.is->opcode == Opcode::all_reduce || c.is->opcode == Opcode::reduce_scatter;
}

// Of those for one operation, in their order: a sum that adds up nothing; else the first that takes a value
// of the program and gives none; else the first that gives none, or the one before it where it sums up what
// are no parts. Where all give some, in a layout that nobody wanted, the first that lays out anew. Integers
// may be places, which are values of nobody but a device.
const Collective* at_fault(Search& search, const std::vector<Collective>& all,
                           std::vector<Collective>& open) {
  if (open.empty()) return &all[0];
  if (open.size() == 1) return &open[0];
  const auto first = [&](const auto& is) {
    const auto at = std::ranges::find_if(open, is);
    return at == open.end() ? nullptr : &*at;
  };
  if (const auto* idle = first([](const Collective& c) {
        return c.is->opcode == Opcode::all_reduce && c.told && c.told->given.of == c.told->taken.of;
      }))
    return idle;
  look_for_values(search, open);
  const auto gives_none = [](const Collective& c) { return !c.gives_value && is_real(c.is->shape.type); };
  if (const auto* lost = first([&](const Collective& c) { return gives_none(c) && c.takes_value; }))
    return lost;
  if (const auto* lost = first(gives_none)) {
    const auto same = std::ranges::find(all, lost->is, &Collective::is);
    return is_sum(*lost) && same != all.begin() ? &*std::prev(same) : lost;
  }
  const auto* laid_anew = first([](const Collective& c) { return !is_sum(c); });
  return laid_anew ? laid_anew : &open.back();
}

// The collective of AFTER that was made for the same operation of the user's and is at fault, and how many
// more were.
std::string collective_for(Search& search, const Printed& prints, const Events& events,
                           const std::string& op_name) {
  const std::vector<Collective> all = collectives_for(search.subject.after, prints, op_name);
  if (all.empty()) return {};
  std::vector<Collective> open = unknown(all, events);
  const Collective& one = *at_fault(search, all, open);
  return print(search.subject.after, *one.in, *one.is) +
         (all.size() > 1 ? "  (and " + std::to_string(all.size() - 1) + " more of this operation)" : "");
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

// Beyond so many elements what is right would take longer by what only the wrong ones need.
constexpr std::int64_t kMostWatched = std::int64_t{1} << 18;

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
      if (printing->elements > kMostWatched) sought.watched.reset();
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
  Place place{lost->name, source(*subject.propagated, *lost), lost->op_name,
              collective_for(search, prints, events, lost->op_name)};
  if (place.there.empty()) place.there = sum_left_by(*subject.propagated, *lost);
  return place;
}

}  // namespace plumb::hlo
