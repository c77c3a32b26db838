// Everything that a backend is asked of a case. Whoever wants an answer asks here.
#pragma once

#include "harness/backend/process.h"
#include "harness/run/examine.h"

namespace plumb {

// Runs a case. What is proved in place does not travel, but for one case in sixteen, drawn once the proofs
// are said, and where a proof fails. Where reruns are wanted, and it gave data, it is run on other data and
// then again so often, or until one differs. The blocks of the last attempt are read from the arena: until
// the process is asked again.
struct Asking {
  int reruns = 0;
  bool in_place = false;  // blocks are proved where they lie: it is in_place(), and no reruns are wanted
  bool fits = true;       // they may travel all the same
};
Attempts ask(const Case&, Process&, const Asking&);

// The same case with the next seed.
Case on_other_data(Case);

// A case that it has just run, with the next seed and these operands in the place of its own.
Attempt ask_on(const Case&, Process&, std::vector<Tensor> operands);

// Takes the blocks of an outcome out of the arena, where they lie close together and are few bytes, as the
// operands are; else false.
bool keep_small(Attempt&);

// A case that was timed: what came of the first iteration and of the last, each proved where it lies, or its
// blocks read; of one iteration alone once, and it is both. `proved`: it is in_place().
struct TimedAttempts {
  Attempt first, last;
  std::vector<Clocked> clocks;
};
TimedAttempts ask_timed(const Case&, Process&, const TimingAsked&, bool proved);

// Whether it fills, and the blocks of the case can be proved where they lie. It is started where it does not
// run.
bool in_place(const Case&, Process&);

// What the program said of itself when it last started.
Declared declared(const Process&);

}  // namespace plumb
