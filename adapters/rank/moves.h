// How elements come from one device's block to another's.
#pragma once

#include <span>

#include "adapters/plan/plan.h"
#include "adapters/rank/arithmetic.h"
#include "adapters/rank/blocks.h"

namespace plumb {

constexpr int kMostDims = 32;

// Both ends of sends, and what becomes of the elements on arrival. Each end holds the devices of this process
// alone: a send between two of them is a move; one that leaves is packed, goes as bytes, and is unpacked
// where it arrives.
struct Link {
  const Blocks* from;
  Blocks* to;
  const CellBoxes* cells;
  Combine combine;  // elements travel as its `wire`
};

// Within the process; returns how many elements went from one device to another. Law: packed, then unpacked,
// the receiver's block has the same bits.
std::int64_t move_within(const Link&, std::span<const Send>);

// A send and where it lies among the bytes of a call; one within the process lies nowhere.
struct Parcel {
  Send send;
  std::int64_t at = -1;
};

// The elements of the cell as they travel, dense, row-major.
std::int64_t packed_bytes(const Link&, const Send&);
std::int64_t packed_bytes(const Link&, std::span<const Parcel>);  // of all, to the end of the last
void pack(const Link&, const Send&, std::byte* to);
void unpack(const Link&, const Send&, const std::byte* from);

// Where the cell lies in the block of a device in one piece; null where it does not.
const std::byte* in_one_piece(const Blocks&, std::int64_t device, const std::int64_t* cell);

}  // namespace plumb
