// Where elements come from, against definitions written out index by index, with every extent and attribute
// different along each dimension; and what does not fit together is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/hlo/run/testing/by_index.h"

namespace plumb::hlo {
namespace {

TEST(Maps, Broadcast) {
  for (const auto& [from, dims, to] : std::vector<std::array<Integers, 3>>{
           {Integers{},     {},     {2, 3}   },
           {Integers{3},    {1},    {2, 3}   },
           {Integers{2, 4}, {0, 2}, {2, 3, 4}},
           {Integers{4, 2}, {2, 0}, {2, 3, 4}},
           {Integers{0},    {0},    {0, 2}   }
  })
    EXPECT_EQ(broadcast_map(shape(from), dims, shape(to)),
              each(to, from, [&, d = dims](const Integers& index) {
                Integers at;
                for (const std::int64_t i : d) at.push_back(index[static_cast<std::size_t>(i)]);
                return at;
              }));
  EXPECT_THROW(broadcast_map(shape({2}), {}, shape({2, 2})), Misfit);
  EXPECT_THROW(broadcast_map(shape({2, 2}), {0, 0}, shape({2, 2})), Misfit);
  EXPECT_THROW(broadcast_map(shape({2}), {2}, shape({2, 2})), Misfit);
  EXPECT_THROW(broadcast_map(shape({2}), {-1}, shape({2, 2})), Misfit);
  EXPECT_THROW(broadcast_map(shape({1}), {0}, shape({2, 2})), Misfit);
}

TEST(Maps, TransposeAndReverse) {
  const Integers from = {2, 3, 4};
  EXPECT_EQ(transpose_map(shape(from), {2, 0, 1}, shape({4, 2, 3})),
            each({4, 2, 3}, from, [](const Integers& i) {
              return Integers{i[1], i[2], i[0]};
            }));
  EXPECT_THROW(transpose_map(shape(from), {0, 1}, shape(from)), Misfit);
  EXPECT_THROW(transpose_map(shape(from), {0, 1, 1}, shape(from)), Misfit);
  EXPECT_THROW(transpose_map(shape(from), {0, 1, 3}, shape(from)), Misfit);
  EXPECT_THROW(transpose_map(shape(from), {2, 0, 1}, shape({4, 3, 2})), Misfit);
  EXPECT_THROW(transpose_map(shape(from), {0, 1, 2}, shape({2, 3, 4, 1})), Misfit);
  EXPECT_EQ(reverse_map(shape(from), {2, 0}, shape(from)), each(from, from, [](const Integers& i) {
              return Integers{1 - i[0], i[1], 3 - i[2]};
            }));
  EXPECT_THROW(reverse_map(shape(from), {3}, shape(from)), Misfit);
  EXPECT_THROW(reverse_map(shape(from), {1, 1}, shape(from)), Misfit);
  EXPECT_THROW(reverse_map(shape(from), {1}, shape({2, 3, 5})), Misfit);
}

TEST(Maps, Slice) {
  const Integers from = {7, 5, 4};
  EXPECT_EQ(slice_map(shape(from),
                      {
                          {1, 7, 2},
                          {0, 4, 3},
                          {4, 4, 1}
  },
                      shape({3, 2, 0})),
            Integers{});
  EXPECT_EQ(slice_map(shape(from),
                      {
                          {1, 7, 2},
                          {0, 4, 3},
                          {1, 4, 1}
  },
                      shape({3, 2, 3})),
            each({3, 2, 3}, from, [](const Integers& i) {
              return Integers{1 + 2 * i[0], 3 * i[1], 1 + i[2]};
            }));
  const auto one = [](const Range& r, std::int64_t size) {
    return slice_map(shape({7}), {r}, shape({size}));
  };
  EXPECT_EQ(one({0, 7, 7}, 1), Integers{0});
  EXPECT_THROW(one({-1, 2, 1}, 3), Misfit);
  EXPECT_THROW(one({3, 2, 1}, 0), Misfit);
  EXPECT_THROW(one({3, 2, 2}, 0), Misfit);
  EXPECT_THROW(one({3, 8, 1}, 5), Misfit);
  EXPECT_THROW(one({3, 7, 0}, 4), Misfit);
  EXPECT_THROW(one({3, 7, -1}, 4), Misfit);
  EXPECT_THROW(one({0, 7, 2}, 3), Misfit);
  const std::vector<Range> one_range = {
      {0, 7, 1}
  };
  EXPECT_THROW(slice_map(shape({7, 7}), one_range, shape({7})), Misfit);
  EXPECT_THROW(slice_map(shape({
                             7, 7
  }),
                         {{0, 7, 1}}, shape({7, 7})),
               Misfit);
  EXPECT_THROW(slice_map(shape({
                             7
  }),
                         {{0, 7, 1}}, shape({7, 1})),
               Misfit);
}

TEST(Maps, Pad) {
  const Integers from = {3, 2, 4}, to = {3 + 2 * 2 + 1 + 2, 2 + 3, 4 - 1 - 2 + 3};
  const std::vector<Pad> pads = {
      {1,  2,  2},
      {3,  0,  0},
      {-1, -2, 1}
  };
  const auto source = [&](const Integers& index) {
    Integers at;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t i = index[d] - pads[d].low, step = pads[d].inside + 1;
      at.push_back(i < 0 || i % step != 0 ? -1 : i / step);
    }
    return at;
  };
  EXPECT_EQ(pad_map(shape(from), pads, shape(to)), each(to, from, source));
  const auto one = [](std::int64_t n, const Pad& p, std::int64_t size) {
    return pad_map(shape({n}), {p}, shape({size}));
  };
  EXPECT_EQ(one(0, {1, 1, 3}, 2), (Integers{-1, -1}));
  EXPECT_EQ(one(1, {0, 1, 3}, 2), (Integers{0, -1}));
  EXPECT_THROW(one(2, {0, 0, -1}, 1), Misfit);
  EXPECT_THROW(one(2, {1, 1, 0}, 5), Misfit);
  EXPECT_THROW(pad_map(shape({
                           2, 2
  }),
                       {{0, 0, 0}}, shape({2, 2})),
               Misfit);
  EXPECT_THROW(pad_map(shape({
                           2
  }),
                       {{0, 0, 0}}, shape({2, 1})),
               Misfit);
}

TEST(Maps, Concatenate) {
  const Integers to = {2, 7, 3};
  EXPECT_EQ(concatenate_map(shape({2, 4, 3}), 1, 2, shape(to)), each({2, 4, 3}, to, [](const Integers& i) {
              return Integers{i[0], i[1] + 2, i[2]};
            }));
  EXPECT_NO_THROW(concatenate_map(shape({2, 4, 3}), 1, 3, shape(to)));
  EXPECT_THROW(concatenate_map(shape({2, 4, 3}), 1, 4, shape(to)), Misfit);
  EXPECT_THROW(concatenate_map(shape({2, 4, 2}), 1, 0, shape(to)), Misfit);
  EXPECT_THROW(concatenate_map(shape({2, 4, 4}), 1, 0, shape(to)), Misfit);
  EXPECT_THROW(concatenate_map(shape({2, 4}), 1, 0, shape(to)), Misfit);
  EXPECT_THROW(concatenate_map(shape(to), 3, 0, shape(to)), Misfit);
  EXPECT_THROW(concatenate_map(shape(to), -1, 0, shape(to)), Misfit);
}

TEST(Maps, Blocks) {
  const Integers dims = {4, 5, 3}, sizes = {2, 5, 1};
  EXPECT_EQ(block_map(dims, sizes), each(sizes, dims, [](const Integers& i) { return i; }));
  EXPECT_EQ(block_map(dims, {2, 0, 1}), Integers{});
  EXPECT_THROW(block_map(dims, {2, 5}), Misfit);
  EXPECT_THROW(block_map(dims, {2, 6, 1}), Misfit);
  EXPECT_THROW(block_map(dims, {2, -1, 1}), Misfit);
  for (std::int64_t a = -2; a < 5; ++a)
    for (std::int64_t b = -1; b < 2; ++b)
      for (std::int64_t c = -1; c < 4; ++c) {
        const Integers inside = {std::clamp<std::int64_t>(a, 0, 2), 0, std::clamp<std::int64_t>(c, 0, 2)};
        EXPECT_EQ(block_offset(dims, sizes, {a, b, c}), place(dims, inside));
      }
}

TEST(Maps, MatricesAndOtherDimensions) {
  const Integers dims = {2, 3, 4, 5};
  EXPECT_EQ(listed(matrices(dims, {3, 0}, {2, 1})), each({5, 2, 4, 3}, dims, [](const Integers& i) {
              return Integers{i[1], i[3], i[2], i[0]};
            }));
  EXPECT_THROW(matrices(dims, {3, 0}, {2}), Misfit);
  EXPECT_THROW(matrices(dims, {3, 0}, {2, 4}), Misfit);
  EXPECT_THROW(matrices(dims, {3, -1}, {2, 1}), Misfit);
  const Integers a = {1}, b = {3, 0}, c;
  EXPECT_EQ(others(5, {&a, &b}), (Integers{2, 4}));
  EXPECT_EQ(others(2, {&c}), (Integers{0, 1}));
  EXPECT_EQ(others(2, {&a}), (Integers{0}));
  int calls = 0;
  each_index({2, 0}, [&](const Integers&) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(Maps, Windows) {
  const Integers from = {5, 4, 3}, to = {4, 3, 2};
  const std::vector<WindowDim> window = {
      {2, 2, 1, 0, 2, 3, false},
      {3, 1, 2, 0, 1, 2, false},
      {1, 3, 0, 0, 3, 1, false}
  };
  for (const Integers& at : {
           Integers{0, 0, 0},
           Integers{1, 2, 0},
           Integers{0, 1, 0},
           Integers{1, 0, 0}
  })
    EXPECT_EQ(window_map(from, window, to, at), each(to, from, [&](const Integers& i) {
                Integers source;
                for (std::size_t d = 0; d < 3; ++d) {
                  const std::int64_t x = i[d] * window[d].stride + at[d] * window[d].dilation - window[d].low;
                  source.push_back(x < 0 || x % window[d].base_dilation ? -1 : x / window[d].base_dilation);
                }
                return source;
              }));
}

// A window has a place wherever it lies within the padded extent: of nothing, within its padding alone.
TEST(Maps, HowManyWindowsThereAre) {
  for (std::int64_t extent = 0; extent < 5; ++extent)
    for (std::int64_t n = 0; n < 3 * 2 * 3 * 2 * 2 * 3; ++n) {
      const WindowDim w{1 + n % 3,      1 + n / 3 % 2, n / 6 % 3 - 1, n / 18 % 2,
                        1 + n / 36 % 2, 1 + n / 72,    false};
      std::int64_t padded = w.low + w.high, want = 0;
      for (std::int64_t i = 0; i < extent; ++i) padded += i == 0 ? 1 : w.base_dilation;
      for (std::int64_t begin = 0; begin + (w.size - 1) * w.dilation < padded; begin += w.stride) ++want;
      EXPECT_EQ(windows_of({extent}, {w}), Integers{want}) << extent << " " << n;
    }
}

}  // namespace
}  // namespace plumb::hlo
