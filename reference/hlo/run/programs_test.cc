// Partitioned programs as XLA:CPU ran them on 8 and 16 virtual devices: what each device holds, to the
// element, of right programs and of wrong ones. And the laws of loops and branches on which devices part.
#include <gtest/gtest.h>

#include "reference/hlo/module/testing/dumps.h"
#include "reference/hlo/run/run.h"

namespace plumb::hlo {
namespace {

using Held = Value<double>;

std::vector<Held> run(const Module& module, std::vector<Held> arguments) {
  Reals reals;
  return results_of(evaluate(Machine<Reals>{module, reals, module.partitions, {}}, entry(module),
                             std::move(arguments), {}));
}

// The arguments of a module that each device gets, of whole ones.
std::vector<Held> cut_arguments(const Module& module, const std::vector<Held>& whole) {
  Reals reals;
  std::vector<Held> held;
  for (std::size_t n = 0; n < entry(module).parameters.size(); ++n) {
    const auto at = static_cast<std::size_t>(entry(module).parameters[n]);
    const Array<double>& array = *whole[n].array;
    const auto division =
        divide(entry(module).instructions[at].sharding.at(0), array.dims.size(), module.partitions);
    held.push_back(value(cut(array, *division, poison(reals, array.type))));
  }
  return held;
}

// The elements that differ from what each device of XLA held, a leading dimension.
std::int64_t differing(const Array<double>& got, const Array<double>& want, std::int64_t devices) {
  const std::int64_t size = count(got.dims);
  std::int64_t n = 0;
  EXPECT_EQ(want.dims[0], devices);
  EXPECT_EQ(count(want.dims), devices * size);
  for (std::int64_t device = 0; device < devices; ++device)
    for (std::int64_t e = 0; e < size; ++e) {
      const auto mine = static_cast<std::size_t>(begin_on(got, device, size) + e);
      const auto its = static_cast<std::size_t>(device * size + e);
      n += is_real(got.type) ? got.reals[mine] != want.reals[its] : got.integers[mine] != want.integers[its];
    }
  return n;
}

TEST(Programs, EachDeviceHoldsWhatItHeld) {
  int programs = 0, results = 0;
  for (const auto& folder : dump_folders()) {
    if (dump(folder, "values.hlo").empty()) continue;
    const Module after = parse(read(dump(folder, "after_spmd-partitioning")), folder.string());
    const std::vector<Held> values = run(parse(read(dump(folder, "values.hlo")), "values.hlo"), {});
    const std::vector<Held> got = run(after, cut_arguments(after, values));
    const std::size_t arguments = entry(after).parameters.size();
    ASSERT_EQ(values.size(), arguments + got.size()) << folder;
    for (std::size_t r = 0; r < got.size(); ++r, ++results)
      EXPECT_EQ(differing(*got[r].array, *values[arguments + r].array, after.partitions), 0)
          << folder << " result " << r;
    ++programs;
  }
  EXPECT_GE(programs, 40);
  EXPECT_GE(results, 80);
}

// A module over four devices whose entry has no parameters; the integers of its result on each.
std::vector<Integers> on_four(const std::string& computations, const std::string& lines) {
  const Module module = parse("HloModule m, num_partitions=4\n\n" + computations + "ENTRY %e {\n" +
                                  "  %id = u32[] partition-id()\n  %d = s32[] convert(%id)\n" + lines + "}\n",
                              "m.txt");
  const auto root = run(module, {})[0];
  const Array<double>& got = *root.array;
  std::vector<Integers> held;
  for (std::int64_t d = 0; d < 4; ++d) {
    const auto first = got.integers.begin() + begin_on(got, d, count(got.dims));
    held.emplace_back(first, first + count(got.dims));
  }
  return held;
}

constexpr const char* kSum =
    "%sum (a: s32[], b: s32[]) -> s32[] {\n  %a = s32[] parameter(0)\n  %b = s32[] parameter(1)\n"
    "  ROOT %s = s32[] add(%a, %b)\n}\n\n";

constexpr const char* kLoop =
    "%more (s: (s32[], s32[])) -> pred[] {\n  %s = (s32[], s32[]) parameter(0)\n"
    "  %n = s32[] get-tuple-element(%s), index=0\n  %zero = s32[] constant(0)\n"
    "  ROOT %p = pred[] compare(%n, %zero), direction=GT\n}\n\n"
    "%body (s: (s32[], s32[])) -> (s32[], s32[]) {\n  %s = (s32[], s32[]) parameter(0)\n"
    "  %n = s32[] get-tuple-element(%s), index=0\n  %x = s32[] get-tuple-element(%s), index=1\n"
    "  %one = s32[] constant(1)\n  %less = s32[] subtract(%n, %one)\n  %y = s32[] add(%x, BODY)\n"
    "  ROOT %t = (s32[], s32[]) tuple(%less, %y)\n}\n\n";

std::string loop_with(const std::string& operand, const std::string& line) {
  std::string text = kLoop;
  text.replace(text.find("BODY"), 4, operand);
  text.insert(text.find("  %y = "), line);
  return kSum + text;
}

constexpr const char* kRun =
    "  %zero = s32[] constant(0)\n  %s = (s32[], s32[]) tuple(START, %zero)\n"
    "  %w = (s32[], s32[]) while(%s), condition=%more, body=%body\n"
    "  ROOT %r = s32[] get-tuple-element(%w), index=1\n";

std::string run_from(const std::string& start) {
  std::string text = kRun;
  return text.replace(text.find("START"), 5, start);
}

TEST(Programs, DevicesMayLoopForDifferentTimes) {
  const std::string ten = "  %ten = s32[] constant(10)\n";
  EXPECT_EQ(on_four(loop_with("%ten", ten), run_from("%d")), (std::vector<Integers>{{0}, {10}, {20}, {30}}));
}

TEST(Programs, OneDeviceLoops) {
  const std::string text = "HloModule m, num_partitions=1\n" +
                           loop_with("%ten", "  %ten = s32[] constant(10)\n") + "\nENTRY %e {\n" +
                           "  %three = s32[] constant(3)\n" + run_from("%three") + "}\n";
  EXPECT_EQ(run(parse(text, "m.txt"), {}).at(0).array->integers, Integers{30});
}

// What would run for ever is refused, with what may bound it.
TEST(Programs, ALoopThatDoesNotEnd) {
  const std::string text = "HloModule m, num_partitions=1\n" +
                           loop_with("%ten", "  %ten = s32[] constant(10)\n") + "\nENTRY %e {\n" +
                           "  %three = s32[] constant(3)\n" + run_from("%three") + "}\n";
  const Module module = parse(text, "m.txt");
  Reals reals;
  Machine<Reals> machine{module, reals};
  machine.most_rounds = 3;
  EXPECT_EQ(evaluate(machine, entry(module), {}, {}).array->integers, Integers{30});
  machine.most_rounds = 2;
  try {
    evaluate(machine, entry(module), {}, {});
    FAIL() << "it ended";
  } catch (const BadModule& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("a loop that has not ended after 2 rounds; where a parameter counts"), said.npos)
        << said;
  }
}

TEST(Programs, WithinALoopAGroupStaysTogether) {
  const auto reduce = [](const std::string& groups) {
    return "  %ar = s32[] all-reduce(%n), channel_id=1, replica_groups=" + groups +
           ", use_global_device_ids=true, to_apply=%sum\n";
  };
  // Devices 0 and 1 go round once, 2 and 3 twice.
  const std::string lines =
      "  %one = s32[] constant(1)\n  %two = s32[] constant(2)\n  %h = s32[] divide(%d, %two)\n"
      "  %k = s32[] add(%h, %one)\n";
  EXPECT_EQ(on_four(loop_with("%ar", reduce("{{0,1},{2,3}}")), lines + run_from("%k")),
            (std::vector<Integers>{{2}, {2}, {6}, {6}}));
  EXPECT_THROW(on_four(loop_with("%ar", reduce("{{0,2},{1,3}}")), lines + run_from("%k")), Disagreement);
}

TEST(Programs, EachDeviceTakesItsBranch) {
  const auto branch = [](const std::string& name, int add) {
    return "%" + name + " (a: s32[]) -> s32[] {\n  %a = s32[] parameter(0)\n  %c = s32[] constant(" +
           std::to_string(add) + ")\n  ROOT %r = s32[] add(%a, %c)\n}\n\n";
  };
  const std::string branches = branch("b0", 100) + branch("b1", 200) + branch("b2", 300);
  // An index out of range takes the last branch.
  EXPECT_EQ(on_four(branches,
                    "  ROOT %r = s32[] conditional(%d, %d, %d, %d), branch_computations={%b0, %b1, %b2}\n"),
            (std::vector<Integers>{{100}, {201}, {302}, {303}}));
  EXPECT_EQ(on_four(branches,
                    "  %two = s32[] constant(2)\n  %i = s32[] subtract(%d, %two)\n"
                    "  ROOT %r = s32[] conditional(%i, %d, %d, %d), branch_computations={%b0, %b1, %b2}\n"),
            (std::vector<Integers>{{300}, {301}, {102}, {203}}));
  // Of a predicate the first where it is true.
  const auto by = [&](const std::string& limit) {
    return on_four(branches,
                   "  %l = s32[] constant(" + limit +
                       ")\n  %p = pred[] compare(%d, %l), direction=LT\n"
                       "  ROOT %r = s32[] conditional(%p, %d, %d), branch_computations={%b0, %b1}\n");
  };
  EXPECT_EQ(by("2"), (std::vector<Integers>{{100}, {101}, {202}, {203}}));
  EXPECT_EQ(by("4"), (std::vector<Integers>{{100}, {101}, {102}, {103}}));
  EXPECT_EQ(by("0"), (std::vector<Integers>{{200}, {201}, {202}, {203}}));
}

// What groups are of, by channel and by global ids.
TEST(Programs, GroupsOfReplicasAndOfDevices) {
  const auto sum = [](const std::string& attributes) {
    return on_four(kSum, "  ROOT %r = s32[] all-reduce(%d), " + attributes + ", to_apply=%sum\n");
  };
  const std::vector<Integers> alone{{0}, {1}, {2}, {3}}, all{{6}, {6}, {6}, {6}};
  EXPECT_EQ(sum("replica_groups={}"), alone);
  EXPECT_EQ(sum("replica_groups={{0}}"), alone);
  EXPECT_EQ(sum("channel_id=1, replica_groups={{0}}"), all);
  EXPECT_EQ(sum("channel_id=1, replica_groups={{0,3},{1,2}}, use_global_device_ids=true"),
            (std::vector<Integers>{{3}, {3}, {3}, {3}}));
  EXPECT_THROW(sum("channel_id=1, replica_groups={{0,3}}, use_global_device_ids=true"), BadModule);
  EXPECT_THROW(sum("channel_id=1, replica_groups={{0,3},{1,1}}, use_global_device_ids=true"), BadModule);
}

TEST(Programs, WhatIsNotZeroIsTrue) {
  const std::vector<Integers> want{{0}, {1}, {1}, {1}};
  EXPECT_EQ(on_four("", "  %p = pred[] convert(%d)\n  ROOT %r = s32[] convert(%p)\n"), want);
  EXPECT_EQ(
      on_four("", "  %f = f32[] convert(%d)\n  %p = pred[] convert(%f)\n  ROOT %r = s32[] convert(%p)\n"),
      want);
}

// What is no number is less than nothing, equals nothing, and differs from everything.
TEST(Programs, WhatIsNoNumberDiffersFromAll) {
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    const std::int64_t want = std::string(direction) == "NE";
    EXPECT_EQ(on_four("", std::string("  %z = f32[] constant(0)\n  %n = f32[] divide(%z, %z)\n") +
                              "  %p = pred[] compare(%n, %n), direction=" + direction +
                              "\n  ROOT %r = s32[] convert(%p)\n"),
              std::vector<Integers>(4, {want}))
        << direction;
  }
}

