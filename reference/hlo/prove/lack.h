// What a device lacks of a reduction that is not told what others hold.
#pragma once

#include <optional>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// How lines that are reduced lie over devices: cut into `tiles`, whose numbers are row-major, each device
// holds one of them, `part`; those of one `group` together hold a line. Where nobody knows who holds what
// there is one part to tell from all others, and no device has a number.
struct Parts {
  Integers tiles, part, group;
};

struct Sharing {
  Opcode by;
  Parts parts;
};

// In how many ways devices may lack what others hold, a bit each. Axes of a mesh are factors of the number of
// parts: a device that was not told along one lacks parts whose numbers differ from its own there. Of what
// keeps one element each prime factor is a bit; of a sum each such factor, each dimension, and all, along
// which it was not told.
std::uint64_t ways_to_lack(const Sharing&);

// What one way leaves out: of each group the part where one of the elements that are kept stands, or of sums
// the part whose device is not told; chosen in the first run of the reduction.
struct Lack {
  std::uint64_t seed = 0;
  int way = 0;  // of a sum
  Integers chosen{};
};

// What a reduction holds where a part is left out. Nothing where no result of it is another then.
struct Reduced {
  const Sharing& how;
  const Instruction& is;
  const std::vector<Value<Twin>>& operands;
  std::int64_t devices = 1;
};
std::optional<Array<Twin>> without_part(Pairs&, const Reduced&, Lack&);

// The ways in which a device lacks what was left out.
std::uint64_t lacked_by(const Sharing&, const Lack&, std::int64_t device);

}  // namespace plumb::hlo
