#include "reference/hlo/prove/prove.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/prove/folded.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Held = Value<Twin>;

// Tells `options.step` of each instruction of a module, by the place in its entry computation.
Pulse telling(const Options& options, const Module& module, Step step) {
  if (!options.step) return {};
  step.all = std::ssize(entry(module).instructions);
  return [&options, &module, step](const Computation& c, std::size_t n) mutable {
    if (&c == &entry(module)) step.done = static_cast<std::int64_t>(n);
    options.step(step);
  };
}

// What comparing one result shows.
struct Compared {
  Difference difference;
  bool reals_differ = false, finite = true;
  std::int64_t elements = 0;
};

double largest(const Array<Twin>& a) {
  double most = 0;
  for (const Twin& x : a.reals)
    if (std::isfinite(x.real)) most = std::max(most, std::fabs(x.real));
  return most;
}

constexpr double kApart = 0x1p-20;  // of the largest element: reals closer than this are not seen to differ

Compared compare(Pairs& pairs, const Array<Twin>& whole, const Array<Twin>& held, const Division& division) {
  require(whole.lanes == 1, "a result that all devices know whole");
  Compared c;
  c.difference.shape = {whole.type, whole.dims, {}, {}, {}};
  const std::int64_t tile = count(held.dims);
  const double apart = is_real(whole.type) ? largest(whole) * kApart : 0;
  const Integers strides = strides_of(held.dims);
  for (const Twin& x : whole.reals) c.finite = c.finite && std::isfinite(x.real);
  for (std::int64_t device = 0; device < std::ssize(division.shares); ++device) {
    const Integers map = share_map(whole.dims, division, division.shares[static_cast<std::size_t>(device)]);
    bool wrong_here = false;
    for (std::int64_t n = 0; n < tile; ++n) {
      const std::int64_t element = map[static_cast<std::size_t>(n)];
      if (element < 0) continue;
      ++c.elements;
      const auto at = static_cast<std::size_t>(begin_of(held, device, tile) + n),
                 of = static_cast<std::size_t>(element);
      bool same = true, far = true;
      if (is_real(whole.type)) {
        same = pairs.same(whole.reals[of], held.reals[at]);
        far = !(std::fabs(whole.reals[of].real - held.reals[at].real) <= apart);
      } else {
        same = whole.integers[of] == held.integers[at];
      }
      if (same) continue;
      c.reals_differ = c.reals_differ || far;
      Difference& d = c.difference;
      if (d.elements++ == 0) {
        d.device = device;
        for (std::size_t i = 0; i < held.dims.size(); ++i) d.index.push_back(n / strides[i] % held.dims[i]);
      }
      d.devices += !wrong_here;
      wrong_here = true;
    }
  }
  return c;
}

bool has_infinity(const Module& module) {
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions)
      if (std::ranges::any_of(i.literal.reals, [](double x) { return !std::isfinite(x); })) return true;
  return false;
}

void raise(Proof& proof, Finding finding, const std::string& why) {
  static constexpr int kWeight[] = {0, 3, 2, 1, 4};  // refuted outweighs unsettled, unsettled mistrusted
  if (kWeight[static_cast<int>(finding)] <= kWeight[static_cast<int>(proof.finding)]) return;
  proof.finding = finding, proof.why = why;
}

// Compares all results of a draw.
void judge(const Module& before, const std::vector<Held>& whole, const std::vector<Held>& held,
           const std::vector<Division>& divisions, Proof& proof) {
  Pairs pairs{proof.seed};
  proof.results = std::ssize(whole), proof.elements = 0;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    Compared c = compare(pairs, *whole[n].array, *held[n].array, divisions[n]);
    proof.elements += c.elements;
    if (!c.finite && !has_infinity(before))
      raise(proof, Finding::mistrusted,
            "result " + std::to_string(n) + " is not finite, and no constant of the program is infinite");
    if (c.difference.elements == 0) continue;
    c.difference.result = static_cast<std::int64_t>(n);
    proof.differences.push_back(c.difference);
    raise(proof, c.reals_differ ? Finding::refuted : Finding::unsettled, "");
  }
  if (proof.elements == 0) raise(proof, Finding::mistrusted, "there is no element to compare");
}

std::string counted(std::int64_t n) { return std::to_string(n) + (n == 1 ? " comparison" : " comparisons"); }

// What the draws of a proof share.
struct Trial {
  const Subject& subject;
  const Options& options;
  const std::vector<Division>&cuts, &results;
  const std::set<const Instruction*> free;  // instructions of BEFORE that need no parameter
  Paths paths{};
  std::map<double, std::size_t> chosen{};  // which meaning of a folded constant was the right one
};

// One draw: its arguments, the results of BEFORE, and what AFTER's constants may stand for.
struct Draw {
  std::vector<Held> arguments, whole;
  std::vector<Folded> folded;
  std::int64_t doubts = 0;
};

// Of choices of meanings, where a constant may have several.
constexpr int kMostTries = 8;

// Up to so many numbers of a value that needs no parameter.
constexpr std::size_t kSeveral = 16;

Draw begun(Trial& trial, const Proof& proof) {
  const Module& module = trial.subject.before;
  const Step step{proof.draws, trial.options.draws, false, 0, 0};
  Pairs pairs{proof.seed};
  Draw draw{drawn(module, proof.bounds, proof.seed), {}, {}, 0};
  std::vector<Source> sources = constants_of(module);
  const auto seen = [&](const Instruction& i, const Held& held) {
    if (!trial.free.contains(&i) || !held.array || held.array->reals.size() > kSeveral) return;
    for (const Twin& x : held.array->reals)
      if (std::isfinite(x.real) && x.real != 0) sources.push_back({x, i.name});
  };
  const Machine<Pairs> machine{module, pairs,        module.partitions,
                               {},     &trial.paths, telling(trial.options, module, step)};
  Machine<Pairs> watched = machine;
  if (!trial.free.empty()) watched.seen = seen;
  draw.whole = results_of(evaluate(watched, entry(module), draw.arguments, {}));
  draw.doubts = pairs.doubts;
  draw.folded = folded_constants(module, trial.subject.after, sources, proof.seed);
  return draw;
}

