// Every fault of testing/faults.h at every place of partitioned modules: what moves a result is refuted, what
// moves none is not.
//
// Whether it moves one is seen without residues: both modules are run with plain doubles on other data. A
// fault that leaves every real element as it was exchanges devices that hold the same, or touches padding, or
// what nobody needs.
#include "reference/hlo/prove/testing/faults.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <random>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/prove.h"
#include "reference/hlo/prove/subject.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Held = Value<double>;

struct Program {
  std::string name;
  Module before, after, propagated;
  std::vector<Division> results, cuts;
};

Program program(const std::filesystem::path& folder) {
  const auto text = [&](const std::string& part) { return read(dump(folder, part)); };
  std::string chosen = text("after_shardy-xla");
  if (chosen.empty()) chosen = text("after_sharding-propagation");
  Program p{folder.string(),
            parse(text("before_optimizations"), "before"),
            parse(text("after_spmd-partitioning"), "after"),
            parse(chosen, "propagated"),
            {},
            {}};
  bool as_propagated = false;
  p.results = layouts({p.before, p.after, &p.propagated}, as_propagated);
  p.cuts = parameter_layouts({p.before, p.after, &p.propagated});
  return p;
}

// The results of plain doubles on data of its own.
std::vector<Held> plain(const Program& p, const Module& after, std::uint64_t seed) {
  Reals reals;
  std::vector<Held> arguments;
  const std::vector<Value<Twin>> draws = drawn(p.before, bounds_of(p.before), seed);
  for (std::size_t n = 0; n < draws.size(); ++n) {
    Array<double> whole{draws[n].array->type, draws[n].array->dims, 1, draws[n].array->integers, {}};
    for (const Twin& x : draws[n].array->reals) whole.reals.push_back(x.real);
    arguments.push_back(value(cut(reals, whole, p.cuts[n], poison(reals, whole.type))));
  }
  const Held result =
      evaluate(Machine<Reals>{after, reals, after.partitions, {}}, entry(after), arguments, {});
  return result.array ? std::vector{result} : result.parts;
}

bool moved(const Array<double>& a, const Array<double>& b, const Division& division, const Integers& dims) {
  const std::int64_t tile = count(a.dims);
  double most = 0;
  for (const double x : a.reals)
    if (std::isfinite(x)) most = std::max(most, std::fabs(x));
  for (std::int64_t device = 0; device < std::ssize(division.shares); ++device) {
    const Integers map = share_map(dims, division, division.shares[static_cast<std::size_t>(device)]);
    for (std::int64_t n = 0; n < tile; ++n) {
      if (map[static_cast<std::size_t>(n)] < 0) continue;
      const auto x = static_cast<std::size_t>(begin_of(a, device, tile) + n);
      const auto y = static_cast<std::size_t>(begin_of(b, device, tile) + n);
      if (is_real(a.type) ? !(std::fabs(a.reals[x] - b.reals[y]) <= most * 0x1p-30)
                          : a.integers[x] != b.integers[y])
        return true;
    }
  }
  return false;
}

bool moves_a_result(const Program& p, const Module& faulty) {
  const std::vector<Shape> shapes = result_shapes(p.before);
  for (const std::uint64_t seed : {101, 102, 103}) {
    const std::vector<Held> a = plain(p, p.after, seed), b = plain(p, faulty, seed);
    for (std::size_t r = 0; r < a.size(); ++r)
      if (moved(*a[r].array, *b[r].array, p.results[r], shapes[r].dims)) return true;
  }
  return false;
}

struct Tally {
  int refuted = 0, harmless = 0, refused = 0, lost = 0, alarms = 0;
};

// One fault at one place.
void try_fault(const Program& p, const Fault& fault, std::size_t c, std::size_t i, Tally& tally) {
  Module faulty = p.after;
  faulty.computations.reserve(faulty.computations.size() + 1);
  if (!fault.plant(faulty, faulty.computations[c], faulty.computations[c].instructions[i])) return;
  const std::string where = p.name + " %" + p.after.computations[c].instructions[i].name + ": " + fault.name;
  try {
    const bool moves = moves_a_result(p, faulty);
    const Proof proof = prove({p.before, faulty, &p.propagated}, {});
    const bool refuted = proof.finding == Finding::refuted;
    ++(refuted ? (moves ? tally.refuted : tally.alarms) : moves ? tally.lost : tally.harmless);
    EXPECT_EQ(refuted, moves) << where << ": " << name(proof.finding);
  } catch (const BadModule&) {
    ++tally.refused;  // no longer a module: a target twice, groups that leave devices out
  } catch (const Disagreement&) {
    ++tally.refuted;
  }
}

TEST(Faults, EveryOneThatMovesAResultIsRefuted) {
  std::map<std::string, Tally> tallies;
  for (const auto& folder : dump_folders()) {
    const std::string name = folder.string();
    const bool right = name.find("0.10.2") != name.npos && name.find(".named") == name.npos &&
                       name.find("transformer") == name.npos;
    if (!right) continue;
    const Program p = program(folder);
    if (prove({p.before, p.after, &p.propagated}, {}).finding != Finding::proven) continue;
    for (const Fault& fault : faults())
      for (std::size_t c = 0; c < p.after.computations.size(); ++c)
        for (std::size_t i = 0; i < p.after.computations[c].instructions.size(); ++i)
          try_fault(p, fault, c, i, tallies[fault.name]);
  }
  Tally all;
  for (const auto& [name, t] : tallies) {
    std::printf("%-45s %4d refuted %4d harmless %4d no module\n", name.c_str(), t.refuted, t.harmless,
                t.refused);
    EXPECT_GT(t.refuted, 0) << name;
    all.refuted += t.refuted, all.harmless += t.harmless, all.lost += t.lost, all.alarms += t.alarms;
  }
  std::printf("%d refuted, %d harmless, %d lost, %d false alarms\n", all.refuted, all.harmless, all.lost,
              all.alarms);
  EXPECT_GT(all.refuted, 200);
}

}  // namespace
}  // namespace plumb::hlo
