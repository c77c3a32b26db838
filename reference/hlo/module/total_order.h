// What a compiler wrote otherwise to compare floats, written as it was.
#pragma once

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// The total order of floats is that of their bits as integers, all but the sign reversed below zero.
// Compilers compare those; here the floats are compared (type=TOTALORDER), whose bits no exact number has.
// What computed the bits, and is read no more, is zero. A custom-call TopK, which calls what compares, is a
// topk.
Module with_floats_compared(Module);

}  // namespace plumb::hlo
