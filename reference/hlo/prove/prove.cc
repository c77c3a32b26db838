#include "reference/hlo/prove/prove.h"

#include <algorithm>
#include <cmath>

#include "reference/hlo/prove/subject.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Held = Value<Twin>;

std::vector<Held> parts(const Held& held) { return held.array ? std::vector{held} : held.parts; }

// One draw: the results of both sides.
struct Draw {
  std::vector<Held> whole, held;
  std::int64_t doubts = 0;
};

// Tells `options.step` of each instruction of a module, by the place in its entry computation.
Pulse telling(const Options& options, const Module& module, Step step) {
  if (!options.step) return {};
  step.all = std::ssize(entry(module).instructions);
  return [&options, &module, step](const Computation& c, std::size_t n) mutable {
    if (&c == &entry(module)) step.done = static_cast<std::int64_t>(n);
    options.step(step);
  };
}

// What the draws of a proof share.
struct Trial {
  const Subject& subject;
  const Options& options;
  const std::vector<Division>& cuts;
  Paths paths{};
};

Draw run(Trial& trial, const Proof& proof) {
  const Subject& subject = trial.subject;
  const Step step{proof.draws, trial.options.draws, false, 0, 0};
  Step then = step;
  then.after = true;
  Pairs pairs{proof.seed};
  const std::vector<Held> whole = drawn(subject.before, proof.bounds, proof.seed);
  const Machine<Pairs> before{subject.before,
                              pairs,
                              subject.before.partitions,
                              {},
                              &trial.paths,
                              telling(trial.options, subject.before, step)};
  const Machine<Pairs> after{subject.after,
                             pairs,
                             subject.after.partitions,
                             {},
                             nullptr,
                             telling(trial.options, subject.after, then)};
  Draw draw;
  draw.whole = parts(evaluate(before, entry(subject.before), whole, {}));
  std::vector<Held> local;
  for (std::size_t n = 0; n < whole.size(); ++n)
    local.push_back(value(cut(pairs, *whole[n].array, trial.cuts[n], poison(pairs, whole[n].array->type))));
  draw.held = parts(evaluate(after, entry(subject.after), std::move(local), {}));
  draw.doubts = pairs.doubts;
  return draw;
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
void judge(const Subject& subject, const Draw& draw, const std::vector<Division>& divisions, Proof& proof) {
  Pairs pairs{proof.seed};
  proof.results = std::ssize(draw.whole), proof.elements = 0;
  for (std::size_t n = 0; n < draw.whole.size(); ++n) {
    Compared c = compare(pairs, *draw.whole[n].array, *draw.held[n].array, divisions[n]);
    proof.elements += c.elements;
    if (!c.finite && !has_infinity(subject.before))
      raise(proof, Finding::mistrusted,
            "result " + std::to_string(n) + " is not finite, and no constant of the program is infinite");
    if (c.difference.elements == 0) continue;
    c.difference.result = static_cast<std::int64_t>(n);
    proof.differences.push_back(c.difference);
    raise(proof, c.reals_differ ? Finding::refuted : Finding::unsettled, "");
  }
  if (proof.elements == 0) raise(proof, Finding::mistrusted, "there is no element to compare");
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

std::string counted(std::int64_t n) { return std::to_string(n) + (n == 1 ? " comparison" : " comparisons"); }

}  // namespace

std::string_view name(Finding finding) {
  static constexpr std::string_view kNames[] = {"proven", "refuted", "unsettled", "mistrusted", "unrun"};
  return kNames[static_cast<int>(finding)];
}

void check(const Subject& subject) {
  bool as_propagated = false;
  check_pair(subject, layouts(subject, as_propagated));
  parameter_layouts(subject);
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
  const Proof begun = proof;
  std::optional<Proof> open;  // not proven, but not refuted either
  Trial trial{subject, options, cuts};
  int redraws = 0;
  for (std::uint64_t seed = options.seed; proof.draws < options.draws; ++seed) {
    Proof one = begun;
    one.seed = seed, one.draws = proof.draws + 1;
    try {
      const Draw draw = run(trial, one);
      if (draw.doubts > 0)
        raise(one, Finding::mistrusted, counted(draw.doubts) + " of reals that double cannot tell apart");
      judge(subject, draw, results, one);
    } catch (const Disagreement& disagreement) {
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
