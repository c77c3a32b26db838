// plumb prove as a user runs it: what it says to bad input, how it ends, what it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/command/testing/tool.h"

namespace plumb {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Row i of a is added up over what each of two devices holds; `n` rounds of a loop double it.
constexpr const char* kBefore = R"(HloModule jit_f, num_partitions=2

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main {
  %a = f32[4,3] parameter(0), sharding={devices=[1,2]<=[2]}, metadata={op_name="a"}
  %i = s32[] parameter(1), sharding={replicated}, metadata={op_name="row"}
  %zero = f32[] constant(0)
  %j = s32[] constant(0)
  %row = f32[1,3] dynamic-slice(%a, %i, %j), dynamic_slice_sizes={1,3}
  ROOT %sum = f32[1] reduce(%row, %zero), dimensions={1}, to_apply=%add, sharding={replicated}, metadata={op_name="f/sum"}
}
)";
constexpr const char* kAfter = R"(HloModule jit_f, num_partitions=2

%add (p: f32[], q: f32[]) -> f32[] {
  %p = f32[] parameter(0)
  %q = f32[] parameter(1)
  ROOT %s = f32[] add(%p, %q)
}

ENTRY %main {
  %a = f32[4,2] parameter(0), sharding={devices=[1,2]<=[2]}
  %i = s32[] parameter(1), sharding={replicated}
  %d = u32[] partition-id()
  %last = u32[] constant(1)
  %odd = pred[] compare(%d, %last), direction=EQ
  %mask = pred[2] constant({1, 0})
  %all = pred[2] constant({1, 1})
  %own = pred[2] select(%odd, %mask, %all)
  %zero = f32[] constant(0)
  %zeros = f32[1,2] broadcast(%zero), dimensions={}
  %j = s32[] constant(0)
  %row = f32[1,2] dynamic-slice(%a, %i, %j), dynamic_slice_sizes={1,2}
  %here = pred[1,2] reshape(%own)
  %kept = f32[1,2] select(%here, %row, %zeros)
  %part = f32[1] reduce(%kept, %zero), dimensions={1}, to_apply=%add
  ROOT %sum = f32[1] all-reduce(%part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%add, metadata={op_name="f/sum"}
}
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), text.npos) << from;
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

struct Modules : Folder {
  void dumps(const std::string& folder, const std::string& module, const std::string& before,
             const std::string& after, const std::string& pass = "after_spmd-partitioning.before_x") const {
    std::filesystem::create_directories(path / folder);
    const std::string name = "module_" + module + ".jit_f.";
    if (!before.empty()) write(path / folder / (name + "before_optimizations.txt"), before);
    if (!after.empty()) write(path / folder / (name + "cpu_0001." + pass + ".txt"), after);
  }
  Modules() {
    write(path / "b.txt", kBefore);
    write(path / "a.txt", kAfter);
    write(path / "wrong.txt", with(kAfter, "{{0,1}}", "{{0},{1}}"));
    write(path / "html.txt", "<html>\n");
    write(path / "cut.txt", std::string(kAfter).substr(0, 500));
    write(path / "elided.txt", with(kAfter, "{1, 0}", "{...}"));
    write(path / "other.txt", with(kAfter, "%i = s32[] parameter(1)", "%i = s32[] constant(1)"));
    write(path / "longer.txt", with(kAfter, "f32[4,2]", "f32[6,2]"));
    write(path / "four.txt", with(kAfter, "num_partitions=2", "num_partitions=4"));
    write(path / "replicas.txt", with(kAfter, "num_partitions=2", "num_partitions=2, replica_count=2"));
    write(path / "one.txt",
          "HloModule m\n\nENTRY %e {\n  ROOT %a = f32[4] parameter(0), sharding={replicated}\n}\n");
    write(path / "strange.txt", with(with(with(kAfter, "all-reduce(", "fft("), "reshape(", "fft("),
                                     "f32[] constant", "f31[] constant"));
    write(path / "bare.txt", with(kAfter, "%", ""));
    write(path / "type.txt", with(kAfter, "%part = f32[1]", "%part = f31[1]"));
    write(path / "attribute.txt", with(kAfter, ", channel_id=1", ", chanel_id=1"));
    dumps("right", "0001", kBefore, kAfter);
    dumps("late", "0001", kBefore, kAfter, "cpu_after_optimizations");
    dumps("headless", "0001", "", kAfter);
    dumps("tailless", "0001", kBefore, "");
    write(path / "complex.txt", with(kAfter, "f32[] constant", "c64[] constant"));
    dumps("twice", "0001", kBefore, kAfter);
    write(path / "twice" / "module_0001.jit_f.cpu_0004.after_spmd-partitioning.before_x.txt", kAfter);
    dumps("two", "0001", kBefore, kAfter);
    dumps("two", "0002", kBefore, kAfter);
    dumps("two", "0003", kBefore, "");
  }
};