// Where a sum begins is each device's own.
TEST(Programs, EachDeviceReducesFromItsOwn) {
  const std::string start =
      "  %ones = f32[3,2] constant({ {1, 2}, {3, 4}, {5, 6} })\n  %f = f32[] convert(%d)\n"
      "  %sums = f32[2] reduce(%ones, %f), dimensions={0}, to_apply=%add\n"
      "  ROOT %r = s32[2] convert(%sums)\n";
  const std::string add =
      "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
      "  ROOT %s = f32[] add(%a, %b)\n}\n\n";
  EXPECT_EQ(on_four(add, start), (std::vector<Integers>{
                                     {9,  12},
                                     {10, 13},
                                     {11, 14},
                                     {12, 15}
  }));
}

TEST(Programs, EachDeviceMapsItsOwn) {
  const std::string times =
      "%times (a: s32[], b: s32[]) -> s32[] {\n  %a = s32[] parameter(0)\n  %b = s32[] parameter(1)\n"
      "  ROOT %s = s32[] multiply(%a, %b)\n}\n\n";
  const std::string ends =
      "  %three = s32[2] constant({3, 4})\n  %own = s32[2] broadcast(%d), dimensions={}\n";
  for (const char* order : {"%three, %own", "%own, %three"})
    EXPECT_EQ(
        on_four(times, ends + "  ROOT %r = s32[2] map(" + order + "), dimensions={0}, to_apply=%times\n"),
        (std::vector<Integers>{
            {0, 0 },
            {3, 4 },
            {6, 8 },
            {9, 12}
    }));
}

