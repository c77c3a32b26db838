// How values become codes and scales, as plain data.
#pragma once

#include <optional>
#include <vector>

#include "reference/words/tiles.h"

namespace plumb {

// How the scale of a tile comes from its largest magnitude: that of a block is rounded up to a power of two.
enum class Scaling : std::uint8_t { up, down, none };  // none: values are taken as they are

struct Quantizer {
  Scheme scheme = Scheme::fp8;
  Tiles tiles;
  std::vector<AxisId> axes;  // along which largest magnitudes are reduced: those that split the values
  Scaling scaling = Scaling::up;
};

// Of the op quantize, or of an operand of a product with a scheme; nothing where there is none.
std::optional<Quantizer> quantizer(const Case&, int operand);

// The case with codes in place of what is quantized: what its plan moves.
Case in_codes(const Case&);

}  // namespace plumb