// Runs AFTER where its constants stand for `proof.meanings`, and judges what it holds.
void finish(Trial& trial, const Draw& draw, Proof& proof) {
  const Module& module = trial.subject.after;
  Pairs pairs{proof.seed, draw.doubts, &proof.meanings};
  const Machine<Pairs> machine{
      module, pairs,   module.partitions,
      {},     nullptr, telling(trial.options, module, {proof.draws, trial.options.draws, true, 0, 0})};
  std::vector<Held> local;
  for (std::size_t n = 0; n < draw.arguments.size(); ++n) {
    const Array<Twin>& whole = *draw.arguments[n].array;
    local.push_back(value(cut(pairs, whole, trial.cuts[n], poison(pairs, whole.type))));
  }
  try {
    const std::vector<Held> held = results_of(evaluate(machine, entry(module), std::move(local), {}));
    if (pairs.doubts > 0)
      raise(proof, Finding::mistrusted, counted(pairs.doubts) + " of reals that double cannot tell apart");
    judge(trial.subject.before, draw.whole, held, trial.results, proof);
  } catch (const Disagreement& disagreement) {
    raise(proof, Finding::refuted, disagreement.what());
  }
}

// The proof in which each constant has its chosen meaning, but the one at `other` its next ones.
Proof finished(Trial& trial, const Draw& draw, Proof proof) {
  const Proof bare = proof;
  Pairs pairs{proof.seed};
  const auto meant = [&](const std::map<double, std::size_t>& chosen) {
    Proof one = bare;
    for (const Folded& f : draw.folded) {
      const auto at = chosen.find(f.value);
      const std::size_t n = at == chosen.end() ? 0 : at->second;
      if (n >= f.meanings.size()) continue;  // the last choice: itself
      if (pairs.same(f.meanings[n].is, pairs.constant(f.value))) continue;
      one.meanings[f.value] = f.meanings[n].is;
      one.folded.push_back(decimal(f.value) + " stands for " + f.meanings[n].text);
    }
    finish(trial, draw, one);
    return one;
  };
  proof = meant(trial.chosen);
  int tries = 0;
  for (const Folded& f : draw.folded)
    for (std::size_t n = 0; n <= f.meanings.size() && proof.finding != Finding::proven && tries < kMostTries;
         ++n) {
      auto chosen = trial.chosen;
      if (n == chosen[f.value]) continue;
      chosen[f.value] = n, ++tries;
      Proof other = meant(chosen);
      if (std::ssize(other.differences) >= std::ssize(proof.differences)) continue;
      proof = std::move(other), trial.chosen = std::move(chosen);
    }
  for (const Folded& f : draw.folded)
    if (proof.finding == Finding::unsettled && proof.why.empty() && f.meanings.size() > 1)
      proof.why = decimal(f.value) + " may be " + f.meanings[0].text + " or " + f.meanings[1].text;
  return proof;
}

// "%cond.3 branch 1", "%while.2".
std::vector<std::string> untaken(const Module& module, const Paths& paths) {
  std::vector<std::string> list;
  for (const Computation& c : module.computations)
    for (const Instruction& i : c.instructions) {
      const std::int64_t branches = std::ssize(get<Calls>(i, Key::branch_computations).computations);
      for (std::int64_t b = 0; b < branches; ++b)
        if (!paths.contains({&i, b})) list.push_back("%" + i.name + " branch " + std::to_string(b));
      if (i.opcode == Opcode::while_ && !paths.contains({&i, 1})) list.push_back("%" + i.name);
    }
  return list;
}

}  // namespace

std::string_view name(Finding finding) {
  static constexpr std::string_view kNames[] = {"proven", "refuted", "unsettled", "mistrusted", "unrun"};
  return kNames[static_cast<int>(finding)];
}

Proof prove(const Subject& subject, const Options& options) {
  Proof proof;
  proof.devices = subject.before.partitions;
  const std::vector<Division> results = layouts(subject, proof.as_propagated);
  check_pair(subject, results);
  const std::vector<Division> cuts = parameter_layouts(subject);
  proof.bounds = bounds_of(subject.before);
  if (const std::string lost = lost_alias(subject); !lost.empty()) {
    raise(proof, Finding::refuted, lost);
    return proof;
  }
  for (const auto& [parameter, range] : options.ranges)
    proof.bounds.at(static_cast<std::size_t>(parameter)) = range;
  const Proof blank = proof;
  std::optional<Proof> open;  // not proven, but not refuted either
  Trial trial{subject, options, cuts, results, free_of_parameters(subject.before)};
  int redraws = 0;
  for (std::uint64_t seed = options.seed; proof.draws < options.draws; ++seed) {
    Proof one = blank;
    one.seed = seed, one.draws = proof.draws + 1;
    try {
      one = finished(trial, begun(trial, one), one);
    } catch (const Disagreement& disagreement) {  // within BEFORE
      raise(one, Finding::refuted, disagreement.what());
    }
    one.untaken = untaken(subject.before, trial.paths);
    if (one.finding == Finding::refuted) return one;
    if (one.finding == Finding::unsettled && !open) open = one;
    const bool again = one.finding != Finding::proven || (one.draws == options.draws && !one.untaken.empty());
    if (again && redraws++ < options.redraws) continue;
    proof = one;
  }
  return open ? *open : proof;
}

}  // namespace plumb::hlo
