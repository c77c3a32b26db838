// Sums that a partitioner leaves unfinished.
#pragma once

#include <string>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

const Computation& home(const Module&, const Instruction*);

// Of so many parts that nobody adds up, and those who hold them.
std::string parts_left(const std::string& name, std::int64_t parts, const Integers& devices);

// The sum that an instruction finishes of an operand that is left unreduced: nothing where it finishes none.
//
//   %copy, of %copy.1 with last_tile_dims={unreduced} of 1024
//   no all-reduce: %copy.1 is left as 1024 parts, on devices 0,4,8,12,...
std::string sum_left_by(const Module&, const Instruction& finishes);

}  // namespace plumb::hlo