struct Row {
  const char *arguments, *message;
  int code;
};

// clang-format off
const Row proofs[] = {
    {"b.txt a.txt",                          "proven  b.txt a.txt, 2 devices, 8 draws",            0},
    {"right",                                "proven  right: module_0001.jit_f, 2 devices",        0},
    {"two --module module_0002.jit_f",       "proven  two: module_0002.jit_f",                     0},
    {"late",                                 "no module after the partitioner: taken after all passes; XLA_FLAGS=", 0},
    {"b.txt wrong.txt",                      "refuted  b.txt wrong.txt, 2 devices, draw 1",        1},
    // modules
    {"b.txt bare.txt",                       "proven  b.txt bare.txt, 2 devices, 8 draws",         0},
    {"b.txt html.txt",                       "html.txt:1:1: no HLO",                               2},
    {"b.txt cut.txt",                        "cut.txt:",                                           2},
    {"b.txt elided.txt",                     "--xla_dump_large_constants",                         2},
    {"b.txt other.txt",                      "not the same program: 2 parameters before, 1 after", 2},
    {"b.txt longer.txt",                     "a device holds f32[4,2] of parameter 0, this module has f32[6,2]", 2},
    {"b.txt four.txt",                       "not the same program: 2 partitions before, 4 after", 2},
    {"b.txt replicas.txt",                   "unsupported: more replicas than one",                2},
    {"one.txt one.txt",                      "one partition: nothing was partitioned",             2},
    {"b.txt type.txt",                       "f31",                                                2},
    {"b.txt complex.txt",                    "type c64; of complex numbers nothing is known here: prove the parts of the program without them", 2},
    {"b.txt attribute.txt",                  "unsupported: attribute chanel_id of all-reduce",     2},
    // folders
    {"missing",                              "missing: no folder of dumps",                        2},
    {"a.txt",                                "a.txt: no folder of dumps",                          2},
    {"headless",                             "headless: no module_0001.jit_f.before_optimizations.txt; what JAX finds in its compilation cache", 2},
    {"tailless",                             "tailless: no module after the partitioner; compile with XLA_FLAGS=", 2},
    {"two",                                  "two: several modules, take one with --module: module_0001.jit_f, module_0002.jit_f\n", 2},
    {"twice",                                "twice: two of one program, module_0001.jit_f.cpu_0001.after_spmd-partitioning.before_x.txt and module_0001.jit_f.cpu_0004.after_spmd-partitioning.before_x.txt: each run needs a folder of its own\n", 2},
    {"two --module module_0009.jit_f",       "two: no module_0009.jit_f here, only module_0001.jit_f, module_0002.jit_f, module_0003.jit_f\n", 2},
    {"two --module module_0003.jit_f",       "no module_0003.jit_f after the partitioner",         2},
    {"b.txt a.txt --module module_0001.jit_f", "--module and --passes are of a folder of dumps; two modules were given", 2},
    {"b.txt a.txt --passes",                 "--module and --passes are of a folder of dumps; two modules were given", 2},
    {"b.txt a.txt a.txt",                    "PATHS: At Most 2 required but received 3",           2},
    // flags
    {"b.txt a.txt --range row=0:3",          "proven",                                             0},
    {"b.txt a.txt --range 1=2:2",            "drawn  row s32[] 2 to 2\n",                          0},
    {"b.txt a.txt --range i=-9223372036854775808:5", "--range: s32[] does not hold -9223372036854775808", 2},
    {"b.txt a.txt --range i=-5:99 --range 1=2:2", "--range: a second one of this parameter\n  1=2:2\n  ^", 2},
    {"b.txt a.txt --range row",              "--range: expected PARAM=LO:HI\n  row\n     ^",       2},
    {"b.txt a.txt --range row=3",            "--range: expected ':'\n  row=3\n       ^",           2},
    {"b.txt a.txt --range row=3:x",          "--range: expected a whole number\n  row=3:x\n        ^", 2},
    {"b.txt a.txt --range row=3:5z",         "--range: expected the end\n  row=3:5z\n         ^",  2},
    {"b.txt a.txt --range row=3:2",          "not below the first\n  row=3:2\n        ^",          2},
    {"b.txt a.txt --range column=0:1",       "there is no such parameter, only 0 to 1: a, row",    2},
    {"b.txt a.txt --range a=0:1",            "--range: f32[4,3] holds no integers",                2},
    {"b.txt a.txt --memory 4",               "--memory: expected a size such as 512MiB or 4GiB",   2},
    {"b.txt a.txt --memory -1GiB",           "--memory: expected a size",                          2},
    {"b.txt a.txt --memory 0.0001MiB",       "unrun  b.txt a.txt, 2 devices",                      2},
    {"b.txt a.txt --budget soon",            "--budget: expected a time such as",                  2},
    {"b.txt a.txt --budget 0.0000001s",      "no time was left: before the first draw", 2},
    {"b.txt a.txt --draws 0",                "--draws: expected a whole number from 1 to 1000",    2},
    {"b.txt a.txt --seed -1",                "--seed: expected a whole number",                    2},
    {"b.txt a.txt --record html.txt",        "html.txt:1: this line is not a record",              2},
    {"b.txt a.txt --record no/r.jsonl",      "no/r.jsonl: No such file",                           2},
    {"b.txt a.txt --record ''",              "--record: expected the name of a file",              2},
};
// clang-format on

