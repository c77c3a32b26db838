// Convolutions with every attribute different along each dimension, against the sum written out; and what
// does not fit together is refused.
#include "reference/hlo/run/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace plumb::hlo {
namespace {

// Two spatial dimensions: input [b, 0, 1, f], kernel [0, i, o, 1], result [f, b, 1, 0].
struct Case {
  std::string labels = "b01f_0io1->fb10";
  std::vector<WindowDim> window = {
      {2, 1, 1, 0, 2, 2, false},
      {3, 2, 0, 2, 1, 1, true }
  };
  std::int64_t groups = 1, batches = 1;
  std::int64_t batch = 2, features = 3, outputs = 4;  // of the result, of the kernel, of the kernel
  std::int64_t high = 3, wide = 5;                    // of the input

  Integers input() const { return {batch * batches, high, wide, features * groups}; }
  Integers kernel() const { return {window[0].size, features, outputs, window[1].size}; }
  std::int64_t places(std::size_t d, std::int64_t n) const {
    const WindowDim& w = window[d];
    const std::int64_t last = (n - 1) * w.base_dilation + w.low + w.high - (w.size - 1) * w.dilation;
    return last < 0 ? 0 : last / w.stride + 1;
  }
  Integers result() const { return {outputs, batch, places(1, wide), places(0, high)}; }

  Terms terms() const {
    Instruction i;
    i.opcode = Opcode::convolution;
    i.attributes = {
        {Key::dim_labels, labels},
        {Key::window,     window}
    };
    if (groups != 1) i.attributes.push_back({Key::feature_group_count, groups});
    if (batches != 1) i.attributes.push_back({Key::batch_group_count, batches});
    return convolution_terms(i, input(), kernel(), result());
  }
};

std::int64_t place(const Integers& dims, const Integers& index) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) n = n * dims[d] + index[d];
  return n;
}

// Where the window's place k meets the input along a spatial dimension, from the result's place; -1 nowhere.
std::int64_t met(const WindowDim& w, std::int64_t out, std::int64_t k, std::int64_t extent) {
  const std::int64_t x = out * w.stride - w.low + k * w.dilation;
  if (x < 0 || x % w.base_dilation != 0) return -1;
  return x / w.base_dilation < extent ? x / w.base_dilation : -1;
}

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// The elements of input and kernel whose products an element of the result sums.
Pairs expected(const Case& c, const Integers& out) {
  Pairs pairs;
  const std::int64_t o = out[0], group = o * c.groups / c.outputs, set = o * c.batches / c.outputs;
  for (std::int64_t k0 = 0; k0 < c.window[0].size; ++k0)
    for (std::int64_t k1 = 0; k1 < c.window[1].size; ++k1)
      for (std::int64_t f = 0; f < c.features; ++f) {
        const std::int64_t y = met(c.window[0], out[3], k0, c.high), x = met(c.window[1], out[2], k1, c.wide);
        if (y < 0 || x < 0) continue;
        const auto tap = [&](std::size_t d, std::int64_t k) {
          return c.window[d].reversed ? c.window[d].size - 1 - k : k;
        };
        pairs.emplace_back(place(c.input(), {set * c.batch + out[1], y, x, group * c.features + f}),
                           place(c.kernel(), {tap(0, k0), f, o, tap(1, k1)}));
      }
  std::ranges::sort(pairs);
  return pairs;
}

void judged(const Case& c) {
  const Terms terms = c.terms();
  ASSERT_EQ(std::ssize(terms.begin), count(c.result()) + 1);
  std::size_t n = 0;
  each_index(c.result(), [&](const Integers& out) {
    Pairs got;
    for (std::int64_t t = terms.begin[n]; t < terms.begin[n + 1]; ++t)
      got.emplace_back(terms.input[static_cast<std::size_t>(t)], terms.kernel[static_cast<std::size_t>(t)]);
    std::ranges::sort(got);
    ASSERT_EQ(got, expected(c, out)) << "element " << n;
    ++n;
  });
  EXPECT_EQ(terms.begin.back(), std::ssize(terms.input));
}

TEST(Convolution, EveryAttributeOtherAlongEachDimension) {
  judged({});
  Case c;
  c.groups = 2;
  judged(c);
  c.groups = 1, c.batches = 4;
  judged(c);
  c.groups = 2, c.batches = 2,
  c.window = {
      {2, 3, 2,  1, 3, 1, true },
      {1, 1, -1, 1, 2, 1, false}
  };
  judged(c);
  c.window = {
      {4, 1, 0, 0, 1, 1, false},
      {5, 1, 0, 0, 1, 1, false}
  };  // larger than the input, and as large
  EXPECT_EQ(c.result()[3], 0);
  judged(c);
}

