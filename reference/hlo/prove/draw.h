// What a module is run on: drawn arguments, the same for both sides.
#pragma once

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/array.h"

namespace plumb::hlo {

// For each parameter the least and the greatest number that is drawn, where it holds integers: below the
// smallest extent that it indexes, through whatever reshapes, arithmetic, calls and loops it gets there.
struct Bounds {
  std::int64_t low = 0, high = 0;
  bool indexes = false;
};
std::vector<Bounds> bounds_of(const Module&);

// The arguments of a draw, whole. Some element of an array of integers is the least, and one the greatest; a
// single integer is the least in one of every eight draws, and the greatest in one. A float's real is of
// either sign and between 1/2 and 2, times a scale: of every eight draws 1 in the first, 1/8 in the next, and
// in the others one of each argument, from 1/32 to 32. So what saturates in one draw, or is decided one way,
// is not in another. Its residue is any. In the last of every eight there are ties: each element of an array
// is zero or one of three numbers that all arrays share, of scale 1.
bool is_plain(std::uint64_t seed);  // of scale 1, without ties
bool has_ties(std::uint64_t seed);
std::vector<Value<Twin>> drawn(const Module&, const std::vector<Bounds>&, std::uint64_t seed);
// Of argument `p` what each device holds, `fill` behind its end; nothing else of it is drawn.
Value<Twin> drawn(const Module&, const std::vector<Bounds>&, std::size_t p, std::uint64_t seed,
                  const Division&, const Array<Twin>& fill);

}  // namespace plumb::hlo