// Of two operands one is the same everywhere; whichever comes first.
TEST(Programs, EachDeviceSortsByItsOwn) {
  const auto first = [](const std::string& order, const std::string& a, const std::string& b, int result) {
    std::string less = "%less (";
    for (int n = 0; n < 4; ++n) less += (n > 0 ? ", p" : "p") + std::to_string(n) + ": s32[]";
    less += ") -> pred[] {\n";
    for (int n = 0; n < 4; ++n)
      less += "  %p" + std::to_string(n) + " = s32[] parameter(" + std::to_string(n) + ")\n";
    less += "  ROOT %l = pred[] compare(" + a + ", " + b + "), direction=LT\n}\n\n";
    return on_four(less,
                   "  %three = s32[] constant(3)\n  %n = s32[3]{0} broadcast(%three), dimensions={}\n"
                   "  %i = s32[3]{0} iota(), iota_dimension=0\n"
                   "  %b = s32[3]{0} broadcast(%d), dimensions={}\n  %s = s32[3]{0} add(%i, %b)\n"
                   "  %k = s32[3]{0} remainder(%s, %n)\n"
                   "  %t = (s32[3]{0}, s32[3]{0}) sort(" +
                       order +
                       "), dimensions={0}, to_apply=%less\n"
                       "  %v = s32[3]{0} get-tuple-element(%t), index=" +
                       std::to_string(result) +
                       "\n"
                       "  %f = s32[1]{0} slice(%v), slice={[0:1]}\n  ROOT %r = s32[] reshape(%f)\n");
  };
  const std::vector<Integers> want{{0}, {2}, {1}, {0}};
  EXPECT_EQ(first("%k, %i", "%p0", "%p1", 1), want);
  EXPECT_EQ(first("%i, %k", "%p2", "%p3", 0), want);
  // Both are each device's own.
  EXPECT_EQ(first("%k, %s", "%p0", "%p1", 1), (std::vector<Integers>{{0}, {3}, {3}, {3}}));
}

