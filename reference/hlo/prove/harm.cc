#include "reference/hlo/prove/harm.h"

#include <algorithm>

#include "reference/hlo/prove/alone.h"
#include "reference/hlo/prove/another.h"
#include "reference/hlo/prove/folded.h"
#include "reference/hlo/prove/straddle.h"
#include "reference/hlo/run/integers.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using RealValue = Value<double>;

// Draws without zeros: where doubles cancel to a last bit, an optimizer makes a step of it.
constexpr std::uint64_t kDraws[] = {101, 102, 104, 106, 107, 108};
// And those in which one slice is not as all others are, for what is decided.
constexpr std::uint64_t kAlone[] = {202, 203, 204, 206, 208, 210, 211, 212};

// What each device holds of drawn arguments, a number each as `of` says.
template <typename F>
std::vector<RealValue> arguments_of(const Subject& subject, const Data& data, F of) {
  Reals reals;
  std::vector<RealValue> arguments;
  const std::vector<Value<Twin>> draws = drawn(subject.before, data.bounds, data.seed);
  const std::vector<Division> cuts = parameter_layouts(subject);
  for (std::size_t n = 0; n < draws.size(); ++n) {
    Array<double> whole{draws[n].array->type, draws[n].array->dims, 1, draws[n].array->integers, {}};
    for (const Twin& x : draws[n].array->reals) whole.reals.push_back(of(x.real));
    arguments.push_back(value(cut(whole, cuts[n], poison(reals, whole.type))));
  }
  return arguments;
}

Seen plain(const Subject& subject, const Module& after, const Data& data) {
  Reals reals{.total = true};  // what has no value would hide what differs
  const std::vector<RealValue> arguments = arguments_of(subject, data, [](double x) { return x; });
  std::map<const Instruction*, Moment> places;
  for (std::size_t c = 0; c < after.computations.size(); ++c)
    for (std::size_t i = 0; i < after.computations[c].instructions.size(); ++i)
      places[&after.computations[c].instructions[i]] = {c, i, 0};
  Seen seen;
  const auto note = [&](const Instruction& i, const auto&, const RealValue& held) {
    Moment& moment = places.at(&i);
    seen.values[moment] = held;
    ++moment.time;
  };
  const RealValue root =
      evaluate(Machine<Reals>{after, reals, after.partitions, note}, entry(after), arguments, {});
  seen.results = results_of(root);
  return seen;
}

bool moves_a_result(const Subject& subject, const Seen& right, const Seen& wrong) {
  bool as_propagated = false;
  const std::vector<Division> layouts_of = layouts(subject, as_propagated);
  const std::vector<Shape> shapes = result_shapes(subject.before);
  for (std::size_t r = 0; r < right.results.size(); ++r) {
    std::vector<Integers> maps;
    for (const Share& share : layouts_of[r].shares)
      maps.push_back(share_map(shapes[r].dims, layouts_of[r], share));
    if (is_another(*right.results[r].array, *wrong.results[r].array, std::ssize(maps), &maps)) return true;
  }
  return false;
}

bool sums(Opcode opcode) {
  return opcode == Opcode::all_reduce || opcode == Opcode::reduce_scatter || opcode == Opcode::add ||
         opcode == Opcode::reduce || opcode == Opcode::dot || opcode == Opcode::subtract;
}

// Instructions of AFTER whose value is another at some time.
using Differing = std::map<std::pair<std::size_t, std::size_t>, bool>;

void note_differing(const Seen& right, const Seen& wrong, std::int64_t devices, Differing& differing) {
  for (const auto& [moment, held] : right.values) {
    const auto at = wrong.values.find(moment);
    differing[{moment.computation, moment.instruction}] |=
        at == wrong.values.end() || is_another(held, at->second, devices);
  }
}

// What takes up a difference: an instruction that reads one and is what it was.
Harm taken_up(const Module& after, const Differing& differing) {
  Harm harm = Harm::unneeded;
  for (const auto& [place, is] : differing) {
    if (is) continue;
    const Computation& c = after.computations[place.first];
    const Instruction& i = c.instructions[place.second];
    const auto reads = [&](std::int64_t o) {
      const auto at = differing.find({place.first, static_cast<std::size_t>(o)});
      return at != differing.end() && at->second;
    };
    if (std::ranges::none_of(i.operands, reads)) continue;
    if (sums(i.opcode)) return Harm::completed;
    harm = Harm::padding;
  }
  return harm;
}

