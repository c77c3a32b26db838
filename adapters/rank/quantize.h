// Quantization: every device scales what it has.
#pragma once

#include <vector>

#include "adapters/plan/quantizer.h"
#include "adapters/rank/blocks.h"

namespace plumb {

// The largest magnitudes that are known, one list of all tiles for those devices that agree on the axes
// `apart`. Of tiles that the process has nothing of it is 0: what several processes know is, element by
// element, the largest of what each does.
struct Magnitudes {
  std::vector<AxisId> apart;
  std::vector<std::vector<float>> most;
};
Magnitudes magnitudes(const Mesh&, const Quantizer&, const Blocks& values);

// How many tiles lie on several pieces of a layout.
std::int64_t shared_tiles(const Mesh&, const Quantizer&, const Spec& values, Rule);

// The scales that devices know, laid out as magnitudes are.
struct Scales {
  std::vector<AxisId> apart;
  std::vector<std::vector<float>> of_values, of_codes;
};
Scales scales(const Quantizer&, const Magnitudes&);
Scales given(float scale);

// Values as codes, codes as values (kept as f32).
void to_codes(const Mesh&, const Quantizer&, const Scales&, const Blocks& values, Blocks& codes);
void from_codes(const Mesh&, const Quantizer&, const Scales&, const Blocks& codes, Blocks& values);

// The scales of codes, laid out as a result.
void lay_out(const Mesh&, const Scales&, Blocks& result);

// Scales, over all devices, that one is asked for in a result and has no value of.
struct Relayout {
  const Spec &values, &result;
};
std::int64_t missing_scales(const Mesh&, const Quantizer&, Rule, const Relayout&);

// Delayed scaling: the scale given is used, the history, whole on every device, gives the next: one for each
// device, in order.
struct Delayed {
  std::vector<float> history;
  float next = 1;
};
struct Past {
  const Blocks& history;
  float scale;
};
std::vector<Delayed> delayed(const Mesh&, const Quantizer&, const Magnitudes&, const Past&);

}  // namespace plumb
