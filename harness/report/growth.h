// The same work on meshes of several sizes.
#pragma once

#include <string>
#include <vector>

#include "harness/report/timings.h"

namespace plumb {

// A row for each case of which there is another that differs in the sizes of its mesh alone, where its arrays or its
// share of them is the same: the bytes that a device must receive, those it receives over each axis by the
// backend's trace, and how these and its time grew, from the smallest mesh on. Empty where there is none.
std::string growth_table(const std::vector<Timings>&);

}  // namespace plumb
