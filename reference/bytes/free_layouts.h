// Where a result is left whose layout is free. Private to the bytes room.
#pragma once

#include <vector>

#include "reference/words/op.h"

namespace plumb {

// The layouts in which a value that was made as `made` may be left: its sums finished, and each axis of
// the sums, and each that only copies it, splitting a dimension, minor to those that split it already, or
// none (axes beyond the first 1024 layouts: none). Where `made` has one part it stays as it is.
//   f32[8@x,4]+y on x=2,y=2    f32[8@x.y,4]  f32[8@x,4@y]  f32[8@x,4]
std::vector<Spec> layouts_left(const Mesh&, const Spec& made);

// The case with a result of that layout instead of a free one.
Case with_result(const Case&, const Spec&);

}  // namespace plumb
