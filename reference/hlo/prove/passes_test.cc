// Modules after passes of XLA:CPU, from the program to the scheduled module: each computes what the program
// does, whole up to the partitioner, on every device behind it; fusions, bitcasts and folded constants
// included.
#include <gtest/gtest.h>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

Module module_at(const fs::path& path) { return parse(read(path), path.filename().string()); }

// Calls f(BEFORE, the module after propagation, a pass's file, whether it is partitioned).
template <typename F>
void each_pass(F f) {
  for (const fs::path& folder : sorted(fs::path(PLUMB_DUMPS) / "passes")) {
    const Module before = module_at(dump(folder, "before_optimizations")),
                 propagated = module_at(dump(folder, "after_shardy-xla").empty()
                                            ? dump(folder, "after_sharding-propagation")
                                            : dump(folder, "after_shardy-xla"));
    bool partitioned = false;
    for (const fs::path& file : sorted(folder)) {
      const std::string name = file.filename().string();
      if (name.find(".after_") == name.npos) continue;
      f(before, propagated, file, partitioned);
      partitioned = partitioned || name.find(".before_spmd-partitioning.") != name.npos;
    }
  }
}

TEST(Passes, EachIsProven) {
  int whole = 0, partitioned = 0, folded = 0;
  each_pass([&](const Module& before, const Module& propagated, const fs::path& file, bool is_partitioned) {
    const Module after = module_at(file);
    const Proof proof = prove({before, after, &propagated, is_partitioned}, {});
    EXPECT_EQ(name(proof.finding), "proven") << file << " " << proof.why;
    ++(is_partitioned ? partitioned : whole);
    folded += !proof.folded.empty();
  });
  EXPECT_GE(whole, 9);
  EXPECT_GE(partitioned, 70);
  EXPECT_GE(folded, 3);
}

// A term that a pass loses is seen in all that comes behind it: here the first addition of each module that
// has one in its entry computation.
TEST(Passes, ALostTermIsRefuted) {
  int lost = 0;
  each_pass([&](const Module& before, const Module& propagated, const fs::path& file, bool is_partitioned) {
    if (file.string().find("transformer") == std::string::npos) return;
    Module after = module_at(file);
    auto& instructions = after.computations[static_cast<std::size_t>(after.entry)].instructions;
    const auto sum = std::ranges::find_if(instructions, [](const Instruction& i) {
      return is_real(i.shape.type) && (i.opcode == Opcode::all_reduce || i.opcode == Opcode::subtract) &&
             i.operands.size() <= 2;
    });
    if (sum == instructions.end()) return;
    sum->opcode = Opcode::copy, sum->attributes.clear(), sum->operands.resize(1);
    EXPECT_EQ(name(prove({before, after, &propagated, is_partitioned}, {}).finding), "refuted") << file;
    ++lost;
  });
  EXPECT_GE(lost, 5);
}

}  // namespace
}  // namespace plumb::hlo
