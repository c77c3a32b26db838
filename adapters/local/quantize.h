// Quantization on virtual ranks: every rank scales what it has.
#pragma once

#include <vector>

#include "adapters/local/legs.h"
#include "adapters/plan/quantizer.h"
#include "adapters/protocol/outcome.h"

namespace plumb {

// The scales that ranks know, one list of all tiles for those that agree on the axes `apart`: honest ranks
// all know the same.
struct Scales {
  std::vector<AxisId> apart;
  std::vector<std::vector<float>> of_values, of_codes;
};

// The scales of the values, from their largest magnitudes, which are reduced along q.axes. What is moved is
// counted and added to the trace.
struct Observed {
  const Plan& plan;
  Counter& counter;
  Trace& trace;
};
Scales scales(const Observed&, const Quantizer&, const Ranks& values);

// Values as codes, codes as values (kept as f32).
Ranks to_codes(const Mesh&, const Quantizer&, const Scales&, const Ranks& values);
Ranks from_codes(const Mesh&, const Quantizer&, const Scales&, const Ranks& codes);

// The scales of codes, of values laid out as `from`, laid out as a result `to`; what a rank is asked for and
// has no value of is counted.
struct Relayout {
  const Spec &from, &to;
};
Ranks lay_out(const Observed&, const Quantizer&, const Scales&, const Relayout&);

// Delayed scaling: the scale given is used, the history, whole on every device, gives the next: one for each
// device.
struct Delayed {
  std::vector<float> history;
  float next = 1;
};
struct Past {
  const Ranks& history;
  float scale;
};
std::vector<Delayed> delayed(const Observed&, const Quantizer&, const Ranks& values, const Past&);
Scales given(float scale);

}  // namespace plumb
