// What a quantization moves.
#pragma once

#include "reference/bytes/bytes.h"
#include "reference/words/tiles.h"

namespace plumb {

// Bytes received over all devices until every device that has a value of a tile knows the tile's largest
// magnitude, 4 bytes each: of s pieces that share a tile, s - 1 reach one device, and from there every
// other device that has one of them. A tile that lies on one piece costs nothing.
std::int64_t magnitude_bytes(const Case&, const Spec& x, const Tiles&);

// The magnitudes (where scaling is delayed on every device, also those that have no value), then the codes
// from where the values lie to where they are asked for, then each scale that a device is asked for and has
// no value of, or what a device is asked for of a history and lacks.
BestKnown best_quantize(const Case&);

}  // namespace plumb
