#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "harness/sweep/bits.h"
#include "harness/sweep/condition.h"
#include "harness/sweep/data.h"
#include "harness/sweep/grid.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Mesh two = parse_mesh("dp=1,tp=1");
const Mesh three = parse_mesh("dp=1,fsdp=1,tp=1");

std::vector<Sizes> square(std::int64_t n) {
  std::vector<Sizes> all;
  for (std::int64_t dp = 1; dp <= n; ++dp)
    for (std::int64_t tp = 1; tp <= n; ++tp) all.push_back({dp, tp});
  return all;
}

std::string found(const Mesh& mesh, const std::vector<Sizes>& meshes,
                  const std::function<bool(const Sizes&)>& fails) {
  std::vector<bool> here;
  for (const Sizes& m : meshes) here.push_back(fails(m));
  return condition(atoms(mesh, meshes), here).value_or("none");
}

TEST(Meshes, AreEveryCombinationAndEveryFactorisation) {
  EXPECT_EQ(combinations(parse_mesh("dp=8,tp=4"),
                         {
                             parse_axis_sizes("dp=1,2")
  }),
            (std::vector<Sizes>{{1, 4}, {2, 4}}));
  EXPECT_THAT(factorisations(4, 2), ElementsAre(Sizes{1, 4}, Sizes{2, 2}, Sizes{4, 1}));
  EXPECT_EQ(factorisations(16, 4).size(), 35U) << "2^4 over four axes: C(7,3)";
  EXPECT_EQ(factorisations(12, 3).size(), 18U);
}

TEST(Bits, AreComparedWhereTheDataAreTheSame) {
  const auto made = [](const char* mesh, std::uint64_t data, float last) {
    Tensor t = zeros(DType::f32, {3});
    store(DType::f32, t.bytes.data() + 8, encode(DType::f32, last));
    return Made{mesh, {data}, std::move(t)};
  };
  EXPECT_EQ(bits_in_words({made("dp=2", 1, 1), made("dp=4", 1, 1), made("dp=8", 1, 1)}),
            "the same bits on all 3 meshes\n");
  EXPECT_EQ(bits_in_words({made("dp=2", 1, 1), made("dp=4", 1, 2), made("dp=8", 2, 1)}),
            "dp=4: 1 of 3 elements have other bits than on dp=2\n"
            "dp=8: not compared with dp=2, for its data are others\n");
  EXPECT_EQ(bits_in_words({made("dp=2", 1, 0), made("dp=4", 1, -0.f)}),
            "dp=4: 1 of 3 elements have other bits than on dp=2\n");
  EXPECT_EQ(bits_in_words({made("dp=2", 1, 1)}), "");
}

// A recipe of `cancel` depends on where the contracted index is cut; what is only moved does not.
TEST(Data, AreCalledTheSameWhereTheirDigestsAre) {
  const auto words = [](const char* line) {
    std::vector<Digests> all;
    for (const Sizes& sizes : {Sizes{1}, Sizes{2}, Sizes{4}})
      all.push_back(digests(on_sizes(parse_case(line), sizes)));
    return data_in_words(0, all);
  };
  EXPECT_EQ(words("on x=1: reshard f32[8@x] -> f32[8] seed=0"), "the same data on all 3 meshes (seed=0)\n");
  EXPECT_THAT(words("on x=1: reshard f32[8@x] -> f32[8]"), HasSubstr(": of operand 0 there are 3\n"));
  EXPECT_EQ(words("on x=1: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8] seed=0"),
            "the same data on all 3 meshes (seed=0)\n");
  EXPECT_EQ(words("on x=1: einsum mk,kn->mn bf16[4,64@x] bf16[64@x,4] -> f32[4,4] seed=0"),
            "not the same data on all 3 meshes, though seed=0 is: of operand 0 there are 3, of operand 1 "
            "there are 3\n");
  EXPECT_THAT(words("on x=1: reshard f32[8]+x -> f32[8] seed=0"), HasSubstr("of operand 0 there are 3"));
}

TEST(Condition, IsTheSimplestThatIsExact) {
  const auto nine = square(3), big = square(8);
  EXPECT_EQ(found(two, nine, [](const Sizes& m) { return m[0] >= 2 && m[1] >= 2; }), "dp >= 2 and tp >= 2");
  EXPECT_EQ(found(two, nine, [](const Sizes& m) { return m[0] >= 2; }), "dp >= 2");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[1] % 3 == 0; }), "tp is a multiple of 3");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[1] == 4; }), "tp = 4");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[0] > m[1]; }), "dp > tp");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[0] * m[1] > 16; }), "the number of devices >= 18");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[0] == 3 || m[1] == 5; }), "dp = 3 or tp = 5");
  EXPECT_EQ(found(two, big, [](const Sizes& m) { return m[0] >= 3 && m[0] <= 5 && m[1] % 2 == 1; }),
            "dp >= 3 and dp <= 5 and tp is no multiple of 2");
}