TEST(ProveTool, SaysOneThingAndItsExitCode) {
  const Modules files;
  for (const Row& row : proofs) {
    SCOPED_TRACE(row.arguments);
    const Ran ran = run_tool(files, std::string("prove ") + row.arguments);
    EXPECT_EQ(ran.code, row.code) << ran.out << ran.err;
    EXPECT_THAT(ran.out + ran.err, HasSubstr(row.message));
    if (ran.code == 2 && ran.out.empty()) {
      EXPECT_THAT(ran.err, testing::Not(HasSubstr("of memory"))) << "nothing was begun";
    }
  }
}

// All that is not known, each by its name and count.
TEST(ProveTool, NamesAllThatItDoesNotKnow) {
  const Modules files;
  const Ran ran = run_tool(files, "prove b.txt strange.txt");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("unsupported: opcode fft (2 times), type f31\n"));
}

// A parameter that is drawn outside of the array is clamped on both sides; drawn at 3 alone, a fault that row
// 3 does not show is not seen.
TEST(ProveTool, ARangeSaysWhatIsDrawn) {
  const Modules files;
  write(files.path / "third.txt",
        with(with(kAfter, "dynamic-slice(%a, %i, %j)", "dynamic-slice(%a, %three, %j)"),
             "  %j = s32[] constant(0)\n", "  %j = s32[] constant(0)\n  %three = s32[] constant(3)\n"));
  EXPECT_EQ(run_tool(files, "prove b.txt third.txt").code, 1);
  EXPECT_EQ(run_tool(files, "prove b.txt third.txt --range row=3:9").code, 0);
  EXPECT_EQ(run_tool(files, "prove b.txt third.txt --range row=2:2").code, 1);
}

