// Of a program with two sums one is missing, or over other devices: the other, which is right, is not named.
#include "reference/hlo/prove/there.h"

#include <gtest/gtest.h>

namespace plumb::hlo {
namespace {

constexpr const char* kAdd = R"(HloModule m, num_partitions=4

%add (p: TYPE[], q: TYPE[]) -> TYPE[] {
  %p = TYPE[] parameter(0)
  %q = TYPE[] parameter(1)
  ROOT %s = TYPE[] add(%p, %q)
}

)";

std::string typed(std::string text, const std::string& type) {
  for (std::size_t at; (at = text.find("TYPE")) != text.npos;) text.replace(at, 4, type);
  return text;
}

std::string all_reduce(const std::string& of, const std::string& groups) {
  return "all-reduce(" + of + "), channel_id=1, replica_groups=" + groups + ", use_global_device_ids=true, to_apply=%add";
}

// Where AFTER is wrong, by its text.
std::string there(const std::string& before, const std::string& after) {
  const Module whole = parse(before, "before.txt"), held = parse(after, "after.txt");
  const Subject subject{whole, held, &whole};
  const Proof proof = prove(subject, {});
  EXPECT_EQ(proof.finding, Finding::refuted);
  const std::optional<Place> place = locate(subject, proof);
  return place ? place->there : "nowhere";
}

// A sum along an axis of size 1, and one along another.
std::string in_a_region(const std::string& sum) {
  const std::string entry = "ENTRY %e {\n  %w = f32[2] parameter(0)\n";
  return typed(kAdd, "f32") + entry + "  %own = f32[2] tanh(%w)\n  %twice = f32[2] add(%w, %w)\n  %alone = f32[2] " +
         all_reduce("%own", "{{0},{1},{2},{3}}") + ", metadata={op_name=\"psum\"}\n  %sum = f32[2] " + sum +
         ", metadata={op_name=\"psum\"}\n  ROOT %t = (f32[2], f32[2]) tuple(%alone, %sum)\n}\n";
}

std::string of_whole_arrays(std::string region) {
  const auto put = [&](const std::string& old, const std::string& text) { region.replace(region.find(old), old.size(), text); };
  put("  %w = f32[2] parameter(0)\n",
      "  %x = f32[8] parameter(0), sharding={devices=[4]<=[4]}\n"
      "  %w = f32[2] custom-call(%x), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}\n");
  put("  ROOT %t = (f32[2], f32[2]) tuple(%alone, %sum)\n",
      "  %a = f32[8] custom-call(%alone), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]}\n"
      "  %b = f32[4] custom-call(%sum), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2,2]<=[4] "
      "last_tile_dim_replicate}\n"
      "  ROOT %t = (f32[8], f32[4]) tuple(%a, %b), sharding={{devices=[4]<=[4]}, {devices=[2,2]<=[4] "
      "last_tile_dim_replicate}}\n");
  return region;
}

TEST(There, ASumAlongAnAxisOfSizeOneIsNotTheMissingOne) {
  const std::string before = of_whole_arrays(in_a_region(all_reduce("%twice", "{{0,1},{2,3}}")));
  EXPECT_EQ(there(before, in_a_region("copy(%twice)")), "not known, of 1 of this operation");
  EXPECT_EQ(there(before, in_a_region(all_reduce("%twice", "{{0,2},{1,3}}"))).substr(0, 37),
            "%sum = f32[2] all-reduce(%twice), cha");
}

// The sum over rows of `x`, and of what is computed of it.
std::string two_sums(const std::string& type, bool is_whole) {
  const std::string cut = is_whole ? ", sharding={devices=[4,1]<=[4]}" : "", whole = is_whole ? ", sharding={replicated}" : "";
  const std::string sum = ", dimensions={0}, to_apply=%add, metadata={op_name=\"sum\"}" + whole + "\n";
  std::string text = kAdd;
  text += "ENTRY %e {\n  %x = TYPE[ROWS,3] parameter(0)" + cut + "\n  %zero = TYPE[] constant(0)\n  %other = TYPE[ROWS,3] " +
          (type == "f32" ? "add" : "multiply") + "(%x, %x)" + cut + "\n  %part = TYPE[3] reduce(%x, %zero)" + sum +
          "  %all = TYPE[3] " +
          (is_whole ? "copy(%part)" + whole : all_reduce("%part", "{{0,1,2,3}}")) + ", metadata={op_name=\"sum\"}" +
          "\n  %others = TYPE[3] reduce(%other, %zero)" + sum + "  ROOT %t = (TYPE[3], TYPE[3]) tuple(%all, %others)" +
          (is_whole ? ", sharding={{replicated}, {replicated}}" : "") + "\n}\n";
  for (std::size_t at; (at = text.find("ROWS")) != text.npos;) text.replace(at, 4, is_whole ? "8" : "2");
  return typed(text, type);
}

// Four devices hold the sum of all; four times that would be the sum of four times all.
TEST(There, ASumThatIsRightIsNotNamedForOneThatIsMissing) {
  EXPECT_EQ(there(two_sums("f32", true), two_sums("f32", false)),
            "no all-reduce: %others is left as 4 parts, on devices 0,1,2,3");
  EXPECT_EQ(there(two_sums("s32", true), two_sums("s32", false)), "not known, of 1 of this operation");
}

}  // namespace
}  // namespace plumb::hlo
