// What BEFORE computes on a draw, and would compute without a part.
#pragma once

#include <atomic>

#include "reference/hlo/prove/trial.h"

namespace plumb::hlo {

std::optional<Spot> spot_of(const Module&, const Instruction* at, bool before);

// BEFORE on the draw of the proof's seed. A draw whose decisions are in doubt is made again, so it is not
// gone on with unless it is the last.
Whole& whole_of(Trial&, const Proof&, bool last);

// Whether there are threads for runs of BEFORE and each is worth one: it is long, of arrays whose shapes are
// small. What is computed of large ones is shared out among threads by itself.
bool runs_beside(const Module&);

// Two draws of BEFORE at once, if it runs beside: those from `seed` on, until two are not in doubt. What it
// refuses is refused where it is asked for.
void draw_two(Trial&, int draw, std::uint64_t seed);

// A reduction of BEFORE, and whether somebody still wants to know of it; null: yes.
struct Asked {
  const Instruction* reduction;
  const std::atomic<bool>* wanted = nullptr;
};

// What ends a run that nobody wants any more.
struct Unwanted {};

// The ways (lack.h) in which some device that lacks a part of what the reduction reduces holds another result
// in the draw. Throws Unwanted.
std::uint64_t decides_alone(const Trial&, const Proof&, Whole&, const Asked&);

}  // namespace plumb::hlo
