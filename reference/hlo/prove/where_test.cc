// A planted fault is found again: at an instruction of the user's operation to which the faulty one belongs.
#include "reference/hlo/prove/where.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/prove/faults.h"
#include "reference/hlo/run/groups.h"

namespace plumb::hlo {
namespace {

struct Modules {
  Module before, after, propagated;
};

Modules modules(const std::filesystem::path& folder) {
  const auto module = [&](const std::string& part) {
    const auto path = dump(folder, part);
    return path.empty() ? Module{} : parse(read(path), path.filename().string());
  };
  Module propagated = module("after_shardy-xla");
  if (propagated.computations.empty()) propagated = module("after_sharding-propagation");
  return {module("before_optimizations"), module("after_spmd-partitioning"), std::move(propagated)};
}

std::filesystem::path folder(const std::string& name) {
  for (const auto& path : dump_folders())
    if (path.string().ends_with(name)) return path;
  ADD_FAILURE() << "no dump " << name;
  return {};
}

std::optional<Place> located(const Modules& m) {
  const Subject subject{m.before, m.after, &m.propagated};
  return locate(subject, prove(subject, {}));
}

TEST(Where, TheKnownWrongPrograms) {
  // The sum over dp, fsdp and sp, which the reshard should have finished, is nowhere.
  const auto reshard = located(modules(folder("jax@0.9.1/xla_40034.gspmd")));
  ASSERT_TRUE(reshard);
  EXPECT_EQ(reshard->op_name, "jit(gradient)/reshard");
  EXPECT_EQ(reshard->source.substr(0, 12), "products.py:") << reshard->source;
  EXPECT_EQ(reshard->there, "no all-reduce: %copy.1 is left as 8 parts, on devices 0,2,4,6,...");
  const auto product = located(modules(folder("jax@0.10.2/matmul_swapped.shardy")));
  ASSERT_TRUE(product);
  EXPECT_EQ(product->op_name, "jit(matmul)/dot_general");
  EXPECT_NE(product->there.find("collective-permute"), std::string::npos) << product->there;
}

TEST(Where, ARightProgramHasNoPlace) {
  for (const char* name :
       {"jax@0.10.2/moe_onehot.shardy", "jax@0.10.2/loops.gspmd", "jax@0.10.2/pipeline.shardy"})
    EXPECT_FALSE(located(modules(folder(name)))) << name;
}

struct Tally {
  int refuted = 0, located = 0, on_line = 0;
  int told = 0,
      named = 0;  // of faults of a collective that is one still, at its operation: whether it is `there`
};

struct Shared {
  Tally tally;
  Wholes wholes;
  Sought sought;
};

// The instruction that is wrong: of replicas that differ what the result was made of.
const Instruction& faulty_one(const Module& after, const Module& faulty, std::size_t c, std::size_t i) {
  for (const Instruction& one : faulty.computations[c].instructions)
    if (one.name == "planted.sum") return one;
  return after.computations[c].instructions[i];
}

std::optional<Place> try_fault(const Modules& m, const Fault& fault, std::size_t c, std::size_t i,
                               Shared& shared) {
  Tally& tally = shared.tally;
  const auto faulty = planted(m.after, fault, c, i);
  if (!faulty) return std::nullopt;
  try {
    const Subject subject{m.before, *faulty, &m.propagated};
    Options options;
    options.watch = watching(subject, shared.sought);
    const Proof proof = prove(subject, options, &shared.wholes);
    if (proof.finding != Finding::refuted) return std::nullopt;
    ++tally.refuted;
    const auto at = locate(subject, proof);
    const auto again = locate(subject, proof, {}, &shared.sought);
    EXPECT_TRUE(at && again) << fault.name << " " << proof.why;
    if (!at || !again) return std::nullopt;
    EXPECT_EQ(at->instruction, again->instruction) << "what is sought is the program's, not the fault's";
    EXPECT_EQ(at->there, again->there) << "what was watched is what it computes";
    tally.located += at.has_value();
    const Instruction& at_fault = faulty_one(m.after, *faulty, c, i);
    if (at && faulty->computations[c].instructions[i].opcode >= Opcode::all_gather &&
        at->op_name == at_fault.op_name) {
      ++tally.told, tally.named += at->there.starts_with("%" + at_fault.name + " =");
      EXPECT_FALSE(at->there.starts_with("no all-reduce")) << at_fault.name << ", " << fault.name;
    }
    tally.on_line += at && (at->op_name == at_fault.op_name || at->source == source(m.after, at_fault));
    return at;
  } catch (const BadModule&) {
    return std::nullopt;
  }
}

// Of dropped sums: those of which it is said so, with the devices that they added up. Each collective that is
// left is innocent, also where a maximum was dropped.
struct Missing {
  int sums = 0, named = 0;
  std::vector<std::string> accused{};
};

bool adds_up(const Module& after, const Instruction& all_reduce) {
  const std::int64_t n = get<Calls>(all_reduce, Key::to_apply).computations.at(0);
  const auto& called = after.computations[static_cast<std::size_t>(n)].instructions;
  return std::ranges::any_of(called, [](const Instruction& i) { return i.opcode == Opcode::add; });
}

std::string parts_of_first(const Instruction& all_reduce, std::int64_t devices) {
  constexpr std::size_t kShown = 4;
  const auto has_first = [](const Integers& group) { return std::ranges::find(group, 0) != group.end(); };
  const std::vector<Integers> groups = groups_of(all_reduce, devices);
  Integers group = *std::ranges::find_if(groups, has_first);
  std::ranges::sort(group);
  std::string text = " is left as " + std::to_string(group.size()) + " parts, on devices ";
  for (std::size_t n = 0; n < std::min(group.size(), kShown); ++n)
    text += (n ? "," : "") + std::to_string(group[n]);
  return text + (group.size() > kShown ? ",..." : "");
}

void drop_each_sum(const std::string& name, Tally& tally, Missing& missing) {
  const Modules m = modules(folder(name));
  const Fault& dropped =
      *std::ranges::find_if(faults(), [](const Fault& f) { return f.name == "an all-reduce dropped"; });
  Shared shared{tally, {}, {}};
  for (std::size_t c = 0; c < m.after.computations.size(); ++c)
    for (std::size_t i = 0; i < m.after.computations[c].instructions.size(); ++i) {
      const Instruction& is = m.after.computations[c].instructions[i];
      const std::optional<Place> place = try_fault(m, dropped, c, i, shared);
      if (!place) continue;
      const bool is_sum = adds_up(m.after, is);
      const bool named = is_sum && place->there.starts_with("no all-reduce: %") &&
                         place->there.ends_with(parts_of_first(is, m.after.partitions));
      missing.sums += is_sum, missing.named += named;
      if (!named && !place->there.empty() && !place->there.starts_with("not known"))
        missing.accused.push_back(name + ": without %" + is.name + " " + place->there);
    }
  tally = shared.tally;
}

// What a loop carries unharmed says nothing of its other operations, nor does the same value made elsewhere:
// the backward pass makes the forward pass's again.
TEST(Where, DroppedSumsInLoopsAreFoundAtTheirOperation) {
  Tally tally;
  Missing missing;
  for (const char* name : {"jax@0.10.2/transformer.shardy", "jax@0.9.1/transformer.gspmd"})
    drop_each_sum(name, tally, missing);
  std::printf("%d refuted, %d on the line; of %d sums %d named\n", tally.refuted, tally.on_line, missing.sums,
              missing.named);
  EXPECT_GT(tally.refuted, 20);
  EXPECT_EQ(tally.on_line, tally.refuted);
  EXPECT_EQ(missing.named, missing.sums);
  EXPECT_EQ(missing.accused, std::vector<std::string>{});
}

// In manual regions too, where parts are not known. Of what is updated in part an all-gather behind it is
// named.
TEST(Where, OfADroppedSumNoOtherIsNamed) {
  Tally tally;
  Missing missing;
  for (const char* name :
       {"jax@0.10.2/moe_onehot.shardy", "jax@0.10.2/moe_onehot.gspmd", "jax@0.10.2/partly.gspmd",
        "jax@0.9.1/partly.shardy", "jax@0.10.2/indices.shardy", "jax@0.10.2/matmul_rows.gspmd",
        "jax@0.10.2/pipeline.gspmd", "jax@0.10.2/pipeline.shardy"})
    drop_each_sum(name, tally, missing);
  std::printf("of %d sums %d named\n", missing.sums, missing.named);
  EXPECT_GE(missing.named * 10, missing.sums * 6);
  std::erase_if(missing.accused, [](const std::string& one) {
    return one.find("all-gather(%dynamic-update-slice)") != one.npos;
  });
  EXPECT_EQ(missing.accused, std::vector<std::string>{});
}

TEST(Where, PlantedFaultsAreFoundAgain) {
  Shared shared;
  Tally& tally = shared.tally;
  for (const char* name : {"jax@0.10.2/moe_onehot.shardy", "jax@0.10.2/moe_onehot.gspmd",
                           "jax@0.10.2/loops.shardy", "jax@0.10.2/indices.gspmd", "jax@0.10.2/pipeline.gspmd",
                           "jax@0.10.2/partly.gspmd", "jax@0.10.2/matmul_gathered.gspmd"}) {
    const Modules m = modules(folder(name));
    shared.wholes = {};
    shared.sought = {};
    for (const Fault& fault : faults())
      for (std::size_t c = 0; c < m.after.computations.size(); ++c)
        for (std::size_t i = 0; i < m.after.computations[c].instructions.size(); ++i)
          try_fault(m, fault, c, i, shared);
  }
  std::printf("%d refuted, %d located, %d on the line; of %d collectives %d named\n", tally.refuted,
              tally.located, tally.on_line, tally.told, tally.named);
  EXPECT_GT(tally.refuted, 200);
  EXPECT_EQ(tally.located, tally.refuted);
  EXPECT_GE(tally.on_line * 100, tally.refuted * 90);
  EXPECT_GE(tally.named * 10, tally.told * 9);
}

}  // namespace
}  // namespace plumb::hlo
