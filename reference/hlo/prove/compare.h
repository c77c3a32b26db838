// Whether what devices hold of a result is what it should be.
#pragma once

#include "reference/hlo/prove/pairs.h"
#include "reference/hlo/run/maps.h"

namespace plumb::hlo {

// A result that is not what it should be.
struct Difference {
  std::int64_t result = 0;
  Shape shape;
  std::int64_t elements = 0, devices = 0;
  std::int64_t device = 0;  // the first that is wrong, and where
  Integers index;
};

// One result: what it is, and what devices hold of it. Reals differ where they are further apart than 2^-20
// of its largest, or of `usual` if that is more; `by_errors`: and than they may be off.
struct Sides {
  const Array<Twin>&whole, &held;
  bool by_errors = false;
  double usual = 0;
};

struct Compared {
  Difference difference;
  bool reals_differ = false, finite = true;
  double largest = 0;         // of the whole
  std::int64_t elements = 0;  // of all devices together, without what lies behind the end
};

// Residues are compared, element by element. Throws Misfit where the result is not whole.
Compared compare_sides(Pairs&, const Sides&, const Division&);

}  // namespace plumb::hlo
