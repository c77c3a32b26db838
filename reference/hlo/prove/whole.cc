#include "reference/hlo/prove/whole.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "reference/hlo/prove/ways.h"
#include "reference/hlo/run/lanes.h"
#include "reference/hlo/run/run.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {
namespace {

// Ends a run.
struct Doubt {};

Whole computed(const Trial& trial, const Proof& proof, bool to_the_end) {
  const Module& module = trial.subject.before;
  const Pulse tell = telling(trial, proof, false);
  Pairs pairs{proof.seed};
  Whole whole{.sources = constants_of(module)};
  whole.picked.numbers = !has_zeros(proof.seed);
  const std::set<const Instruction*> free = free_of_parameters(module);
  const auto each = [&](const Computation& c, std::size_t n) {
    if (pairs.doubts + pairs.blurs > 0 && !to_the_end) throw Doubt{};
    if (tell.each) tell.each(c, n);
  };
  const Answers answers = answers_of(module, free);
  Chosen chosen;
  const auto note = [&](const Instruction& i, const std::vector<Value<Twin>>& operands,
                        const Value<Twin>& held) { answers.note(pairs, i, operands, held, whole.paths); };
  const auto seen = [&](const Instruction& i, const std::vector<Value<Twin>>& operands,
                        const Value<Twin>& held) {
    note(i, operands, held), trial.before_turns.note(i, operands, whole.paths, has_zeros(proof.seed));
    trial.before_pickings.note(i, operands, held, whole.picked);
    trial.selects.note(i, operands, chosen);
    trial.limits.note(i, operands, whole.near);
    if (const auto by = trial.shared_out.find(&i); by != trial.shared_out.end()) {
      std::optional<std::uint64_t>& shown = whole.alone.try_emplace(&i, 0).first->second;
      Lack lack{proof.seed};
      if (shown && (by->second.by == Opcode::add ||
                    without_part(pairs, {by->second, i, operands, module.partitions}, lack)))
        shown = std::nullopt;
    }
    if (!free.contains(&i) || !held.array || held.array->reals.size() > kSeveral) return;
    for (const Twin& x : held.array->reals)
      if (std::isfinite(x.real) && x.real != 0) whole.sources.push_back({x, i.name});
  };
  Machine<Pairs> machine{
      module, pairs, module.partitions, {          },
         &whole.paths, { each, tell.pause}
  };
  machine.seen = seen, machine.within = note;
  std::vector<Value<Twin>> arguments = drawn(module, proof.bounds, proof.seed);
  whole.integers.resize(arguments.size());
  for (std::size_t p = 0; p < trial.ends.size(); ++p)
    if (!trial.ends[p].empty()) whole.integers[p] = arguments[p];
  try {
    whole.results = results_of(evaluate(machine, entry(module), std::move(arguments), {}));
    note_reached(trial.selects, chosen, whole.paths);
  } catch (const Disagreement& disagreement) {
    whole.disagreement = std::string("before the partitioner already ") + disagreement.what();
    whole.at = spot_of(module, disagreement.at, true);
  } catch (const Doubt&) {
    whole.ended = true;
  }
  whole.doubts = pairs.doubts + pairs.blurs;
  return whole;
}

// Of two results of BEFORE whether an element that a device holds is another. Where decisions are in doubt,
// by its real.
std::vector<char> is_other(Pairs& pairs, const Array<Twin>& was, const Array<Twin>& is,
                           const Division& held) {
  std::map<std::pair<std::int64_t, Integers>, bool> others;  // by lane and tile
  std::vector<char> all;
  const Array<Twin> laid = cut(is, held, poison(pairs, is.type));
  for (std::int64_t device = 0; device < std::ssize(held.shares); ++device) {
    const Share& share = held.shares[static_cast<std::size_t>(device)];
    const std::int64_t lane = lane_on(laid, device);
    const auto [found, is_new] = others.try_emplace({lane, share.tile});
    if (is_new) {
      const Array<Twin> own = with_lanes(laid, {static_cast<std::int32_t>(lane)}, {});
      const Compared c = compare_sides(pairs, {was, own}, {held.tiles, held.parts, {share}});
      found->second = c.difference.elements > 0 && (c.reals_differ || pairs.doubts + pairs.blurs == 0);
    }
    all.push_back(found->second);
  }
  return all;
}

// A run of BEFORE that leaves a part of a reduction out.
struct Without {
  const Asked& asked;
  Lack lack;
};

// Looks, too, whether anybody wants the run.
Pulse while_wanted(Pulse tell, const std::atomic<bool>* wanted) {
  if (!wanted) return tell;
  const auto look = [wanted] {
    if (!*wanted) throw Unwanted{};
  };
  return {[look, each = std::move(tell.each)](const Computation& c, std::size_t n) {
            look();
            if (each) each(c, n);
          },
          [look, pause = std::move(tell.pause)] {
            look();
            if (pause) pause();
          }};
}

// The ways in which devices lack what it leaves out, and hold another result for it.
std::uint64_t shown_by(const Trial& trial, const Proof& proof, const Whole& whole, Without without) {
  const Module& module = trial.subject.before;
  const Instruction* reduction = without.asked.reduction;
  const Pulse tell = while_wanted(telling(trial, proof, false), without.asked.wanted);
  Pairs pairs{proof.seed};
  const Sharing& how = trial.shared_out.at(reduction);
  Machine<Pairs> machine{module, pairs, module.partitions, {}, nullptr, tell};
  machine.instead = [&](const Instruction& i, const std::vector<Value<Twin>>& operands, Value<Twin>& held) {
    if (&i != reduction) return;
    if (auto other = without_part(pairs, {how, i, operands, module.partitions}, without.lack))
      held = value(*std::move(other));
  };
  std::uint64_t shown = 0;
  const auto add = [&](std::size_t device) {
    shown |= lacked_by(how, without.lack, static_cast<std::int64_t>(device));
  };
  try {
    const std::vector<Value<Twin>> results =
        results_of(evaluate(machine, entry(module), drawn(module, proof.bounds, proof.seed), {}));
    for (std::size_t n = 0; n < results.size(); ++n) {
      const auto others = is_other(pairs, *whole.results[n].array, *results[n].array, trial.results[n]);
      for (std::size_t device = 0; device < others.size(); ++device)
        if (others[device]) add(device);
    }
  } catch (const Disagreement&) {
    for (std::size_t device = 0; device < trial.results[0].shares.size(); ++device) add(device);
  }
  return shown;
}

}  // namespace