TEST(ProveTool, SaysTheMemoryBeforehandAndStopsThere) {
  const Modules files;
  const Ran ran = run_tool(files, "prove b.txt a.txt");
  EXPECT_THAT(ran.err, testing::ContainsRegex("plumb: b.txt a.txt: 2 devices, 1 MiB of memory\n"));
  const std::string large = "1048576";
  write(files.path / "large.txt", with(kBefore, "f32[4,3]", "f32[" + large + ",3]"));
  write(files.path / "larger.txt", with(kAfter, "f32[4,2]", "f32[" + large + ",2]"));
  const Ran stopped = run_tool(files, "prove large.txt larger.txt --memory 100MiB");
  EXPECT_EQ(stopped.code, 2);
  EXPECT_THAT(stopped.out, HasSubstr("unrun"));
  EXPECT_THAT(stopped.out, HasSubstr("of memory, and there are 100 MiB"));
}

TEST(ProveTool, SaysTheSameAsJson) {
  const Modules files;
  const auto said = [&](const std::string& arguments) {
    return json::parse(run_tool(files, "prove --json " + arguments).out, nullptr, false);
  };
  const json right = said("right");
  EXPECT_EQ(right["finding"], "proven");
  EXPECT_EQ(right["devices"], 2);
  EXPECT_EQ(right["elements"], 2);
  EXPECT_EQ(right["text"], run_tool(files, "prove right").out);
  EXPECT_EQ(right["key"].get<std::string>().size(), std::string("prove ").size() + 33);
  EXPECT_EQ(right["key"], said("b.txt a.txt")["key"]) << "the key is of the modules, not of their files";
  const json wrong = said("b.txt wrong.txt");
  EXPECT_EQ(wrong["finding"], "refuted");
  EXPECT_NE(right["key"], wrong["key"]);
  EXPECT_EQ(wrong["differences"][0]["result"], 0);
  EXPECT_EQ(wrong["differences"][0]["shape"], "f32[1]");
  EXPECT_EQ(wrong["differences"][0]["devices"], 2);
  EXPECT_EQ(wrong["again"], "plumb prove b.txt wrong.txt --seed 0");
  EXPECT_EQ(said("b.txt a.txt --memory 0.0001MiB")["finding"], "unrun");
}

// Faults in the modules of a folder: here the all-reduce, and the mask of what is padded.
TEST(ProveTool, PlantsFaultsInModules) {
  const Modules files;
  const Ran ran = run_tool(files, "liars --hlo right --hlo two/. --seeds 3");
  EXPECT_EQ(ran.code, 2) << "two has two programs";
  EXPECT_THAT(ran.err, HasSubstr("several modules"));
  const Ran one = run_tool(files, "liars --hlo right --seeds 3");
  EXPECT_EQ(one.code, 0) << one.out << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("an all-reduce dropped +1 +1 +0"));
  EXPECT_THAT(one.out, HasSubstr("right: an all-reduce dropped: 1 applied, 1 refuted\n")) << "at once";
  EXPECT_THAT(one.out,
              HasSubstr("1 right program in 3 draws each, 0 false alarms; 0 not proven and left out"));
  EXPECT_THAT(run_tool(files, "liars 'an all-reduce dropped' --hlo right").out,
              Not(HasSubstr("a table rotated")));
  const std::pair<const char*, const char*> bad[] = {
      {"--hlo missing",        "missing: No such file"                  },
      {"--hlo b.txt",          "b.txt: Not a directory"                 },
      {"--hlo no",             "no: no folder of dumps"                 },
      {"nonsense --hlo right", "there is no fault 'nonsense' of modules"},
  };
  std::filesystem::create_directory(files.path / "no");
  for (const auto& [arguments, message] : bad) {
    const Ran refused = run_tool(files, std::string("liars ") + arguments);
    EXPECT_EQ(refused.code, 2) << arguments;
    EXPECT_THAT(refused.err, HasSubstr(message));
  }
}

