// Which elements a gather and a scatter mean, at every border of the operand, against their definitions
// written out; and what does not fit together is refused.
#include <gtest/gtest.h>

#include <algorithm>

#include "reference/hlo/run/testing/by_index.h"

namespace plumb::hlo {
namespace {

// A gather whose result, operand and indices are laid as the attributes say, written out: of result
// [wide, row, batch, tall], operand [batch, one, wide, tall], indices [row, vector, batch].
struct Gathered {
  Integers operand = {3, 4, 6, 5}, indices = {2, 2, 3}, result = {4, 2, 3, 2};
  Integers sizes = {1, 1, 4, 2};

  Instruction instruction() const {
    Instruction i;
    i.opcode = Opcode::gather, i.shape = shape(result);
    i.attributes = {
        {Key::offset_dims,                 Integers{0, 3} },
        {Key::collapsed_slice_dims,        Integers{1}    },
        {Key::start_index_map,             Integers{3, 1} },
        {Key::operand_batching_dims,       Integers{0}    },
        {Key::start_indices_batching_dims, Integers{2}    },
        {Key::index_vector_dim,            std::int64_t{1}},
        {Key::slice_sizes,                 sizes          }
    };
    return i;
  }
};

TEST(Indexing, AGatherAtEveryBorder) {
  const Gathered g;
  const Indexing x = gather_indexing(g.instruction(), shape(g.operand), shape(g.indices));
  // Of the dimensions 3 and 1, for each batch, in each row: inside, at the last place, past it, before the
  // first.
  const Integers starts = {0, 3, 4, 3, 0, 2, -1, 2, 1, 1, 4, -2};
  const auto source = [&](const Integers& i, bool clamped) {
    const auto start = [&](std::int64_t v) {
      return starts[static_cast<std::size_t>(place(g.indices, {i[1], v, i[2]}))];
    };
    std::int64_t tall = start(0), one = start(1);
    const bool inside = tall >= 0 && tall <= 3 && one >= 0 && one <= 3;
    if (clamped) tall = std::clamp<std::int64_t>(tall, 0, 3), one = std::clamp<std::int64_t>(one, 0, 3);
    return clamped || inside ? Integers{i[2], one, i[0], tall + i[3]} : Integers{-1, 0, 0, 0};
  };
  for (const bool clamped : {true, false}) {
    const auto want = each(g.result, g.operand, [&](const Integers& i) { return source(i, clamped); });
    EXPECT_EQ(indexed_map(x, starts.data(), clamped), want) << clamped;
    EXPECT_EQ(std::ranges::count(want, -1) > 0, !clamped);
    EXPECT_LT(std::ranges::count(want, -1), std::ssize(want));
  }
}

// The vectors' dimension may be one past those of the indices: each is one number.
TEST(Indexing, AScatterByNumbers) {
  Instruction i;
  i.opcode = Opcode::scatter;
  i.attributes = {
      {Key::update_window_dims,           Integers{0, 2} },
      {Key::inserted_window_dims,         Integers{1}    },
      {Key::scatter_dims_to_operand_dims, Integers{1}    },
      {Key::index_vector_dim,             std::int64_t{1}}
  };
  const Integers operand = {3, 5, 4}, indices = {4}, updates = {2, 4, 3}, starts = {4, 0, 5, -1};
  const Indexing x = scatter_indexing(i, shape(operand), shape(indices), shape(updates));
  EXPECT_EQ(x.window, (Integers{2, 1, 3}));
  EXPECT_EQ(indexed_map(x, starts.data(), false), each(updates, operand, [&](const Integers& u) {
              return Integers{u[0], starts[static_cast<std::size_t>(u[1])], u[2]};
            }));
  i.attributes.back().value = std::int64_t{2};
  EXPECT_THROW(scatter_indexing(i, shape(operand), shape(indices), shape(updates)), Misfit);
  i.attributes.back().value = std::int64_t{1};
  EXPECT_THROW(scatter_indexing(i, shape(operand), shape(indices), shape({2, 4})), Misfit);
  EXPECT_THROW(scatter_indexing(i, shape({3, 5}), shape(indices), shape(updates)), Misfit);
  EXPECT_THROW(scatter_indexing(i, shape(operand), shape(indices), shape({2, 3, 3})), Misfit);
  EXPECT_THROW(scatter_indexing(i, shape(operand), shape(indices), shape({2, 4, 5})), Misfit);
}

TEST(Indexing, WhatDoesNotFit) {
  const Gathered good;
  const auto refused = [&](Key key, const Setting& value) {
    Instruction i = good.instruction();
    for (Attribute& a : i.attributes)
      if (a.key == key) a.value = value;
    EXPECT_THROW(gather_indexing(i, shape(good.operand), shape(good.indices)), Misfit) << row(key).name;
  };
  EXPECT_NO_THROW(gather_indexing(good.instruction(), shape(good.operand), shape(good.indices)));
  refused(Key::index_vector_dim, std::int64_t{-1});
  refused(Key::index_vector_dim, std::int64_t{3});
  refused(Key::index_vector_dim, std::int64_t{4});
  refused(Key::offset_dims, Integers{0, 4});
  refused(Key::offset_dims, Integers{-1, 3});
  refused(Key::offset_dims, Integers{0});
  refused(Key::offset_dims, Integers{3, 0});
  refused(Key::offset_dims, Integers{0, 1});
  refused(Key::collapsed_slice_dims, Integers{4});
  refused(Key::collapsed_slice_dims, Integers{-1});
  refused(Key::collapsed_slice_dims, Integers{});
  refused(Key::start_index_map, Integers{3, 4});
  refused(Key::start_index_map, Integers{-1, 1});
  refused(Key::start_index_map, Integers{3});
  refused(Key::operand_batching_dims, Integers{4});
  refused(Key::operand_batching_dims, Integers{-1});
  refused(Key::operand_batching_dims, Integers{});
  refused(Key::start_indices_batching_dims, Integers{3});
  refused(Key::start_indices_batching_dims, Integers{-1});
  refused(Key::start_indices_batching_dims, Integers{});
  refused(Key::slice_sizes, Integers{1, 1, 4});
  refused(Key::slice_sizes, Integers{1, 1, 4, 2, 1});
  refused(Key::slice_sizes, Integers{1, 1, 3, 2});
  refused(Key::slice_sizes, Integers{1, 2, 4, 2});
  refused(Key::slice_sizes, Integers{2, 1, 4, 2});
  refused(Key::slice_sizes, Integers{1, -1, 4, 2});
  Gathered wide = good;  // a window larger than the operand, in a dimension of its own and in a collapsed one
  wide.operand[2] = 3;
  EXPECT_THROW(gather_indexing(wide.instruction(), shape(wide.operand), shape(wide.indices)), Misfit);
  wide = good, wide.result.push_back(1);
  EXPECT_THROW(gather_indexing(wide.instruction(), shape(wide.operand), shape(wide.indices)), Misfit);
  wide = good, wide.sizes[2] = 0, wide.result[0] = 0;
  EXPECT_NO_THROW(gather_indexing(wide.instruction(), shape(wide.operand), shape(wide.indices)));
  wide = good, wide.operand[1] = 0;
  EXPECT_THROW(gather_indexing(wide.instruction(), shape(wide.operand), shape(wide.indices)), Misfit);
  wide = good, wide.sizes[1] = 1, wide.result.insert(wide.result.begin(), 4);  // one more that is no index's
  {
    Instruction more = wide.instruction();
    for (Attribute& a : more.attributes)
      if (a.key == Key::offset_dims) a.value = Integers{0, 1, 4};
    EXPECT_THROW(gather_indexing(more, shape(wide.operand), shape(wide.indices)), Misfit)
        << "more dimensions of the window than the window has";
  }
  wide = good, wide.result[1] = 3;
  EXPECT_THROW(gather_indexing(wide.instruction(), shape(wide.operand), shape(wide.indices)), Misfit);
}

}  // namespace
}  // namespace plumb::hlo
