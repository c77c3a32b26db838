// Whether the operands of a product are multiplied with all their digits, where its own data could not show it.
#pragma once

#include <functional>
#include <vector>

#include "harness/backend/process.h"
#include "harness/run/examine.h"

namespace plumb {

// Told of each attempt before the next is made, and which operand is the wide one.
using EachWide = std::function<void(const Attempt&, int wide)>;

// A product of f32 whose data TF32 holds, as those of thousands of terms may be: it is asked again, once for each such
// operand, on data of which each sum has one term, of all the digits of f32 times 1: whatever the order, the split
// or the engine, that is the result. Nothing where the data have more digits, or less than f32 is asked for on the way.
void ask_for_digits(const Case&, const std::vector<Tensor>& operands, Process&, const EachWide&);

// What it is asked then.
std::vector<Tensor> operands_of_one_term(const Case&, int wide);

}  // namespace plumb