bool has_integers(const Shape& shape) {
  return shape.type == Type::tuple ? std::ranges::any_of(shape.parts, has_integers) : !is_real(shape.type);
}

// Whether an instruction decides or counts, or keeps one of what it is given: what it holds may be the same
// of what is not.
bool decides(const Module& module, const Computation& c, const Instruction& i) {
  const auto of_integers = [&](std::int64_t o) {
    return has_integers(c.instructions[static_cast<std::size_t>(o)].shape);
  };
  if (has_integers(i.shape) || std::ranges::any_of(i.operands, of_integers)) return true;
  for (const std::int64_t f : get<Calls>(i, Key::to_apply).computations)
    for (const Instruction& by : module.computations[static_cast<std::size_t>(f)].instructions)
      if (by.opcode == Opcode::maximum || by.opcode == Opcode::minimum) return true;
  return false;
}

// Any elements, lane by lane.
RealValue scrambled(const RealValue& held, std::uint64_t& key) {
  RealValue any;
  for (const RealValue& part : held.parts) any.parts.push_back(scrambled(part, key));
  if (!held.array) return any;
  Array<double> a = *held.array;
  for (double& x : a.reals) x = static_cast<double>(mixed(++key) >> 40) * 0x1p-23 - 1;
  for (std::int64_t& x : a.integers)
    x = wrap(a.type, static_cast<std::int64_t>(mixed(++key) & (a.type == Type::pred ? 1 : ~0u)));
  any = value(std::move(a));
  return any;
}

// What an instruction of `after` holds, each time, where its operands that are made of what is drawn hold
// anything: the same on devices that share where it comes from, and there alone.
std::vector<RealValue> of_anything(const Subject& subject, const Module& after, const Planted& at,
                                   std::uint64_t key) {
  constexpr std::int64_t kRounds = 1 << 10;
  Reals reals{.total = true};
  const std::set<const Instruction*> free = free_of_parameters(after);
  const Computation& c = after.computations[at.c];
  std::set<const Instruction*> operands;
  for (const std::int64_t o : c.instructions[at.i].operands)
    operands.insert(&c.instructions[static_cast<std::size_t>(o)]);
  std::vector<RealValue> all;
  const auto note = [&](const Instruction& i, const auto&, const RealValue& held) {
    if (&i == &c.instructions[at.i]) all.push_back(held);
  };
  Machine<Reals> machine{after, reals, after.partitions, note};
  machine.by_structure = true, machine.most_rounds = kRounds;
  machine.instead = [&](const Instruction& i, const auto&, RealValue& held) {
    if (free.contains(&i) && held.array)
      held = value(regrouped(Array<double>(*held.array), after.partitions));
    else if (operands.contains(&i))
      held = scrambled(held, key);
  };
  evaluate(machine, entry(after),
           arguments_of(subject, {kDraws[0], bounds_of(subject.before)}, [](double x) { return x; }), {});
  return all;
}

// Whether a fault leaves what its instruction holds as it was whatever it is given.
bool is_same_of_anything(const Subject& subject, const Planted& fault) {
  try {
    for (std::uint64_t key = 1; key <= 4; ++key) {
      const auto was = of_anything(subject, subject.after, fault, key << 32),
                 is = of_anything(subject, fault.faulty, fault, key << 32);
      if (was.size() != is.size()) return false;
      for (std::size_t n = 0; n < was.size(); ++n)
        if (is_another(was[n], is[n], subject.after.partitions)) return false;
    }
  } catch (const Disagreement&) {
    return false;
  } catch (const BadModule&) {  // a loop without end
    return false;
  }
  return true;
}

void add_alone(const Module& before, const std::vector<Bounds>& bounds, std::vector<Data>& draws) {
  int tried = 0;
  for (const std::uint64_t seed : kAlone) {
    draws.push_back({seed, bounds});
    draw_alone(before, draws.back().bounds, tried++);
  }
}

// Both sides of where BEFORE decides by floats, near it.
std::vector<Data> near_draws(const Module& before, const std::vector<Bounds>& bounds) {
  constexpr std::uint64_t kSeed = 304;
  int runs = 64;
  std::vector<Data> draws;
  const Limits limits = limits_of(before);
  for (const Computation& c : before.computations)
    for (const Instruction& i : c.instructions) {
      if (!limits.all.contains(&i)) continue;
      if (const auto pair = straddle({before, bounds, &i, {}, kSeed, {}, runs}))
        for (const std::vector<Bounds>& one : pair->draws)
          draws.push_back({pair->seed, one, false, std::ssize(draws) + 1});
    }
  return draws;
}

