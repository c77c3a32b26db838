#pragma once

#include <cstddef>

#include "reference/fill/recipe.h"

namespace plumb {

void write_product(const Recipe&, const Product&, const Portion&, std::byte* out);

}  // namespace plumb
