// What execute() and quantize() can do, as the capabilities of a hello.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace plumb {

nlohmann::json what_ranks_can();

}  // namespace plumb
