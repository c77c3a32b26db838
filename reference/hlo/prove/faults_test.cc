// Every fault of faults.h at every place of partitioned modules: what moves a result is refuted, what
// moves none is not.
//
// Whether it moves one is seen without residues: both modules are run with plain doubles on other data. A
// fault that leaves every real element as it was exchanges devices that hold the same, or touches padding, or
// what nobody needs.
#include "reference/hlo/prove/faults.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/harm.h"

namespace plumb::hlo {
namespace {

struct Program {
  std::string name;
  Module before, after, propagated;
  Rightly right{};
  Wholes wholes{};
  Subject subject() const { return {before, after, &propagated}; }
};

Program program(const std::filesystem::path& folder) {
  const auto text = [&](const std::string& part) { return read(dump(folder, part)); };
  std::string chosen = text("after_shardy-xla");
  if (chosen.empty()) chosen = text("after_sharding-propagation");
  return {folder.string(), parse(text("before_optimizations"), "before"),
          parse(text("after_spmd-partitioning"), "after"), parse(chosen, "propagated")};
}

struct Tally {
  int refuted = 0, harmless = 0, refused = 0, lost = 0, alarms = 0;
};

// One fault at one place.
void try_fault(Program& p, const Fault& fault, std::size_t c, std::size_t i, Tally& tally) {
  const auto faulty = planted(p.after, fault, c, i);
  if (!faulty) return;
  const std::string where = p.name + " %" + p.after.computations[c].instructions[i].name + ": " + fault.name;
  try {
    const Proof proof = prove({p.before, *faulty, &p.propagated}, {}, &p.wholes);
    const bool moves = harm_of(p.subject(), p.right, {*faulty, c, i, refuting_draw(proof)}) == Harm::moved;
    const bool refuted = proof.finding == Finding::refuted;
    ++(refuted ? (moves ? tally.refuted : tally.alarms) : moves ? tally.lost : tally.harmless);
    EXPECT_EQ(refuted, moves) << where << ": " << name(proof.finding);
  } catch (const BadModule&) {
    ++tally.refused;  // no longer a module: a target twice, groups that leave devices out
  }
}

TEST(Faults, EveryOneThatMovesAResultIsRefuted) {
  std::map<std::string, Tally> tallies;
  for (const auto& folder : dump_folders()) {
    const std::string name = folder.string();
    if (name.find("0.10.2") == name.npos || name.find(".named") != name.npos) continue;
    const bool long_one =
        name.find("transformer") != name.npos;  // there the root alone, with its donated buffers
    Program p = program(folder);
    if (prove(p.subject(), {}).finding != Finding::proven) continue;
    for (const Fault& fault : faults())
      for (std::size_t c = 0; c < p.after.computations.size(); ++c)
        for (std::size_t i = 0; i < p.after.computations[c].instructions.size(); ++i)
          if (!long_one ||
              (std::int64_t(c) == p.after.entry && std::int64_t(i) == p.after.computations[c].root))
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
