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

// All parameters on one of the meshes that are asked, which stand side by side.
struct OnMesh {
  std::string mesh;  // as it was asked
  std::vector<Resolution> all;
};

// 9216, 112 KiB, 2001 MiB
std::string bytes_text(std::int64_t);

// Whether the layout splits anything.
bool split(const Case&, const Spec&);

// A table with a column of bytes on a device for each mesh: the parameters without a layout, those that stay
// whole on more than one device, and those of which a dimension stays whole because its axes are taken; below
// each its layout, with why, in lines of 100 columns; `every` lists the others too. Axes of size 1 are not
// shown. The last row adds up all parameters, those that are not listed too; it stands alone where none is.
std::string layouts_in_words(const std::vector<OnMesh>&, bool every);

// The parameters of which axes do not divide a dimension, a line each: JAX refuses such an array. "" if none.
std::string undivided_in_words(const std::vector<Resolution>&);

// Axes that the mesh lacks, what to say if they are there with size 1, and names that no rule has; "" if
// none.
std::string strangers_in_words(const std::vector<Resolution>&, const std::vector<AxisRule>&, const Mesh&);

}  // namespace plumb
