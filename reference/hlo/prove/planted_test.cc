// What each fault of faults.h does to an instruction, and where it cannot happen.
#include <gtest/gtest.h>

#include "reference/hlo/prove/faults.h"
#include "reference/hlo/prove/harm.h"

namespace plumb::hlo {
namespace {

constexpr const char* kCallee = R"(
%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%most (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] maximum(%a, %b)
}

%body (t: (s32[], f32[4])) -> (s32[], f32[4]) {
  ROOT %t = (s32[], f32[4]) parameter(0)
}

%more (t: (s32[], f32[4])) -> pred[] {
  %t = (s32[], f32[4]) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %few = s32[] constant(3)
  ROOT %l = pred[] compare(%i, %few), direction=LT
}

%any (a: pred[], b: pred[]) -> pred[] {
  %a = pred[] parameter(0)
  %b = pred[] parameter(1)
  ROOT %s = pred[] or(%a, %b)
}
)";

// A module of four devices whose entry has this line, of operands that are there.
Module module_with(const std::string& line, const std::string& header = "") {
  return parse("HloModule m" + header + ", num_partitions=4\n" + kCallee + R"(
ENTRY %e {
  %x = f32[4] parameter(0)
  %n = s32[] parameter(1)
  %m = f32[4,4] parameter(2)
  %o = s32[] constant(0)
  %p = pred[] constant(true)
  %t = (s32[], f32[4]) tuple(%n, %x)
  )" + line + R"(
}
)",
               "m.txt");
}

// The line with the fault, or "" where it cannot happen.
std::string faulty(const std::string& fault, const std::string& line) {
  const Module module = module_with(line);
  const std::size_t c = static_cast<std::size_t>(module.entry);
  for (const Fault& one : faults()) {
    if (one.name != fault) continue;
    const auto changed = planted(module, one, c, entry(module).instructions.size() - 1);
    if (!changed) return "";
    const std::string text = print(*changed, entry(*changed), entry(*changed).instructions.back());
    return text;
  }
  ADD_FAILURE() << "no fault " << fault;
  return "";
}

std::string part_of(const std::string& text, const std::string& key) {
  const std::size_t from = text.find(key);
  if (from == text.npos) return "";
  std::size_t to = from, depth = 0;
  for (; to < text.size() && (depth > 0 || (text[to] != ',' && text[to] != '\n')); ++to)
    depth += text[to] == '{' || text[to] == '(' ? 1 : 0, depth -= text[to] == '}' || text[to] == ')' ? 1 : 0;
  return text.substr(from, to - from);
}

const std::string kReduce = "ROOT %r = f32[4] all-reduce(%x), channel_id=1, ",
                  kIds = "use_global_device_ids=true, to_apply=%sum";

std::string groups(const std::string& fault, const std::string& of) {
  return part_of(faulty(fault, kReduce + "replica_groups=" + of + ", " + kIds), "replica_groups=");
}

TEST(Planted, GroupsOfCollectives) {
  EXPECT_EQ(groups("members of two groups exchanged", "{{0,1},{2,3}}"), "replica_groups={{0,2},{1,3}}");
  EXPECT_EQ(groups("members of two groups exchanged", "{{0,1,2,3}}"), "");
  EXPECT_EQ(groups("members reversed", "{{0,1,2,3}}"), "replica_groups={{3,2,1,0}}");
  EXPECT_EQ(groups("groups transposed", "{{0,1},{2,3}}"), "replica_groups={{0,2},{1,3}}");
  EXPECT_EQ(groups("groups transposed", "{{0,1,2,3}}"), "");
  EXPECT_EQ(groups("groups transposed", "{{0},{1},{2},{3}}"), "");
}

