// Where a fault is, of every kind of refutation.
#include "reference/hlo/prove/testing/verdicts.h"
#include "reference/hlo/prove/where.h"

namespace plumb::hlo {
namespace {

const std::string kSum =
    "HloModule m, num_partitions=2\n\n%sum (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
    "  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\n";
const std::string kReduced =
    "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=%sum";

std::string at(const std::string& op, int line) {
  return ", metadata={op_name=\"" + op + "\" source_file=\"u.py\" source_line=" + std::to_string(line) + "}";
}

// "instruction, line of the user's, there" of what is refuted, where BEFORE is the module after propagation.
std::string place(const std::string& before, const std::string& after) {
  const Module whole = parse(before, "before"), each = parse(after, "after");
  const Subject subject{whole, each, &whole};
  const Proof proof = prove(subject, {});
  EXPECT_EQ(proof.finding, Finding::refuted);
  const auto found = locate(subject, proof);
  return found ? found->instruction + ", " + found->source + ", " + found->there : "nowhere";
}

// Devices part before the sum that all of them should reach.
TEST(Place, OfDevicesThatPart) {
  const auto module = [](const std::string& condition, const std::string& added, bool whole) {
    const std::string n = whole ? "4" : "2";
    return kSum + "%with (x: f32[" + n + "]) -> f32[] {\n  %x = f32[" + n +
           "] parameter(0)\n  %o = f32[] constant(0)\n  " + added + "\n}\n\n%none (y: f32[" + n +
           "]) -> f32[] {\n  %y = f32[" + n +
           "] parameter(0)\n  ROOT %z = f32[] constant(0)\n}\n\nENTRY %e {\n  %v = f32[" + n +
           "] parameter(0)" + (whole ? ", sharding={devices=[2]<=[2]}" : "") + "\n  %n = s32[] parameter(1)" +
           (whole ? ", sharding={replicated}" : "") + "\n" + condition +
           "  ROOT %r = f32[] conditional(%k, %v, %v), branch_computations={%with, %none}" +
           (whole ? ", sharding={replicated}" : "") + at("cond", 9) + "\n}\n";
  };
  const std::string local = "%h = f32[] reduce(%x, %o), dimensions={0}, to_apply=%sum" + at("sum", 7);
  EXPECT_EQ(place(module("  %k = s32[] copy(%n)\n", "ROOT " + local, true),
                  module("  %i = u32[] partition-id()\n  %k = s32[] convert(%i)\n",
                         local + "\n  ROOT %ar = f32[] all-reduce(%h), " + kReduced + at("sum", 7), false)),
            "h, u.py:7, %ar = f32[] all-reduce(%h), " + kReduced);
}

// Of a program that is wrong by itself it is where the manual region ends.
TEST(Place, OfReplicasThatARegionLeavesApart) {
  const std::string head = "HloModule m, num_partitions=2\n\nENTRY %e {\n";
  EXPECT_EQ(place(head +
                      "  %x = f32[4,3] parameter(0), sharding={devices=[2,1]<=[2]}\n"
                      "  %i = f32[2,3] custom-call(%x), custom_call_target=\"SPMDFullToShardShape\", "
                      "sharding={manual}\n  ROOT %r = f32[2,3] custom-call(%i), "
                      "custom_call_target=\"SPMDShardToFullShape\", sharding={replicated}" +
                      at("shard_map", 5) + "\n}\n",
                  head + "  %x = f32[2,3] parameter(0)\n  ROOT %r = f32[2,3] copy(%x)\n}\n"),
            "r, u.py:5, ");
}

TEST(Place, OfABufferThatIsLost) {
  const auto module = [](const std::string& alias, bool whole) {
    return "HloModule m" + alias + ", num_partitions=2\n\nENTRY %e {\n  %x = f32[4] parameter(0)" +
           (whole ? ", sharding={replicated}" : "") + at("state", 3) + "\n  ROOT %r = f32[4] negate(%x)" +
           (whole ? ", sharding={replicated}" : "") + "\n}\n";
  };
  EXPECT_EQ(place(module(", input_output_alias={ {}: (0, {}, may-alias) }", true), module("", false)),
            "x, u.py:3, ");
}

// What all devices know alike in a manual region is looked for there too: a sum, and what is divided by it.
TEST(Place, OfASumWithinAManualRegion) {
  const auto region = [](const std::string& shape, const std::string& sum, const std::string& laid) {
    return "  %o = f32[] constant(0)\n  %h = f32[] reduce(" + shape + ", %o), dimensions={0}, to_apply=%sum" +
           laid + at("sum", 4) + "\n" + sum + "  %b = f32[2] broadcast(%s), dimensions={}" + laid +
           "\n  %q = f32[2] divide(" + shape + ", %b)" + laid + at("divide", 6) + "\n";
  };
  const std::string all = "  %s = f32[] all-reduce(%h), " + kReduced + at("psum", 5) + "\n",
                    manual = ", sharding={manual}";
  const std::string before =
      kSum +
      "ENTRY %e {\n  %x = f32[4] parameter(0), sharding={devices=[2]<=[2]}\n"
      "  %i = f32[2] custom-call(%x), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n" +
      region("%i", "  %s = f32[] all-reduce(%h), " + kReduced + manual + at("psum", 5) + "\n", manual) +
      "  ROOT %r = f32[4] custom-call(%q), custom_call_target=\"SPMDShardToFullShape\", "
      "sharding={devices=[2]<=[2]}\n}\n";
  EXPECT_EQ(place(before, kSum + "ENTRY %e {\n  %x = f32[2] parameter(0)\n" +
                              region("%x", "  %s = f32[] copy(%h)" + at("psum", 5) + "\n", "") +
                              "  ROOT %r = f32[2] copy(%q)\n}\n"),
            "s, u.py:5, no all-reduce: %s is left as 2 parts, on devices 0,1");
}

// Behind the end of a short tile nothing is asked: the fault is at the sine, though its tile is short.
TEST(Place, OfWhatIsNotEvenlyDivided) {
  const auto lines = [](const std::string& shape, const std::string& first, const std::string& laid) {
    return "  %a = " + shape + " " + first + "(%x)" + laid + at("sine", 2) + "\n  %b = " + shape +
           " tanh(%a)" + laid + at("tanh", 3) + "\n  ROOT %r = " + shape + " negate(%b)" + laid +
           at("negate", 4) + "\n}\n";
  };
  const std::string head = "HloModule m, num_partitions=2\n\nENTRY %e {\n  %x = ",
                    laid = ", sharding={devices=[2]<=[2]}";
  EXPECT_EQ(place(head + "f32[5] parameter(0)" + laid + "\n" + lines("f32[5]", "sine", laid),
                  head + "f32[3] parameter(0)\n" + lines("f32[3]", "cosine", "")),
            "a, u.py:2, ");
}

// What gives several values is known by each of them.
TEST(Place, OfWhatGivesSeveralValues) {
  const auto lines = [](const std::string& from, const std::string& laid) {
    return "  %t = (f32[4], f32[4]) sort(" + from + ", %x), dimensions={0}, to_apply=%less" +
           (laid.empty() ? "" : ", sharding={{replicated}, {replicated}}") + at("sort", 2) +
           "\n  %k = f32[4] get-tuple-element(%t), index=0" + laid + at("sort", 2) +
           "\n  %v = f32[4] get-tuple-element(%t), index=1" + laid + at("sort", 2) +
           "\n  %a = f32[4] add(%k, %v)" + laid + at("add", 3) + "\n  ROOT %r = f32[4] tanh(%a)" + laid +
           at("tanh", 4) + "\n}\n";
  };
  const std::string
      head =
          "HloModule m, num_partitions=2\n\n%less (a: f32[], b: f32[], c: f32[], d: f32[]) -> pred[] {\n"
          "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  %c = f32[] parameter(2)\n"
          "  %d = f32[] parameter(3)\n  ROOT %l = pred[] compare(%a, %b), direction=LT\n}\n\nENTRY %e {\n"
          "  %x = f32[4] parameter(0)",
      laid = ", sharding={replicated}";
  EXPECT_EQ(place(head + laid + "\n" + lines("%x", laid),
                  head + "\n  %w = f32[4] negate(%x)" + at("sort", 2) + "\n" + lines("%w", "")),
            "t, u.py:2, ");
}

}  // namespace
}  // namespace plumb::hlo
