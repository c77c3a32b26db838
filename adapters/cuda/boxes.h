// Boxes of elements that a device moves at once.
#pragma once

#include <span>
#include <vector>

#include "adapters/cuda/laid.h"
#include "adapters/cuda/work.h"
#include "adapters/rank/arithmetic.h"

namespace plumb::cuda {

// Where the elements of a box lie: bytes from where the memory begins to the first, and from each to the next
// along each dimension.
struct Place {
  std::int64_t offset = 0;
  std::vector<std::int64_t> steps;
};
Place place_of(const Blocks&, std::int64_t device, const std::int64_t* box);

// Dense, nothing else about it, the first at 0.
Place place_alone(const std::int64_t* box, int rank, std::int64_t width);

// A box, (begin, end) of each dimension, and where it lies at the receiver, then at each source; which source
// is the receiver's own, -1 where none is.
struct BoxMove {
  const std::int64_t* box = nullptr;
  std::vector<Place> places;
  std::int32_t own = -1;
};

Meeting meeting(const Combine&);

// What a device is asked, with its tables in the device's memory.
struct LaidMoves {
  Laid<Piece> pieces;
  Laid<std::int64_t> numbers;
  Moves moves;
};

// Of `Moves` the memories, formats, meeting and order are given. Copies, which know no values, move as many
// bytes at once as all boxes allow.
LaidMoves lay_moves(const Hands&, std::span<const BoxMove>, Moves);

}  // namespace plumb::cuda
