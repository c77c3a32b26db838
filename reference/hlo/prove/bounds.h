// Between which numbers the integers are that a module is run on.
#pragma once

#include "reference/hlo/module/module.h"
#include "reference/hlo/run/threads.h"

namespace plumb::hlo {

// Floats moved by a part of the way to those of another draw, then made larger or smaller: of draws without
// zeros, to such.
struct Moved {
  std::uint64_t toward = 0;
  double part = 0, size = 1;
};

// For each parameter the least and the greatest number that is drawn, where it holds integers: below the
// smallest extent that it indexes, through whatever reshapes, arithmetic, calls and loops it gets there.
// `any`: one that indexes nothing, which some draws make of larger numbers, but a single one that says how
// long a loop runs. `asked`: of which the module asks whether it is one of them, up to four: what texts are
// padded with, what a loss leaves out. `borders`: what it is on both sides of where a comparison turns.
// `placed`: who draws wants half of an array to be these, or a single one to be the first of them. `sliced`:
// and of an array of floats each slice along this dimension to be one of three. `turn`: and all of an array
// to be those placed by turns, so many elements each, as if `from` stood before the first. `alone`: all
// slices along these dimensions to be the same but one. `moved`: and floats to be elsewhere.
struct Bounds {
  std::int64_t low = 0, high = 0;
  bool indexes = false, any = false;
  std::vector<std::int64_t> asked{};
  std::vector<std::int64_t> borders{}, placed{};
  std::int64_t sliced = -1;
  std::int64_t turn = 0, from = 0;
  std::vector<std::int64_t> alone{};
  Moved moved{};
};
std::vector<Bounds> bounds_of(const Module&, const Pause& = {});

bool has_number(Type, std::int64_t);  // an integer type

}  // namespace plumb::hlo