// Each device d holds the rows {10 d + i, 10 d + i + 100}; of its group the first gets row 0 of each member,
// the second rows 1 and 2, one sender's after the other's.
TEST(Programs, RowsGoToTheMembersTheyAreFor) {
  const auto exchanged = [](const std::string& groups, const std::string& rows) {
    return on_four(
        "",
        "  %ten = s32[] constant(10)\n  %m = s32[] multiply(%d, %ten)\n  %hundred = s32[] constant(100)\n"
        "  %b = s32[4,2]{1,0} broadcast(%m), dimensions={}\n  %i = s32[4,2]{1,0} iota(), iota_dimension=0\n"
        "  %j = s32[4,2]{1,0} iota(), iota_dimension=1\n"
        "  %h = s32[4,2]{1,0} broadcast(%hundred), dimensions={}\n  %k = s32[4,2]{1,0} multiply(%j, %h)\n"
        "  %l = s32[4,2]{1,0} add(%i, %k)\n  %from = s32[4,2]{1,0} add(%b, %l)\n"
        "  %none = s32[] constant(-1)\n  %before = s32[4,2]{1,0} broadcast(%none), dimensions={}\n"
        "  %at = s32[2]{0} constant({0, 1})\n  %rows = s32[2]{0} constant(" +
            rows +
            ")\n"
            "  %two = s32[] constant(2)\n  %s = s32[] divide(%d, %two)\n"
            "  %sb = s32[2]{0} broadcast(%s), dimensions={}\n  %there = s32[2]{0} multiply(%sb, %rows)\n"
            "  %one = s32[] constant(1)\n  %n = s32[] add(%s, %one)\n"
            "  %come = s32[2]{0} broadcast(%n), dimensions={}\n"
            "  ROOT %r = s32[4,2]{1,0} ragged-all-to-all(%from, %before, %at, %rows, %there, %come), "
            "channel_id=1, replica_groups=" +
            groups + "\n");
  };
  const std::vector<Integers> want{
      {0,  100, 20, 120, -1, -1,  -1, -1 },
      {10, 110, 30, 130, -1, -1,  -1, -1 },
      {1,  101, 2,  102, 21, 121, 22, 122},
      {11, 111, 12, 112, 31, 131, 32, 132}
  };
  EXPECT_EQ(exchanged("{{0,2},{1,3}}", "{1, 2}"), want);
  EXPECT_EQ(exchanged("{{0,2},{1,3}}", "{0, 0}"), (std::vector<Integers>(4, Integers(8, -1))));
  EXPECT_THROW(exchanged("{{0,2},{1,3}}", "{1, 4}"), BadModule) << "a row too many";
  EXPECT_THROW(exchanged("{{0,2},{1,3}}", "{-1, 2}"), BadModule);
}

