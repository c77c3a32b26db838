// Custom calls that nobody here knows: inside of a manual region each is a function of all that it is given.
#include <gtest/gtest.h>

#include "reference/hlo/prove/testing/verdicts.h"

namespace plumb::hlo {
namespace {

constexpr const char* kWhole = R"(HloModule m, num_partitions=2

%body (b: f32[2,3]) -> f32[2,3] {
  %b = f32[2,3] parameter(0)
  %c = (f32[2,3], s32[2]) custom-call(%b), custom_call_target="factor", api_version=API_VERSION_TYPED_FFI, frontend_attributes={num_batch_dims="1"}, backend_config={uplo = 76 : ui8}
  %l = f32[2,3] get-tuple-element(%c), index=0
  %n = s32[2] get-tuple-element(%c), index=1
  %w = f32[2] convert(%n)
  %s = f32[2,3] broadcast(%w), dimensions={0}
  ROOT %a = f32[2,3] add(%l, %s)
}

ENTRY %e {
  %x = f32[4,3] parameter(0), sharding={devices=[2,1]<=[2]}
  %in = f32[2,3] custom-call(%x), custom_call_target="SPMDFullToShardShape", sharding={manual}
  %f = f32[2,3] call(%in), to_apply=%body
  ROOT %r = f32[4,3] custom-call(%f), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1]<=[2]}
}
)";
constexpr const char* kEach = R"(HloModule m, num_partitions=2

ENTRY %e {
  %x = f32[2,3] parameter(0)
  %c = (f32[2,3], s32[2]) custom-call(%x), custom_call_target="factor", backend_config={uplo = 76 : ui8}
  %l = f32[2,3] get-tuple-element(%c), index=0
  %n = s32[2] get-tuple-element(%c), index=1
  %w = f32[2] convert(%n)
  %s = f32[2,3] broadcast(%w), dimensions={0}
  ROOT %a = f32[2,3] add(%s, %l)
}
)";

std::string edited_text(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), text.npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

// The finding, or what is refused.
std::string said_of(const std::string& before, const std::string& after) {
  const Module whole = parse(before, "m.txt"), each = parse(after, "m.txt");
  try {
    return std::string(name(prove({whole, each, nullptr}, {}).finding));
  } catch (const BadModule& error) {
    const std::string said = error.what();
    return said.substr(said.find(": ") + 2, said.find('\n') - said.find(": ") - 2);
  }
}

TEST(Calls, InsideOfAManualRegionEachIsWhatItIsGiven) {
  EXPECT_EQ(said_of(kWhole, kEach), "proven");
  const auto is = [](const std::string& from, const std::string& to) {
    return said_of(kWhole, edited_text(kEach, from, to));
  };
  EXPECT_EQ(is("uplo = 76", "uplo = 77"), "refuted");
  // One element of what is given, one result for the other.
  EXPECT_EQ(is("  %c = (f32[2,3], s32[2]) custom-call(%x)",
               "  %i = s32[2,3] iota(), iota_dimension=1\n  %o = s32[2,3] iota(), iota_dimension=0\n"
               "  %q = pred[2,3] compare(%i, %o), direction=GT\n  %g = f32[2,3] negate(%x)\n"
               "  %y = f32[2,3] select(%q, %x, %g)\n  %c = (f32[2,3], s32[2]) custom-call(%y)"),
            "refuted");
  EXPECT_EQ(is("get-tuple-element(%c), index=1", "iota(), iota_dimension=0"), "refuted");
  EXPECT_EQ(is("factor", "other"), "unsupported: custom-call other");
}

// A program whose manual region leaves replicas that differ is wrong before any partitioner.
TEST(Calls, ARegionThatLeavesReplicasThatDifferIsWrongByItself) {
  const std::string head = "HloModule m, num_partitions=2\n\nENTRY %e {\n";
  const Module whole = parse(head +
                                 "  %x = f32[4,3] parameter(0), sharding={devices=[2,1]<=[2]}\n"
                                 "  %i = f32[2,3] custom-call(%x), "
                                 "custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n"
                                 "  ROOT %r = f32[2,3] custom-call(%i), "
                                 "custom_call_target=\"SPMDShardToFullShape\", sharding={replicated}\n}\n",
                             "m.txt"),
               each =
                   parse(head + "  %x = f32[2,3] parameter(0)\n  ROOT %r = f32[2,3] copy(%x)\n}\n", "m.txt");
  const Proof proof = prove({whole, each, nullptr}, {});
  EXPECT_EQ(proof.finding, Finding::refuted);
  EXPECT_TRUE(proof.by_itself);
  EXPECT_EQ(proof.why,
            "before the partitioner already device 0 and device 1 should hold the same and do not");
}

TEST(Calls, ElsewhereTheyAreNotKnown) {
  const std::string outside =
      edited_text(kWhole, "  %in = f32[2,3] custom-call(%x)",
                  "  %y = f32[4,3] custom-call(%x), custom_call_target=\"factor\"\n"
                  "  %z = f32[4,3] custom-call(%y), custom_call_target=\"__cublas$gemm\"\n"
                  "  %in = f32[2,3] custom-call(%z)");
  EXPECT_EQ(said_of(outside, kEach), "unsupported: custom-call __cublas$gemm, custom-call factor");
  const std::string behind = edited_text(edited_text(kWhole, "ROOT %r", "%o"), "<=[2]}\n}",
                                         "<=[2]}\n  ROOT %r = f32[4,3] custom-call(%o), "
                                         "custom_call_target=\"factor\", sharding={devices=[2,1]<=[2]}\n}");
  EXPECT_EQ(said_of(behind, kEach), "unsupported: custom-call factor");
}

}  // namespace
}  // namespace plumb::hlo
