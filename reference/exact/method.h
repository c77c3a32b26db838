// By which method a product is computed.
#pragma once

#include "reference/exact/task.h"

namespace plumb {

// By a single dgemm; by three of halves (halves.h), where products cancel or a result holds more bits than
// one dgemm proves; by none.
enum class Method { single_dgemm, halves, bins };

// The first of which a sample says that it proves half of the elements.
Method method_of(const Task&);

}  // namespace plumb
