// What a subject's modules say of each other; private to the room.
#pragma once

#include "reference/hlo/prove/prove.h"

namespace plumb::hlo {

std::vector<Shape> result_shapes(const Module&);
std::vector<Division> parameter_layouts(const Subject&);
// Throws BadModule where AFTER is not the program of BEFORE, laid out like this.
void check_pair(const Subject&, const std::vector<Division>& results);
// What happened to the memory that results take over from parameters; empty where all is as it was.
std::string lost_alias(const Subject&);

}  // namespace plumb::hlo