// The members of each group, in no order.
std::vector<Integers> members_of(const Module& module, const Instruction& i) {
  std::vector<Integers> all = expand(get<Groups>(i, Key::replica_groups), module.partitions);
  for (Integers& group : all) std::ranges::sort(group);
  std::ranges::sort(all);
  return all;
}

// An all-reduce over the same members in another order is the same; of doubles an optimizer may make a step
// of how they were rounded.
bool only_reorders(const Module& after, const Planted& fault) {
  const Instruction &was = after.computations[fault.c].instructions[fault.i],
                    &is = fault.faulty.computations[fault.c].instructions[fault.i];
  if (was.opcode != Opcode::all_reduce || is.opcode != was.opcode) return false;
  if (members_of(after, was) != members_of(after, is)) return false;
  Module back = fault.faulty;
  for (Attribute& a : back.computations[fault.c].instructions[fault.i].attributes)
    if (a.key == Key::replica_groups) a.value = get<Groups>(was, a.key);
  return print(back) == print(after);
}

}  // namespace

std::string_view name(Harm harm) {
  static constexpr std::string_view kNames[] = {"moved", "same", "completed", "padding", "unneeded", "alike"};
  return kNames[static_cast<int>(harm)];
}

std::vector<Value<double>> whole_numbers(const Subject& subject) {
  return arguments_of(subject, {0, bounds_of(subject.before)},
                      [](double x) { return std::nearbyint(2 * x); });
}

std::vector<std::vector<std::vector<bool>>> covered(const Subject& subject) {
  bool as_propagated = false;
  const std::vector<Division> divisions = layouts(subject, as_propagated);
  const std::vector<Shape> shapes = result_shapes(subject.before);
  std::vector<std::vector<std::vector<bool>>> all(shapes.size());
  for (std::size_t r = 0; r < shapes.size(); ++r)
    for (const Share& share : divisions[r].shares) {
      std::vector<bool>& held = all[r].emplace_back();
      for (const std::int64_t n : share_map(shapes[r].dims, divisions[r], share)) held.push_back(n >= 0);
    }
  return all;
}

std::optional<Data> refuting_draw(const Proof& proof) {
  if (proof.finding != Finding::refuted) return std::nullopt;
  return Data{proof.seed, proof.bounds, proof.directed};
}

Harm harm_of(const Subject& subject, Rightly& right, const Planted& fault) {
  if (subject.after.aliases != fault.faulty.aliases) return Harm::moved;
  if (only_reorders(subject.after, fault)) return Harm::same;
  Differing differing;
  const std::vector<Bounds> bounds = bounds_of(subject.before);
  std::vector<Data> draws;
  for (const std::uint64_t seed : kDraws) draws.push_back({seed, bounds});
  const Computation& home = subject.after.computations[fault.c];
  const bool may_be_alike = decides(subject.after, home, home.instructions[fault.i]);
  if (may_be_alike) add_alone(subject.before, bounds, draws);
  if (fault.refuted_by) draws.push_back(*fault.refuted_by);
  if (!right.near) right.near = near_draws(subject.before, bounds);
  draws.insert(draws.end(), right.near->begin(), right.near->end());
  for (const Data& data : draws) {
    const std::pair key{data.seed, data.moved};
    const bool known = !data.own && right.seen.contains(key);
    Seen own, wrong;
    Seen& one = data.own ? own : right.seen[key];
    if (!known) one = plain(subject, subject.after, data);
    try {
      wrong = plain(subject, fault.faulty, data);
    } catch (const Disagreement&) {
      return Harm::moved;
    }
    if (moves_a_result(subject, one, wrong)) return Harm::moved;
    note_differing(one, wrong, subject.after.partitions, differing);
  }
  const auto at = differing.find({fault.c, fault.i});
  if (at == differing.end()) return Harm::unneeded;  // it was not computed
  if (at->second) return taken_up(subject.after, differing);
  return may_be_alike && !is_same_of_anything(subject, fault) ? Harm::alike : Harm::same;
}

}  // namespace plumb::hlo
