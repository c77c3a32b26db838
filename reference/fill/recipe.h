// A case's data, prepared: what is worked out once, however many slices are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "reference/fill/coded.h"
#include "reference/fill/patterns.h"
#include "reference/fill/product.h"
#include "reference/fill/shares.h"
#include "reference/fill/tiled.h"
#include "reference/fill/unit.h"
#include "reference/words/op.h"
#include "reference/words/tensor.h"

namespace plumb {

// The whole array of an operand, and how many parts make it.
struct Source {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0, parts = 1;
};

// Each element has its own pattern where there are enough, else a hashed one.
struct Provenance {
  Patterns patterns;
  Permutation order;
  bool distinct = true;
};

// Of `normal`, and of products for which there are no exact data. Rounded draws from (nearly) the normal
// distribution, mean 0 and variance 1: 64 fair coins and four uniform numbers, added as integers and scaled
// by one multiplication, so that no library decides a bit.
struct Normal {};

// The parts of a sum: random signs and magnitudes that share a budget, in units.
struct Addends {
  Shares shares;
  Unit unit;
};

// The parts of a maximum or minimum, integers in units: of each element another part wins, each of them
// once in as many elements as there are parts. All others are less (or more), none is zero, and every
// second winner is on the wrong side of zero: less than it where the largest wins. Where the unit leaves one
// magnitude alone, floats differ by powers of two, up to `octaves`. Of integers every second winner is then
// minus that one, and what loses to it any of the `beyond` numbers past it; where there are none, 0.
struct Contest {
  std::int64_t parts = 1, most = 1;  // magnitudes are 1 to most
  bool largest = true;
  Unit unit;
  int octaves = 0;
  std::optional<std::int64_t> beyond{};
};

// Integers that wrap: every word but zero, times 2^shift. In a product those of the second operand are
// odd, so that no term is zero modulo the result. The parts of an operand of a product must not wrap,
// for their sum is not taken modulo anything: they share the range.
struct Wrapping {
  struct Operand {
    bool whole_range = true, odd = false;
    int shift = 0;
    Shares shares;
  } operand[2];
};

struct Recipe {
  std::uint64_t seed = 0;
  std::vector<Source> sources;
  std::variant<Provenance, Normal, Addends, Contest, Wrapping, Product, Tiled, Coded> data;
};
// Law: no result of a few elements is alike by chance: data of which it would be are drawn again (tiny.h).
Recipe recipe(const Case&);

// A slice of one part of an operand.
struct Portion {
  int operand = 0;
  std::int64_t part = 0;
  Slice slice;
};

// Writes the elements of the portion, dense. fill() and fill_slice() are made of this.
void write(const Recipe&, const Portion&, std::byte* out);

}  // namespace plumb
