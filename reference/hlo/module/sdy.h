// Shardings as Shardy writes them into frontend attributes.
#pragma once

#include <string_view>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// Those of an attribute of an instruction, by the meshes of the module:
//   xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}], unreduced={\"b\"}>]>"
// At the border of a manual region over some axes only, xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>", the
// others are left out. Throws BadModule where the attribute is not there or says what is not known.
std::vector<Sharding> sdy_shardings(const Module&, const Instruction&, std::string_view key);

// The axes of the mesh that are not of the region whose border an instruction is, all of them manual.
Sharding sdy_outside(const Instruction&, const Mesh&);

// The same where the values that cross have shardings of their own, as since JAX 0.11.2: what is left of that
// outside, and the axes that are not of the region, which that inside says.
Sharding sdy_cut(Sharding outside, const Sharding& inside);
Sharding sdy_outside(const Sharding& inside);

}  // namespace plumb::hlo
