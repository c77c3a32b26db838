#include "reference/words/spec.h"

#include <gtest/gtest.h>

#include <set>

#include "reference/words/tensor.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

TEST(Mesh, DevicesAreRowMajorUnlessIdsAreGiven) {
  const Mesh mesh = parse_mesh("x=2,y=3");
  EXPECT_EQ(coordinates(mesh, 4), (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(coordinate(mesh, {1, 0}, 4), 1 * 2 + 1);
  const Mesh turned = parse_mesh("x=2,y=2 ids=3,1,0,2");  // device 3 is at (0,0), 0 at (1,0)
  EXPECT_EQ(coordinates(turned, 3), (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(coordinates(turned, 0), (std::vector<std::int64_t>{1, 0}));
}

TEST(Mesh, FibresHoldEveryDeviceOnce) {
  const Mesh mesh = parse_mesh("x=2,y=3");
  using Groups = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(fibres(mesh,
                   {
                       0
  }),
            (Groups{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(fibres(mesh,
                   {
                       1
  }),
            (Groups{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(fibres(mesh,
                   {
                       1, 0
  }),
            (Groups{{0, 3, 1, 4, 2, 5}}));
  EXPECT_EQ(fibres(mesh, {}), (Groups{{0}, {1}, {2}, {3}, {4}, {5}}));
}

TEST(Block, UnevenCuts) {
  const Mesh mesh = parse_mesh("a=2,b=2");
  const Spec spec = parse_spec("f32[5@a.b]", mesh);
  const auto sizes = [&](Rule rule) {
    std::vector<std::int64_t> held;
    for (std::int64_t d = 0; d < devices(mesh); ++d) held.push_back(elements(block(mesh, spec, rule, d)));
    return held;
  };
  EXPECT_EQ(sizes(Rule::flat), (std::vector<std::int64_t>{2, 2, 1, 0}));
  EXPECT_EQ(sizes(Rule::nested), (std::vector<std::int64_t>{2, 1, 1, 1}));
}

TEST(Block, AScalarAndAnEmptyDimensionAreLegal) {
  const Mesh mesh = parse_mesh("x=2");
  EXPECT_EQ(block(mesh, parse_spec("f32[]", mesh), Rule::flat, 1), Slice{});
  EXPECT_EQ(block(mesh, parse_spec("f32[0@x,3]", mesh), Rule::flat, 1), (Slice{
                                                                            {0, 0},
                                                                            {0, 3}
  }));
}

TEST(Tensor, ADigestIsOfDtypeShapeAndEachPlace) {
  const Tensor t = tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(digest(t), digest(tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6})));
  std::set<std::uint64_t> all{digest(t)};
  for (std::size_t at = 0; at < t.bytes.size(); ++at) {
    Tensor other = t;
    other.bytes[at] ^= std::byte{1};
    all.insert(digest(other));
  }
  all.insert(digest(tensor(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6})));
  all.insert(digest({DType::s32, t.shape, t.bytes}));
  all.insert(digest(tensor(DType::f32, {2, 3}, {2, 1, 3, 4, 5, 6})));
  all.insert(digest(tensor(DType::f32, {2, 3}, {1, 2, 3, 4, 6, 5})));
  all.insert(digest(tensor(DType::f32, {2, 3}, {4, 5, 6, 1, 2, 3})));
  EXPECT_EQ(all.size(), 1 + 24 + 5u);
}

TEST(Tensor, CutAndPasteAreInverse) {
  const std::vector<std::int64_t> shape{3, 4, 5};
  Tensor whole = zeros(DType::s8, shape);
  for (int i = 0; i < 60; ++i) whole.bytes[i] = std::byte(i);
  for (std::int64_t a = 0; a <= 3; ++a)
    for (std::int64_t b = 0; b <= 4; ++b)
      for (std::int64_t c = 0; c <= 5; ++c) {
        const Slice slice{
            {a / 2, a},
            {b / 3, b},
            {c / 2, c}
        };
        std::vector<std::byte> block(elements(slice));
        cut(shape, slice, whole.bytes.data(), block.data(), 1);
        std::int64_t at = 0;
        for (std::int64_t i = a / 2; i < a; ++i)
          for (std::int64_t j = b / 3; j < b; ++j)
            for (std::int64_t k = c / 2; k < c; ++k) EXPECT_EQ(block[at++], whole.bytes[(i * 4 + j) * 5 + k]);
        Tensor back = whole;
        paste(shape, slice, block.data(), back.bytes.data(), 1);
        EXPECT_EQ(back, whole);
      }
}

}  // namespace
}  // namespace plumb
