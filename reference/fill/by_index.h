// The fills that know an element by its index alone.
#pragma once

#include <cstddef>

#include "reference/fill/recipe.h"

namespace plumb {

// Elements [begin, begin + count) of a part of an operand, in row-major order of its whole array.
struct Run {
  int operand = 0;
  std::int64_t part = 0, begin = 0, count = 0;
};

void write_run(const Recipe&, const Provenance&, const Run&, std::byte* out);
void write_run(const Recipe&, const Normal&, const Run&, std::byte* out);
void write_run(const Recipe&, const Addends&, const Run&, std::byte* out);
void write_run(const Recipe&, const Contest&, const Run&, std::byte* out);
void write_run(const Recipe&, const Wrapping&, const Run&, std::byte* out);
void write_run(const Recipe&, const Tiled&, const Run&, std::byte* out);
void write_run(const Recipe&, const Coded&, const Run&, std::byte* out);

}  // namespace plumb
