#include "reference/hlo/prove/trial.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>

#include "reference/hlo/prove/whole.h"
#include "reference/hlo/run/run.h"
#include "reference/hlo/run/threads.h"

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
  Pause pause;
  if (options.pause)
    pause = [&options, &trial] {
      const std::scoped_lock lock(trial.one_tells);
      options.pause();
    };
  if (!options.step) return {{}, std::move(pause)};
  Step step{proof.draws, trial.draws, after, 0, std::ssize(entry(module).instructions), 0};
  const auto each = [&options, &module, &trial, step](const Computation& c, std::size_t n) mutable {
    const std::scoped_lock lock(trial.one_tells);
    if (&c == &entry(module)) step.done = static_cast<std::int64_t>(n);
    options.step(step);
    ++step.computed;
  };
  return {each, std::move(pause)};
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

namespace {

// The reductions of which it is not known yet that a part alone decides, where the draw may show it.
std::vector<const Instruction*> asked_alone(const Trial& trial, const Whole& whole) {
  std::vector<const Instruction*> all;
  for (const auto& [reduction, any] : whole.alone) {
    const auto known = trial.alone.find(reduction);
    const std::uint64_t shown = known == trial.alone.end() ? 0 : known->second;
    if (shown != ways_to_lack(trial.shared_out.at(reduction))) all.push_back(reduction);
  }
  return all;
}

// The same as `finished`; meanwhile it is looked, where BEFORE runs beside, what parts alone decide: that is
// wanted where the draw is proven. What is refused there is refused where it is asked for, and who ends that
// ends no refutation.
Proof finished_beside(Trial& trial, Whole& whole, const Proof& proof) {
  std::vector<const Instruction*> asked = asked_alone(trial, whole);
  std::erase_if(asked, [&](const Instruction* reduction) { return whole.alone.at(reduction).has_value(); });
  if (!trial.beside || asked.empty()) return finished(trial, whole, proof);
  Proof found;
  std::atomic<bool> wanted = true;
  std::exception_ptr ended;
  const auto judge_it = [&] {
    try {
      found = finished(trial, whole, proof);
      wanted = found.finding == Finding::proven;
    } catch (...) {
      wanted = false;
      throw;
    }
  };
  const auto look = [&] {
    try {
      for (const Instruction* reduction : asked) decides_alone(trial, proof, whole, {reduction, &wanted});
    } catch (const Unwanted&) {
    } catch (const BadModule&) {
    } catch (...) {
      ended = std::current_exception();
    }
  };
  at_once(2, [&](std::int64_t n) { n == 0 ? judge_it() : look(); });
  if (ended && found.finding != Finding::refuted) std::rethrow_exception(ended);
  return found;
}

}  // namespace

Proof judged_draw(Trial& trial, Proof proof, Whole& whole) {
  if (whole.disagreement.empty())
    proof = finished_beside(trial, whole, proof);
  else if (whole.doubts > 0)
    mistrust(proof, in_doubt(whole.doubts));
  else
    proof.by_itself = true, proof.at = whole.at, raise(proof, Finding::refuted, whole.disagreement);
  if (proof.finding != Finding::proven) return proof;
  trial.paths.insert(whole.paths.begin(), whole.paths.end());
  for (const auto& [reduction, any] : whole.alone) trial.alone.try_emplace(reduction, 0);
  for (const Instruction* reduction : asked_alone(trial, whole))
    trial.alone[reduction] |= decides_alone(trial, proof, whole, {reduction});
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
