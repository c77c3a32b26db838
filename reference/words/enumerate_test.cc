#include "reference/words/enumerate.h"

#include <gtest/gtest.h>

#include <set>

#include "reference/words/text.h"

namespace plumb {
namespace {

std::vector<std::string> printed(const Mesh& mesh, const std::vector<Spec>& specs) {
  std::vector<std::string> lines;
  for (const Spec& spec : specs) lines.push_back(print(mesh, spec));
  return lines;
}

TEST(Enumerate, TheExamplesOfTheHeader) {
  using Lines = std::vector<std::string>;
  const Mesh x = parse_mesh("x=2"), xy = parse_mesh("x=2,y=2"), xyz = parse_mesh("x=2,y=2,z=2");
  EXPECT_EQ(printed(x, all_specs(x, DType::f32, {8}, true)), (Lines{"f32[8]", "f32[8@x]", "f32[8]+x"}));
  EXPECT_EQ(printed(xy, all_specs(xy, DType::f32, {8}, false)),
            (Lines{"f32[8]", "f32[8@y]", "f32[8@x]", "f32[8@y.x]", "f32[8@x.y]"}));
  EXPECT_EQ(printed(xy, all_specs(xy, DType::bf16, {}, true)),
            (Lines{"bf16[]", "bf16[]+y", "bf16[]+x", "bf16[]+x.y"}));
  EXPECT_EQ(all_specs(xyz, DType::f32, {8, 8}, false).size(), 49u);
  EXPECT_EQ(all_specs(xyz, DType::f32, {8, 8}, true).size(), 92u);
}

TEST(Enumerate, NoSpecTwice) {
  const Mesh mesh = parse_mesh("a=2,b=3,c=5,d=2");
  for (std::size_t rank = 0; rank <= 3; ++rank) {
    const auto lines = printed(mesh, all_specs(mesh, DType::f32, std::vector<std::int64_t>(rank, 8), true));
    EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), lines.size()) << rank;
  }
}

TEST(Enumerate, EveryCaseOnce) {
  const Choices matmuls = all_matmuls(parse_mesh("x=2,y=2"), DType::f32, {4, 6, 8});
  ASSERT_EQ(count(matmuls), 11 * 11 * 11);
  std::set<std::string> lines;
  for (std::int64_t n = 0; n < count(matmuls); ++n) {
    const Case c = nth(matmuls, n);
    lines.insert(print(c));
    ASSERT_EQ(parse_case(print(c)), c);
  }
  EXPECT_EQ(std::ssize(lines), count(matmuls));
  EXPECT_EQ(print(nth(matmuls, 1)), "on x=2,y=2: einsum mk,kn->mn f32[4,6] f32[6,8] -> f32[4@y,8]");

  const Choices reshards = all_reshards(parse_mesh("x=2,y=2,z=2"), DType::f32, {8, 8}, true);
  ASSERT_EQ(count(reshards), 92 * 92);
  for (std::int64_t n = 0; n < count(reshards); n += 7)
    ASSERT_EQ(parse_case(print(nth(reshards, n))), nth(reshards, n));
}

}  // namespace
}  // namespace plumb
