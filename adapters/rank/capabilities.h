// What execute() and quantize() can do, as the capabilities of a hello.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reference/words/op.h"

namespace plumb {

nlohmann::json what_ranks_can();

// What all devices hold of the largest layout of a case, were every block as large as the largest.
double most_held_bytes(const Case&);

}  // namespace plumb