TEST(Planted, WhatACollectiveDoes) {
  const std::string one = kReduce + "replica_groups={{0,1,2,3}}, " + kIds;
  EXPECT_NE(faulty("an all-reduce dropped", one).find("copy(%x)"), std::string::npos);
  const Module module = module_with(one);
  for (const Fault& fault : faults())
    if (fault.name == "add for max, max for add") {
      const auto changed = planted(module, fault, static_cast<std::size_t>(module.entry),
                                   entry(module).instructions.size() - 1);
      ASSERT_TRUE(changed);
      const Calls called = get<Calls>(entry(*changed).instructions.back(), Key::to_apply);
      const Computation& f = changed->computations[static_cast<std::size_t>(called.computations[0])];
      EXPECT_EQ(f.instructions[static_cast<std::size_t>(f.root)].opcode, Opcode::maximum);
    }
  const std::string added = "an all-reduce that adds a device's own value";
  EXPECT_NE(faulty(added, one).find("add(%x, %x)"), std::string::npos);
  const std::string any =
      "ROOT %r = pred[] all-reduce(%p), channel_id=1, replica_groups={{0,1,2,3}}, "
      "use_global_device_ids=true, to_apply=%any";
  EXPECT_NE(faulty("an all-reduce dropped", any), "");
  EXPECT_EQ(faulty(added, any), "") << "predicates are not added";
  EXPECT_EQ(part_of(faulty("a channel dropped", one), "channel_id"), "");
  EXPECT_EQ(part_of(faulty("global ids dropped", one), "use_global"), "");
  const std::string gather =
      "ROOT %r = f32[16] all-gather(%x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, "
      "use_global_device_ids=true";
  for (const char* fault : {"an all-reduce dropped", "an all-reduce that adds a device's own value",
                            "add for max, max for add", "a loop one round short"})
    EXPECT_EQ(faulty(fault, gather), "") << fault;
}

TEST(Planted, PairsAndTables) {
  const auto permute = [](const std::string& fault, const std::string& pairs) {
    return part_of(
        faulty(fault, "ROOT %r = f32[4] collective-permute(%x), channel_id=1, source_target_pairs=" + pairs),
        "source_target_pairs=");
  };
  EXPECT_EQ(permute("targets rotated", "{{0,1},{1,2},{2,0}}"), "source_target_pairs={{0,2},{1,0},{2,1}}");
  EXPECT_EQ(permute("targets rotated", "{{0,1},{1,2}}"), "source_target_pairs={{0,2},{1,1}}");
  EXPECT_EQ(permute("targets rotated", "{{0,1}}"), "");
  EXPECT_EQ(permute("a pair dropped", "{{0,1},{1,0}}"), "source_target_pairs={{0,1}}");
  const auto table = [](const std::string& fault) {
    return part_of(faulty(fault, "ROOT %r = s32[3] constant({5, 6, 7})"), "constant(");
  };
  EXPECT_EQ(table("two entries of a table exchanged"), "constant({7, 6, 5})");
  EXPECT_EQ(table("a table rotated"), "constant({6, 7, 5})");
  EXPECT_EQ(faulty("a table rotated", "ROOT %r = s32[1] constant({5})"), "");
}

TEST(Planted, PlacesWithinArrays) {
  EXPECT_NE(faulty("start indices exchanged",
                   "ROOT %r = f32[2,2] dynamic-slice(%m, %n, %o), dynamic_slice_sizes={2,2}")
                .find("dynamic-slice(%m, %o, %n)"),
            std::string::npos);
  const auto slice = [](const std::string& range) {
    return part_of(faulty("a slice shifted", "ROOT %r = f32[2] slice(%x), slice={[" + range + "]}"),
                   "slice={");
  };
  EXPECT_EQ(slice("0:2"), "slice={[1:3]}");
  EXPECT_EQ(slice("2:4"), "slice={[1:3]}");
  EXPECT_EQ(faulty("a slice shifted", "ROOT %r = f32[4] slice(%x), slice={[0:4]}"), "");
  EXPECT_EQ(
      faulty("parts of a concatenation exchanged", "ROOT %r = f32[8] concatenate(%x, %x), dimensions={0}"),
      "");
  const auto mask = [](const std::string& way) {
    return part_of(faulty("a mask off by one", "ROOT %r = pred[4] compare(%x, %x), direction=" + way),
                   "direction");
  };
  EXPECT_EQ(mask("LT"), "direction=LE");
  EXPECT_EQ(mask("GE"), "direction=GT");
  EXPECT_EQ(mask("EQ"), "");
}

