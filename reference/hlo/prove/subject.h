// What is proven, and what its modules say of each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// BEFORE as the partitioner gets it and AFTER as it leaves it. Where BEFORE leaves the layout of a result to
// the partitioner, the module after propagation says which it took.
struct Subject {
  const Module& before;
  const Module& after;
  const Module* propagated = nullptr;
  bool partitioned =
      true;  // else AFTER is still the whole program, as some pass before the partitioner leaves it
};

// How each result lies over the devices. Throws BadModule where nobody says.
std::vector<Division> layouts(const Subject&, bool& as_propagated);

// Throws BadModule where the modules do not belong together.
void check(const Subject&);

std::vector<Shape> result_shapes(const Module&);
std::vector<Division> parameter_layouts(const Subject&);
// Throws BadModule where AFTER has other numbers of devices, parameters or results than BEFORE, or one cannot
// be run.
void check_pair(const Subject&);
// And where its results are not those of BEFORE, laid out like this.
void check_results(const Subject&, const std::vector<Division>& results);
// What happened to the memory that results take over from parameters; nothing where all is as it was.
struct LostAlias {
  std::string why;
  std::int64_t parameter = 0;
};
std::optional<LostAlias> lost_alias(const Subject&);

}  // namespace plumb::hlo
