// What a device needs of a grouped product's operands and makes of its result: the weights of groups that it
// has rows of, and the rows of groups that it computes.
#pragma once

#include <string>

#include "adapters/plan/plan.h"

namespace plumb {

// A piece of the first dimension that is needed or not as a whole: a single group, or a run of rows with
// their group.
struct Unsplit {
  Range range;
  std::int64_t group;
};

// The rows and groups of a device.
struct GroupWork {
  Range rows, groups;
};

// An array of a grouped product in pieces, in order; rows of no group are in none.
struct InPieces {
  const LocalProduct& product;
  bool weights;  // else rows
  std::vector<Unsplit> all;
  std::vector<GroupWork> works;  // of each device
};
InPieces pieces(const Plan&, const std::string& letters);

// Whether a device reads or makes something of a piece.
bool concerns(const InPieces&, std::uint32_t device, std::int64_t piece);

}  // namespace plumb
