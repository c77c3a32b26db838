// Shardings as Shardy writes them into frontend attributes.
#pragma once

#include <string_view>
#include <vector>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// Those of an attribute of an instruction, by the meshes of the module:
//   xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}], unreduced={\"b\"}>]>"
// Throws BadModule where the attribute is not there or says what is not known.
std::vector<Sharding> sdy_shardings(const Module&, const Instruction&, std::string_view key);

}  // namespace plumb::hlo
