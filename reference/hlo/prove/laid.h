// Whether what devices hold may be some value of the program, laid out over them, or parts that add up to
// one.
#pragma once

#include <optional>
#include <vector>

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// What each device holds, as a number that adds up as the elements do.
struct Sums {
  Type type = Type::pred;
  Integers dims;  // of what one holds
  std::vector<Residue> of;
};
Sums sums_of(const Pairs&, const Array<Twin>&, std::int64_t devices);

// Over the devices of a mesh: which tile a device holds is a sum of what its places along the axes say, those
// of the mesh or parts of them, and the first holds the first. So is each layout of a mesh that XLA has a sharding for,
// where the prime factors of the number of devices have at most 64 orders;
// devices that were exchanged, a step too far or in reversed order have none. Of parts: those along some axes
// add up to such a layout. Not known of `whole` where its elements are all the same, but for a single float
// that is not zero.
bool is_laid_out(const Pairs&, const Array<Twin>& whole, const Sums& held);

// The devices that hold the parts which add up to what the first should: itself alone where it holds that.
// Nothing where `held` is not laid out.
std::optional<Integers> parts_of_first(const Pairs&, const Array<Twin>& whole, const Sums& held);

// Whether an array of these may be a tile of `whole`.
bool may_be_tile(const Array<Twin>& whole, Type, const Integers& dims);

}  // namespace plumb::hlo