// All passes: the first after which the module is another program is named.
TEST(ProveTool, NamesThePass) {
  const Modules files;
  const std::string wrong = with(kAfter, "{{0,1}}", "{{0},{1}}");
  // clang-format off
  const std::pair<const char*, std::string> passes[] = {
      {"0000.first.after_pipeline-start.before_simplify", kBefore},
      {"0001.first.after_simplify.before_spmd-partitioning", kBefore},
      {"0002.spmd-cleanup.after_pipeline-start.before_dce", kAfter},
      {"0003.spmd-cleanup.after_dce.before_cse", wrong},
      {"0004.spmd.after_spmd-partitioning.before_x", wrong},
      {"0005.last.after_fusion.before_y", with(wrong, "all-reduce(", "fft(")},
  };
  // clang-format on
  std::filesystem::create_directory(files.path / "passes");
  write(files.path / "passes" / "module_0001.jit_f.before_optimizations.txt", kBefore);
  for (const auto& [name, text] : passes)
    write(files.path / "passes" / (std::string("module_0001.jit_f.") + name + ".txt"), text);
  const Ran one = run_tool(files, "prove passes");
  EXPECT_EQ(one.code, 1) << one.err;
  EXPECT_THAT(one.out, HasSubstr("    pass   dce (0003)\n"));
  const Ran all = run_tool(files, "prove passes --passes");
  EXPECT_EQ(all.code, 1) << all.err;
  for (const char* line : {"proven      what comes before first (0000)\n", "proven      simplify (0001)\n",
                           "proven      what comes before spmd-cleanup (0002)\n", "refuted     dce (0003)\n",
                           "refuted     spmd-partitioning (0004)\n",
                           "unsupported: opcode fft fusion (0005)\n", "    pass   dce (0003)\n"})
    EXPECT_THAT(all.out, HasSubstr(line));
  const json said = json::parse(run_tool(files, "prove passes --passes --json").out, nullptr, false);
  EXPECT_EQ(said["pass"], "dce (0003)");
  EXPECT_EQ(said["passes"].size(), 6u);
  EXPECT_EQ(said["passes"][3]["finding"], "refuted");
}

// A pass behind the partitioner, which was right.
TEST(ProveTool, WhatALaterPassGetsWrongIsRefuted) {
  const Modules files;
  const std::filesystem::path late = files.path / "behind";
  std::filesystem::create_directory(late);
  write(late / "module_0001.jit_f.before_optimizations.txt", kBefore);
  write(late / "module_0001.jit_f.0001.spmd.after_spmd-partitioning.before_x.txt", kAfter);
  write(late / "module_0001.jit_f.0002.last.after_fusion.before_y.txt", with(kAfter, "{{0,1}}", "{{0},{1}}"));
  EXPECT_EQ(run_tool(files, "prove behind").code, 0);
  const Ran all = run_tool(files, "prove behind --passes --record behind.jsonl");
  EXPECT_EQ(all.code, 1) << all.err;
  for (const char* line : {"proven      spmd-partitioning (0001)\n", "refuted     fusion (0002)\n",
                           "\nrefuted  behind", "    pass   fusion (0002)\n", "    result 0 f32[1]"})
    EXPECT_THAT(all.out, HasSubstr(line));
  EXPECT_THAT(contents(files.path / "behind.jsonl"), HasSubstr("\"status\":\"wrong\""));
}

