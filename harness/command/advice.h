// What plumb resolve says of a user's rules before any resolver is asked.
#pragma once

#include "harness/rules/names.h"
#include "harness/rules/rules.h"
#include "reference/meaning/resolve.h"

namespace plumb {

struct Resolution {
  Parameter parameter;
  Case c;
  Resolved first;
};

// 9216, 112 KiB, 2001 MiB
std::string bytes_text(std::int64_t);

// Whether the layout splits anything.
bool split(const Case&, const Spec&);

// A table: the parameters without a layout, those that stay whole on more than one device, and those of which
// a dimension stays whole because its axes are taken, with why; `every` lists the others too. "" where there
// is none.
std::string layouts_in_words(const std::vector<Resolution>&, bool every);

// The parameters of which axes do not divide a dimension, a line each: JAX refuses such an array. "" if none.
std::string undivided_in_words(const std::vector<Resolution>&);

// Axes that the mesh lacks, what to say if they are there with size 1, and names that no rule has; "" if
// none.
std::string strangers_in_words(const std::vector<Resolution>&, const std::vector<AxisRule>&, const Mesh&);

}  // namespace plumb
