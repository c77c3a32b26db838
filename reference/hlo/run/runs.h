// What of a module is read, but cannot be run.
#pragma once

#include <optional>
#include <string_view>

#include "reference/hlo/module/module.h"

namespace plumb::hlo {

// Custom calls that mean nothing but where values lie.
enum class Border : std::uint8_t { marker, enter, leave, sdy_enter, sdy_leave };
std::optional<Border> border_of(std::string_view target);

// Throws BadModule where the entry reaches instructions that are not known here: all of them at once, by name
// and count, with the line of the first.
void check_runs(const Module&);

}  // namespace plumb::hlo