TEST(Planted, ALoopOfOneRoundFewer) {
  const std::string line = "ROOT %r = (s32[], f32[4]) while(%t), condition=%more, body=%body";
  const Module module = module_with(line);
  for (const Fault& fault : faults()) {
    if (fault.name != "a loop one round short") continue;
    const auto changed =
        planted(module, fault, static_cast<std::size_t>(module.entry), entry(module).instructions.size() - 1);
    ASSERT_TRUE(changed);
    const Computation& condition = changed->computations.back();
    EXPECT_EQ(condition.instructions[2].literal.integers, (Integers{2}));
    EXPECT_EQ(changed->computations[3].instructions[2].literal.integers, (Integers{3}))
        << "others may call it";
  }
}

TEST(Planted, DonatedBuffers) {
  const auto aliases = [](const std::string& fault, const std::string& header) {
    const Module module = module_with("ROOT %r = (f32[4], f32[4]) tuple(%x, %x)", header);
    for (const Fault& one : faults())
      if (one.name == fault)
        if (const auto changed = planted(module, one, static_cast<std::size_t>(module.entry),
                                         entry(module).instructions.size() - 1))
          return changed->aliases;
    return decltype(module.aliases){};
  };
  const std::string two = ", input_output_alias={ {0}: (0, {}, may-alias), {1}: (2, {}, may-alias) }",
                    one = ", input_output_alias={ {0}: (0, {}, may-alias) }";
  const auto exchanged = aliases("donated buffers exchanged", two);
  ASSERT_EQ(exchanged.size(), 2u);
  EXPECT_EQ(exchanged[0].parameter, 2);
  EXPECT_EQ(exchanged[1].parameter, 0);
  EXPECT_TRUE(aliases("donated buffers exchanged", one).empty());
  EXPECT_EQ(aliases("a donated buffer lost", two).size(), 1u);
  EXPECT_TRUE(aliases("a donated buffer lost", one).empty());
}

// A sum over the same members is the same, in whatever order: that its last bit, made large, is another in
// doubles moves nothing.
TEST(Planted, MembersReversedOfASumAreTheSame) {
  const std::string sum = R"(HloModule m, num_partitions=4

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

)";
  const Module before = parse(sum + R"(ENTRY %e {
  %x = f32[4] parameter(0), sharding={devices=[4]<=[4]}
  %o = f32[] constant(0)
  %s = f32[] reduce(%x, %o), dimensions={0}, to_apply=%sum
  %r = f32[4] reverse(%x), dimensions={0}
  %t = f32[] reduce(%r, %o), dimensions={0}, to_apply=%sum
  %d = f32[] subtract(%s, %t)
  %l = f32[] constant(1e30)
  ROOT %m = f32[] multiply(%d, %l), sharding={replicated}
}
)",
                              "before.txt");
  const Module after = parse(sum + R"(ENTRY %e {
  %x = f32[1] parameter(0)
  %o = f32[] constant(0)
  %y = f32[] reshape(%x)
  %s = f32[] all-reduce(%y), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%sum
  %g = f32[4] all-gather(%x), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true
  %r = f32[4] reverse(%g), dimensions={0}
  %t = f32[] reduce(%r, %o), dimensions={0}, to_apply=%sum
  %d = f32[] subtract(%s, %t)
  %l = f32[] constant(1e30)
  ROOT %m = f32[] multiply(%d, %l)
}
)",
                             "after.txt");
  const Subject subject{before, after, nullptr};
  ASSERT_EQ(prove(subject, {}).finding, Finding::proven);
  Rightly right;
  const auto c = static_cast<std::size_t>(after.entry);
  const std::map<std::string, std::pair<Harm, Finding>> table = {
      {"members reversed",         {Harm::same, Finding::proven}  },
      {"an all-reduce dropped",    {Harm::moved, Finding::refuted}},
      {"add for max, max for add", {Harm::moved, Finding::refuted}},
  };
  for (const Fault& fault : faults())
    if (const auto row = table.find(fault.name); row != table.end()) {
      const auto faulty = planted(after, fault, c, 3);
      ASSERT_TRUE(faulty) << fault.name;
      EXPECT_EQ(harm_of(subject, right, {*faulty, c, 3}), row->second.first) << fault.name;
      EXPECT_EQ(prove({before, *faulty, nullptr}, {}).finding, row->second.second) << fault.name;
    }
}

}  // namespace
}  // namespace plumb::hlo
