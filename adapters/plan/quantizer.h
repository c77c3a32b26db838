// How values become codes and scales, as plain data.
#pragma once

#include <optional>
#include <vector>

#include "reference/words/tiles.h"

namespace plumb {

// How the scale of a tile comes from its largest magnitude: that of a block is rounded up to a power of two.
// `none`: values are taken as they are; `quotient`: codes are scaled by amax / largest code itself, not by
// the inverse of its inverse.
enum class Scaling : std::uint8_t { up, down, none, quotient };

struct Quantizer {
  Scheme scheme = Scheme::fp8;
  Tiles tiles;
  std::vector<AxisId> axes;  // along which largest magnitudes are reduced: those that split the values
  Scaling scaling = Scaling::up;
  bool divides = false;    // values by the scale of their codes, where they are multiplied by its inverse
  bool ties_away = false;  // from zero, where they go to the even code
};

// Of the op quantize, or of an operand of a product with a scheme; nothing where there is none.
std::optional<Quantizer> quantizer(const Case&, int operand);

// The case with codes in place of what is quantized: what its plan moves.
Case in_codes(const Case&);

}  // namespace plumb
