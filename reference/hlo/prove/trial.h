// Draws of a proof, each judged.
#pragma once

#include <mutex>

#include "reference/hlo/prove/alone.h"
#include "reference/hlo/prove/borders.h"
#include "reference/hlo/prove/chosen.h"
#include "reference/hlo/prove/near.h"
#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

// What the draws of a proof share.
struct Trial {
  const Subject& subject;
  const Options& options;
  const int draws;
  const std::vector<Division>&cuts, &results;
  const Proof blank;  // of no draw
  Wholes& wholes;
  bool shared;  // what BEFORE computes is for other proofs too; else that of one draw is held
  const Turns before_turns, after_turns;
  const Pickings before_pickings, after_pickings;
  const Shared shared_out;
  const Selects selects;                      // of BEFORE
  const Limits limits;                        // of BEFORE
  const bool beside;                          // BEFORE runs while other runs go on, as runs_beside says
  Paths paths{};                              // of both modules
  Borders ends{};                             // of shards, in both modules
  std::vector<std::set<std::int64_t>> met{};  // of these, by proven draws
  Picked picked{}, after_picked{};
  Near near{};
  std::set<const Instruction*> unshown{};  // of those that came near, where no result shows what they decide
  std::map<const Instruction*, std::uint64_t> alone{};  // of those shared out, what proven draws show
  Whole directed{};                                     // of a draw that is this proof's alone
  std::map<double, std::size_t> chosen{};  // which meaning of a folded constant was the right one
  bool by_errors = false;                  // as Sides has it
  std::vector<double> usual{};             // the largest of each result in a plain draw: ties may cancel it
  std::uint64_t ahead = 0;                 // below this seed draws of BEFORE may be known before they are judged
  mutable std::mutex one_tells{};          // of runs that go on at once
};

// Told while one of the modules runs for a proof; of several that run at once one at a time.
Pulse telling(const Trial&, const Proof&, bool after);

// A proof by one draw that is not yet judged, of this seed; the same as another, of another seed.
Proof blank_draw(const Trial&, int draw, std::uint64_t seed);
Proof blank_draw(const Trial&, const Proof& other, std::uint64_t seed);

// One draw, judged. Nothing where what BEFORE decides hangs on errors, unless it is the `last` that is tried.
Proof judged_draw(Trial&, Proof, Whole&);
std::optional<Proof> judged_draw(Trial&, Proof, bool last);

// A draw that is proven, or refuted; where it is neither others are made in its place. From `seed` on, which
// is moved behind the last.
Proof settled_draw(Trial&, int draw, std::uint64_t& seed);

// Draws in the place of one that is unsettled, until some real shows what differs.
Proof shown_by_more(Trial&, Proof open, std::uint64_t seed);

// What outweighs what was found so far.
void raise(Proof&, Finding, const std::string& why);

}  // namespace plumb::hlo
