// Every fault there is: one row each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "adapters/liar/fault.h"

namespace plumb::liar {

std::span<const Fault> faults();
const Fault* fault_named(std::string_view name);  // null where there is none

// One JSON line for each: name, says, status, flags, cases.
std::string list_faults();

}  // namespace plumb::liar
