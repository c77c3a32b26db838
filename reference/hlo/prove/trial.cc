#include "reference/hlo/prove/trial.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/prove/alone.h"
#include "reference/hlo/prove/ways.h"
#include "reference/hlo/run/lanes.h"
#include "reference/hlo/run/manual.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Held = Value<Twin>;

bool has_infinity(const Module& module) {
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (std::ranges::any_of(i.literal.reals, [](double x) { return !std::isfinite(x); })) return true;
  return false;
}

// Nothing is said of what differs: it hangs on what is in doubt.
void mistrust(Proof& proof, const std::string& why) {
  proof.finding = Finding::mistrusted, proof.why = why, proof.differences = {}, proof.at = {};
}

std::string counted(std::int64_t n) { return std::to_string(n) + (n == 1 ? " comparison" : " comparisons"); }

std::optional<Spot> spot_of(const Module& module, const Instruction* at, bool before) {
  for (std::size_t c = 0; c < module.computations.size(); ++c)
    for (std::size_t i = 0; i < module.computations[c].instructions.size(); ++i)
      if (&module.computations[c].instructions[i] == at) return Spot{before, c, i};
  return std::nullopt;
}

// The results of a draw. Where some of AFTER are blurred, reals differ only by more than they may be off.
struct Both {
  const std::vector<Held>&whole, &held;
  bool blurred = false;
};

void judge(Trial& trial, const Both& both, Proof& proof) {
  const auto& [whole, held, blurred] = both;
  Pairs pairs{proof.seed};
  proof.results = std::ssize(whole), proof.elements = 0;
  const bool infinity = has_infinity(trial.subject.before);
  trial.usual.resize(whole.size());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const double usual = has_zeros(proof.seed) ? trial.usual[n] : 0;
    Compared c = compare_sides(pairs, {*whole[n].array, *held[n].array, trial.by_errors || blurred, usual},
                               trial.results[n]);
    if (is_plain(proof.seed)) trial.usual[n] = c.largest;
    proof.elements += c.elements;
    if (!c.finite && (!infinity || has_zeros(proof.seed)))
      raise(proof, Finding::mistrusted,
            "result " + std::to_string(n) + " is not finite" +
                (infinity ? "" : ", and no constant of the program is infinite"));
    if (c.difference.elements == 0) continue;
    c.difference.result = static_cast<std::int64_t>(n);
    proof.differences.push_back(c.difference);
    raise(proof, c.reals_differ ? Finding::refuted : Finding::unsettled, "");
  }
  if (proof.elements == 0) raise(proof, Finding::mistrusted, "there is no element to compare");
}

// Of choices of meanings, where a constant may have several.
constexpr int kMostTries = 8;

// Ends a run.
struct Doubt {};

