// The verdicts of a sweep, to be seen at a glance.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/verdict.h"
#include "harness/report/paint.h"
#include "harness/sweep/meshes.h"

namespace plumb {

// What came of one mesh; `legal` is false where the line is no case there.
struct Cell {
  Sizes sizes;
  Status status = Status::unrun;
  bool legal = true;
  Pass pass = Pass::whole;  // what a pass rests on
};

// Two axes that vary make one grid, more of them one for each value of the others; a sweep that is no
// full grid, such as one over factorisations, is a list.
//          tp=1   tp=2   tp=3
//   dp=1   pass   pass   pass
//   dp=2   pass   wrong  wrong
std::string drawn_grid(const Mesh&, const std::vector<Cell>&, Paint);

// "wrong on 37 of 120 meshes: exactly when dp >= 2 and tp >= 2", a line for each status that is not a
// pass, or "pass on all 120 meshes", and on how many of them with less than every device's own bits. The
// words are about the meshes that were judged.
std::string conditions_in_words(const Mesh&, const std::vector<Cell>&);

}  // namespace plumb
