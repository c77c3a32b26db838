// What a device is asked to do, as plain data that lies in its own memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "adapters/cuda/inverse.h"
#include "reference/device/element_at.h"

namespace plumb::cuda {

// How the parts of a sum are added up: one after another, each sent once; as they go round a ring, where what
// is summed so far is sent on; in pairs, and pairs of pairs.
enum class Order : std::uint8_t { direct, ring, tree };

enum class Meeting : std::uint8_t { copy, add, larger, smaller };

// A box of one receiver, and where the same elements lie at its sources. Its numbers: the sizes, outermost
// first, before which their inverses stand where elements are narrow; of the receiver and then of each source
// an offset and the steps of these dimensions, all in bytes.
struct Piece {
  std::int64_t first = 0;  // the number of its first element among all elements
  std::int64_t at = 0;     // where its sizes begin
  std::int32_t dims = 0, sources = 0;
  std::int32_t own = -1;  // which source is the receiver's own part, which is not sent
};

// The sends of a round: every element of every piece is made of those of its sources. Elements are kept as
// `stored`, and rounded to `wire` when they are sent. No element is made of one that the round makes, but of
// itself.
struct Moves {
  const Piece* pieces = nullptr;
  const std::int64_t* numbers = nullptr;
  std::int64_t count = 0, elements = 0;  // of the pieces; of all of them
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  DType stored = DType::f32, wire = DType::f32;
  Meeting meeting = Meeting::copy;
  Order order = Order::direct;
  // Of copies, which know no values: the bytes of what is an element here; 0: as stored.
  std::int32_t word = 0;
  bool narrow = false;    // elements are less than 2^31, and divided by inverses
  std::int64_t each = 0;  // of narrow pieces: the elements of each where all have as many, else 0
  Inverse by_each;
};

// The product of one device. Its numbers: offsets of lhs, rhs and out in bytes, where its rows are said, the
// steps of the groups in lhs and rhs; then of each letter of the result, and of each that is summed, the size
// and the steps in lhs and rhs. Steps are in elements; the result is dense.
struct Product {
  std::int64_t first = 0, at = 0;
};

// Which rows meet which group: an einsum has none; the group of each row of the result; the rows of each
// group, over which is summed.
enum class Groups : std::uint8_t { none, of_rows, over_rows };

struct Products {
  const Product* products = nullptr;
  const std::int64_t* numbers = nullptr;
  std::int64_t count = 0, elements = 0;
  const std::byte *lhs = nullptr, *rhs = nullptr;
  std::byte* out = nullptr;
  DType lhs_dtype = DType::f32, rhs_dtype = DType::f32, acc = DType::f32;
  std::int32_t letters = 0, summed = 0;
  Groups groups = Groups::none;
  std::int32_t row = 0;  // which letter of the result is the row, or the group
};

// The last of `count` whose first element is not after i.
template <class Part>
constexpr const Part& part_of(const Part* parts, std::int64_t count, std::int64_t i) {
  std::int64_t low = 0;
  for (std::int64_t high = count; high - low > 1;) {
    const std::int64_t middle = low + (high - low) / 2;
    (parts[middle].first <= i ? low : high) = middle;
  }
  return parts[low];
}

}  // namespace plumb::cuda
