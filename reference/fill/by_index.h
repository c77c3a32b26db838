// The fills that know an element by its index alone.
#pragma once

#include <cstddef>

#include "reference/fill/recipe.h"
#include "reference/fill/run.h"

namespace plumb {

void write_run(const Recipe&, const Provenance&, const Run&, std::byte* out);
void write_run(const Recipe&, const Normal&, const Run&, std::byte* out);
void write_run(const Recipe&, const Addends&, const Run&, std::byte* out);
void write_run(const Recipe&, const Contest&, const Run&, std::byte* out);
void write_run(const Recipe&, const Wrapping&, const Run&, std::byte* out);

}  // namespace plumb