TEST(Convolution, WithoutSpatialDimensionsItIsAProduct) {
  Instruction i;
  i.attributes = {
      {Key::dim_labels, std::string("bf_io->bf")}
  };
  const Terms terms = convolution_terms(i, {2, 3}, {3, 4}, {2, 4});
  EXPECT_EQ(std::ssize(terms.input), 2 * 3 * 4);
  EXPECT_EQ(Integers(terms.input.begin() + 12, terms.input.begin() + 15), (Integers{3, 4, 5}));
  EXPECT_EQ(Integers(terms.kernel.begin() + 3, terms.kernel.begin() + 6), (Integers{1, 5, 9}));
  EXPECT_THROW(convolution_terms(i, {2, 3, 1}, {3, 4}, {2, 4}), Misfit);
  EXPECT_THROW(convolution_terms(i, {2, 3}, {3, 4, 1}, {2, 4}), Misfit);
  EXPECT_THROW(convolution_terms(i, {2}, {3}, {2}), Misfit);
}

TEST(Convolution, ThePlacesMayBeLeftOut) {
  Instruction i;
  i.attributes = {
      {Key::dim_labels, std::string("b0f_0io->b0f")}
  };
  EXPECT_EQ(convolution_terms(i, {1, 3, 1}, {1, 1, 1}, {1, 3, 1}).input, (Integers{0, 1, 2}));
  EXPECT_EQ(convolution_terms(i, {1, 0, 1}, {1, 1, 1}, {1, 0, 1}).input, Integers{});
  i.attributes.push_back({Key::window, std::vector<WindowDim>(2)});
  EXPECT_THROW(convolution_terms(i, {1, 3, 1}, {1, 1, 1}, {1, 3, 1}), Misfit);
}

TEST(Convolution, WhatDoesNotFit) {
  for (const char* labels :
       {"b00f_0io1->fb10", "bx1f_0io1->fb10", "x01f_0io1->fb10", "b01x_0io1->fb10", "b01f_0xo1->fb10",
        "b01f_0ix1->fb10", "b01f_1io1->fb10", "b01f_0io1->fb1x", "b01f_0io1->fx10", "b01f_0io1->xb10",
        "b01f_0io1", "b01f->0io1_fb10", "b01ff_0io1->fb10", "b01f_0io->fb10", "b01f_0io1->fb1"}) {
    Case c;
    c.labels = labels;
    EXPECT_THROW(c.terms(), Misfit) << labels;
  }
  const auto refused = [](const Integers& input, const Integers& kernel, const Integers& result,
                          std::int64_t groups, std::int64_t batches) {
    Instruction i;
    i.attributes = {
        {Key::dim_labels,          std::string("b0f_0io->b0f")                      },
        {Key::window,              std::vector<WindowDim>{{2, 2, 0, 0, 1, 1, false}}},
        {Key::feature_group_count, groups                                           },
        {Key::batch_group_count,   batches                                          }
    };
    try {
      convolution_terms(i, input, kernel, result);
      return false;
    } catch (const Misfit&) {
      return true;
    }
  };
  EXPECT_FALSE(refused({4, 6, 6}, {2, 3, 4}, {2, 3, 4}, 2, 2));
  EXPECT_TRUE(refused({4, 6, 5}, {2, 3, 4}, {2, 3, 4}, 2, 2));
  EXPECT_TRUE(refused({3, 6, 6}, {2, 3, 4}, {2, 3, 4}, 2, 2));
  EXPECT_TRUE(refused({4, 6, 6}, {2, 3, 4}, {2, 3, 5}, 2, 2));
  EXPECT_TRUE(refused({4, 6, 6}, {2, 3, 4}, {2, 2, 4}, 2, 2));
  EXPECT_TRUE(refused({4, 6, 6}, {3, 3, 4}, {2, 3, 4}, 2, 2));
  EXPECT_TRUE(refused({4, 6, 6}, {2, 3, 3}, {2, 3, 3}, 2, 1));
  EXPECT_TRUE(refused({4, 6, 3}, {2, 3, 3}, {2, 3, 3}, 1, 2));
  EXPECT_TRUE(refused({0, 6, 0}, {2, 3, 4}, {2, 3, 4}, 0, 2));
  EXPECT_TRUE(refused({0, 6, 6}, {2, 3, 4}, {2, 3, 4}, 2, 0));
  EXPECT_FALSE(refused({2, 0, 3}, {2, 3, 4}, {2, 0, 4}, 1, 1));
  EXPECT_FALSE(refused({2, 1, 3}, {2, 3, 4}, {2, 0, 4}, 1, 1));
  EXPECT_FALSE(refused({2, 2, 3}, {2, 3, 4}, {2, 1, 4}, 1, 1));
}

}  // namespace
}  // namespace plumb::hlo