Whole computed(Trial& trial, const Proof& proof, bool to_the_end) {
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
  const auto note = [&](const Instruction& i, const std::vector<Held>& operands, const Held& held) {
    answers.note(pairs, i, operands, held, whole.paths);
  };
  const auto seen = [&](const Instruction& i, const std::vector<Held>& operands, const Held& held) {
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
  std::vector<Held> arguments = drawn(module, proof.bounds, proof.seed);
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
  const Instruction* reduction;
  Lack lack;
};

// The ways in which devices lack what it leaves out, and hold another result for it.
std::uint64_t shown_by(Trial& trial, const Proof& proof, const Whole& whole, Without without) {
  const Module& module = trial.subject.before;
  const Pulse tell = telling(trial, proof, false);
  Pairs pairs{proof.seed};
  const Sharing& how = trial.shared_out.at(without.reduction);
  Machine<Pairs> machine{module, pairs, module.partitions, {}, nullptr, tell};
  machine.instead = [&](const Instruction& i, const std::vector<Held>& operands, Held& held) {
    if (&i != without.reduction) return;
    if (auto other = without_part(pairs, {how, i, operands, module.partitions}, without.lack))
      held = value(*std::move(other));
  };
  std::uint64_t shown = 0;
  const auto add = [&](std::size_t device) {
    shown |= lacked_by(how, without.lack, static_cast<std::int64_t>(device));
  };
  try {
    const std::vector<Held> results =
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

std::string in_doubt(std::int64_t n) { return counted(n) + " of reals that double cannot tell apart"; }

// Runs AFTER where its constants stand for `proof.meanings`, and judges what it holds.
void finish(Trial& trial, const Whole& whole, Proof& proof) {
  const Module& module = trial.subject.after;
  Pairs pairs{proof.seed, whole.doubts, &proof.meanings};
  Paths met = trial.paths;
  Picked picked{.numbers = !has_zeros(proof.seed)};
  const auto watch = trial.options.watch ? trial.options.watch(module, proof) : Watch<Twin>{};
  const auto seen = [&](const Instruction& i, const std::vector<Held>& operands, const Held& held) {
    trial.after_turns.note(i, operands, met, has_zeros(proof.seed));
    trial.after_pickings.note(i, operands, held, picked);
    if (watch) watch(i, operands, held);
  };
  Machine<Pairs> machine{module, pairs, module.partitions, {}, nullptr, telling(trial, proof, true)};
  if (watch || !trial.after_turns.all.empty() || !trial.after_pickings.all.empty()) machine.seen = seen;
  try {
    const std::vector<Held> held = results_of(
        evaluate(machine, entry(module), drawn(pairs, trial.subject.before, proof.bounds, trial.cuts), {}));
    judge(trial, {whole.results, held, pairs.blurs > 0}, proof);
  } catch (const Disagreement& disagreement) {
    raise(proof, Finding::refuted, disagreement.what());
    proof.at = spot_of(module, disagreement.at, false);
  }
  // Reals refute what is blurred, and nothing else does.
  const bool shown = proof.finding == Finding::refuted && !proof.differences.empty();
  if (pairs.doubts > 0 || (pairs.blurs > 0 && !shown)) mistrust(proof, in_doubt(pairs.doubts + pairs.blurs));
  if (proof.finding == Finding::proven) trial.paths = std::move(met), join(trial.after_picked, picked);
}

// The proof in which each constant has its chosen meaning, but the one at `other` its next ones.
Proof finished(Trial& trial, const Whole& whole, Proof proof) {
  const std::vector<Folded> constants =
      folded_constants(trial.subject.before, trial.subject.after, whole.sources, proof.seed);
  const Proof bare = proof;
  Pairs pairs{proof.seed};
  const auto meant = [&](const std::map<double, std::size_t>& chosen) {
    Proof one = bare;
    for (const Folded& f : constants) {
      const auto at = chosen.find(f.value);
      const std::size_t n = at == chosen.end() ? 0 : at->second;
      if (n >= f.meanings.size()) continue;  // the last choice: itself
      if (pairs.same(f.meanings[n].is, pairs.constant(f.value))) continue;
      one.meanings[f.value] = f.meanings[n].is;
      one.folded.push_back(decimal(f.value) + " stands for " + f.meanings[n].text);
    }
    finish(trial, whole, one);
    return one;
  };
  proof = meant(trial.chosen);
  int tries = 0;
  for (const Folded& f : constants)
    for (std::size_t n = 0; n <= f.meanings.size() && proof.finding != Finding::proven && tries < kMostTries;
         ++n) {
      auto chosen = trial.chosen;
      if (n == chosen[f.value]) continue;
      chosen[f.value] = n, ++tries;
      Proof other = meant(chosen);
      if (std::ssize(other.differences) >= std::ssize(proof.differences)) continue;
      proof = std::move(other), trial.chosen = std::move(chosen);
    }
  for (const Folded& f : constants) {
    const auto itself = [&](const Source& m) { return pairs.same(m.is, pairs.constant(f.value)); };
    const bool several =
        f.meanings.size() - static_cast<std::size_t>(std::ranges::count_if(f.meanings, itself)) > 1;
    if (several) raise(proof, Finding::unsettled, "");
    if (proof.finding == Finding::unsettled && proof.why.empty() && f.meanings.size() > 1)
      proof.why = decimal(f.value) + " may be " + f.meanings[0].text + " or " + f.meanings[1].text;
  }
  return proof;
}

}  // namespace

void raise(Proof& proof, Finding finding, const std::string& why) {
  static constexpr int kWeight[] = {0, 3, 2, 1, 4};  // refuted outweighs unsettled, unsettled mistrusted
  if (kWeight[static_cast<int>(finding)] <= kWeight[static_cast<int>(proof.finding)]) return;
  proof.finding = finding, proof.why = why;
}

// By the place in the entry computation.
Pulse telling(const Trial& trial, const Proof& proof, bool after) {
  const Options& options = trial.options;
  const Module& module = after ? trial.subject.after : trial.subject.before;
  if (!options.step) return {{}, options.pause};
  Step step{proof.draws, trial.draws, after, 0, std::ssize(entry(module).instructions), 0};
  const auto each = [&options, &module, step](const Computation& c, std::size_t n) mutable {
    if (&c == &entry(module)) step.done = static_cast<std::int64_t>(n);
    options.step(step);
    ++step.computed;
  };
  return {each, options.pause};
}

Whole& whole_of(Trial& trial, const Proof& proof, bool last) {
  if (proof.directed) return trial.directed = computed(trial, proof, last);
  if (!trial.shared) std::erase_if(trial.wholes, [&](const auto& one) { return one.first != proof.seed; });
  const auto known = trial.wholes.find(proof.seed);
  if (known != trial.wholes.end() && !(known->second.ended && last)) return known->second;
  return trial.wholes[proof.seed] = computed(trial, proof, last);
}

Proof blank_draw(const Trial& trial, int draw, std::uint64_t seed) {
  Proof proof = trial.blank;
  proof.seed = seed, proof.draws = draw;
  return proof;
}

Proof blank_draw(const Trial& trial, const Proof& other, std::uint64_t seed) {
  Proof proof = blank_draw(trial, other.draws, seed);
  proof.bounds = other.bounds, proof.directed = other.directed;
  return proof;
}

Proof judged_draw(Trial& trial, Proof proof, Whole& whole) {
  if (whole.disagreement.empty())
    proof = finished(trial, whole, proof);
  else if (whole.doubts > 0)
    mistrust(proof, in_doubt(whole.doubts));
  else
    proof.by_itself = true, proof.at = whole.at, raise(proof, Finding::refuted, whole.disagreement);
  if (proof.finding != Finding::proven) return proof;
  trial.paths.insert(whole.paths.begin(), whole.paths.end());
  for (const auto& [reduction, any] : whole.alone)
    if (std::uint64_t& shown = trial.alone[reduction]; shown != ways_to_lack(trial.shared_out.at(reduction)))
      shown |= decides_alone(trial, proof, whole, reduction);
  join(trial.picked, whole.picked), join(trial.near, whole.near, proof.directed);
  for (std::size_t p = 0; p < trial.ends.size(); ++p)
    if (const auto& drawn = whole.integers[p].array)
      for (const std::int64_t x : drawn->integers)
        if (std::ranges::binary_search(trial.ends[p], x)) trial.met[p].insert(x);
  return proof;
}

std::optional<Proof> judged_draw(Trial& trial, Proof proof, bool last) {
  Whole& whole = whole_of(trial, proof, last);
  return whole.ended ? std::nullopt : std::optional(judged_draw(trial, std::move(proof), whole));
}

std::uint64_t decides_alone(Trial& trial, const Proof& proof, Whole& whole, const Instruction* reduction) {
  const auto known = whole.alone.find(reduction);
  if (known == whole.alone.end() || !whole.disagreement.empty()) return 0;
  if (known->second) return *known->second;
  const Sharing& how = trial.shared_out.at(reduction);
  std::uint64_t shown = 0;
  // Among zeros, where nobody knows who holds what, only he who decides may hold what is not zero.
  if (!how.parts.part.empty() || !has_zeros(proof.seed))
    for (int way = 0; way == 0 || (how.by == Opcode::add && ways_to_lack(how) >> way != 0); ++way)
      shown |= shown_by(trial, proof, whole,
                        {
                            reduction, {proof.seed, way}
      });
  known->second = shown;
  return shown;
}

// In so many some numbers are large enough for exponentials that no double holds: these show nothing.
constexpr int kMostShowing = 256;

Proof shown_by_more(Trial& trial, Proof open, std::uint64_t seed) {
  trial.by_errors = true;
  for (int tried = 0; !open.differences.empty() && tried < kMostShowing; ++tried) {
    std::optional<Proof> one = judged_draw(trial, blank_draw(trial, open, seed++), false);
    if (one && one->finding == Finding::refuted) return *std::move(one);
  }
  return open;
}

// So many times as often as others a draw is made again of which BEFORE alone ran, and not to its end.
constexpr int kCheaper = 3;

Proof settled_draw(Trial& trial, int draw, std::uint64_t& seed) {
  const int most = trial.options.redraws;
  std::optional<Proof> open, last;  // the first that is unsettled; whatever came last
  bool final = false;
  for (int judged = 0, ended = 0; !final;) {
    final = judged == most || ended == kCheaper * most;
    last = judged_draw(trial, blank_draw(trial, draw, seed++), final);
    ++(last ? judged : ended);
    if (!last) continue;
    if (last->finding == Finding::refuted || (last->finding == Finding::proven && !open)) return *last;
    if (last->finding == Finding::unsettled && !open) open = last;
  }
  return open ? shown_by_more(trial, *std::move(open), seed) : *std::move(last);
}

}  // namespace plumb::hlo