// Of three rows of the first matrix one meets 10 and two 100, of the second all meet 10.
TEST(Programs, RaggedRowsOfEachMatrixHaveSizesOfTheirOwn) {
  const Module module = parse(
      "HloModule m\n\nENTRY %e {\n  %l = f32[2,3,1] constant({ { {1}, {2}, {3} }, { {4}, {5}, {6} } })\n"
      "  %r = f32[2,1,1] constant({ { {10} }, { {100} } })\n  %s = s32[2,2] constant({ {1, 2}, {3, 0} })\n"
      "  ROOT %p = f32[2,3,1] ragged-dot(%l, %r, %s), lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={1}, rhs_group_dims={0}\n}\n",
      "m.txt");
  EXPECT_EQ(run(module, {}).at(0).array->reals, (Elements<double>{10, 200, 300, 40, 50, 60}));
}

TEST(Programs, APermuteThatReachesNobodyBringsZero) {
  EXPECT_EQ(
      on_four("",
              "  ROOT %r = s32[] collective-permute(%d), channel_id=1, source_target_pairs={{1,0},{3,1}}\n"),
      (std::vector<Integers>{{1}, {3}, {0}, {0}}));
  EXPECT_THROW(
      on_four("",
              "  ROOT %r = s32[] collective-permute(%d), channel_id=1, source_target_pairs={{1,0},{3,0}}\n"),
      BadModule);
}

}  // namespace
}  // namespace plumb::hlo