std::optional<Spot> spot_of(const Module& module, const Instruction* at, bool before) {
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    for (std::size_t i = 0; i < module.computations[c].instructions.size(); ++i)
      if (&module.computations[c].instructions[i] == at) return Spot{before, c, i};
  return std::nullopt;
}

Whole& whole_of(Trial& trial, const Proof& proof, bool last) {
  if (proof.directed) return trial.directed = computed(trial, proof, last);
  const auto is_held = [&](std::uint64_t seed) {
    return seed == proof.seed || (seed > proof.seed && seed < trial.ahead);
  };
  if (!trial.shared) std::erase_if(trial.wholes, [&](const auto& one) { return !is_held(one.first); });
  const auto known = trial.wholes.find(proof.seed);
  if (known != trial.wholes.end() && !(known->second.ended && last)) return known->second;
  return trial.wholes[proof.seed] = computed(trial, proof, last);
}

bool runs_beside(const Module& module) {
  if (threads() == 1) return false;
  std::int64_t all = 0;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const std::int64_t n = i.shape.type == Type::tuple ? 0 : elements(i.shape);
      if (n >= kWorth) return false;
      all += n;
    }
  return all >= kWorth;
}

void draw_two(Trial& trial, int draw, std::uint64_t seed) {
  constexpr int kMost = 16;  // of both together, or one more
  if (!trial.beside || trial.wholes.contains(seed)) return;
  std::atomic<std::uint64_t> next = seed;
  std::mutex access;
  at_once(2, [&](std::int64_t) {
    for (bool ended = true; ended && next < seed + kMost;) {
      const std::uint64_t own = next++;
      try {
        Whole whole = computed(trial, blank_draw(trial, draw, own), false);
        ended = whole.ended;
        const std::scoped_lock lock(access);
        trial.wholes[own] = std::move(whole);
      } catch (const BadModule&) {
        return;
      }
    }
  });
  trial.ahead = next;
}

std::uint64_t decides_alone(const Trial& trial, const Proof& proof, Whole& whole, const Asked& asked) {
  const auto known = whole.alone.find(asked.reduction);
  if (known == whole.alone.end() || !whole.disagreement.empty()) return 0;
  if (known->second) return *known->second;
  const Sharing& how = trial.shared_out.at(asked.reduction);
  std::uint64_t shown = 0;
  // Among zeros, where nobody knows who holds what, only he who decides may hold what is not zero.
  if (!how.parts.part.empty() || !has_zeros(proof.seed))
    for (int way = 0; way == 0 || (how.by == Opcode::add && ways_to_lack(how) >> way != 0); ++way)
      shown |= shown_by(trial, proof, whole,
                        {
                            asked, {proof.seed, way}
      });
  known->second = shown;
  return shown;
}

}  // namespace plumb::hlo