// A range of each axis is said so, before any relation that happens to hold on the same meshes.
TEST(Condition, PrefersBoundsOnAxes) {
  for (std::int64_t n : {2, 3, 4}) {
    std::vector<Sizes> cube;
    for (std::int64_t i = 0; i < n * n * n; ++i) cube.push_back({i / n / n + 1, i / n % n + 1, i % n + 1});
    EXPECT_EQ(found(three, cube, [](const Sizes& m) { return m[0] >= 2 && m[1] >= 2 && m[2] >= 2; }),
              "dp >= 2 and fsdp >= 2 and tp >= 2")
        << n;
    EXPECT_EQ(found(three, cube, [](const Sizes& m) { return m[0] * m[1] * m[2] >= 2; }),
              "the number of devices >= 2")
        << n;
  }
}

TEST(Condition, NoneIsSaid) {
  std::uint64_t state = 20251121;
  const auto random = [&](const Sizes&) {
    return (state = state * 6364136223846793005 + 1442695040888963407) >> 63;
  };
  EXPECT_EQ(found(two, square(8), random), "none");
}

// Whatever is found holds on exactly the meshes where it happened: over random marks of a small square.
TEST(Condition, IsNeverInexact) {
  const auto meshes = square(3);
  const std::vector<Atom> known = atoms(two, meshes);
  int words = 0;
  for (unsigned marks = 1; marks < 511; ++marks) {
    std::vector<bool> here;
    for (int i = 0; i < 9; ++i) here.push_back(marks >> i & 1);
    const auto text = condition(known, here);
    if (!text) continue;
    ++words;
    // Evaluate the text from its atoms again.
    const bool either = text->find(" or ") != std::string::npos;
    std::vector<bool> again(9, !either);
    for (std::size_t at = 0; at < text->size();) {
      const std::string joint = either ? " or " : " and ";
      const std::size_t end = std::min(text->find(joint, at), text->size());
      const auto atom = std::ranges::find(known, text->substr(at, end - at), &Atom::text);
      ASSERT_NE(atom, known.end()) << *text;
      for (int i = 0; i < 9; ++i) again[i] = either ? again[i] || atom->holds[i] : again[i] && atom->holds[i];
      at = end + joint.size();
    }
    ASSERT_EQ(again, here) << *text;
  }
  EXPECT_GT(words, 200);
}

std::vector<Cell> cells(const std::vector<Sizes>& meshes, const std::function<Status(const Sizes&)>& status) {
  std::vector<Cell> all;
  for (const Sizes& sizes : meshes) all.push_back({sizes, status(sizes), true});
  return all;
}

Status both_axes(const Sizes& m) { return m[0] >= 2 && m[1] >= 2 ? Status::wrong : Status::pass; }

TEST(Grid, TwoAxes) {
  EXPECT_EQ(drawn_grid(two, cells(square(3), both_axes), {false}),
            "      tp=1   tp=2   tp=3\n"
            "dp=1  pass   pass   pass\n"
            "dp=2  pass   wrong  wrong\n"
            "dp=3  pass   wrong  wrong\n");
}

TEST(Grid, OneForEachSizeOfTheOthers) {
  const auto meshes = combinations(
      three, {parse_axis_sizes("dp=1,2"), parse_axis_sizes("fsdp=1,2"), parse_axis_sizes("tp=1,2")});
  EXPECT_EQ(drawn_grid(three, cells(meshes, both_axes), {false}),
            "dp=1\n"
            "        tp=1  tp=2\n"
            "fsdp=1  pass  pass\n"
            "fsdp=2  pass  pass\n"
            "\ndp=2\n"
            "        tp=1   tp=2\n"
            "fsdp=1  pass   pass\n"
            "fsdp=2  wrong  wrong\n");
}

TEST(Grid, WhatIsNoGridIsAList) {
  EXPECT_EQ(drawn_grid(two, cells(factorisations(4, 2), both_axes), {false}),
            "dp=1,tp=4  pass\n"
            "dp=2,tp=2  wrong\n"
            "dp=4,tp=1  pass\n");
}

TEST(InWords, SaysHowManyAndWhere) {
  EXPECT_EQ(conditions_in_words(two, cells(square(3), both_axes)),
            "wrong on 4 of 9 meshes: exactly when dp >= 2 and tp >= 2\n");
  EXPECT_EQ(conditions_in_words(two, cells(square(3), [](const Sizes&) { return Status::pass; })),
            "pass on all 9 meshes\n");
  const auto mixed = cells(square(3), [](const Sizes& m) {
    return m[0] == 3 ? Status::unsupported : m[1] > 1 ? Status::wrong : Status::pass;
  });
  EXPECT_EQ(conditions_in_words(two, mixed),
            "unsupported on 3 of 9 meshes: exactly when dp >= 3\n"
            "wrong on 4 of 9 meshes: exactly when dp <= 2 and tp >= 2\n");
}

TEST(InWords, AreAboutWhatWasJudged) {
  const auto half = [](Status judged) {
    return cells(square(3), [=](const Sizes& m) {
      return m[0] == 3 ? Status::unrun : m[1] > 1 ? judged : Status::pass;
    });
  };
  EXPECT_EQ(conditions_in_words(two, half(Status::wrong)),
            "wrong on 4 of 6 meshes: exactly when tp >= 2\nunrun on 3 of 9 meshes\n");
  EXPECT_EQ(conditions_in_words(two, half(Status::pass)), "pass on all 6 meshes\nunrun on 3 of 9 meshes\n");
  EXPECT_EQ(conditions_in_words(two, cells(square(3), [](const Sizes&) { return Status::unrun; })),
            "unrun on 9 of 9 meshes\n");
}

}  // namespace
}  // namespace plumb