// A way that no draw takes is listed; a comparison of integers with one answer, and one that no draw brings
// to where it turns, of floats too, are counted: these end well, but where all has to be shown.
TEST(ProveTool, StrictlyAllHasToBeShown) {
  const Modules files;
  EXPECT_EQ(run_tool(files, "prove right --strict").code, 0);
  write(files.path / "own.txt", kAfter);
  for (const char* line :
       {"  %asked = pred[4,3] compare(%a, %a), direction=NE\n",
        "  %four = s32[] constant(4)\n  %asked = pred[] compare(%i, %four), direction=LT\n",
        "  %four = s32[] constant(4)\n  %squared = s32[] multiply(%i, %i)\n"
        "  %asked = pred[] compare(%squared, %four), direction=LE\n",
        "  %half = f32[] constant(0.5)\n  %by = f32[4,3] broadcast(%half), dimensions={}\n  %up = f32[4,3] floor(%a)\n"
        "  %jumps = f32[4,3] multiply(%up, %by)\n  %to = f32[4,3] multiply(%by, %by)\n  %asked = pred[4,3] compare(%jumps, %to), direction=LT\n"}) {
    write(files.path / "asks.txt", with(kBefore, "  %j =", line + std::string("  %j =")));
    const Ran plain = run_tool(files, "prove asks.txt own.txt");
    const Ran strict = run_tool(files, "prove --strict asks.txt own.txt");
    EXPECT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(strict.code, 1) << strict.err;
    EXPECT_EQ(strict.out, plain.out);
  }
}

// The seed that is told is one from which it is found again.
TEST(ProveTool, NamesTheSeedThatShowsIt) {
  const Modules files;
  for (const char* arguments : {"right", "b.txt wrong.txt"}) {
    const json said =
        json::parse(run_tool(files, std::string("prove --json --seed 5 ") + arguments).out, nullptr, false);
    EXPECT_EQ(said["seed"], 5) << arguments;
    EXPECT_THAT(said["again"].get<std::string>(), HasSubstr(" --seed 5"));
  }
}

// Below zero nothing is indexed.
TEST(ProveTool, SaysThatARangeIsBelowZero) {
  const Modules files;
  EXPECT_THAT(run_tool(files, "prove right --range row=-2:1").err,
              HasSubstr("%i indexes, and is drawn below zero too\n"));
  EXPECT_THAT(run_tool(files, "prove right --range row=0:1").err, Not(HasSubstr("below zero")));
}

// What was not run is not recorded.
TEST(ProveTool, RecordsWhatCameOfIt) {
  const Modules files;
  for (const char* arguments : {"right", "b.txt wrong.txt", "right --memory 0.0001MiB", "right"})
    run_tool(files, std::string("prove --record r.jsonl ") + arguments);
  std::istringstream lines(contents(files.path / "r.jsonl"));
  std::vector<json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(json::parse(line, nullptr, false));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0]["status"], "pass");
  EXPECT_EQ(records[1]["status"], "wrong");
  EXPECT_EQ(records[0]["case"], records[2]["case"]);
  EXPECT_NE(records[0]["case"], records[1]["case"]);
  EXPECT_EQ(records[0]["backend"], "xla");
  EXPECT_THAT(records[1]["facts"][0]["text"].get<std::string>(), HasSubstr("result 0 f32[1]"));
}

// Ten thousand files, and results in a tuple of thousands.
TEST(ProveTool, LargeOnesAreFine) {
  const Modules files;
  for (int n = 0; n < 10000; ++n)
    write(files.path / "right" / ("module_" + std::to_string(n + 5) + ".jit_g.before_optimizations.txt"), "");
  EXPECT_EQ(run_tool(files, "prove right").code, 0);
  const auto module = [](const std::string& shape) {
    std::string lines, results, shapes, layouts;
    for (int n = 0; n < 5000; ++n) {
      const std::string name = "%r" + std::to_string(n), comma = n > 0 ? ", " : "";
      lines += "  " + name + " = " + shape + " negate(%x)\n";
      results += comma + name, shapes += comma + shape, layouts += comma + "{devices=[2]<=[2]}";
    }
    return "HloModule m, num_partitions=2\n\nENTRY %e {\n  %x = " + shape +
           " parameter(0), sharding={devices=[2]<=[2]}\n" + lines + "  ROOT %t = (" + shapes + ") tuple(" +
           results + "), sharding={" + layouts + "}\n}\n";
  };
  write(files.path / "m.txt", module("f32[2]"));
  write(files.path / "n.txt", module("f32[1]"));
  const Ran ran = run_tool(files, "prove m.txt n.txt");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("5000 results, 10000 elements"));
}

}  // namespace
}  // namespace plumb
